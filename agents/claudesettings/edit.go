package claudesettings

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"approver.example/agents/settings"
)

// layout is how Claude Code's hooks stand in a settings file.
var layout = settings.Layout{Agent: "claude", Marked: true}

// WithHooks returns the text with these hooks instead of approver's hooks in it. Everything else
// stays the same, byte for byte. Without hooks it removes approver's hooks. It does not add hooks
// where they would not run: the error says where and why.
func WithHooks(path string, text []byte, want settings.Hooks) ([]byte, error) {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
	case len(want) > 0:
		if err := accepts(path, text); err != nil {
			return nil, err
		}
	default: // events of other agents, such as preToolUse, are no reason to leave the hooks there
		anyEvent := slices.Clone(known)
		anyEvent[1] = nil
		if _, err := readAs(path, text, anyEvent); err != nil {
			return nil, err
		}
	}
	return layout.With(path, text, want)
}

// accepts returns an error if a hook in this file would not run.
func accepts(path string, text []byte) error {
	s, err := Read(path, text)
	kind := (*json.UnmarshalTypeError)(nil)
	if problems := Check(path, text); len(problems) > 0 && (err == nil || errors.As(err, &kind)) {
		return settings.Refuse("mend it first", "%s", problems[0])
	}
	if err != nil {
		return err
	}
	if s.Off {
		return settings.Refuse("remove that first",
			`%s has "disableAllHooks": true, so no hook runs and nobody asks approver`, path)
	}
	for _, sw := range switches {
		if raw, there := s.Env[sw.name]; there && sw.on(raw) {
			return settings.Refuse("remove that first", `%s sets %s in "env": %s`, path, sw.name, sw.why)
		}
	}
	return nil
}
