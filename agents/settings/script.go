package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Script is a file that belongs to approver as a whole, such as a plugin that runs approver-hook. It
// has one hook for an event: its command line, and a digest of all else in the file.
type Script struct {
	Agent string // whose hooks are in it, as for --agent
	// Template is the text of the file. [Slot] stands where its hooks are, on a line that begins as no
	// other line does.
	Template string
	// Event is the one event of a shell script, in whose slot stands the command line. Empty: the file is
	// JavaScript, and in its slot stands an object with the command of each event; see [Argv].
	Event string
}

// Slot is where the hooks stand in a template.
const Slot = "@HOOKS@"

// An Argv is the command of an event as it stands in a JavaScript file: its words, and after how many
// seconds it is given up. That is later than its own deadline.
type Argv struct {
	Argv    []string `json:"argv"`
	Seconds int      `json:"seconds"`
}

// scriptMargin is how much longer than its deadline a command may take.
const scriptMargin = 5 * time.Second

// A scriptHook is a hook as [Script.Read] returns it.
type scriptHook struct {
	Command Command `json:"command"`
	// File is the digest of the template, or says that the file is not what install makes.
	File string `json:"file"`
}

// altered is the digest of a file that somebody changed.
const altered = "changed since approver wrote it"

func (s Script) digest() string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s.Template)))
}

// around returns the template before and after the slot, and how the line with the slot begins.
func (s Script) around() (before, line, after string) {
	before, after, _ = strings.Cut(s.Template, Slot)
	line = before[strings.LastIndexByte(before, '\n')+1:]
	return before, line, after
}

// Read returns the hooks in a file. A file that is not approver's has none.
func (s Script) Read(path string, text []byte) (Hooks, error) {
	slot, ok := s.slot(text)
	if !ok {
		return nil, nil
	}
	commands, err := s.commands(slot)
	if err != nil {
		return nil, Refuse("remove it", "%s was written by approver and changed since: %v", path, err)
	}
	file := s.digest()
	if whole, err := s.render(commands); err != nil || !bytes.Equal(whole, text) {
		file = altered
	}
	hooks := Hooks{}
	for event, command := range commands {
		raw, err := json.Marshal(scriptHook{command, file})
		if err != nil {
			return nil, err
		}
		hooks[event] = []Matcher{{Hooks: []json.RawMessage{raw}}}
	}
	return hooks, nil
}

// slot returns what stands in the slot of a file of approver's: the first line that begins so.
func (s Script) slot(text []byte) (slot string, ok bool) {
	_, line, after := s.around()
	end, _, _ := strings.Cut(after, "\n")
	for have := range strings.Lines(string(text)) {
		if slot, ok = strings.CutPrefix(strings.TrimRight(have, "\r\n"), line); ok {
			return strings.TrimSuffix(slot, end), true
		}
	}
	return "", false
}

// commands reads what stands in the slot.
func (s Script) commands(slot string) (map[string]Command, error) {
	if s.Event != "" {
		if !Command(slot).Ours(s.Agent) {
			return nil, errors.New("it runs something else than approver-hook")
		}
		return map[string]Command{s.Event: Command(slot)}, nil
	}
	var all map[string]Argv
	if err := json.Unmarshal([]byte(slot), &all); err != nil {
		return nil, errors.New("its commands are not as approver writes them")
	}
	commands := map[string]Command{}
	for event, argv := range all {
		if commands[event] = CommandLine(argv.Argv); !commands[event].Ours(s.Agent) {
			return nil, errors.New("it runs something else than approver-hook")
		}
	}
	return commands, nil
}

// render returns the text of the file with these commands.
func (s Script) render(commands map[string]Command) ([]byte, error) {
	before, _, after := s.around()
	if s.Event != "" {
		if len(commands) != 1 || commands[s.Event] == "" || strings.ContainsAny(string(commands[s.Event]), "\r\n") {
			return nil, fmt.Errorf("the file needs one command, for %s", s.Event)
		}
		return []byte(before + string(commands[s.Event]) + after), nil
	}
	all := map[string]Argv{}
	for event, command := range commands {
		words, err := command.Words()
		if err != nil {
			return nil, err
		}
		_, deadline := command.Deadline()
		all[event] = Argv{words, int((deadline + scriptMargin).Seconds())}
	}
	var slot bytes.Buffer
	enc := json.NewEncoder(&slot)
	enc.SetEscapeHTML(false)
	err := enc.Encode(all)
	return []byte(before + strings.TrimSpace(slot.String()) + after), err
}

// With returns the file with the hooks; without hooks it is empty. A file that is not approver's is
// never changed.
func (s Script) With(path string, text []byte, want Hooks) ([]byte, error) {
	_, ours := s.slot(text)
	switch {
	case len(want) == 0 && !ours:
		return text, nil
	case len(want) == 0:
		return nil, nil
	case !ours && len(bytes.TrimSpace(text)) > 0:
		return nil, Refuse("rename it, or remove it", "%s was not written by approver", path)
	}
	return s.Text(want)
}

// Text returns the text of the file with these hooks, one for each event.
func (s Script) Text(hooks Hooks) ([]byte, error) {
	commands := map[string]Command{}
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		if len(hooks[event]) != 1 || len(hooks[event][0].Hooks) != 1 {
			return nil, fmt.Errorf("the file has one hook for %s", event)
		}
		commands[event] = CommandOf(hooks[event][0].Hooks[0])
	}
	return s.render(commands)
}

// HasMatchers says that an event has one hook, without a matcher.
func (Script) HasMatchers() bool { return false }

// Hook returns a hook of the file as [Script.Read] returns it, with its command line.
func (s Script) Hook(command string) any { return scriptHook{Command(command), s.digest()} }
