package approver

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// A Secret is a token or key that masks itself in fmt, slog, JSON and YAML.
// The zero value is no secret.
type Secret struct{ value string }

// NewSecret wraps a secret text.
func NewSecret(s string) Secret { return Secret{value: s} }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.value == "" }

// String masks the secret.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "<secret>"
}

// Format masks the secret under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue masks the secret in slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a secret from a configuration file.
func (s *Secret) UnmarshalText(b []byte) error {
	s.value = string(b)
	return nil
}

// maxSecretFile bounds a secret file in bytes.
const maxSecretFile = 64 << 10

// SecretFrom resolves the usual pair of settings, name and name_file, of which
// at most one may be given. A file's surrounding white space is dropped. Given
// neither, it returns no secret and no error.
func SecretFrom(name string, value Secret, file string) (Secret, error) {
	switch {
	case !value.IsZero() && file != "":
		return Secret{}, fmt.Errorf("%s and %s_file are both set: keep one", name, name)
	case file == "":
		return value, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return Secret{}, fmt.Errorf("%s_file: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return Secret{}, fmt.Errorf("%s_file: %w", name, err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" || len(b) > maxSecretFile {
		return Secret{}, fmt.Errorf("%s_file: %s is empty or larger than %d bytes", name, file, maxSecretFile)
	}
	return Secret{value: text}, nil
}
