package judging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/configs"
	"approver.example/daemon/hooks"
	"approver.example/gate"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// This file reads the input lines of judge.

// A LineCall is an input line in approver's own format.
type LineCall struct {
	ID      json.RawMessage `json:"id"`
	Agent   string          `json:"agent"`
	Session string          `json:"session"`
	CWD     string          `json:"cwd"`
	UID     *uint32         `json:"uid"` // the user whose call it is
	Tool    string          `json:"tool"`
	Command *string         `json:"command"`
	Args    json.RawMessage `json:"args"`
	// Container says that the call runs in a container. The daemon finds that out by itself.
	Container *approver.Container `json:"container"`

	Result *string `json:"result"` // what the call printed
	Error  string  `json:"error"`  // the error of the call
}

// noSession is the session of a line without one.
const noSession = "judge"

func (j *Judge) decode(line []byte) (id json.RawMessage, ev agents.Event, err error) {
	if j.agent != nil {
		ev, err = j.agent.Decode(line)
		id, _ = json.Marshal(ev.UseID) // a string
		return id, ev, err
	}
	var c LineCall
	if err := c.read(line); err != nil {
		return nil, ev, fmt.Errorf("not a call: %w", err)
	}
	if c.Tool == "" {
		return nil, ev, errors.New(`"tool" is missing`)
	}
	if c.CWD == "" {
		c.CWD = j.Dir
	}
	ev, err = c.Event()
	return c.ID, ev, err
}

// read decodes a line. An unknown key is an error, because it would not be taken into account.
func (c *LineCall) read(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return fmt.Errorf("unknown key %s: one of "+
				"id, agent, session, cwd, uid, container, tool, command, args, result, error", name)
		}
		return err
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return errors.New("there is more than one JSON object in the line")
	}
	return nil
}

// Event reads the line like the agent's own payload for the same call, so that arguments mean
// the same here as in the hook.
func (c LineCall) Event() (agents.Event, error) {
	args := map[string]json.RawMessage{}
	if len(c.Args) > 0 && !bytes.Equal(c.Args, []byte("null")) {
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return agents.Event{}, errors.New(`"args" is not an object`)
		}
	}
	if c.Command != nil {
		command, err := json.Marshal(*c.Command)
		if err != nil {
			return agents.Event{}, err
		}
		if _, twice := args["command"]; twice {
			return agents.Event{}, errors.New(`the command is given twice: as "command" and in "args"`)
		}
		args["command"] = command
	}
	if c.Agent == "" {
		c.Agent = facts.Example()
	}
	if c.Session == "" {
		c.Session = noSession
	}
	ev, err := agents.Plain(c.Session, c.CWD, c.Tool, args)
	ev.Call.Agent, ev.Call.Container = c.Agent, c.Container
	if c.UID != nil {
		ev.Call.Peer = approver.Peer{Known: true, UID: *c.UID}
	}
	if c.Result != nil || c.Error != "" {
		ev.Response, ev.Failure, ev.Output = json.RawMessage("{}"), c.Error, c.Error
		if c.Error == "" {
			ev.Output = *c.Result
		}
	}
	return ev, err
}

// A judged is one output line.
type judged struct {
	ID       json.RawMessage `json:"id"`
	Decision string          `json:"decision"`
	Severity string          `json:"severity,omitempty"` // only for ask and deny
	By       string          `json:"by,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"` // only for modify
	US       int64           `json:"us"`
	Tier     *uint8          `json:"tier,omitempty"` // of the part that decided
	// Irreversible says how hard it is to undo the call, from 0 to 100. 0 is left out.
	Irreversible uint8              `json:"irreversible,omitempty"`
	Chain        []approver.Finding `json:"chain,omitempty"`  // with --explain: what each part said
	Reflex       any                `json:"reflex,omitempty"` // with --explain
}

// A misread is the output line for an input line that was not understood.
type misread struct {
	Error string `json:"error"`
	Line  int    `json:"line"`
}

func judgedAs(id json.RawMessage, v approver.Verdict, took time.Duration) judged {
	out := judged{ID: id, Decision: v.Decision.String(), By: v.By, Rule: v.Rule, Reason: v.Reason, US: took.Microseconds(),
		Irreversible: v.Irreversible.Score}
	if v.Decision <= approver.Ask {
		out.Severity = v.Severity.String()
	}
	if v.Decision == approver.Modify {
		out.Args = v.Args
	}
	if v.By != "" {
		out.Tier = &v.Tier
	}
	return out
}

// A Judge judges calls as the daemon would, up to the point where people would
// be asked.
type Judge struct {
	Gate  *gate.Gate
	agent agents.Adapter // for native payloads; nil: approver's own lines
	Dir   string         // the working directory of calls that name none
	Peer  approver.Peer  // the user of calls that name none
	env   map[string]string

	sockets   configs.Sockets            // from the configuration
	container func() *approver.Container // of calls that name none; it may be nil

	Policy *shieldcore.Policy // one of the gate's stages
	Reflex *reflexcore.Engine // one too; nil if only the policy judges

	Explain bool // show more than the verdict
	width   int  // of the output terminal; 0: not a terminal
	AsJSON  bool

	// ran takes the result of a call. It may be nil.
	ran func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
}

// New returns a judge with these stages. If an agent is named, it reads that agent's native
// payloads.
func New(agent string, stages ...approver.Stage) (*Judge, error) {
	j := &Judge{
		Gate: &gate.Gate{Stages: stages, Rewrite: hooks.Rewrite, Log: slog.New(slog.DiscardHandler)},
		Peer: Caller(), env: map[string]string{"HOME": os.Getenv("HOME")},
	}
	j.Dir, _ = os.Getwd() // without it, relative paths are asked about
	if agent != "" {
		var ok bool
		if j.agent, ok = agents.For(agent); !ok {
			return nil, fmt.Errorf("unknown agent %q: this approver knows %v", agent, agents.Names())
		}
	}
	return j, nil
}

// placed adds the caller, its environment and the time, which the daemon knows by itself.
func (j *Judge) placed(call approver.ToolCall) approver.ToolCall {
	if !call.Peer.Known {
		call.Peer = j.Peer
	}
	call.Env, call.At = j.envOf(call.Peer), time.Now()
	if call.Container == nil && j.container != nil {
		call.Container = j.container()
	}
	return call
}
