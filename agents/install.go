package agents

import (
	"encoding/json"
	"io/fs"
	"time"

	"approver.example/agents/canary"
	"approver.example/agents/settings"
)

// An Installer is an [Adapter] of an agent in whose settings approver puts its hooks and watches
// them. It reads and writes texts, and the caller reads and writes the files.
type Installer interface {
	Adapter

	// Files says where the settings are.
	Files() settings.Files

	// HookConfig returns the text of new settings with the hooks. program is the absolute path of
	// approver-hook, and ttl the longest time that people have to answer. socket is the daemon's
	// submit socket; empty means the default place.
	HookConfig(program, socket string, ttl time.Duration) ([]byte, error)

	// NewFile returns the text of a new settings file at a path, with these hooks.
	NewFile(path string, hooks settings.Hooks) ([]byte, error)

	// ReadHooks reads the hooks of a settings file. Those before tools are under the first
	// of the events in Facts, and a hook has its command line under "command".
	ReadHooks(path string, text []byte) (settings.Hooks, error)

	// WithHooks returns the text with these hooks instead of approver's hooks in it; without hooks it
	// removes approver's hooks. Everything else stays the same, byte for byte.
	WithHooks(path string, text []byte, hooks settings.Hooks) ([]byte, error)

	// Timeout returns how long the agent waits for a hook before it goes on without an answer; zero
	// means without end.
	Timeout(hook json.RawMessage) time.Duration

	// Compare says whether the hooks run with all of these settings together: what weakens them, and
	// what is only worth reporting.
	Compare(sources []settings.Source, want settings.Want) []settings.Finding
}

// A Searcher is an [Installer] of an agent whose hooks can also be weakened by files other than its
// settings. It reads these files.
type Searcher interface {
	// Beside says what these files do to the hooks. An error means that they cannot be read at the
	// moment.
	Beside(p settings.Places, sources []settings.Source, want settings.Want) ([]settings.Finding, error)
}

// A Companion is another file that an agent needs, so that it runs the hooks in its settings: one in
// which it notes which hooks it trusts, or a second script.
type Companion struct {
	Path string
	// Lacking says what becomes of the hooks with a text that Change would change, such as "the agent skips
	// the hooks in silence".
	Lacking func(old []byte) string
	// Change returns the text that the file has to have. old is nil if there is no file. Nil is returned
	// if there has to be none. What is not approver's stays the same, byte for byte. An error says why
	// the hooks cannot run with this file, and what to do.
	Change func(old []byte) ([]byte, error)
	// Mode is that of a new file; zero means 0600.
	Mode fs.FileMode
}

// always is [Companion.Lacking] for a file that can lack only one thing.
func always(lacking string) func([]byte) string { return func([]byte) string { return lacking } }

// An Accompanied is an [Installer] of an agent that needs companions. Install writes them before the
// settings, and uninstall changes them back after those. Doctor and the daemon find one that Change
// would change.
type Accompanied interface {
	// Companions returns them for settings at a path whose text changes from was to becomes. Nil means
	// that there are no such settings, before or after. The texts do not matter for which files they are,
	// nor for their order.
	Companions(path string, was, becomes []byte) []Companion
}

// A Switched is an [Installer] that puts a switch beside its hooks, by which settings that come later cannot
// switch them off.
type Switched interface {
	// WithoutSwitch returns the text without the switch, whoever put it there.
	WithoutSwitch(path string, text []byte) ([]byte, error)
}

// An Adviser is an [Installer] of an agent that can be started without its hooks.
type Adviser interface {
	// Environment says which variables, as KEY=VALUE, keep an agent that is started with them from
	// asking approver.
	Environment(env []string) []settings.Finding

	// Advice says which ways to start the agent no settings of a user can prevent, and what managed
	// settings leave open.
	Advice(sources []settings.Source) []settings.Finding
}

// A Tester is an [Installer] of an agent that can be started once to test whether the hook stops a
// call.
type Tester interface {
	// Recipe says how the agent is started for the test; ok is false if that is not known.
	Recipe() (r canary.Recipe, ok bool)
}

// RecipeOf returns how an agent is started to test its hook; ok is false if that is not known.
func RecipeOf(a Adapter) (r canary.Recipe, ok bool) {
	if t, is := a.(Tester); is {
		return t.Recipe()
	}
	return r, false
}

// Installers returns the agents that approver can be installed for.
func Installers() (all []Installer) {
	for _, a := range adapters {
		if i, ok := a.(Installer); ok {
			all = append(all, i)
		}
	}
	return all
}

// Testers returns the names of the agents whose hook can be tested.
func Testers() (names []string) {
	for _, a := range adapters {
		if _, ok := RecipeOf(a); ok {
			names = append(names, a.Name())
		}
	}
	return names
}
