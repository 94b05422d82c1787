package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"approver.example/agents/settings"
	"approver.example/internal/keystrokes"
)

// joined makes one command line of a list of them. Each of several goes to a shell of its own, as the
// agent does it: what one of them sets, such as the folder, does not hold for the next.
//
// The agent puts several command lines together if one of them begins a here-document. So a list in
// which that could be is refused, because nobody could say what runs.
func (t translation) joined(raw json.RawMessage) (json.RawMessage, error) {
	lines, err := t.lines(raw)
	if err != nil {
		return nil, err
	}
	command := lines[0]
	if len(lines) > 1 {
		if strings.Contains(strings.Join(lines, ""), "<<") {
			return nil, errors.New("several commands, and one with <<: make a call of its own for each of them")
		}
		var b strings.Builder
		for _, line := range lines {
			b.WriteString("bash -c " + settings.ShellWord(line) + "\n")
		}
		command = strings.TrimSuffix(b.String(), "\n")
	}
	return json.Marshal(map[string]string{"command": command})
}

// lines returns the command lines of a call. A form that is not known is refused.
func (t translation) lines(raw json.RawMessage) ([]string, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	value, ok := o[t.list]
	if !ok || len(o) != 1 {
		return nil, fmt.Errorf("only %s is expected", quote(t.list))
	}
	var one string
	if json.Unmarshal(value, &one) == nil && one != "" {
		return []string{one}, nil
	}
	var lines []string
	if err := json.Unmarshal(value, &lines); err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("%s is no list of commands", quote(t.list))
	}
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			return nil, fmt.Errorf("%s has an empty command", quote(t.list))
		}
	}
	return lines, nil
}

// listed undoes joined for one command. The changed text of several cannot be divided.
func (t translation) listed(known, used json.RawMessage) (json.RawMessage, error) {
	lines, err := t.lines(used)
	if err != nil {
		return nil, err
	}
	var args struct {
		Command *string `json:"command"`
	}
	o, err := parseObject(known)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(known, &args) != nil || args.Command == nil || len(o) != 1 || len(lines) != 1 {
		return nil, errors.New("only the text of one command can be changed")
	}
	return json.Marshal(map[string][]string{t.list: {*args.Command}})
}

// entered makes the text of the command line of one that is typed.
func (t translation) entered(raw json.RawMessage) (json.RawMessage, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	text, ok, err := o.text(t.typed)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%s is missing", quote(t.typed))
	case o.hasAll("command") || o.hasAll("keys"):
		return nil, errors.New(`"command" and "keys" are not expected`)
	}
	out := map[string]any{}
	for key, value := range o {
		out[key] = value
	}
	delete(out, t.typed)
	plain, keys := keystrokes.Commands(text)
	if out["command"] = plain; keys != "" {
		out["keys"] = keys
	}
	return json.Marshal(out)
}
