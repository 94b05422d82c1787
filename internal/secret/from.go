package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Setting is the usual pair of settings for a secret in a configuration: Name has the secret
// itself, and Name_file says where it is, see [From].
type Setting struct {
	Name  string
	Value *Text
	File  *string // in the configuration, so that its path can be made absolute
	// Holds says what the secret is, for people. It is empty if no command asks for the secret.
	Holds string
	// Form matches a secret of this kind, to tell it from another one. It is nil if they have no form.
	Form *regexp.Regexp
}

// maxSecretFile is the greatest size of a secret file in bytes.
const maxSecretFile = 64 << 10

// Prefixes of name_file if it is not a path: env:NAME is an environment variable, and
// credential:NAME a credential from LoadCredential= of systemd, which is a file in
// $CREDENTIALS_DIRECTORY.
const (
	fromEnv        = "env:"
	fromCredential = "credential:"
)

// IsPath reports whether the file setting of a secret is a path, and not env:NAME or
// credential:NAME. A file with such a name must be written as ./env:x.
func IsPath(file string) bool {
	return !strings.HasPrefix(file, fromEnv) && !strings.HasPrefix(file, fromCredential)
}

// ElsewhereError is the error for a secret env:NAME or credential:NAME that is missing in the
// environment of this process, but that the daemon's service may have.
type ElsewhereError struct{ error }

// Unwrap returns the cause, for package errors.
func (e ElsewhereError) Unwrap() error { return e.error }

// OnlyElsewhere reports whether err consists only of errors of type [ElsewhereError].
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

// From returns the secret of the usual pair of settings, name and name_file. Without both, it
// returns no secret and no error; with both, an error. name_file may also be env:NAME or
// credential:NAME. White space around the secret is removed. A file that others can read or write
// is refused, and so is a file of a user other than root and this process's user, because they
// know the secret too. A file may have at most 64 KiB, and an empty secret is an error.
func From(name string, value Text, file string) (Text, error) {
	switch {
	case !value.IsZero() && file != "":
		return Text{}, fmt.Errorf("%s and %s_file are both set: keep one", name, name)
	case file == "":
		return value, nil
	case strings.HasPrefix(file, fromEnv):
		text := strings.TrimSpace(os.Getenv(file[len(fromEnv):]))
		if text == "" {
			return Text{},
				ElsewhereError{fmt.Errorf("%s_file: the variable %s is not set, or empty: set it in the daemon's environment, "+
					"or name a file", name, file[len(fromEnv):])}
		}
		return New(text), nil
	case strings.HasPrefix(file, fromCredential):
		path, err := credential(file[len(fromCredential):])
		if err != nil {
			return Text{}, fmt.Errorf("%s_file: %w", name, err)
		}
		file = path
	}
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Text{}, fmt.Errorf("%s_file: %w: put the secret there, in a file of mode 0600", name, err)
	case err != nil:
		return Text{}, fmt.Errorf("%s_file: %w", name, err)
	}
	defer f.Close()
	if err := private(f); err != nil {
		return Text{}, fmt.Errorf("%s_file: %w", name, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return Text{}, fmt.Errorf("%s_file: %w", name, err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" || len(b) > maxSecretFile {
		return Text{}, fmt.Errorf("%s_file: %s is empty or larger than %d bytes", name, file, maxSecretFile)
	}
	return New(text), nil
}

// credential returns the path of a credential of systemd.
func credential(name string) (string, error) {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	switch {
	case !filepath.IsAbs(dir):
		return "",
			ElsewhereError{fmt.Errorf("credential:%s needs systemd: LoadCredential=%s:/path in the unit, which sets "+
				"CREDENTIALS_DIRECTORY", name, name)}
	case name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/'):
		return "", fmt.Errorf("credential:%s is not the name of a credential", name)
	}
	return filepath.Join(dir, name), nil
}

// private refuses a file that others than its owner can use. The group may read a credential of
// systemd, which is still private.
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
		return fmt.Errorf("%s has mode %04o, so others can read or change the secret: run chmod 600 on it, and renew the "+
			"secret if somebody may have read it", f.Name(), mode.Perm())
	case !ownedByUs(info):
		return fmt.Errorf("%s belongs to neither root nor you: whoever owns it knows the secret and could change it",
			f.Name())
	}
	return nil
}
