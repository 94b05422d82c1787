package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"approver.example/agents/canary"
	"approver.example/agents/settings"
)

// An installation says how approver's hooks stand in an agent's settings.
type installation struct {
	files  settings.Files
	layout hookLayout
	// unit is that of a timeout in the settings: a second or a millisecond. Zero: there is none to set.
	unit time.Duration
	// most is the longest time that the agent waits for a hook. Zero: as long as its settings say.
	most time.Duration
	// matcher goes before the hooks of an event that is about tools.
	matcher string
	// hook returns one hook as it stands in the settings.
	hook func(l hookLine) any
	// timeout is the key of a hook's timeout, in unit.
	timeout string
	// shell says that a POSIX shell runs the command line. The line then blocks the call even if the
	// courier is killed, which most agents take for a failed hook and run the call.
	shell bool
	// reads says why the agent cannot read a settings file, and so runs no hook in it; nil: it reads what
	// the layout reads.
	reads func(text []byte) error
	// milliseconds is the number from which on a timeout is in milliseconds, whatever the unit; zero: there
	// is none.
	milliseconds int
	// copies says why another hook of approver, in a file that the agent merges with this one, can take
	// away the right one; empty: each runs for itself.
	copies string
	// switches finds what else in a settings file takes the hooks away; nil finds nothing.
	switches func(s settings.Source, keys map[string]json.RawMessage) []settings.Finding
	// beside are other files that do.
	beside beside
	// variables are those with which the agent runs no hooks, or others.
	variables []variable
	// advice says what no settings of a user can prevent.
	advice []settings.Finding
	// bound says that the agent starts its hooks in the folder in which it was started, and runs its calls
	// where that is gone.
	bound bool
}

// A hookLayout says how hooks stand in a settings file; see [settings.Layout].
type hookLayout interface {
	Read(path string, text []byte) (settings.Hooks, error)
	With(path string, text []byte, want settings.Hooks) ([]byte, error)
	Text(hooks settings.Hooks) ([]byte, error)
	// HasMatchers says that an event has matchers, each with its hooks.
	HasMatchers() bool
}

// A hookLine is one hook that install writes.
type hookLine struct {
	event   string
	command string // the whole line
	program string // its first word, for a shell
	timeout int    // in the agent's unit
	guards  bool   // the call must not run if the hook fails
}

// orBlock is the end of a command line for a POSIX shell. If the courier ends in another way than with
// an answer, such as by a signal, the line blocks: with exit code 2 and a text, because some agents run
// the call if there is no text. After a block of the courier there is only its own text.
const orBlock = ` || { [ $? = 2 ] || echo "approver's hook was ended before there was an answer, so the call was ` +
	`stopped" >&2; exit 2; }`

// Files implements [Installer].
func (h *hooked) Files() settings.Files { return h.install.files }

// Recipe implements [Tester].
func (h *hooked) Recipe() (r canary.Recipe, ok bool) {
	if h.recipe == nil {
		return r, false
	}
	return h.recipe(), true
}

// HookConfig implements [Installer].
func (h *hooked) HookConfig(program, socket string, ttl time.Duration) ([]byte, error) {
	hooks, err := h.wanted(program, socket, ttl)
	if err != nil {
		return nil, err
	}
	return h.install.layout.Text(hooks)
}

// NewFile implements [Installer].
func (h *hooked) NewFile(path string, hooks settings.Hooks) ([]byte, error) {
	if l, ok := h.install.layout.(settings.Layout); ok {
		return l.TextAt(path, hooks)
	}
	return h.install.layout.Text(hooks)
}

// wanted returns the hooks that install writes.
func (h *hooked) wanted(program, socket string, ttl time.Duration) (settings.Hooks, error) {
	if err := hookable(program, socket, ttl); err != nil {
		return nil, err
	}
	hooks := settings.Hooks{}
	for i, e := range h.events {
		if !e.installed {
			continue
		}
		line := hookLine{event: e.Name, program: settings.ShellWord(program), guards: e.kind != Ran}
		line.command = line.program + " --agent " + h.name
		if socket != "" {
			line.command += " --socket " + settings.ShellWord(socket)
		}
		if i > 0 {
			line.command += " --event " + e.Name
		}
		deadline, parks := reportDeadline, false
		if line.guards {
			deadline, parks = h.deadline(ttl)
		}
		line.command += fmt.Sprintf(" --deadline %ds", int(deadline.Seconds()))
		if parks {
			line.command += " --park"
		}
		if line.guards && h.install.shell {
			line.command += orBlock
		}
		if h.install.unit > 0 {
			line.timeout = int(hookTimeout(deadline) / h.install.unit)
		}
		raw, err := encoded(h.install.hook(line), "")
		if err != nil {
			return nil, err
		}
		m := settings.Matcher{Hooks: []json.RawMessage{bytes.TrimSpace(raw)}}
		if h.install.layout.HasMatchers() {
			m.Matcher = h.install.matcher
		}
		hooks[e.Name] = []settings.Matcher{m}
	}
	return hooks, nil
}

// ReadHooks implements [Installer].
func (h *hooked) ReadHooks(path string, text []byte) (settings.Hooks, error) {
	hooks, err := h.install.layout.Read(path, text)
	if err == nil && len(bytes.TrimSpace(text)) > 0 && h.install.reads != nil {
		if err = h.install.reads(text); err != nil {
			return nil, settings.RefuseText(path, err)
		}
	}
	return hooks, err
}

// WithHooks implements [Installer].
func (h *hooked) WithHooks(path string, text []byte, hooks settings.Hooks) ([]byte, error) {
	text, err := h.install.layout.With(path, text, hooks)
	if err != nil || len(hooks) == 0 {
		return text, err
	}
	for _, f := range h.switchesIn(settings.Source{Path: path, Text: text}) {
		if !f.Harmless {
			return nil, settings.Refuse(f.Fix, "%s", f)
		}
	}
	_, err = h.ReadHooks(path, text)
	return text, err
}

// switchesIn returns what else in a settings file takes the hooks away.
func (h *hooked) switchesIn(s settings.Source) []settings.Finding {
	if h.install.switches == nil || s.Missing || s.Err != nil {
		return nil
	}
	keys, err := s.Keys()
	if err != nil {
		return nil // reported by Compare, and refused by the layout
	}
	return h.install.switches(s, keys)
}

// Advice implements [Adviser].
func (h *hooked) Advice([]settings.Source) []settings.Finding {
	if !h.install.bound {
		return h.install.advice
	}
	return append(slices.Clone(h.install.advice), settings.Finding{
		Harmless: true,
		Text: h.name + " starts its hook in the folder in which it was started, and runs every call unasked once that " +
			"folder was moved or removed",
		Fix: "start it anew after that; docs/agents/" + h.name + ".md",
	})
}

// machineFolder returns the folder of the machine's settings on this system.
func machineFolder(linux, mac string) string {
	if runtime.GOOS == "darwin" {
		return mac
	}
	return linux
}

// Compare implements [Installer].
func (h *hooked) Compare(sources []settings.Source, want settings.Want) (found []settings.Finding) {
	if len(want.Hooks) == 0 {
		return []settings.Finding{{Text: "it is not known what install would write"}}
	}
	holds, looked := false, false
	held := h.held(sources, want)
	var missing []settings.Finding
	for _, s := range sources {
		for _, f := range h.switchesIn(s) {
			f.Harmless = f.Harmless || held && s.Place != settings.Managed
			found = append(found, f)
		}
		mine := want.Anywhere || s.Path == want.In ||
			want.In == "" && (s.Place == settings.User || s.Place == settings.Managed)
		if !mine || s.Missing && s.Path != want.In && want.In != "" {
			continue
		}
		why := h.lacking(s, want)
		if len(why) == 0 {
			holds = true
			continue
		}
		if !looked || !s.Missing {
			missing = why
		}
		looked = true
	}
	if !holds && len(missing) == 0 {
		missing = []settings.Finding{{Path: want.In, Text: "no settings were found in which approver's hooks could be"}}
	}
	if !holds {
		return append(found, missing...)
	}
	for _, s := range sources {
		found = append(found, h.others(s, want)...)
	}
	return found
}

// others returns findings about copies of approver's hooks that differ from what install writes, and
// about hooks of other programs that can change a call.
func (h *hooked) others(s settings.Source, want settings.Want) (found []settings.Finding) {
	have, err := h.install.layout.Read(s.Path, s.Text)
	if s.Missing || s.Err != nil || err != nil {
		return nil
	}
	for _, event := range slices.Sorted(maps.Keys(want.Hooks)) {
		good := want.Hooks[event][0]
		for _, m := range have[event] {
			for _, raw := range m.Hooks {
				why := ""
				if settings.CommandOf(raw).Ours(h.name) {
					why = h.difference(event, m.Matcher, raw, good, want)
				}
				switch {
				case why != "" && h.install.copies != "":
					found = append(found, settings.Finding{Path: s.Path, Text: fmt.Sprintf("%s has another hook of approver at %s "+
						"(%s), and %s has several: %s", s.Path, event, why, h.name, h.install.copies)})
				case !settings.CommandOf(raw).Ours(h.name) && h.modifies && h.kindOf(event) == Decide:
					found = append(found, settings.Finding{Harmless: true, Path: s.Path,
						Fix: "take it out of " + s.Path + ", unless you know that it changes no arguments",
						Text: fmt.Sprintf("another hook at %s, %q: the arguments that it puts in place of a call's are run unasked",
							event, settings.CommandOf(raw))})
				}
			}
		}
	}
	return found
}

// lacking says how the hooks in one file differ from those that install writes.
func (h *hooked) lacking(s settings.Source, want settings.Want) (found []settings.Finding) {
	say := func(format string, args ...any) []settings.Finding {
		return append(found, settings.Finding{Path: s.Path, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Missing:
		return say("there is no %s", s.Path)
	case s.Err != nil:
		return say("%s cannot be read, so nobody can say what it does to the hooks: %v", s.Path, s.Err)
	}
	have, err := h.ReadHooks(s.Path, s.Text)
	if err != nil {
		return say("%s", settings.Why(err))
	}
	for _, event := range slices.Sorted(maps.Keys(want.Hooks)) {
		if why := h.differs(event, have[event], want); why != "" {
			found = say("%s: at %s %s", s.Path, event, why)
		}
	}
	return found
}

// differs says how the hooks of an event differ from the wanted one; "" means not at all, or in nothing
// that matters.
func (h *hooked) differs(event string, have []settings.Matcher, want settings.Want) string {
	good := want.Hooks[event][0]
	why := "there is no hook of approver"
	for _, m := range have {
		for _, raw := range m.Hooks {
			if !settings.CommandOf(raw).Ours(h.name) {
				continue
			}
			if why = h.difference(event, m.Matcher, raw, good, want); why == "" {
				return ""
			}
		}
	}
	return why
}

// difference says how a hook differs from the wanted one. It may wait longer than that.
func (h *hooked) difference(
	event, matcher string, have json.RawMessage, good settings.Matcher, want settings.Want,
) string {
	if matcher != good.Matcher && h.install.layout.HasMatchers() {
		return fmt.Sprintf("the hook is only for tools that match %q", matcher)
	}
	if settings.SameHook(have, good.Hooks[0]) && want.TTL == 0 {
		return ""
	}
	command, wanted := settings.CommandOf(have), settings.CommandOf(good.Hooks[0])
	stem, waits := command.Deadline()
	wantStem, least := wanted.Deadline()
	timeout, err := timeoutOf(have, h.install)
	guards := h.kindOf(event) != Ran
	switch {
	case stem != wantStem:
		return fmt.Sprintf("the hook runs %q, and install writes %q", command, wanted)
	case err != nil:
		return err.Error()
	case guards && !command.Parks() && want.Short(waits) != "":
		return want.Short(waits)
	case waits < least && !guards:
		return fmt.Sprintf("the hook waits for %v, and install gives it %v", waits, least)
	case h.install.unit > 0 && timeout <= waits:
		return fmt.Sprintf("%s gives up on the hook after %v, before its deadline of %v, and then runs the call", h.name,
			timeout, waits)
	}
	// The line was compared. Another key for one, which good has not, may be what the agent runs.
	line := lineKeys(good.Hooks[0])
	a, errA := without(have, append(line, h.install.timeout)...)
	b, errB := without(good.Hooks[0], append(line, h.install.timeout)...)
	if errors.Join(errA, errB) != nil || !settings.SameHook(a, b) {
		return fmt.Sprintf("the hook is %s, and install writes %s", have, good.Hooks[0])
	}
	return ""
}

// lineKeys returns the keys that a hook of an agent may have for its command line: with one for a POSIX
// shell, there may be one for another system.
func lineKeys(good json.RawMessage) []string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(good, &keys) == nil && keys["bash"] != nil {
		return []string{"bash", "powershell"}
	}
	return []string{"command"}
}

// without returns a JSON object without some keys.
func without(object json.RawMessage, keys ...string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	for _, key := range keys {
		delete(all, key)
	}
	return json.Marshal(all)
}
