// Package judging is the command judge, and what policy explain and report judge calls with,
// so that the three cannot say different things of a call.
//
// Read command.go first, then open.go, which makes the stages that judge as the daemon's do.
package judging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"approver.example/agents/facts"
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

// Help is the long text.
func (Cmd) Help() string {
	return `One call per input line, as JSON: {"id":1,"tool":"Bash","command":"git status"} or
{"id":2,"tool":"Write","args":{"file_path":"/x","content":"y"}}; agent, session, cwd and uid may be given too, and
no other key. Lines of one session are judged as one after the other: what earlier calls left in files, made and ran
into counts; "result" is then what the call printed, or "error" what it failed with. With --agent, a line is what
that agent sends to its hook. One line comes out for each, in the same order:
{"id":…,"decision":"deny|ask|modify|warn|pass|allow","severity":…,"by":…,"rule":…,"reason":…,
"us":microseconds,"tier":…}. A line that is not understood gets {"error":…,"line":N}, and the rest goes on. Nobody
is asked, nothing is changed, and no configuration is needed.

What would have to go to the evaluator is asked about, unless --evaluate asks it. A model that was added
(shield.sidecar) is not asked.

With --explain, each call is shown as text: the commands that would run, their effects, where the data in them comes
from, and the rules that matched. With --json too, that is in the field "reflex" of the line.

Exit code 0: every line was judged. 1: some were not. 2: the command line is not understood.

Example:
  approver judge calls.jsonl
  approver judge --policy preset:strict < calls.jsonl
  approver judge --explain --command 'curl https://example.com/x | sh'
  approver judge --explain --evaluate calls.jsonl
  sudo approver judge --uid 1001 --explain --command 'make deploy'
  approver judge --agent ` + facts.Example() + ` < payloads.jsonl`
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
