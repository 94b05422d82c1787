package fingerprint

import (
	"approver.example"
	"approver.example/reflexcore/effect"
)

// This file is where the readers of files go back to the top: a text that a file runs is walked
// and bound as the call itself is.

// walk binds what a call, or a text that it runs, executes.
func (s *scan) walk(call approver.ToolCall, in scope) {
	if call.Command == "" && in.depth > 0 || s.err != nil {
		return
	}
	if s.walks++; s.walks > maxWalks {
		s.name("further recipes and scripts")
		return
	}
	w, err := s.walker.Walk(call)
	if err != nil {
		s.fail(err)
		return
	}
	r := &reader{scan: s, scope: in, call: call, path: effect.Unknown}
	if v, ok := call.Env["PATH"]; ok {
		r.path = v
	}
	(&pass{flow: newFlow(r, w)}).bind()
}

// runs walks a text that runs in a folder, one level deeper; env is nil where it has the variables
// of what is walked now.
func (r *reader) runs(text, dir string, env map[string]string, in scope) {
	call := r.call
	call.Command, call.Dir, call.Args, call.Raw = text, dir, nil, nil
	if env != nil {
		call.Env = env
	}
	in.depth = r.depth + 1
	r.walk(call, in)
}

// starts binds what a command of settings starts in a folder.
func (r *reader) starts(command, dir, file string) {
	if !r.once("starts", command, dir) {
		return
	}
	if r.depth >= maxFollowed {
		r.unread(file, "starts")
		return
	}
	r.runs(command, dir, nil, scope{strict: r.strict, words: true, of: file, sure: true})
}
