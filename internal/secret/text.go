// Package secret holds the tokens and keys of a configuration: [Text] is one that no log
// shows, and [From] reads it from where it is kept.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// A Text is a token or key that masks itself in fmt, slog, JSON and YAML.
// The zero value is no secret.
type Text struct {
	_ [0]func() // not comparable: equal secrets would differ, compare what Reveal returns

	// Behind a pointer, because fmt calls no method of what lies in a field that is
	// not exported: it would print the text itself, and prints an address.
	value *string
}

// New wraps a secret text.
func New(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{value: &s}
}

// Reveal returns the secret itself.
func (s Text) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no secret.
func (s Text) IsZero() bool { return s.value == nil }

// String masks the secret.
func (s Text) String() string {
	if s.IsZero() {
		return ""
	}
	return "<secret>"
}

// Format masks the secret under every verb.
func (s Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue masks the secret in slog.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks the secret.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a secret from a configuration file.
func (s *Text) UnmarshalText(b []byte) error {
	*s = New(string(b))
	return nil
}

// Lines returns the secrets of a key file: one a line, the current one first.
// Those below it are older, and only verify what they once signed.
func (s Text) Lines() []Text {
	var all []Text
	for line := range strings.Lines(s.Reveal()) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, New(line))
		}
	}
	return all
}
