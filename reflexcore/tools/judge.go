package tools

import (
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// A judge has the state for one call.
type judge struct {
	call approver.ToolCall
	lim  Limits
	fs   FS
	tool string // the name without its server
	// words are those of that name, and around those of the whole name, in lower case.
	words, around []string
	meaning
	in      arguments
	paths   int
	twinned bool // a command line stands for the call
	effects []effect.Effect
	result  Result // but for the effects
}

func (j *judge) add(kind effect.Kind, target string, bits effect.Bits) {
	j.addTainted(kind, target, bits, 0)
}

func (j *judge) addTainted(kind effect.Kind, target string, bits effect.Bits, taint effect.Taint) {
	j.addEffect(effect.Effect{Kind: kind, Target: target, Bits: bits, Taint: taint, By: j.tool})
}

// addWhat adds an effect of a certain kind on what the call names.
func (j *judge) addWhat(kind effect.Kind, what, target string) {
	j.addEffect(effect.Effect{Kind: kind, Target: target, What: what, Bits: j.bulk(), By: j.tool})
}

func (j *judge) addEffect(e effect.Effect) {
	if !slices.Contains(j.effects, e) {
		j.effects = append(j.effects, e)
	}
}

func (j *judge) payload(p effect.Payload) {
	if (strings.TrimSpace(p.Text) != "" || p.Lang == "") && !slices.Contains(j.result.Payloads, p) {
		j.result.Payloads = append(j.result.Payloads, p)
	}
}

// bulk returns Bulk if the call names many things, or all things.
func (j *judge) bulk() effect.Bits {
	if j.result.Count >= max(j.lim.Bulk, 1) || j.is(nounAll) {
		return effect.Bulk
	}
	for _, a := range j.in.args {
		if slices.Contains([]role{roleText, roleContent, rolePath, roleURL, roleSQL, roleCommand, roleCode}, a.role) {
			continue
		}
		switch strings.ToLower(a.text) {
		case "*", "all", "everything", "_all":
			return effect.Bulk
		case "true":
			if strings.HasPrefix(a.key, "all") || a.key == "everything" || strings.HasPrefix(a.key, "deleteall") {
				return effect.Bulk
			}
		}
	}
	return 0
}

// subject returns what a call is about, for people: its first meaningful values.
func (j *judge) subject() string {
	var b strings.Builder
	unsaid := []role{roleContent, roleText, roleCode, roleHeader, roleSecret, roleOld, roleNew, roleMethod}
	for _, a := range j.in.args {
		if slices.Contains(unsaid, a.role) || a.text == "" || len(a.text) > 200 || b.Len() > 200 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
	}
	if b.Len() == 0 {
		return j.tool
	}
	return b.String()
}
