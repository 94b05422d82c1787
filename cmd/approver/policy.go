package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/shieldcore"
)

type policyCmd struct {
	Test    policyTestCmd    `cmd:"" help:"Run the cases beside a policy."`
	Explain policyExplainCmd `cmd:"" help:"Say what becomes of a call, and which rules of the policy match it."`
	Diff    policyDiffCmd    `cmd:"" help:"Say what changes between two policies, also for the calls in the audit."`
}

// Help is the long text.
func (policyCmd) Help() string {
	return "Example:\n  approver policy explain -- git push --force\n  approver policy test"
}

// loadPolicy loads a policy by its file or preset.
func loadPolicy(name string) (*shieldcore.Policy, error) {
	c := configs.Default()
	c.Policy = name
	return c.LoadPolicy()
}

type policyExplainCmd struct {
	policyFlags
	uidFlag
	JSON bool     `help:"Print one JSON object."`
	CWD  string   `name:"cwd" help:"The folder in which the call works; left out, this one." placeholder:"DIR"`
	Call []string `arg:"" help:"A shell command, or one line as for approver judge." placeholder:"CALL"`
}

// Help is the long text.
func (policyExplainCmd) Help() string {
	return `A CALL that starts with { is read as a line for approver judge; anything else is a shell command.

The verdict is that of approver judge: of the reflex engine, the policy, the heuristics and the classifier together, with the part that decided and
its tier. Then comes what the policy itself makes of the call: the rules that match, and where they stand. approver judge --explain shows what the
engine makes of it. Nobody is asked, and nothing is changed.

Exit code 0: the call was judged, whatever the verdict. 1: it could not be.

Example:
  approver policy explain -- git push --force origin main
  approver policy explain --policy preset:strict -- rm -rf build
  approver policy explain '{"tool":"Read","args":{"file_path":"/etc/shadow"}}'`
}

// Run explains.
func (c policyExplainCmd) Run(ctx context.Context) error {
	j, err := c.openJudge("", false)
	if err != nil {
		return err
	}
	c.judgeAs(j)
	if err := j.setDir(c.CWD); err != nil {
		return err
	}
	x, err := j.explained(ctx, strings.Join(c.Call, " "))
	if err != nil {
		return err
	}
	c.sayNotInForce(ctx)
	c.sayWho(j)
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(x)
	}
	return foldInto(9, x.write)
}

// A policyView is the verdict of the whole, and what the policy makes of the call.
type policyView struct {
	judged
	Policy  shieldcore.Explanation `json:"policy"`
	verdict approver.Verdict
}

// explained judges a call, and looks at what the policy makes of it.
func (j *judge) explained(ctx context.Context, text string) (policyView, error) {
	call, err := j.call(text)
	if err != nil {
		return policyView{}, err
	}
	start := time.Now()
	v, _ := j.gate.Judge(ctx, call)
	x := policyView{judged: judgedAs(nil, v, time.Since(start)), verdict: v}
	x.Chain = v.Chain
	if x.Policy, err = j.policy.Explain(ctx, call); err != nil { // the verdict says that it was stopped for that
		x.Policy = shieldcore.Explanation{Verdict: approver.Verdict{By: shieldcore.By, Detail: err.Error()}}
	}
	return x, nil
}

// call reads a line for judge, or takes the text for a shell command.
func (j *judge) call(text string) (approver.ToolCall, error) {
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

// write is the view for people.
func (x policyView) write(to io.Writer) error {
	w := bufio.NewWriter(to)
	show := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-8s %s\n", name, display.OneLine(text))
		}
	}
	v, e := x.verdict, x.Policy
	show("verdict", decided(v))
	show("why", cmp.Or(v.Detail, v.Reason))
	if v.Detail != "" && v.Reason != v.Detail {
		show("agent", v.Reason)
	}
	if v.Decision == approver.Ask && v.TTL > 0 {
		show("ttl", v.TTL.String())
	}
	show("channels", strings.Join(v.Channels, " "))
	show("people", strings.Join(v.Approvers, " "))
	policy := inWords(e.Verdict)
	if e.Verdict.Rule == "" {
		policy += ": " + cmp.Or(e.Verdict.Detail, "no rule of it matches")
	}
	show("policy", policy)
	if e.Verdict.Rule != "" {
		show("rule", fmt.Sprintf("%s  %s", e.Verdict.Rule, e.Verdict.Where))
	}
	for _, o := range e.Others {
		show("also", fmt.Sprintf("%s  %s  %s", o.Rule, inWords(o), o.Where))
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

// inWords is a verdict as cases write it: deny, ask high, ask catastrophic, …
func inWords(v approver.Verdict) string {
	if v.Decision == approver.Ask {
		return "ask " + strings.ToLower(v.Severity.String())
	}
	return v.Decision.String()
}
