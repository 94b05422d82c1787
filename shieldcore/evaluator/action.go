package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
	"approver.example/shieldcore"
)

// An action is the part of a call that the model gets: no agent, session, user, directory
// or environment, and not the agent's own description.
type action struct {
	Kinds     []string `json:"action"`
	Tool      string   `json:"tool,omitempty"`
	Arguments any      `json:"arguments,omitempty"`
	// Only texts that are not in the arguments.
	Command string   `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	URLs    []string `json:"urls,omitempty"`
}

// A cutAction is a long action: only the head and the tail of its JSON.
type cutAction struct {
	Kinds []string `json:"action"`
	Cut   cutNote  `json:"cut"`
}

type cutNote struct {
	Note    string `json:"note"`
	Missing int    `json:"bytes_missing"`
	Head    string `json:"head"`
	Tail    string `json:"tail"`
}

// describe returns the call as one line of JSON of at most limit bytes, with secrets
// masked. cut says that parts are missing.
func describe(call approver.ToolCall, limit int, own func(string) string) (line []byte, cut bool, err error) {
	a := action{Kinds: shieldcore.ActionTypes(call)}
	m := masker{own: own, command: call.Command, seen: map[string]bool{}}
	a.Tool = m.text(call.Tool)
	if len(call.Args) > 0 {
		if err := checkJSON(call.Args); err != nil {
			return nil, false, fmt.Errorf("the arguments cannot be judged: %w", err)
		}
		dec := json.NewDecoder(bytes.NewReader(call.Args))
		dec.UseNumber()
		var args any
		if err := dec.Decode(&args); err != nil {
			return nil, false, errors.New("the arguments cannot be judged: they are not JSON")
		}
		a.Arguments = m.value("", withoutClaim(call, args))
	}
	if !m.seen[call.Command] {
		a.Command = m.text(call.Command)
	}
	missing := func(name string, texts []string) []string {
		var out []string
		for _, t := range texts {
			if !m.seen[t] {
				out = append(out, m.member(name, t))
			}
		}
		return out
	}
	a.Paths, a.URLs = missing("path", call.Paths), missing("url", call.URLs)
	whole, err := marshal(a)
	if err != nil {
		return nil, false, errors.New("the call cannot be judged: it is not text")
	}
	if len(whole) <= limit {
		return whole, false, nil
	}
	line, err = cutTo(a.Kinds, string(whole), limit)
	return line, true, err
}

// withoutClaim removes the agent's description of its own call: it does not run, and
// could influence the model.
func withoutClaim(call approver.ToolCall, args any) any {
	fields, ok := args.(map[string]any)
	if ok && call.Command != "" && call.Claimed != "" && fields["description"] == call.Claimed {
		delete(fields, "description")
	}
	return args
}

// cutTo keeps head and tail of the text such that the line fits.
func cutTo(kinds []string, whole string, limit int) ([]byte, error) {
	for room := limit; room > 0; {
		head := whole[:display.RuneBoundary(whole, room*2/3)]
		tail := whole[max(len(whole)-(room-room*2/3), 0):]
		for tail != "" && !utf8.RuneStart(tail[0]) { // of a character that is cut
			tail = tail[1:]
		}
		missing := len(whole) - len(head) - len(tail)
		line, err := marshal(cutAction{Kinds: kinds, Cut: cutNote{
			Note:    fmt.Sprintf("%d bytes in the middle of this action are not shown", missing),
			Missing: missing, Head: head, Tail: tail,
		}})
		if err != nil {
			return nil, errors.New("the call cannot be judged: it is not text")
		}
		if len(line) <= limit {
			return line, nil
		}
		room = min(room-1, room*limit/len(line)) // quoting made it longer, by how much depends on the text
	}
	return nil, errors.New("the call cannot be judged: there is no room for any of it")
}

// A masker masks texts before they leave the machine, and remembers them.
type masker struct {
	own     func(string) string // hides what belongs to the evaluator itself
	command string
	seen    map[string]bool
}

// text masks secrets, and then makes invisible characters visible, so that the model
// reads nothing that a person would not see.
func (m *masker) text(s string) string { return display.Visible(display.Mask(m.own(s))) }

// value masks every text of a decoded JSON value; name is the nearest member name.
func (m *masker) value(name string, v any) any {
	switch v := v.(type) {
	case string:
		m.seen[v] = true
		return m.member(name, v)
	case []any:
		for i := range v {
			v[i] = m.value(name, v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			shown := m.text(key)
			for n := 2; ; n++ { // two keys may look the same once they are masked
				if _, taken := out[shown]; !taken {
					break
				}
				shown = fmt.Sprintf("%s (%d)", m.text(key), n)
			}
			out[shown] = m.value(key, inner)
		}
		return out
	}
	return v
}

// maxNamed is the length in bytes up to which a text may be a secret by the name
// of its member.
const maxNamed = 4 << 10

// member masks a text, also if only the name of its member shows that it is a secret, as
// in {"password": "…"}. As on cards, a name hides only random-looking text, so that no
// command can hide behind one.
func (m *masker) member(name, v string) string {
	plain := m.own(v)
	masked := display.Mask(plain)
	if masked == plain && v != m.command && len(v) <= maxNamed && !strings.ContainsAny(name+v, "\"\n") {
		front := `"` + name + `":"`
		named := display.Mask(front + plain + `"`)
		if strings.HasPrefix(named, front) && strings.HasSuffix(named, `"`) {
			masked = named[len(front) : len(named)-1]
		}
	}
	return display.Visible(masked)
}

// marshal is json.Marshal on one line without HTML escapes, which only make
// commands hard to read. It has no line break, whatever the texts have.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
