package claudesettings

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"approver.example/agents/settings"
)

// A toggle is an environment variable that disables the hooks.
type toggle struct {
	name string
	word bool // it counts only if it says yes, as 1, true, yes or on; otherwise with any value
	// managedHolds says that managed hooks still run.
	managedHolds bool
	why          string
}

// switches were measured with Claude Code 2.1.330, in "env" of settings and in the
// environment of its start.
var switches = []toggle{
	{"CLAUDE_CODE_SIMPLE", true, true, "Claude Code then runs no hook"},
	{"CLAUDE_CODE_SAFE_MODE", true, true, "Claude Code then runs no hook"},
	{"CLAUDE_CODE_RESTRICTED", true, true, "Claude Code then reads no settings of users"},
	{"CLAUDE_CODE_USE_COWORK_PLUGINS", true, true,
		"Claude Code then reads cowork_settings.json in place of the user's settings.json"},
	{"CLAUDE_CONFIG_DIR", false, true, "Claude Code then reads the user's settings elsewhere"},
	{"CLAUDE_CODE_SHELL_PREFIX", false, false, "Claude Code then runs that program in place of a hook"},
	{"HOME", false, false, "the hook then looks for the daemon elsewhere"},
}

// loading are the names, or prefixes that end in _, of variables that the loader or the shell reads
// before the hook runs. With LD_TRACE_LOADED_OBJECTS the shell prints its libraries and ends with
// 0, which means "continue" for Claude Code.
var loading = []string{
	"LD_", "DYLD_", "GLIBC_TUNABLES", "MALLOC_", "BASH_ENV", "BASH_FUNC_", "BASHOPTS", "SHELLOPTS",
	"ENV", "ZDOTDIR", "BUN_OPTIONS", "BUN_INSPECT", "NODE_OPTIONS",
}

// isLoading reports whether a variable is one of those.
func isLoading(name string) bool {
	return slices.ContainsFunc(loading, func(l string) bool {
		return name == l || strings.HasSuffix(l, "_") && strings.HasPrefix(name, l)
	})
}

// weakens reports whether a variable with a value can disable the hook. Sizes for node and for
// libc's allocator only change how much memory they use.
func weakens(name string, raw json.RawMessage) bool {
	if !isLoading(name) || !(toggle{name: name}).on(raw) {
		return false
	}
	value, ok := envText(raw)
	if !ok {
		return true
	}
	switch name {
	case "ENV": // the file that some shells read at their start: any value with a folder or an expansion
		return strings.ContainsAny(value, "/$`~\\")
	case "NODE_OPTIONS":
		return loadsInNode(strings.Fields(value))
	case "MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST", "MALLOC_CHECK_", "MALLOC_PERTURB_", "MALLOC_MMAP_MAX_",
		"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_":
		return !isNumber(value)
	}
	return true
}

// loadsInNode reports whether there are options of node that are not known to be harmless. Like
// node, it takes the word after an option with a value as the value.
func loadsInNode(options []string) bool {
	takes := false
	for _, option := range options {
		name, _, has := strings.Cut(option, "=")
		name = strings.ReplaceAll(name, "_", "-")
		valued := slices.Contains(harmlessValued, name)
		switch {
		case valued, slices.Contains(harmlessNode, name):
			takes = valued && !has
		case takes && strings.Trim(option, wordLetters) == "":
			takes = false
		default:
			return true
		}
	}
	return false
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// harmlessNode are options of node that load no code, read and write no file, open no port, disable
// nothing that a program may need, and stop nothing. harmlessValued are such options with a value.
var harmlessNode, harmlessValued = wordsOf("node"), wordsOf("node-valued")

// isNumber reports whether a text is a number of at most ten digits.
func isNumber(s string) bool {
	return len(s) > 0 && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}

// on reports whether a value in "env" turns the toggle on. A list or an object does.
func (t toggle) on(raw json.RawMessage) bool {
	value, ok := envText(raw)
	if t.word && string(raw) == "null" {
		return false
	}
	return !ok || t.is(value)
}

// envText returns what Claude Code puts into the environment for a value in "env": a decoded text,
// and for a number, true, false and null the text that JavaScript writes. Measured with 2.1.330. It
// is not known for a list, an object, and a number that does not fit into a float.
func envText(raw json.RawMessage) (value string, ok bool) {
	var decoded any
	if json.Unmarshal(raw, &decoded) != nil {
		return "", false
	}
	switch v := decoded.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	case nil:
		return "null", true
	}
	return "", false
}

func (t toggle) is(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	if t.word {
		return !slices.Contains([]string{"", "0", "false", "no", "off"}, s)
	}
	return s != ""
}

// Environment returns which variables of an environment, as KEY=VALUE, keep a Claude Code that is
// started with it from asking approver.
func Environment(env []string, managed bool) (found []settings.Finding) {
	for _, pair := range env {
		key, value, _ := strings.Cut(pair, "=")
		for _, t := range switches {
			if t.name == key && strings.HasPrefix(key, "CLAUDE_") && key != "CLAUDE_CONFIG_DIR" && t.is(value) &&
				(!managed || !t.managedHolds) {
				found = append(found, settings.Finding{Harmless: true, Text: key + " is set here: " + t.why, Fix: "unset " + key})
			}
		}
		if key == "GOMAXPROCS" && slows(value) {
			found = append(found,
				settings.Finding{Harmless: true, Text: key + " is set here: " + slowly, Fix: "unset " + key})
		}
	}
	return found
}

// switches returns what in a file turns hooks off.
func (f file) switches(files []file, managed bool) (found []settings.Finding) {
	if f.Off {
		// In managed settings it holds for all hooks, elsewhere not for managed ones.
		found = append(found, settings.Finding{
			Harmless: managed && f.Place != settings.Managed, Path: f.Path,
			Text: f.Path + ` has "disableAllHooks": true, so no hook runs and nobody asks approver`,
			Fix:  `take "disableAllHooks" out of ` + f.Path,
		})
	}
	sets := func(t toggle, harmless bool, why string) {
		if f.Place == settings.Managed || !turnedOff(files, t) {
			found = append(found, settings.Finding{
				Harmless: harmless, Path: f.Path, Text: "sets " + t.name + ` in "env": ` + why,
				Fix: "take " + strconv.Quote(t.name) + ` out of "env" in ` + f.Path,
			})
		}
	}
	for _, t := range switches {
		if raw, there := f.Env[t.name]; there && t.on(raw) {
			sets(t, managed && t.managedHolds, t.why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Env)) {
		if weakens(name, f.Env[name]) {
			sets(toggle{name: name}, false, "what starts the hook may then run other code, or none")
		}
	}
	if raw, there := f.Env["GOMAXPROCS"]; there {
		if value, text := envText(raw); !text || slows(value) {
			sets(toggle{name: "GOMAXPROCS"}, false, slowly)
		}
	}
	return found
}

// slowly is the effect of such a value.
const slowly = "the hook then needs longer to start than people have to answer"

// slows reports whether a Go program may need noticeably longer to start with a value of
// GOMAXPROCS: with ten thousand it takes minutes. Every value that is not a number from 1 to 1024
// counts.
func slows(value string) bool {
	n, err := strconv.ParseUint(value, 10, 16)
	return value != "" && (err != nil || n < 1 || n > 1024)
}

// turnedOff reports whether managed settings turn a toggle off, which overrides every other place.
func turnedOff(files []file, t toggle) bool {
	return slices.ContainsFunc(files, func(f file) bool {
		raw, there := f.Env[t.name]
		return there && f.Place == settings.Managed && !f.dropped && !t.on(raw)
	})
}

// Managedness reports whether managed settings have a hook of approver before tools, and what else
// they could forbid but do not. [Compare] says whether the hook is the right one.
func Managedness(sources []settings.Source) (hooked bool, open []string) {
	var all []file
	only, shell := false, false
	for _, s := range sources {
		have, err := Read(s.Path, s.Text)
		if s.Place != settings.Managed || s.Missing || s.Err != nil || err != nil {
			continue
		}
		all = append(all, file{Source: s, Settings: have})
		hooked = hooked || slices.ContainsFunc(have.Hooks["PreToolUse"],
			func(m Matcher) bool { return slices.ContainsFunc(m.Hooks, Ours) })
		only, shell = only || have.ManagedOnly, shell || have.NoSkillShell
	}
	if !only {
		open = append(open, `other programs' hooks, which can replace what was approved ("allowManagedHooksOnly": true)`)
	}
	if !shell {
		open = append(open, `shell commands in skills, which no hook sees ("disableSkillShellExecution": true)`)
	}
	for _, t := range switches {
		if t.name == "CLAUDE_CODE_SHELL_PREFIX" && !turnedOff(all, t) {
			open = append(open, `a program in the place of the hook ("env": {"`+t.name+`": ""})`)
		}
	}
	return hooked, open
}
