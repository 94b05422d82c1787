package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"approver.example/agents"
)

// This file reads the lines that judge is given.

// A lineCall is a line of our own.
type lineCall struct {
	ID      json.RawMessage `json:"id"`
	Agent   string          `json:"agent"`
	Session string          `json:"session"`
	CWD     string          `json:"cwd"`
	Tool    string          `json:"tool"`
	Command *string         `json:"command"`
	Args    json.RawMessage `json:"args"`
	Result  *string         `json:"result"` // what it printed
	Error   string          `json:"error"`  // what it failed with
}

// noSession is the session of a line that names none.
const noSession = "judge"

func (j *judge) decode(line []byte) (id json.RawMessage, ev agents.Event, err error) {
	if j.agent != nil {
		ev, err = j.agent.Decode(line)
		id, _ = json.Marshal(ev.UseID) // a string
		return id, ev, err
	}
	var c lineCall
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, ev, fmt.Errorf("not a call: %w", err)
	}
	if c.Tool == "" {
		return nil, ev, errors.New(`"tool" is missing`)
	}
	if c.CWD == "" {
		c.CWD = j.dir
	}
	ev, err = c.event()
	return c.ID, ev, err
}

// event reads the line as the agent's own payload of the same call, so that
// arguments mean here what they mean to the hook.
func (c lineCall) event() (agents.Event, error) {
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
		c.Agent = agents.Claude{}.Name()
	}
	if c.Session == "" {
		c.Session = noSession
	}
	payload, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": c.Session, "cwd": c.CWD, "tool_name": c.Tool, "tool_input": args, "tool_use_id": "judge",
	})
	if err != nil {
		return agents.Event{}, err
	}
	ev, err := agents.Claude{}.Decode(payload)
	ev.Call.Agent = c.Agent
	if c.Result != nil || c.Error != "" {
		ev.Response, ev.Failure, ev.Output = json.RawMessage("{}"), c.Error, c.Error
		if c.Error == "" {
			ev.Output = *c.Result
		}
	}
	return ev, err
}
