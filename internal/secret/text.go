// Package secret handles the tokens and keys of a configuration. A [Text] is a secret that does not
// appear in logs, and [From] reads it from the place where it is stored.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// A Text is a token or key that is masked in the output of fmt, slog, JSON and YAML. The zero value
// is no secret.
type Text struct {
	_ [0]func() // not comparable, because equal secrets would differ; compare the results of Reveal

	// value is a pointer, because fmt does not call the methods of a value in an unexported field.
	// It would print the text itself; now it prints an address.
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

// Format masks the secret for every verb.
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

// Lines returns the secrets of a key file, one per line, the current one first. The others are
// older, and only verify what they signed earlier.
func (s Text) Lines() []Text {
	var all []Text
	for line := range strings.Lines(s.Reveal()) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, New(line))
		}
	}
	return all
}
