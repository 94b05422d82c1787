package claudesettings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"approver.example/agents/settings"
)

// A file is a source that was read.
type file struct {
	settings.Source
	Settings
	// idle lists the missing hooks that guard nothing.
	idle []string
	// dropped says that Claude Code may ignore the file. Then hooks in it do not count, and settings
	// that weaken hooks do: if in doubt, the check reports.
	dropped bool
	missing []string
}

func (f file) holds() bool { return !f.dropped && len(f.missing) == 0 }

// Compare says whether approver's hooks run with all of these settings together: what weakens them,
// and what is only worth reporting.
func Compare(sources []settings.Source, want settings.Want) (found []settings.Finding) {
	say := func(harmless bool, path, format string, args ...any) {
		found = append(found, settings.Finding{Harmless: harmless, Path: path, Text: fmt.Sprintf(format, args...)})
	}
	var files []file
	var values []settings.Finding // invalid values, because of which Claude Code drops a file
	for _, s := range sources {
		f, told, dropped := read(s, want)
		files, found, values = append(files, f), append(found, told...), append(values, dropped...)
	}
	if len(want.Hooks) == 0 {
		return append(found, settings.Finding{Text: "it is not known what install would write"})
	}
	managed := slices.ContainsFunc(files, func(f file) bool { return f.Place == settings.Managed && f.holds() })
	off := managedOff(files)
	holds := managed && (want.In == "" || off != "") // the hooks of other files do not run, or do not have to
	for _, f := range files {
		mine := f.Place == settings.User && want.In == "" || f.Path == want.In || want.Anywhere
		if mine && f.holds() && (f.Place == settings.Managed || off == "") {
			holds = true
		}
	}
	for _, v := range values {
		v.Harmless = v.Harmless || holds // the file that is dropped is not the one that holds them
		found = append(found, v)
	}
	if holds {
		found = append(found, missingReports(files)...)
	}
	if !holds {
		found = append(found, missing(files, want)...)
		if off != "" && !managed {
			found = append(found, settings.Finding{Text: off, Fix: "approver install claude --system"})
		}
		if len(settings.Weak(found)) == 0 {
			say(false, want.In, "the hooks do not hold here")
		}
	}
	for _, f := range files {
		found = append(found, f.switches(files, managed)...)
		found = append(found, f.others(want, holds)...)
	}
	return found
}

// read reads one source. found has what cannot be read, and dropped the values because of which
// Claude Code ignores the file.
func read(s settings.Source, want settings.Want) (f file, found, dropped []settings.Finding) {
	var err error
	f = file{Source: s, dropped: true}
	f.missing = missingHooks(nil, want, false)
	switch {
	case s.Missing:
		return f, nil, nil
	case s.Err != nil:
		return f, []settings.Finding{unreadable(s, want, s.Err)}, nil
	}
	if s.Text = unmarked(s.Text); len(bytes.TrimSpace(s.Text)) == 0 {
		s.Text = []byte("{}") // Claude Code reads an empty file as this
	}
	f.Text = s.Text
	if s.Place == settings.Global {
		if f.Env, err = globalEnv(s.Text); err != nil {
			found = []settings.Finding{unreadable(s, want, settings.InFile(s.Path, s.Text, err))}
		}
		return f, found, nil
	}
	problems := Check(s.Path, s.Text)
	f.Settings, err = Read(s.Path, s.Text)
	if kind := (*json.UnmarshalTypeError)(nil); err != nil && (len(problems) == 0 || !errors.As(err, &kind)) {
		found = append(found, settings.Finding{Path: s.Path, Text: settings.Why(err), Fix: "mend " + s.Path + " there"})
	}
	for _, p := range problems {
		fix := "take " + strconv.Quote(p.Key) + " out of " + s.Path + ", or give it a value that Claude Code takes"
		if p.Key == "" {
			fix = "mend " + s.Path + " there"
		}
		dropped = append(dropped,
			settings.Finding{Harmless: s.Place == settings.Managed && err == nil, Path: s.Path, Text: p.String(), Fix: fix})
	}
	if err == nil {
		f.dropped = len(problems) > 0 && s.Place != settings.Managed
		f.missing, f.idle = missingHooks(f.Hooks, want, false), missingHooks(f.Hooks, want, true)
	}
	return f, found, dropped
}

// unmarked removes the byte order mark, as Claude Code does. Measured with 2.1.330 for settings and
// for the files in which it notes what it knows about a user.
func unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// unreadable returns the finding for a file whose content is not known. It advises to remove the
// file only if approver's hooks cannot be in it.
func unreadable(s settings.Source, want settings.Want, why error) settings.Finding {
	fix := "make " + s.Path + " readable for this user and valid JSON"
	if s.Place != settings.Managed && s.Place != settings.User && s.Path != want.In && !want.Anywhere {
		fix += ", or remove it"
	}
	if at := (*fs.PathError)(nil); errors.As(why, &at) {
		why = at.Err // the file is named first
	}
	return settings.Finding{Path: s.Path,
		Text: s.Path + " cannot be read, so nobody can say what it does to the hooks: " + settings.Why(why), Fix: fix}
}

// byRank sorts events that stop calls before those that only report them.
func byRank(a, b string) int {
	rank := []string{"PreToolUse", "ConfigChange"}
	at := func(s string) int { return (slices.Index(rank, s) + len(rank) + 1) % (len(rank) + 1) }
	if at(a) != at(b) {
		return at(a) - at(b)
	}
	return strings.Compare(a, b)
}

// where names an event, and says what follows if approver has no hook there.
func where(event string) string {
	switch event {
	case "PreToolUse":
		return "before tools"
	case "PostToolBatch":
		return "at PostToolBatch, so that no card says that claude refused what people had approved"
	case "PermissionRequest":
		return "at PermissionRequest, so that what claude itself asks can only be answered in its own dialog"
	case "ConfigChange":
		return "at ConfigChange, so that settings which take the hooks away hold at once"
	}
	return "at " + event + ", so that nobody hears of calls that went around it"
}

// maxDeadline is the longest deadline that approver-hook accepts.
const maxDeadline = 24 * time.Hour

// harmlessKeys are the keys that a hook of approver may have: those whose values difference checks,
// and statusMessage, which has no effect.
var harmlessKeys = []string{"type", "command", "timeout", "onFailure", "statusMessage", "async", "asyncRewake", "if"}

// difference says how a hook differs from the one that install writes; "" means not at all.
func difference(event, matcher string, raw json.RawMessage, want settings.Want) string {
	var have, good Entry
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &have) != nil || json.Unmarshal(raw, &keys) != nil ||
		json.Unmarshal(want.Hooks[event][0].Hooks[0], &good) != nil {
		return "the hook is none that approver understands"
	}
	stem, waits := have.Command.Deadline()
	wantStem, wantWaits := good.Command.Deadline()
	timeout := time.Duration(have.Timeout * float64(time.Second))
	stray := ""
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(harmlessKeys, key) {
			stray = key
		}
	}
	switch {
	case !filepath.IsAbs(have.Command.Program()):
		return fmt.Sprintf("the hook %s is no absolute path: a project could put another in its place",
			have.Command.Program())
	case matcher != "*" && matcher != "":
		return "the hook is only for tools that match " + strconv.Quote(matcher)
	case have.Type != "command":
		return fmt.Sprintf("the hook is of type %q, and claude does not run its command", have.Type)
	case good.Async && !have.Async:
		return `the hook is not "async": claude waits for it at each turn, for nothing`
	case have.Async != good.Async || have.AsyncRewake:
		return `the hook is "async": claude runs the call without waiting for its answer`
	case have.If != "":
		return "the hook is only for calls that match " + strconv.Quote(have.If)
	case stray != "":
		return fmt.Sprintf("the hook has %q, which install does not write", stray)
	case waits > maxDeadline:
		return fmt.Sprintf("the hook waits for %v, and approver-hook takes %v at most and then does not ask", waits,
			maxDeadline)
	case event == "PreToolUse" && want.Short(waits) != "":
		return want.Short(waits)
	case waits < wantWaits && event != "PreToolUse" || waits <= 0:
		return fmt.Sprintf("the hook waits for %v, and install gives it %v", waits, wantWaits)
	case timeout <= waits && event == "PermissionRequest":
		return fmt.Sprintf("claude kills the hook after %v, before its deadline of %v", timeout, waits)
	case timeout <= waits:
		return fmt.Sprintf("claude kills the hook after %v, before its deadline of %v, and then runs the call", timeout,
			waits)
	case good.OnFailure == "block" && have.OnFailure != "block":
		return `the hook has no "onFailure": "block": a call runs when the hook is killed`
	case stem != wantStem || event != "PreToolUse" && have.Command != good.Command:
		return fmt.Sprintf("the hook runs %q, and install writes %q", have.Command, good.Command)
	}
	return ""
}

// missing returns what is missing in the file that should have the hooks.
func missing(files []file, want settings.Want) (found []settings.Finding) {
	best, most := -1, -1
	for i, f := range files {
		others := f.Place > settings.User && !want.Anywhere
		if f.Place == settings.Global || want.In != "" && f.Path != want.In || want.In == "" && others {
			continue
		}
		score := 0
		for at, is := range [...]bool{!f.Missing, f.Place == settings.User, f.hasOurs()} {
			if is {
				score += 1 << at
			}
		}
		if score > most {
			best, most = i, score
		}
	}
	if best < 0 {
		return []settings.Finding{{Text: "no settings were found in which approver's hooks could be"}}
	}
	f := files[best]
	if f.Missing {
		return []settings.Finding{{Path: f.Path, Text: "there is no " + f.Path}}
	}
	for _, why := range f.missing {
		if !f.dropped {
			found = append(found, settings.Finding{Path: f.Path, Text: f.Path + sep(why) + why})
		}
	}
	return found
}

// sep joins a path to a sentence about it.
func sep(why string) string {
	if strings.HasPrefix(why, "has ") {
		return " "
	}
	return ": "
}

func (f file) hasOurs() bool {
	for _, matchers := range f.Hooks {
		for _, m := range matchers {
			if slices.ContainsFunc(m.Hooks, Ours) {
				return true
			}
		}
	}
	return false
}

// managedOff says why hooks of users do not run; "" means that they do.
func managedOff(files []file) string {
	for _, f := range files {
		if f.Place != settings.Managed {
			continue
		}
		var surfaces []string
		all := false
		_ = json.Unmarshal(f.PluginOnly, &surfaces)
		_ = json.Unmarshal(f.PluginOnly, &all)
		switch {
		case f.ManagedOnly:
			return f.Path + ` has "allowManagedHooksOnly": true, so hooks of users do not run`
		case all || slices.Contains(surfaces, "hooks"):
			return f.Path + ` has "strictPluginOnlyCustomization", so hooks of users do not run`
		}
	}
	return ""
}

// others returns findings about hooks of other programs, and about copies of approver's hook.
// Claude Code runs equal command lines once, with the options in the later file. So a copy that
// differs from what install writes weakens the right one.
func (f file) others(want settings.Want, holds bool) (found []settings.Finding) {
	for _, event := range slices.Sorted(maps.Keys(f.Hooks)) {
		guards := event == "PreToolUse" || event == "PermissionRequest"
		_, wanted := want.Hooks[event]
		if !wanted && !guards {
			continue
		}
		mine := 0
		for _, m := range f.Hooks[event] {
			for _, h := range m.Hooks {
				switch {
				case Ours(h):
					mine++
					if !holds || !wanted {
						continue // missing hooks are reported elsewhere
					}
					if why := difference(event, m.Matcher, h, want); why != "" {
						double := settings.Finding{Harmless: idle(event), Path: f.Path,
							Text: "another hook of approver " + where(event) + ": " + why}
						if !f.holds() {
							double.Fix = "approver uninstall claude --file " + word(f.Path)
						}
						found = append(found, double)
					}
				case guards && pluginHook(f.Path, h):
					if event == "PreToolUse" {
						found = append(found, settings.Finding{Harmless: true, Path: f.Path,
							Text: "a hook of approver's plugin: it asks too, through hooks/run.sh there, which is not checked here",
							Fix:  "claude plugin uninstall approver@approver, unless only the plugin is to ask"})
					}
				case guards:
					found = append(found, f.foreign(event, h))
				}
			}
		}
		if mine > 1 {
			found = append(found,
				settings.Finding{Harmless: true, Path: f.Path, Text: fmt.Sprintf("has %d hooks of approver at %s", mine, event)})
		}
	}
	return found
}

// pluginHook reports whether a hook is that of approver's plugin, by its words.
func pluginHook(path string, hook json.RawMessage) bool {
	const program = `"${CLAUDE_PLUGIN_ROOT}/hooks/run.sh" --agent claude `
	return filepath.Base(path) == "hooks.json" && strings.HasPrefix(string(settings.CommandOf(hook)), program)
}

// foreign returns the finding for another program's hook that also guards calls.
func (f file) foreign(event string, hook json.RawMessage) settings.Finding {
	return settings.Finding{
		Harmless: true, Path: f.Path,
		Text: fmt.Sprintf("another %s hook, %s: the input that it puts in place of a call's is run unasked", event,
			nameOf(hook)),
		Fix: `take it out, or keep it out with "allowManagedHooksOnly" in the managed settings: docs/agents/claude.md`,
	}
}

// word quotes a path for a shell.
func word(path string) string {
	if strings.IndexFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// nameOf returns a name for another program's hook.
func nameOf(raw json.RawMessage) string {
	var h struct{ Type, Command, URL string }
	_ = json.Unmarshal(raw, &h) // what is not understood has no name
	return strconv.Quote(shortened(strings.TrimSpace(h.Type + " " + h.Command + h.URL)))
}
