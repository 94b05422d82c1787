package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents/settings"
)

// Codex skips a hook that nobody has trusted, and says nothing. What is trusted stands in config.toml
// as a hash of each hook: [hooks.state."FILE:EVENT:GROUP:HOOK"] trusted_hash = "sha256:…". The hash is
// that of the normalized hook, see codex-rs/hooks/src/engine/discovery.rs. Managed hooks need no trust.

// codexManaged is the folder of the machine's settings.
const codexManaged = "/etc/codex"

// codexEvents are the events of Codex and their names in a key of trust.
var codexEvents = map[string]string{
	"PreToolUse": "pre_tool_use", "PermissionRequest": "permission_request", "PostToolUse": "post_tool_use",
	"PreCompact": "pre_compact", "PostCompact": "post_compact", "SessionStart": "session_start",
	"SessionEnd": "session_end", "UserPromptSubmit": "user_prompt_submit", "SubagentStart": "subagent_start",
	"SubagentStop": "subagent_stop", "Stop": "stop", "Interrupt": "interrupt",
}

// codexUnmatched are the events whose matcher Codex does not read, and does not hash.
const codexUnmatched = "UserPromptSubmit Stop Interrupt"

// A codexGroup is a matcher with its hooks, as Codex reads them.
type codexGroup struct {
	Matcher *string     `json:"matcher"`
	Hooks   []codexHook `json:"hooks"`
}

// A codexHook is a hook, as Codex reads it. Only a command has these fields.
type codexHook struct {
	Type    string  `json:"type"`
	Command *string `json:"command"`
	Timeout *uint64 `json:"timeout"`
	Async   bool    `json:"async"`
	Status  *string `json:"statusMessage"`
}

// codexDefault is the timeout of a hook that names none, in seconds.
const codexDefault = 600

// hash returns the hash that Codex compares with the trusted one.
func (h codexHook) hash(event string, matcher *string) (string, error) {
	one := map[string]any{"type": h.Type, "command": *h.Command, "async": h.Async, "timeout": uint64(codexDefault)}
	if h.Timeout != nil {
		one["timeout"] = max(*h.Timeout, 1)
	}
	if h.Status != nil {
		one["statusMessage"] = *h.Status
	}
	identity := map[string]any{"event_name": codexEvents[event], "hooks": []any{one}}
	if matcher != nil && !hasWord(codexUnmatched, event) {
		identity["matcher"] = *matcher
	}
	text, err := encoded(identity, "") // keys in their order
	if err != nil {
		return "", err
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	// encoding/json escapes two line separators that Codex writes as they are.
	for escape, plain := range map[string]string{`\u2028`: "\u2028", `\u2029`: "\u2029"} {
		text = unescaped(text, escape, plain)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// unescaped replaces an escape, unless its backslash is itself escaped.
func unescaped(text []byte, escape, plain string) []byte {
	var out bytes.Buffer
	for len(text) > 0 {
		switch {
		case bytes.HasPrefix(text, []byte(escape)):
			out.WriteString(plain)
			text = text[len(escape):]
		case text[0] == '\\' && len(text) > 1:
			out.Write(text[:2])
			text = text[2:]
		default:
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return out.Bytes()
}

// codexFile reads a file of hooks as Codex does. With an error, Codex skips all hooks in the file, and
// shows one line.
func codexFile(text []byte) (map[string][]codexGroup, error) {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return nil, errors.New("it begins with a byte order mark")
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	for key := range file {
		if key != "hooks" && key != "description" {
			return nil, fmt.Errorf("%q is not known, only \"description\" and \"hooks\"", key)
		}
	}
	var events map[string]json.RawMessage
	if raw, ok := file["hooks"]; ok {
		if err := json.Unmarshal(raw, &events); err != nil || events == nil {
			return nil, errors.New(`"hooks" is no object`)
		}
	}
	all := map[string][]codexGroup{}
	for event := range codexEvents {
		raw, ok := events[event]
		if !ok {
			continue
		}
		var groups []codexGroup
		if err := json.Unmarshal(raw, &groups); err != nil || groups == nil {
			return nil, fmt.Errorf("the hooks of %s are no list of matchers with hooks", event)
		}
		for _, g := range groups {
			for _, h := range g.Hooks {
				known := hasWord("mcp_tool prompt agent", h.Type) || h.Type == "command" && h.Command != nil
				if !known {
					return nil, fmt.Errorf("a hook of %s is of the unknown type %q, or has no command", event, h.Type)
				}
			}
		}
		all[event] = groups
	}
	return all, nil
}

// codexReads says why Codex skips all hooks in a file, or returns nil.
func codexReads(text []byte) error {
	_, err := codexFile(text)
	if err != nil {
		return fmt.Errorf("the Codex CLI cannot read the file, and skips all hooks in it: %w: mend it first", err)
	}
	return nil
}

// codexTrust returns the hashes of approver's hooks in a file of hooks, by their keys of trust. A folder
// that CODEX_HOME names is in a key without links, and that in a home as it is named: where these
// differ, there are keys for both.
func codexTrust(path string, text []byte) map[string]string {
	trust := codexTrustAt(path, text)
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && real != filepath.Dir(path) {
		maps.Copy(trust, codexTrustAt(filepath.Join(real, filepath.Base(path)), text))
	}
	return trust
}

func codexTrustAt(path string, text []byte) map[string]string {
	trust := map[string]string{}
	events, err := codexFile(text)
	if err != nil {
		return trust // Codex trusts nothing in it
	}
	for event, groups := range events {
		for i, g := range groups {
			for j, h := range g.Hooks {
				if h.Type != "command" || !settings.Command(*h.Command).Ours(codex.name) {
					continue
				}
				if sum, err := h.hash(event, g.Matcher); err == nil {
					trust[fmt.Sprintf("%s:%s:%d:%d", path, codexEvents[event], i, j)] = sum
				}
			}
		}
	}
	return trust
}

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
		return []Companion{{
			Path:    filepath.Join(dir, "requirements.toml"),
			Lacking: "users and projects can switch the hooks off, or type into a terminal without a question",
			Change:  func(old []byte) ([]byte, error) { return codexRequirements(old, len(now) > 0) },
			Mode:    0o644,
		}}
	}
	return []Companion{{
		Path: filepath.Join(dir, "config.toml"),
		Lacking: "the hooks are installed but not trusted, so Codex skips them in silence; or a terminal can be typed into " +
			"without a question",
		Change: func(old []byte) ([]byte, error) { return codexConfig(old, before, now) },
	}}
}

// codexRequirements returns the machine's requirements for hooks that are there, or not.
func codexRequirements(old []byte, hooks bool) (text []byte, err error) {
	text = old
	if !hooks {
		return nothing(old, codexNoTTY.Out(codexOn.Out(text))), nil
	}
	for _, c := range []settings.TOMLChange{codexOn, codexNoTTY} {
		if text, err = c.In(text); err != nil {
			return nil, fmt.Errorf("requirements.toml: %w", err)
		}
	}
	return text, nil
}

// codexConfig returns a user's settings with the trust in these hooks instead of those before.
func codexConfig(old []byte, before, now map[string]string) (text []byte, err error) {
	text = old
	entry := func(key, sum string) settings.TOMLChange {
		return settings.TOMLChange{Key: []string{"hooks", "state", key, "trusted_hash"}, Value: sum}
	}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(before))) {
		if _, still := now[key]; !still {
			text = entry(key, before[key]).Out(text)
		}
	}
	if len(now) == 0 {
		return nothing(old, codexNoTTY.Out(text)), nil
	}
	all, err := settings.ReadTOML(text)
	if err != nil {
		return nil, fmt.Errorf("config.toml: %w: mend it first; nothing was changed", err)
	}
	if why := codexOff(all); why != "" {
		return nil, fmt.Errorf("config.toml: %s: remove that first; nothing was changed", why)
	}
	if settings.At(all, codexNoTTY.Key...) == true {
		return nil, fmt.Errorf("config.toml: %s: remove that first; nothing was changed", codexTyped)
	}
	for key := range now {
		if settings.At(all, "hooks", "state", key, "enabled") == false {
			return nil, fmt.Errorf("config.toml: the hook %s is switched off by enabled = false: remove that first; "+
				"nothing was changed", key)
		}
	}
	if text, err = codexNoTTY.In(text); err != nil {
		return nil, fmt.Errorf("config.toml: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if text, err = entry(key, now[key]).In(text); err != nil {
			return nil, fmt.Errorf("config.toml: %w", err)
		}
	}
	return text, nil
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
	for _, s := range sources {
		if raw := settings.ReadRaw(s.Place, s.Path); bytes.HasPrefix(raw.Text, []byte("\ufeff")) {
			found = append(found, settings.Finding{Path: s.Path, Text: "Codex reads no hook in a file with a byte order mark"})
		}
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
		return s.Place == settings.Managed && len(codexTrust(s.Path, s.Text)) > 0
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
		case len(codexTrust(s.Path, s.Text)) == 0:
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
	source := settings.ReadRaw(settings.User, path)
	if settings.Unseen(source.Err) {
		return s, source.Err
	}
	if all, err := settings.ReadTOML(source.Text); err == nil {
		s.all = all
	}
	return s, nil
}
