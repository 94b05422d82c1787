package approver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Secret is a token or key that masks itself in fmt, slog, JSON and YAML.
// The zero value is no secret.
type Secret struct {
	_ [0]func() // not comparable: equal secrets would differ, compare what Reveal returns

	// Behind a pointer, because fmt calls no method of what lies in a field that is
	// not exported: it would print the text itself, and prints an address.
	value *string
}

// NewSecret wraps a secret text.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{value: &s}
}

// Reveal returns the secret itself.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.value == nil }

// String masks the secret.
func (s Secret) String() string {
	if s.IsZero() {
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
	*s = NewSecret(string(b))
	return nil
}

// A SecretSetting is the usual pair of settings in a configuration: Name holds
// the secret itself, and Name_file the path of a file with it.
type SecretSetting struct {
	Name  string
	Value Secret
	File  *string // in the configuration, so that its path can be made absolute
}

// maxSecretFile bounds a secret file in bytes.
const maxSecretFile = 64 << 10

// Where a secret comes from if not from a file: name_file is env:NAME for a
// variable of the environment, or credential:NAME for what systemd hands over
// with LoadCredential= (a file in $CREDENTIALS_DIRECTORY).
const (
	fromEnv        = "env:"
	fromCredential = "credential:"
)

// IsPath reports whether a secret's file is a path, and not one of the other
// places that [SecretFrom] knows. A file of such a name is written as ./env:x.
func IsPath(file string) bool {
	return !strings.HasPrefix(file, fromEnv) && !strings.HasPrefix(file, fromCredential)
}

// ElsewhereError is the error of a secret that the environment of this process does not have, and
// that of the daemon may: env:NAME or credential:NAME outside of its service.
type ElsewhereError struct{ error }

// Unwrap is for package errors.
func (e ElsewhereError) Unwrap() error { return e.error }

// OnlyElsewhere reports whether an error is of such secrets and of nothing else.
func OnlyElsewhere(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself: one other error counts
	case ElsewhereError:
		return true
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(one error) bool { return !OnlyElsewhere(one) })
	case interface{ Unwrap() error }:
		return OnlyElsewhere(e.Unwrap())
	}
	return false
}

// SecretFrom resolves the usual pair of settings, name and name_file, of which
// at most one may be given. name_file may also be env:NAME or credential:NAME. A file's surrounding white space is dropped. A file
// that others can read or write is refused, and so is one that belongs to neither
// root nor this process's user: its secret is theirs too. Given neither, it
// returns no secret and no error.
func SecretFrom(name string, value Secret, file string) (Secret, error) {
	switch {
	case !value.IsZero() && file != "":
		return Secret{}, fmt.Errorf("%s and %s_file are both set: keep one", name, name)
	case file == "":
		return value, nil
	case strings.HasPrefix(file, fromEnv):
		text := strings.TrimSpace(os.Getenv(file[len(fromEnv):]))
		if text == "" {
			return Secret{}, ElsewhereError{fmt.Errorf("%s_file: the variable %s is not set, or empty: set it in the daemon's environment, or name a file", name, file[len(fromEnv):])}
		}
		return NewSecret(text), nil
	case strings.HasPrefix(file, fromCredential):
		path, err := credential(file[len(fromCredential):])
		if err != nil {
			return Secret{}, fmt.Errorf("%s_file: %w", name, err)
		}
		file = path
	}
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Secret{}, fmt.Errorf("%s_file: %w: put the secret there, in a file of mode 0600", name, err)
	case err != nil:
		return Secret{}, fmt.Errorf("%s_file: %w", name, err)
	}
	defer f.Close()
	if err := private(f); err != nil {
		return Secret{}, fmt.Errorf("%s_file: %w", name, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return Secret{}, fmt.Errorf("%s_file: %w", name, err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" || len(b) > maxSecretFile {
		return Secret{}, fmt.Errorf("%s_file: %s is empty or larger than %d bytes", name, file, maxSecretFile)
	}
	return NewSecret(text), nil
}

// credential returns the path of what systemd hands over.
func credential(name string) (string, error) {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	switch {
	case !filepath.IsAbs(dir):
		return "", ElsewhereError{fmt.Errorf("credential:%s needs systemd: LoadCredential=%s:/path in the unit, which sets CREDENTIALS_DIRECTORY", name, name)}
	case name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/'):
		return "", fmt.Errorf("credential:%s is not the name of a credential", name)
	}
	return filepath.Join(dir, name), nil
}

// Lines returns the secrets of a key file: one a line, the current one first.
// Those below it are older, and only verify what they once signed.
func (s Secret) Lines() []Secret {
	var all []Secret
	for line := range strings.Lines(s.Reveal()) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, NewSecret(line))
		}
	}
	return all
}

// private refuses a file that is not its owner's alone. What systemd hands over
// as a credential is as private, and may show a group.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	others := fs.FileMode(0o077)
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(f.Name()) == filepath.Clean(dir) {
		others = 0o037
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return fmt.Errorf("%s is not a regular file", f.Name())
	case mode.Perm()&others != 0:
		return fmt.Errorf("%s has mode %04o, so others can read or change the secret: run chmod 600 on it, and renew the secret if somebody may have read it", f.Name(), mode.Perm())
	case !ownedByUs(info):
		return fmt.Errorf("%s belongs to neither root nor you: whoever owns it knows the secret and could change it", f.Name())
	}
	return nil
}
