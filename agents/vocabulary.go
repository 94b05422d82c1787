package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
)

// The rules know tools and arguments by the names that Claude Code gives them. A vocabulary has the
// names that another agent uses for tools that do the same, with the same arguments. A tool that is
// not listed keeps its names.
type vocabulary []translation

// A translation is about tools that do the same.
type translation struct {
	tools string // the agent's names, separated by spaces
	as    string // the name that the rules know
	// keys are the arguments with other names, as own=known, separated by spaces. If a call has two
	// arguments that become one, it is refused.
	keys string
	// list is the agent's own argument with a list of command lines, each of which runs in a shell of its
	// own. They become the one argument "command".
	list string
	// typed is the agent's own argument with a text that is typed into a shell, see
	// [approver.example/internal/keystrokes]. It becomes "command", and the keys in it "keys".
	typed string
	// when is an argument that a call must have for this translation. If it has none, or null, a later one
	// is looked for.
	when string
	// dir are the agent's own arguments for the folder in which a command runs, separated by spaces. A
	// call must not have two of them.
	dir string
}

// of returns the translation of a call of an agent's tool; one without a word changes nothing.
func (v vocabulary) of(tool string, raw json.RawMessage) translation {
	var had map[string]json.RawMessage
	for _, t := range v {
		if !hasWord(t.tools, tool) {
			continue
		}
		if t.when != "" && had == nil && json.Unmarshal(raw, &had) != nil {
			break // refused when it is read
		}
		if value, ok := had[t.when]; t.when == "" || ok && string(value) != "null" {
			return t
		}
	}
	return translation{as: tool}
}

// to returns the known name of one of the agent's own arguments.
func (t translation) to(key string) string {
	for pair := range strings.FieldsSeq(t.keys) {
		if own, known, _ := strings.Cut(pair, "="); own == key {
			return known
		}
	}
	return key
}

// arguments returns the arguments under their known names, in their order and byte for byte.
func (t translation) arguments(raw json.RawMessage) (json.RawMessage, error) {
	switch {
	case t.list != "":
		return t.joined(raw)
	case t.typed != "":
		return t.entered(raw)
	}
	if t.keys == "" {
		return raw, nil
	}
	return renamed(raw, t.to)
}

// own undoes arguments: it returns known arguments under the agent's own names. used are the agent's
// own arguments of the call. They say which of several names for one argument the agent used.
func (t translation) own(known, used json.RawMessage) (json.RawMessage, error) {
	switch {
	case t.list != "":
		return t.listed(known, used)
	case t.typed != "":
		return nil, errors.New("what is typed cannot be changed")
	}
	if t.keys == "" {
		return known, nil
	}
	var had map[string]json.RawMessage
	if err := json.Unmarshal(used, &had); err != nil {
		return nil, err
	}
	return renamed(known, func(key string) string {
		for own := range had {
			if t.to(own) == key {
				return own
			}
		}
		return key
	})
}

// renamed rewrites the keys of a JSON object. It refuses two keys that become one.
func renamed(raw json.RawMessage, name func(key string) string) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	out := bytes.NewBufferString("{")
	var seen []string
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		own, _ := token.(string)
		key := name(own)
		if slices.Contains(seen, key) {
			return nil, fmt.Errorf("%s and another key both mean %s", quote(own), quote(key))
		}
		seen = append(seen, key)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		quoted, err := encoded(key, "")
		if err != nil {
			return nil, err
		}
		out.Write(bytes.TrimSuffix(quoted, []byte("\n")))
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// read reads what the agent is about to run: its own name for the tool, and its own arguments.
func (v vocabulary) read(call *approver.ToolCall, tool string, raw json.RawMessage) (content Content, err error) {
	if !isToolName(tool) {
		return content, fmt.Errorf(`the tool's name is %s: letters, digits and -_.:/@ are expected, at most %d`,
			quote(tool), maxID)
	}
	if !wellFormed(raw) {
		return content, errors.New("the tool's arguments have half of a surrogate pair, which is no character")
	}
	t := v.of(tool, raw)
	call.Tool = t.as
	if call.Args, err = t.arguments(raw); err != nil {
		return content, fmt.Errorf("the arguments of %s: %w", tool, err)
	}
	input, err := objectOf(call.Args)
	if err != nil {
		return content, fmt.Errorf("the arguments of %s: %w", tool, err)
	}
	if err = t.in(call, input); err == nil {
		err = fill(call, input)
	}
	if err != nil {
		return content, fmt.Errorf("the arguments of %s: %w", tool, err)
	}
	return contentOf(call.Tool, input), nil
}

// in sets the folder of the call to that in which its command runs.
func (t translation) in(call *approver.ToolCall, input object) error {
	var dir, from string
	for key := range strings.FieldsSeq(t.dir) {
		value, ok, err := input.short(key, maxPath)
		switch {
		case err != nil:
			return err
		case ok && from != "":
			return fmt.Errorf("%q and %q both say in which folder the command runs", from, key)
		case ok:
			dir, from = value, key
		}
	}
	switch {
	case strings.ContainsRune(dir, 0):
		return fmt.Errorf("%q contains a NUL character", from)
	case dir != strings.TrimFunc(dir, isBlank):
		return fmt.Errorf("%q begins or ends with white space", from)
	case dir == "":
	case filepath.IsAbs(dir):
		call.Dir = dir
	default:
		call.Dir = filepath.Join(call.Dir, dir)
	}
	return nil
}

func isToolName(s string) bool {
	for i := range len(s) {
		b := s[i]
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-_.:/@", b) >= 0:
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxID
}

// A role says what an argument means for approver.
type role uint8

const (
	isText role = iota // only checked to be a string
	isCommand
	isPath
	isURL
	isClaim   // a shell tool's description of the call, which does nothing
	isPattern // a file glob: names a place if it leads out of the directory
	arePaths  // a path or a list of them
)

// An argument of a tool. Without an argument that must be there, a call is refused.
type argument struct {
	tools string // names, separated by spaces
	key   string
	role  role
	must  bool
}

// known are the tools whose arguments are known, under the names of Claude Code. An argument that is
// not listed is only in Args.
var known = [...]argument{
	{"Bash PowerShell Monitor", "command", isCommand, true},
	{"Bash PowerShell Monitor", "description", isClaim, false},
	{"Task Agent", "description", isText, false},
	{"Write Edit MultiEdit Read", "file_path", isPath, true},
	{"Write", "content", isText, true},
	{"Edit", "old_string", isText, true},
	{"Edit", "new_string", isText, true},
	{"NotebookEdit NotebookRead", "notebook_path", isPath, true},
	{"NotebookEdit", "new_source", isText, false},
	{"LS", "path", isPath, false},
	{"Glob Grep", "path", isPath, false},
	{"Glob Grep", "paths", arePaths, false},
	{"Glob", "pattern", isPattern, true},
	{"Grep", "pattern", isText, true},
	{"WebFetch", "url", isURL, true},
	{"WebFetch", "prompt", isText, false},
	{"WebSearch", "query", isText, true},
	{"Task Agent", "prompt", isText, true},
}

// commonKeys are read for a tool that is not known, such as that of an MCP server. They can only
// show more to the rules that judge the call. They may have any type. A description is not one of
// them, because it may have an effect on a server.
var commonKeys = [...]struct {
	role role
	keys string
}{
	{isCommand, "command cmd"},
	{isPath, "path file file_path filePath filename directory source destination paths files"},
	{isURL, "url uri urls"},
}

// fill reads the arguments of a call into command, paths and URLs.
func fill(call *approver.ToolCall, input object) error {
	isKnown := false
	for _, a := range known {
		if !hasWord(a.tools, call.Tool) {
			continue
		}
		isKnown = true
		if a.role == arePaths {
			for _, path := range input.texts(a.key) {
				if err := a.put(call, path); err != nil {
					return err
				}
			}
			continue
		}
		value, ok, err := input.text(a.key)
		switch {
		case err != nil:
			return err
		case !ok && a.must:
			return fmt.Errorf("%q is missing", a.key)
		case value == "" && a.must && a.role != isText:
			return fmt.Errorf("%q is empty", a.key)
		}
		// Some agents cut white space off, and the path is then another one.
		if a.role == isPath && value != strings.TrimFunc(value, isBlank) {
			return fmt.Errorf("%q begins or ends with white space", a.key)
		}
		if err := a.put(call, value); err != nil {
			return err
		}
	}
	if isKnown {
		return nil
	}
	for _, common := range commonKeys {
		for key := range strings.FieldsSeq(common.keys) {
			values := input.texts(key)
			if common.role == isCommand {
				values = input.words(key)
			}
			for _, value := range values {
				if err := (argument{key: key, role: common.role}).put(call, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func hasWord(words, word string) bool {
	for w := range strings.SplitSeq(words, " ") {
		if w == word {
			return true
		}
	}
	return false
}

// put adds the value to the call by its role. A NUL ends a string for the system but not for a
// rule, so no command, path or URL may have one.
func (a argument) put(call *approver.ToolCall, value string) error {
	if value == "" {
		return nil
	}
	if a.role != isText && a.role != isClaim && strings.ContainsRune(value, 0) {
		return fmt.Errorf("%q contains a NUL character", a.key)
	}
	switch a.role {
	case isCommand:
		if call.Command != "" {
			value = call.Command + "\n" + value
		}
		call.Command = value
	case isPath, arePaths:
		call.Paths = append(call.Paths, value)
	case isURL:
		call.URLs = append(call.URLs, value)
	case isClaim:
		call.Claimed = value
	case isPattern:
		switch {
		case filepath.IsAbs(value), strings.HasPrefix(value, "~"):
			call.Paths = append(call.Paths, value)
		case strings.Contains(value, ".."):
			for _, from := range call.Paths[:min(len(call.Paths), 1)] { // the folder that is searched
				value = from + "/" + value
			}
			call.Paths = append(call.Paths, value)
		}
	case isText:
	}
	return nil
}
