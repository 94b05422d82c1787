package reflexcore

import (
	_ "embed"
	"fmt"
	"path"
	"strings"

	"approver.example"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/selfprotect"
	"approver.example/reflexcore/tripwire"
	"approver.example/reflexcore/wordset"
)

// tripsText has the rules of the tripwire, which have no conditions. The tripwire uses their reasons
// and cures for its findings.
//
//go:embed trips.txt
var tripsText string

// tripRules are these rules, and ruleOf maps detectors to their ids.
var tripRules, ruleOf = func() (rules []Rule, of map[string]string) {
	of = map[string]string{}
	for heading, text := range wordset.Table(tripsText) {
		id, category, _ := strings.Cut(heading, " ")
		reason, rest, _ := strings.Cut(text, " | ")
		cure, detectors, _ := strings.Cut(rest, " |")
		rules = append(rules, Rule{ID: id, Category: category, Reason: reason, Cure: cure})
		for detector := range strings.FieldsSeq(detectors) {
			of[detector] = id
		}
	}
	return rules, of
}()

// decidedTrips has the rules of the tripwire for each decision.
var decidedTrips = func() (out [approver.Pass][]Rule) {
	for d := range out {
		for _, r := range tripRules {
			r.Decision, r.Severity, r.Confidence, r.Appealable = approver.Decision(d), approver.High, 0.8, true
			if r.Category == "self-protection" || r.Category == "constitutional" {
				r.Severity, r.Confidence, r.Appealable = approver.Catastrophic, 0.95, false
			}
			out[d] = append(out[d], r)
		}
	}
	return out
}()

// tripRule returns a rule of the tripwire with a decision.
func tripRule(id string, d approver.Decision) *Rule {
	for i := range decidedTrips[d] {
		if r := &decidedTrips[d][i]; r.ID == id {
			return r
		}
	}
	panic("reflexcore: the tripwire has no rule " + id) // stays unreached: ruleOf is tested
}

// A trip is a finding of the tripwire.
type trip struct {
	rule  *Rule
	score float64
	what  string
	parts []tripwire.Part
}

// trip runs the tripwire: how the call is written, what it says to a model, and whether it attacks
// approver itself. It comes after match, because it uses the places of effects.
func (e *Engine) trip(j *judgment) {
	form := tripwire.Form{Odd: j.call.Odd, OddName: j.call.OddName, Layers: j.call.Layered}
	form.Encoded, form.Acts = j.encodingDepth(), j.call.Acts()
	for i := range j.call.Effects {
		ef := &j.call.Effects[i]
		if ascii(ef.Target) && ascii(ef.By) {
			continue
		}
		if ef.Kind == effect.Exec && ef.Target == ef.By {
			form.Programs = append(form.Programs, ef.Target)
		} else if !strings.Contains(ef.Target, "\n") {
			form.Places = append(form.Places, ef.Target)
		}
	}
	parts := tripwire.Structure(nil, form)
	var said []tripwire.Part
	factor := j.textWeight()
	if j.call.ToolCall.Command != "" {
		parts = tripwire.Characters(parts, j.call.Text, true)
		said = tripwire.Injection(said, j.call.Text, factor)
	}
	for _, text := range j.call.Other.Texts {
		before := len(parts)
		parts = tripwire.Characters(parts, text, false)
		for i := before; i < len(parts); i++ {
			parts[i].Score *= min(factor, 1)
		}
		said = tripwire.Injection(said, text, factor)
	}
	for i := range j.call.Layers {
		said = tripwire.Injection(said, j.call.Layers[i].Text, factor)
	}
	j.addParts(parts)
	j.addParts(said)
	if d, what := e.selfProtect(j); d < approver.Pass {
		j.addTrip(trip{rule: tripRule("tripwire.self", d), score: 1, what: what})
	}
}

// addParts adds a finding for parts that score high enough together.
func (j *judgment) addParts(parts []tripwire.Part) {
	score := tripwire.Combine(parts)
	d := tripwire.Decide(score)
	if d == approver.Pass {
		return
	}
	best := tripwire.Strongest(parts)
	id, ok := ruleOf[best.Detector]
	if !ok {
		id = "tripwire.expansion"
	}
	j.addTrip(trip{tripRule(id, d), score, best.What, parts})
}

func (j *judgment) addTrip(t trip) {
	j.trips = append(j.trips, t)
	j.findings = append(j.findings, finding{rule: t.rule, effect: -1, layer: -1})
}

// tripOf returns the trip of a finding, or nil if the finding is not by the tripwire.
func (j *judgment) tripOf(f finding) *trip {
	for i := range j.trips {
		if j.trips[i].rule == f.rule {
			return &j.trips[i]
		}
	}
	return nil
}

// encodingDepth returns how many nested encodings the decoded and executed text had.
func (j *judgment) encodingDepth() int {
	runs := false
	for i := range j.call.Effects {
		e := &j.call.Effects[i]
		runs = runs || (e.Kind == effect.Exec || e.Kind == effect.Opaque) && e.Taint&effect.Decoded != 0 &&
			e.Bits&effect.Later == 0
	}
	if !runs {
		return 0
	}
	depth := 1
	for i := range j.call.Layers {
		depth = max(depth, j.call.Layers[i].Depth+strings.Count(j.call.Layers[i].Via, "+")-(j.call.Layers[i].Depth-1))
	}
	return depth
}

// textWeight returns the weight of a text for models, depending on where the call writes it: more in
// files that agents obey, less in tests and documents about such texts.
func (j *judgment) textWeight() float64 {
	factor := 1.0
	for i := range j.call.Effects {
		e := &j.call.Effects[i]
		if e.Kind != effect.Write {
			continue
		}
		switch {
		case j.places[i]&(places.Content<<content.Instructions) != 0:
			return 1.15
		case isAboutAttacks(e.Target):
			factor = 0.6
		}
	}
	return factor
}

// attackWords are words in the names of files that are about such texts.
var attackWords = wordset.Of("test tests testdata fixture fixtures spec specs injection injections jailbreak " +
	"jailbreaks security redteam attack attacks adversarial payloads corpus evals eval threat")

func isAboutAttacks(p string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(p),
		func(r rune) bool { return r == '/' || r == '-' || r == '_' || r == '.' }) {
		if attackWords[word] {
			return true
		}
	}
	return strings.HasSuffix(path.Base(p), "Test.java")
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// partsText lists the parts on one line, for people.
func (t *trip) partsText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "score %.2f", t.score)
	for _, p := range t.parts {
		fmt.Fprintf(&b, "; %s %.2f: %s", p.Detector, p.Score, p.What)
	}
	return b.String()
}

// selfProtect looks for attacks on approver itself.
func (e *Engine) selfProtect(j *judgment) (approver.Decision, string) {
	c := &j.self
	*c = selfprotect.Check{Call: &j.call, Program: e.program, Places: j.places}
	d, what := c.Judge()
	for _, dir := range c.Unread {
		j.call.Unseen(dir)
	}
	return d, what
}

// demandRule is the rule about a call that does what a result demanded.
const demandRule = "tripwire.told"
