package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"approver.example"
)

// call reads what the agent is about to run.
func (c Claude) call(o object) (call approver.ToolCall, content Content, err error) {
	if err := c.place(&call, o); err != nil {
		return call, content, err
	}
	if call.Tool, err = o.need("tool_name", MaxPayload); err != nil {
		return call, content, err
	}
	if !isToolName(call.Tool) {
		return call, content,
			fmt.Errorf(`"tool_name" is %s: letters, digits and -_.:/@ are expected, at most 256`, quote(call.Tool))
	}
	raw, ok := o["tool_input"]
	if !ok || !isObject(raw) {
		return call, content, errors.New(`"tool_input" is missing or not an object`)
	}
	if !wellFormed(raw) {
		return call, content, errors.New(`"tool_input" has half of a surrogate pair, which is no character`)
	}
	var input object
	if err := json.Unmarshal(raw, &input); err != nil {
		return call, content, fmt.Errorf(`"tool_input": %w`, err)
	}
	call.Args = raw
	if err := fillClaude(&call, input); err != nil {
		return call, content, fmt.Errorf(`"tool_input" of %s: %w`, call.Tool, err)
	}
	return call, claudeContent(call.Tool, input), nil
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
	return len(s) <= 256
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
)

// An argument of a tool. Without an argument that must be there, a call is refused.
type argument struct {
	tools string // names, separated by spaces
	key   string
	role  role
	must  bool
}

// claudeTools are the tools whose arguments are known. An argument that is not listed is only in
// Args.
var claudeTools = [...]argument{
	{"Bash PowerShell Monitor", "command", isCommand, true},
	{"Bash PowerShell Monitor", "description", isClaim, false},
	{"Task Agent", "description", isText, false},
	{"Write Edit MultiEdit Read", "file_path", isPath, true},
	{"Write", "content", isText, true},
	{"Edit", "old_string", isText, true},
	{"Edit", "new_string", isText, true},
	{"NotebookEdit NotebookRead", "notebook_path", isPath, true},
	{"NotebookEdit", "new_source", isText, false},
	{"LS", "path", isPath, true},
	{"Glob Grep", "path", isPath, false},
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

// fillClaude reads the arguments of a call into command, paths and URLs.
func fillClaude(call *approver.ToolCall, input object) error {
	known := false
	for _, a := range claudeTools {
		if !hasWord(a.tools, call.Tool) {
			continue
		}
		known = true
		value, ok, err := input.text(a.key)
		switch {
		case err != nil:
			return err
		case !ok && a.must:
			return fmt.Errorf("%q is missing", a.key)
		case value == "" && a.must && a.role != isText:
			return fmt.Errorf("%q is empty", a.key)
		}
		if err := a.put(call, value); err != nil {
			return err
		}
	}
	if known {
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
	case isPath:
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
