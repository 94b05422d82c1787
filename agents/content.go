package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"approver.example/display"
)

// A Content is a digest of what a call does: its tool and the arguments that have an effect. The
// zero value is none.
type Content [sha256.Size]byte

// ignored are arguments that have no effect, and that Claude Code adds or removes between
// PreToolUse and PostToolUse: with this value, or with any value if it is empty. Every other
// argument counts, known or not. Version 2.1.330 added only the answers of a user, and replace_all
// to an input that a hook had replaced.
var ignored = [...]struct{ tools, key, value string }{
	{"Bash PowerShell Monitor", "description", ""},       // for its user to read
	{"AskUserQuestion", "answers", ""},                   // what its user said
	{"AskUserQuestion", "annotations", ""},               // and wrote beside it
	{"ExitPlanMode", "plan", ""},                         // older versions add the text of
	{"ExitPlanMode", "planFilePath", ""},                 // the plan, and its file
	{"Edit", "replace_all", "false"},                     // the defaults of the tools' schemas
	{"Bash", "run_in_background", "false"},               //
	{"Bash", "dangerouslyDisableSandbox", "false"},       //
	{"Agent Task", "run_in_background", "false"},         //
	{"Grep", "multiline", "false"},                       //
	{"Grep", "-i", "false"},                              //
	{"NotebookEdit", "edit_mode", "replace"},             //
	{"AskUserQuestion", "metadata", "{}"},                //
	{"PowerShell Monitor", "run_in_background", "false"}, //
}

// contentOf digests a tool and its arguments, both under their known names.
func contentOf(tool string, input object) (c Content) {
	var idle []int
	for i := range ignored {
		if hasWord(ignored[i].tools, tool) {
			idle = append(idle, i)
		}
	}
	named := tool == "Workflow" && (names(input["name"]) || names(input["scriptPath"]))
	h := sha256.New()
	part := func(text []byte) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write(text)
	}
	part([]byte(tool))
	for _, key := range slices.Sorted(maps.Keys(input)) {
		if named && key == "script" {
			continue // Claude Code puts the text of the file there, which was judged by its name
		}
		value := plainValue(input[key])
		if !slices.ContainsFunc(idle, func(i int) bool {
			return ignored[i].key == key && (ignored[i].value == "" || ignored[i].value == string(value))
		}) {
			part([]byte(key))
			part(value)
		}
	}
	h.Sum(c[:0])
	return c
}

// names reports whether an argument is a text that is not empty.
func names(raw json.RawMessage) bool { return len(raw) > 2 && raw[0] == '"' }

// plainValue writes a JSON value in a canonical form: white space, the order of keys and the
// escapes of a string do not count. The text of a number, true or false is that value: Claude Code
// converts "3000" if the tool wants a number, also in what a hook has put in the place of the input.
// Any other text differs from every value that is no text: it gets a quote if it begins like one.
func plainValue(raw json.RawMessage) []byte {
	switch {
	case len(raw) == 0:
		return nil
	case raw[0] == '"':
		text := raw[1 : len(raw)-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			var plain string
			if json.Unmarshal(raw, &plain) != nil {
				return raw
			}
			text = []byte(plain)
		}
		if string(text) == "null" || len(text) > 0 && strings.IndexByte(`[{"`, text[0]) >= 0 {
			return slices.Concat([]byte{'"'}, text)
		}
		return text
	case raw[0] == '{' || raw[0] == '[':
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber() // numbers are compared as they are written
		var value any
		if dec.Decode(&value) == nil {
			if text, err := json.Marshal(value); err == nil {
				return text
			}
		}
	}
	return raw
}

// Plain returns the event of a call that a person wrote by hand, with the names of tools and
// arguments of the first agent.
func Plain(session, dir, tool string, args map[string]json.RawMessage) (Event, error) {
	payload, err := display.EncodeJSON(map[string]any{ // agents escape no < as \u003c, either
		"hook_event_name": "PreToolUse", "session_id": session, "cwd": dir,
		"tool_name": tool, "tool_input": args, "tool_use_id": "judge",
	})
	if err != nil {
		return Event{}, err
	}
	return Claude{}.Decode(payload)
}
