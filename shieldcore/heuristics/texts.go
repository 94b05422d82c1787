package heuristics

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"approver.example"
	"approver.example/shieldcore/internal/leaves"
)

// A text is a part of a call that rules match.
type text struct {
	field Fields
	raw   string
}

// keyFields maps the names of arguments, in lower case and without separators, to
// fields. Arguments with other names are not matched.
var keyFields = fieldsByName(map[Fields]string{
	Command: "command cmd commandline commands script shellcommand code",
	Path: "path paths filepath file files filename dir directory folder notebookpath target targetpath " +
		"targetfile absolutepath relativepath cwd workdir workingdirectory",
	Source:      "source src sourcepath from oldpath input inputpath",
	Destination: "destination dest dst destinationpath to newpath output outputpath",
	URL:         "url urls uri href endpoint link baseurl webhook webhookurl",
	Search:      "pattern glob regex query search include searchterm",
	Prompt: "prompt prompts instruction instructions task goal objective question systemprompt userprompt " +
		"system",
})

func fieldsByName(table map[Fields]string) map[string]Fields {
	out := map[string]Fields{}
	for field, names := range table {
		for name := range strings.FieldsSeq(names) {
			out[name] = field
		}
	}
	return out
}

// maxName is the length of the longest name in keyFields.
const maxName = 20

// fieldOfKey returns the field of an argument by its name, or 0.
func fieldOfKey(key []byte) Fields {
	var buf [maxName]byte
	n := 0
	for _, c := range key {
		switch {
		case c == '_' || c == '-' || c == ' ':
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		if n == len(buf) {
			return 0
		}
		buf[n] = c
		n++
	}
	return keyFields[string(buf[:n])]
}

// texts appends the texts of a call.
func texts(to []text, call approver.ToolCall) ([]text, error) {
	if call.Command != "" {
		to = append(to, text{Command, call.Command})
	}
	for _, p := range call.Paths {
		to = append(to, text{Path, p})
	}
	for _, u := range call.URLs {
		to = append(to, text{URL, u})
	}
	if len(call.Args) == 0 {
		return to, nil
	}
	return argTexts(to, call.Args)
}

// argTexts appends the texts in the arguments, without copying the rest. A value in a list
// has the field of the nearest name.
func argTexts(to []text, args []byte) ([]text, error) {
	err := leaves.Walk(args, leaves.MaxDepth, func(s leaves.Literal) error {
		if s.IsKey || s.Key == nil {
			return nil
		}
		name, err := unquote(s.Key)
		if err != nil {
			return err
		}
		field := fieldOfKey(name)
		if field == 0 {
			return nil
		}
		value, err := unquote(args[s.Start:s.End])
		if err == nil {
			to = add(to, field, value)
		}
		return err
	})
	if err != nil {
		return to, errors.New("the call's arguments are not JSON")
	}
	return to, nil
}

// unquote returns the text of a string in JSON.
func unquote(literal []byte) ([]byte, error) {
	if bytes.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1], nil
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return []byte(s), err
}

// add adds a text unless it is there: most arguments repeat the command, a path or a URL
// of the call.
func add(to []text, field Fields, value []byte) []text {
	const few = 8 // bounds the search; duplicates beyond it are matched twice
	for i := 0; i < len(to) && i < few; i++ {
		if to[i].field == field && to[i].raw == string(value) {
			return to
		}
	}
	if len(bytes.TrimSpace(value)) == 0 {
		return to
	}
	return append(to, text{field, string(value)})
}
