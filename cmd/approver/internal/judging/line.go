package judging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/facts"
)

// This file reads the lines that judge is given.

// A LineCall is a line of our own.
type LineCall struct {
	ID      json.RawMessage `json:"id"`
	Agent   string          `json:"agent"`
	Session string          `json:"session"`
	CWD     string          `json:"cwd"`
	UID     *uint32         `json:"uid"` // whose the call is
	Tool    string          `json:"tool"`
	Command *string         `json:"command"`
	Args    json.RawMessage `json:"args"`
	Result  *string         `json:"result"` // what it printed
	Error   string          `json:"error"`  // what it failed with
}

// noSession is the session of a line that names none.
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

// read reads a line. A key that is not known is an error: what it meant would not be
// judged.
func (c *LineCall) read(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return fmt.Errorf("unknown key %s: one of id, agent, session, cwd, uid, tool, command, args, result, error", name)
		}
		return err
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return errors.New("there is more than one JSON object in the line")
	}
	return nil
}

// Event reads the line as the agent's own payload of the same call, so that
// arguments mean here what they mean to the hook.
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
	ev.Call.Agent = c.Agent
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
