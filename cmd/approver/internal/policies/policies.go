// Package policies has the command policy, which explains, tests and compares policies.
package policies

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/shieldcore"
)

// Cmd is the command policy.
type Cmd struct {
	Test    policyTestCmd    `cmd:"" help:"Run the cases beside a policy."`
	Explain policyExplainCmd `cmd:"" help:"Say what becomes of a call, and which rules of the policy match it."`
	Diff    policyDiffCmd    `cmd:"" help:"Say what changes between two policies, also for the calls in the audit."`
}

type policyExplainCmd struct {
	judging.Flags
	judging.UIDFlag
	JSON bool     `help:"Print one JSON object."`
	CWD  string   `name:"cwd" help:"The folder in which the call works; left out, this one." placeholder:"DIR"`
	Call []string `arg:"" help:"A shell command, or one line as for approver judge." placeholder:"CALL"`
}

// Run explains.
func (c policyExplainCmd) Run(ctx context.Context) error {
	j, err := c.Open("", false)
	if err != nil {
		return err
	}
	c.JudgeAs(j)
	if err := j.SetDir(c.CWD); err != nil {
		return err
	}
	x, err := j.Explained(ctx, strings.Join(c.Call, " "))
	if err != nil {
		return err
	}
	c.SayNotInForce(ctx)
	c.SayWho(j)
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(x)
	}
	return term.FoldInto(9, x.Write)
}

// LoadPolicy loads a policy from a file or a preset.
func LoadPolicy(name string) (*shieldcore.Policy, error) {
	c := configs.Default()
	c.Policy = name
	return c.LoadPolicy()
}
