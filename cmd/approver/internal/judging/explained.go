package judging

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/display"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// A policyView is the overall verdict, and what the policy says about the call.
type policyView struct {
	judged
	Policy  shieldcore.Explanation `json:"policy"`
	Verdict approver.Verdict
}

// Explained judges a call, and adds what the policy says about it.
func (j *Judge) Explained(ctx context.Context, text string) (policyView, error) {
	call, err := j.Call(text)
	if err != nil {
		return policyView{}, err
	}
	start := time.Now()
	v, _ := j.Gate.Judge(ctx, call)
	x := policyView{judged: judgedAs(nil, v, time.Since(start)), Verdict: v}
	x.Chain = v.Chain
	if x.Policy, err = j.Policy.Explain(ctx, call); err != nil { // the verdict says so too
		x.Policy = shieldcore.Explanation{Verdict: approver.Verdict{By: shieldcore.By, Detail: err.Error()}}
	}
	return x, nil
}

// Call reads a JSON line as judge does, or takes any other text as a shell command.
func (j *Judge) Call(text string) (approver.ToolCall, error) {
	line := []byte(text)
	if !strings.HasPrefix(text, "{") {
		var err error
		if line, err = json.Marshal(map[string]string{"tool": "Bash", "command": text}); err != nil {
			return approver.ToolCall{}, err
		}
	}
	_, ev, err := j.decode(line)
	return j.placed(ev.Call), err
}

// Write writes the explanation for people.
func (x policyView) Write(to io.Writer) error {
	w := bufio.NewWriter(to)
	show := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-8s %s\n", name, display.OneLine(text))
		}
	}
	v, e := x.Verdict, x.Policy
	show("verdict", Decided(v))
	show("why", cmp.Or(v.Detail, v.Reason))
	if v.Detail != "" && v.Reason != v.Detail {
		show("agent", v.Reason)
	}
	if v.Decision == approver.Ask && v.TTL > 0 {
		show("ttl", v.TTL.String())
	}
	show("channels", strings.Join(v.Channels, " "))
	show("people", strings.Join(v.Approvers, " "))
	policy := InWords(e.Verdict)
	if e.Verdict.Rule == "" {
		policy += ": " + cmp.Or(e.Verdict.Detail, "no rule of it matches")
	}
	show("policy", policy)
	if e.Verdict.Rule != "" {
		show("rule", fmt.Sprintf("%s  %s", e.Verdict.Rule, e.Verdict.Where))
	}
	for _, o := range e.Others {
		show("also", fmt.Sprintf("%s  %s  %s", o.Rule, InWords(o), o.Where))
	}
	show("actions", strings.Join(e.Actions, " "))
	show("environ", strings.Join(e.Environments, " "))
	show("branch", strings.Join(e.Branches, " "))
	for _, p := range slices.Sorted(maps.Keys(e.Paths)) {
		show("path", p+" is "+strings.Join(e.Paths[p], ", "))
	}
	for i, link := range chainLines(v) {
		name := ""
		if i == 0 {
			name = "chain"
		}
		fmt.Fprintf(w, "%-8s %s\n", name, link)
	}
	return w.Flush()
}

// InWords formats a verdict as test cases do: deny, ask high, ask catastrophic, …
func InWords(v approver.Verdict) string {
	if v.Decision == approver.Ask {
		return "ask " + strings.ToLower(v.Severity.String())
	}
	return v.Decision.String()
}

// The rest of this file shows verdicts to people.

// explained is a judged call that is shown as text.
type explained struct {
	call    approver.ToolCall
	verdict approver.Verdict
	how     reflexcore.Explanation
}

// fold writes the text, folded at the width of a terminal.
func (x explained) fold(w io.Writer, width int) error {
	to := &terminal.Folder{W: w, Width: width}
	if err := x.write(to); err != nil {
		return err
	}
	return to.Flush()
}

func (x explained) write(w io.Writer) error {
	what := x.call.Command
	if what == "" {
		what = x.call.Tool + " " + string(x.call.Args)
	}
	if _, err := fmt.Fprintf(w, "%s\n", display.OneLine(what)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "verdict  %s\n\nreflex engine\n", Decided(x.verdict)); err != nil {
		return err
	}
	if err := x.how.Text(w); err != nil {
		return err
	}
	for i, link := range chainLines(x.verdict) {
		if i == 0 {
			link = "\nchain\n  " + link
		} else {
			link = "  " + link
		}
		if _, err := fmt.Fprintln(w, link); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// chainLines returns one line for what each part said.
func chainLines(v approver.Verdict) []string {
	lines := make([]string, len(v.Chain))
	for i, f := range v.Chain {
		f.Took = 0 // so that the text is always the same; --json has it
		lines[i] = display.OneLine(f.String())
	}
	return lines
}

// Decided formats the overall verdict, with the part that decided and its tier.
func Decided(v approver.Verdict) string {
	if v.By == "" { // nothing had an opinion
		return InWords(v)
	}
	return display.OneLine(fmt.Sprintf("%s by %s, tier %d", InWords(v), strings.TrimSuffix(v.By+"/"+v.Rule, "/"), v.Tier))
}
