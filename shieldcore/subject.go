package shieldcore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"approver.example"
)

// A subject is one call while it is judged, with what rules look at computed
// once and only if a rule asks for it.
type subject struct {
	call approver.ToolCall
	home func(uid uint32) (string, bool)

	command []*text
	args    []*text
	argsErr error
	located []location
	homes   *homes
	links   map[string]link // what names are, as far as they were looked up

	content           []*text
	contentErr        error
	does              []string
	branches          []string
	branchesSure      bool
	foundEnvironments []string

	haveArgs, haveLocated, haveContent, haveBranches, haveEnvironments bool
}

// actions returns what the call does.
func (s *subject) actions() []string {
	if s.does == nil {
		s.does = actionsOf(s.call)
	}
	return s.does
}

// commands returns the command as it is and, if different, normalised.
func (s *subject) commands() []*text {
	if s.command == nil {
		s.command = []*text{{raw: s.call.Command}}
		if n := normalise(s.call.Command); n != s.call.Command {
			s.command = append(s.command, &text{raw: n})
		}
	}
	return s.command
}

// texts returns every string value in the arguments.
func (s *subject) texts() ([]*text, error) {
	if !s.haveArgs {
		s.haveArgs = true
		s.args, s.argsErr = stringsIn(s.call.Args)
	}
	return s.args, s.argsErr
}

func stringsIn(args json.RawMessage) ([]*text, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if !json.Valid(args) {
		return nil, errors.New("the call's arguments are not JSON")
	}
	var out []*text
	var objects []bool // the open brackets: true for an object
	key := false       // the next string is a key
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	for {
		tk, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the call's arguments: %w", err)
		}
		switch v := tk.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				objects = append(objects, v == '{')
				key = v == '{'
				continue
			}
			objects = objects[:len(objects)-1]
		case string:
			if key {
				key = false
				continue
			}
			out = append(out, &text{raw: v})
		}
		key = len(objects) > 0 && objects[len(objects)-1]
	}
}
