package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"approver.example"
	"approver.example/configs"
	"approver.example/shieldcore"
)

type policyCmd struct {
	Test    policyTestCmd    `cmd:"" help:"Run the cases beside a policy."`
	Explain policyExplainCmd `cmd:"" help:"Say what the policy makes of a call, and why."`
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
	JSON bool     `help:"Print one JSON object."`
	Call []string `arg:"" help:"A shell command, or one line as for approver judge." placeholder:"CALL"`
}

// Help is the long text.
func (policyExplainCmd) Help() string {
	return `A CALL that starts with { is read as a line for approver judge; anything else is a shell command.

Exit code 0: the call was judged, whatever the verdict. 1: it could not be.

Example:
  approver policy explain -- git push --force origin main
  approver policy explain --policy preset:strict -- rm -rf build
  approver policy explain '{"tool":"Read","args":{"file_path":"/etc/shadow"}}'`
}

// Run explains.
func (c policyExplainCmd) Run(ctx context.Context) error {
	policy, err := c.load()
	if err != nil {
		return err
	}
	j, err := newJudge("", policy)
	if err != nil {
		return err
	}
	call, err := j.call(strings.Join(c.Call, " "))
	if err != nil {
		return err
	}
	e, err := policy.Explain(ctx, call)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(e)
	}
	explain(e)
	return nil
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

func explain(e shieldcore.Explanation) {
	v := e.Verdict
	fmt.Printf("verdict  %s\n", inWords(v))
	if v.Rule != "" {
		fmt.Printf("rule     %s  %s\n", v.Rule, v.Where)
	}
	show := func(name, text string) {
		if text != "" {
			fmt.Printf("%-8s %s\n", name, approver.OneLine(text))
		}
	}
	show("why", v.Detail)
	if v.Reason != v.Detail {
		show("agent", v.Reason)
	}
	if v.Decision == approver.Ask && v.TTL > 0 {
		show("ttl", v.TTL.String())
	}
	show("channels", strings.Join(v.Channels, " "))
	show("people", strings.Join(v.Approvers, " "))
	show("actions", strings.Join(e.Actions, " "))
	show("environ", strings.Join(e.Environments, " "))
	show("branch", strings.Join(e.Branches, " "))
	for _, p := range slices.Sorted(maps.Keys(e.Paths)) {
		show("path", p+" is "+strings.Join(e.Paths[p], ", "))
	}
	for _, o := range e.Others {
		show("also", fmt.Sprintf("%s  %s  %s", o.Rule, inWords(o), o.Where))
	}
}

// inWords is a verdict as cases write it: deny, ask high, ask catastrophic, …
func inWords(v approver.Verdict) string {
	if v.Decision == approver.Ask {
		return "ask " + strings.ToLower(v.Severity.String())
	}
	return v.Decision.String()
}
