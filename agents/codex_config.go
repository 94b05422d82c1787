package agents

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents/settings"
)

// This file changes the settings of Codex beside its hooks, and looks at those that switch them off.
// codex_trust.go says how Codex trusts a hook.

// codexNoTTY is the feature without which nothing can be typed into a program that runs already. Codex
// has a tool for that, write_stdin, for which it calls no hook: a shell that was started with a
// terminal would run whatever is typed into it, and nobody would be asked. Without terminals, the input
// of a program is closed at its start.
var codexNoTTY = settings.TOMLChange{
	Key: []string{"features", "unified_exec_tty"}, Value: false,
	Note: "approver: what is typed into a terminal is asked of no hook",
}

// codexOn is the feature of hooks. Only managed requirements need it.
var codexOn = settings.TOMLChange{
	Key: []string{"features", "hooks"}, Value: true, Note: "approver: nobody can switch the hooks off",
}

// Companions implements [Accompanied]: for hooks of a user it is config.toml, with the trust in them,
// and for those of the machine it is requirements.toml, which no user and no project overrides.
func (codexAgent) Companions(path string, was, becomes []byte) []Companion {
	dir := filepath.Dir(path)
	before, now := codexTrust(path, was), codexTrust(path, becomes)
	if dir == codexManaged {
		required := filepath.Join(dir, "requirements.toml")
		return []Companion{{
			Path: required,
			Lacking: func(old []byte) string {
				return codexLacking(old, "users and projects can switch the hooks off", codexOn)
			},
			Change: func(old []byte) ([]byte, error) { return codexRequirements(required, old, codexHas(now)) },
			Mode:   0o644,
		}}
	}
	config := filepath.Join(dir, "config.toml")
	return []Companion{{
		Path: config,
		Lacking: func(old []byte) string {
			all, _ := settings.ReadTOML(old) // what cannot be read is refused
			state, _ := settings.At(all, "hooks", "state").(map[string]any)
			puts, _ := codexMoves(state, before, now)
			return codexLacking(old, "the hooks are installed but not trusted, so Codex skips them in silence", puts...)
		},
		Change: func(old []byte) ([]byte, error) { return codexConfig(config, old, before, now) },
	}}
}

// codexLacking says what a file of settings lacks: one of these changes, the one about terminals, or both.
func codexLacking(old []byte, why string, changes ...settings.TOMLChange) string {
	all, _ := settings.ReadTOML(old) // what cannot be read is refused
	lacks := func(c settings.TOMLChange) bool { return settings.At(all, c.Key...) != c.Value }
	var found []string
	if slices.ContainsFunc(changes, lacks) {
		found = append(found, why)
	}
	if lacks(codexNoTTY) {
		found = append(found, "what is typed into a terminal of a program that runs is asked of no hook")
	}
	if len(found) == 0 {
		return "it trusts a hook of approver where there is none any more"
	}
	return strings.Join(found, "; ")
}

// codexRequirements returns the machine's requirements for hooks that are there, or not.
func codexRequirements(path string, old []byte, hooks bool) (text []byte, err error) {
	text = old
	if !hooks {
		return nothing(old, codexNoTTY.Out(codexOn.Out(text))), nil
	}
	for _, c := range []settings.TOMLChange{codexOn, codexNoTTY} {
		if text, err = c.In(text); err != nil {
			return nil, codexRefusal(path, err)
		}
	}
	return text, nil
}

// codexConfig returns a user's settings with the trust in the hooks that are there now, instead of those
// before: in approver's, and in others that were trusted and have another place now.
func codexConfig(path string, old []byte, before, now []codexTrusted) (text []byte, err error) {
	all, err := settings.ReadTOML(old)
	if err != nil && codexHas(now) {
		return nil, settings.RefuseText(path, err)
	}
	state, _ := settings.At(all, "hooks", "state").(map[string]any)
	puts, takes := codexMoves(state, before, now)
	text = old
	for _, c := range takes {
		text = c.Out(text)
	}
	if codexHas(now) {
		if err := codexAgainst(path, all, now); err != nil {
			return nil, err
		}
		puts = append([]settings.TOMLChange{codexNoTTY}, puts...)
	} else {
		text = codexNoTTY.Out(text)
	}
	for _, c := range puts {
		if text, err = c.In(text); err != nil {
			return nil, codexRefusal(path, err)
		}
	}
	return nothing(old, text), nil
}

// codexMoves returns what has to go into the state of hooks, and what has to go out of it before. state is
// what Codex knows about each key.
func codexMoves(state map[string]any, before, now []codexTrusted) (puts, takes []settings.TOMLChange) {
	entry := func(key, name string, value any) settings.TOMLChange {
		return settings.TOMLChange{Key: []string{"hooks", "state", key, name}, Value: value}
	}
	const hash, enabled = "trusted_hash", "enabled"
	for _, n := range now {
		if n.ours {
			puts = append(puts, entry(n.key, hash, n.hash))
		}
	}
	for _, b := range before {
		to := slices.IndexFunc(now, func(n codexTrusted) bool { return n.hash == b.hash && n.file() == b.file() })
		stays := slices.ContainsFunc(now, func(n codexTrusted) bool { return n.hash == b.hash && n.key == b.key })
		if b.ours || stays || to < 0 || settings.At(state, b.key, hash) != b.hash {
			continue
		}
		for _, name := range []string{hash, enabled} {
			if value := settings.At(state, b.key, name); value != nil {
				takes = append(takes, entry(b.key, name, value))
				puts = append(puts, entry(now[to].key, name, value))
			}
		}
	}
	for key, sum := range codexStale(state, before, now) {
		takes = append(takes, entry(key, hash, sum))
	}
	slices.SortFunc(takes, func(a, b settings.TOMLChange) int { return strings.Compare(b.Key[2], a.Key[2]) })
	return puts, takes
}

// codexStale returns the keys, with what is trusted there, at which approver's hooks were and are no
// longer: by their hashes, and by their places before.
func codexStale(state map[string]any, before, now []codexTrusted) map[string]any {
	stale := map[string]any{}
	for key := range state {
		sum := settings.At(state, key, "trusted_hash")
		is := func(t codexTrusted) bool {
			return t.ours && (t.key == key || t.hash == sum && t.file() == codexTrusted{key: key}.file())
		}
		stays := func(t codexTrusted) bool { return t.ours && t.key == key }
		was := slices.ContainsFunc(before, is) || slices.ContainsFunc(now, is)
		if sum != nil && was && !slices.ContainsFunc(now, stays) {
			stale[key] = sum
		}
	}
	return stale
}

// codexAgainst says what in a user's settings keeps approver's hooks from running, or returns nil.
func codexAgainst(path string, all map[string]any, now []codexTrusted) error {
	why := codexOff(all)
	if why == "" && settings.At(all, codexNoTTY.Key...) == true {
		why = codexTyped
	}
	for _, n := range now {
		if why == "" && n.ours && settings.At(all, "hooks", "state", n.key, "enabled") == false {
			why = "the hook " + n.key + " is switched off by enabled = false"
		}
	}
	if why == "" {
		return nil
	}
	return settings.Refuse("remove that first", "%s: %s", path, why)
}

// codexRefusal names the file of a refusal.
func codexRefusal(path string, err error) error {
	if r := (*settings.RefusalError)(nil); errors.As(err, &r) {
		return settings.Refuse(r.Cure, "%s: %s", path, r.Why)
	}
	return settings.RefuseText(path, err)
}

// nothing returns nil instead of a text in which nothing is left.
func nothing(old, text []byte) []byte {
	if len(bytes.TrimSpace(text)) == 0 && len(bytes.TrimSpace(old)) > 0 {
		return nil
	}
	return text
}

// codexTyped is what is wrong with terminals.
const codexTyped = "with features.unified_exec_tty = true, what is typed into a program that runs is asked of no hook"

// codexOff says what in a file of settings switches the hooks off; "" if nothing does. "codex_hooks" is
// the older name.
func codexOff(all map[string]any) string {
	for _, name := range []string{"hooks", "codex_hooks"} {
		if settings.At(all, "features", name) == false {
			return "features." + name + " = false switches all hooks off"
		}
	}
	return ""
}

// A codexPlace is a file that can switch the hooks off.
type codexPlace struct {
	path string
	when string // whose sessions it is for; empty: all
}

// Beside implements [Searcher]: it looks into the other files whose settings Codex merges. What the
// machine requires overrides them.
func (c codexAgent) Beside(p settings.Places, sources []settings.Source, _ settings.Want) (
	found []settings.Finding, err error,
) {
	required, err := codexRead(filepath.Join(p.Managed, "requirements.toml"), p.Managed != "")
	if err != nil {
		return nil, err
	}
	if settings.At(required.all, "features", "hooks") == false {
		found = append(found, required.finding("features.hooks = false switches all hooks off"))
	}
	if settings.At(required.all, "allow_managed_hooks_only") == true && !c.managed(sources) {
		found = append(found, required.finding("allow_managed_hooks_only = true: Codex runs no hook of a user"))
	}
	for _, place := range codexPlaces(p, sources) {
		file, err := codexRead(place.path, true)
		if err != nil {
			return nil, err
		}
		f := file.finding(place.when)
		f.Harmless = place.when != ""
		off, pinned := codexOff(file.all), settings.At(required.all, "features", "hooks") == true
		if f.Text += off; off != "" && !pinned {
			found = append(found, f)
		}
		f.Text, pinned = place.when+codexTyped, settings.At(required.all, codexNoTTY.Key...) == false
		if settings.At(file.all, codexNoTTY.Key...) == true && !pinned {
			found = append(found, f)
		}
	}
	return found, nil
}

// managed reports whether the machine's settings have the hooks.
func (c codexAgent) managed(sources []settings.Source) bool {
	return slices.ContainsFunc(sources, func(s settings.Source) bool {
		return s.Place == settings.Managed && codexHas(codexTrust(s.Path, s.Text))
	})
}

// codexPlaces returns the files of users and projects. What the user's own config.toml says is that of
// a companion, if the hooks are the user's.
func codexPlaces(p settings.Places, sources []settings.Source) (all []codexPlace) {
	for _, s := range sources {
		dir := filepath.Dir(s.Path)
		switch {
		case s.Place == settings.Project:
			all = append(all, codexPlace{path: filepath.Join(dir, "config.toml")})
			continue
		case s.Place == settings.Managed:
			continue
		case !codexHas(codexTrust(s.Path, s.Text)):
			all = append(all, codexPlace{path: filepath.Join(dir, "config.toml")})
		}
		profiles, _ := filepath.Glob(filepath.Join(dir, "*.config.toml")) // the pattern is good
		for _, path := range profiles {
			name := strings.TrimSuffix(filepath.Base(path), ".config.toml")
			all = append(all, codexPlace{path, "with --profile " + name + ": "})
		}
	}
	if p.Managed != "" {
		all = append(all, codexPlace{path: filepath.Join(p.Managed, "config.toml")})
	}
	return all
}

// A codexSettings is a TOML file that was read. Nothing stands in a missing one.
type codexSettings struct {
	path string
	all  map[string]any
}

func (s codexSettings) finding(text string) settings.Finding {
	return settings.Finding{Path: s.path, Text: text, Fix: "remove that from " + s.path}
}

// codexRead reads a TOML file. One that Codex cannot read is no way around the hooks: it does not start.
func codexRead(path string, there bool) (codexSettings, error) {
	s := codexSettings{path: path, all: map[string]any{}}
	if !there {
		return s, nil
	}
	source := settings.ReadSource(settings.User, path)
	if settings.Unseen(source.Err) {
		return s, source.Err
	}
	if all, err := settings.ReadTOML(source.Text); err == nil {
		s.all = all
	}
	return s, nil
}
