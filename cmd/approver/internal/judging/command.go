// Package judging has the command judge, and the judge that policy explain and report use as
// well, so that the three cannot contradict each other.
//
// Read command.go first, then open.go, which builds the same stages as the daemon's.
package judging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"approver.example/cmd/approver/internal/term"
)

// Cmd is the command judge.
type Cmd struct {
	Flags
	UIDFlag
	Agent    string `help:"Lines are native hook payloads of this agent, such as ${example}." placeholder:"NAME"`
	Explain  bool   `help:"Show what each call would do, and which stage and rule decided."`
	Evaluate bool   `help:"Ask the configured evaluator too, where a call has to go that far. Calls are sent to it."`
	JSON     bool   `help:"With --explain: one JSON object for each line."`
	Command  string `help:"Judge this one command instead of lines." placeholder:"TEXT"`
	CWD      string `name:"cwd" help:"The folder in which calls work that name none; left out, this one." placeholder:"DIR"`
	File     string `arg:"" optional:"" help:"Read this file instead of the standard input." placeholder:"FILE"`
}

// Run judges.
func (c Cmd) Run(ctx context.Context) error {
	j, err := c.Open(c.Agent, c.Evaluate)
	if err != nil {
		return err
	}
	c.JudgeAs(j)
	c.SayNotInForce(ctx)
	c.SayWho(j)
	if err := j.SetDir(c.CWD); err != nil {
		return err
	}
	if c.Explain {
		j.Explain, j.AsJSON, j.width = true, c.JSON, term.Width(os.Stdout)
	}
	var in io.Reader = os.Stdin
	switch {
	case c.Command != "" && c.File != "":
		return errors.New("--command and a file: give one of them")
	case c.Command != "":
		line, err := json.Marshal(map[string]string{"tool": "Bash", "command": c.Command})
		if err != nil {
			return err
		}
		in = bytes.NewReader(line)
	case c.File != "":
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	bad, err := j.Stream(ctx, in, os.Stdout)
	switch {
	case err != nil:
		return err
	case bad > 0:
		return term.ErrSaid
	}
	return nil
}
