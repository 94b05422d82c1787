package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"approver.example/agents/settings"
)

// This file looks at what else than an agent's own settings takes approver's hooks away.

// A variable of the environment changes what an agent that is started with it does with the hooks.
type variable struct {
	name string
	// is says for which values it does; nil: for all but the empty one.
	is func(value string) bool
	// text says what it does, after "NAME is set". It has the value in the place of %s.
	text string
	// harmless says that the hooks run all the same.
	harmless bool
}

// Environment implements [Adviser].
func (h *hooked) Environment(env []string) (found []settings.Finding) {
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		for _, v := range h.install.variables {
			if v.name != name || value == "" || v.is != nil && !v.is(value) {
				continue
			}
			f := settings.Finding{Harmless: v.harmless, Text: name + " is set" + strings.ReplaceAll(v.text, "%s", value)}
			if !v.harmless {
				f.Fix = "unset " + name
			}
			found = append(found, f)
		}
	}
	return found
}

// A beside says which other files of an agent can switch its hooks off, or the plugin in which they are.
type beside struct {
	user    []string // from the folder of the user's settings
	project []string // from a project
	// finds says what a file does to the hooks.
	finds func(s settings.Source, keys map[string]json.RawMessage) []settings.Finding
	// holds says that the machine's settings keep the hooks, whatever these files say; nil: they do not.
	holds func(h *hooked, sources []settings.Source, want settings.Want) bool
}

// Beside implements [Searcher].
func (h *hooked) Beside(
	p settings.Places, sources []settings.Source, want settings.Want,
) (found []settings.Finding, err error) {
	others := h.install.beside.read(p)
	if err := settings.FirstUnseen(others); err != nil {
		return nil, err
	}
	held := h.held(sources, want)
	for _, s := range others {
		if s.Missing {
			continue
		}
		keys, err := s.Keys()
		if err != nil {
			found = append(found, unreadable(s, err))
			continue
		}
		for _, f := range h.install.beside.finds(s, keys) {
			if held && f.Harmless {
				continue
			}
			f.Harmless = f.Harmless || held
			found = append(found, f)
		}
	}
	return found, nil
}

// held reports whether the machine's settings keep the hooks, whatever others say.
func (h *hooked) held(sources []settings.Source, want settings.Want) bool {
	return h.install.beside.holds != nil && h.install.beside.holds(h, sources, want)
}

// read reads the files.
func (b beside) read(p settings.Places) (all []settings.Source) {
	for _, file := range b.user {
		if p.Home != "" {
			all = append(all, settings.ReadSource(settings.User, filepath.Join(p.Home, file)))
		}
	}
	for _, project := range p.Projects {
		for _, file := range b.project {
			all = append(all, settings.ReadSource(settings.Project, filepath.Join(project, file)))
		}
	}
	return all
}

// unreadable is the finding for a file of which nobody can say what it does. Of one that is not JSON, the
// agent reads nothing either.
func unreadable(s settings.Source, err error) settings.Finding {
	return settings.Finding{Path: s.Path, Harmless: s.Err == nil, Fix: "correct " + s.Path,
		Text: "it cannot be read, so nobody can say what it does to the hooks: " + settings.Why(err)}
}

// isFalse reports whether a switch in a settings file is there and is false.
func isFalse(raw json.RawMessage) bool { return strings.TrimSpace(string(raw)) == "false" }
