package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"approver.example/httpapi/socketpath"
	"approver.example/shieldcore"
	"approver.example/shieldcore/strictyaml"
)

// Load reads the configuration in a file. The file must belong to root or to
// the user who runs the program, and nobody else may be able to write it.
// Relative paths in it start from its folder.
func Load(path string) (Config, error) {
	data, err := readOwn("configuration", path)
	if err != nil {
		return Config{}, err
	}
	return Parse(path, data)
}

// Names of the configuration file that is looked for when none is given.
const (
	systemFile = "/etc/approver/approver.yaml"
	homeFile   = ".approver/approver.yaml"
)

// LoadOrDefault is Load; without a path it reads /etc/approver/approver.yaml if
// the machine was prepared for an isolated daemon (the folder /run/approver
// exists), else ~/.approver/approver.yaml. If that does not exist, it returns
// [Default].
func LoadOrDefault(path string) (Config, error) {
	if path != "" {
		return Load(path)
	}
	home, _ := os.UserHomeDir() // Dir and Resolve tell what is missing
	sockets, err := socketpath.Dir(home)
	if err != nil {
		return Config{}, fmt.Errorf("no configuration: %w", err)
	}
	path = filepath.Join(home, homeFile)
	if sockets == socketpath.SystemDir {
		path = systemFile
	}
	c, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	return Default().Resolve(filepath.Dir(path))
}

// Parse reads a configuration from the bytes of a file. name is used in
// positions, and its folder is where relative paths start. Except for socket
// and home folders Parse looks at no file.
//
// The error is a [strictyaml.FileError] with every problem of the file. There
// is no configuration with an error.
func Parse(name string, data []byte) (Config, error) {
	f, err := strictyaml.Parse(name, data)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	f.Decode(&c)
	c, err = c.Resolve(filepath.Dir(name))
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range c.problems() {
		// What could not be read was told already.
		if !f.Has(p.path) || f.Good(p.path) {
			f.Report(p.path, p.text)
		}
	}
	if err := f.Err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// LoadPolicy reads the configured policy, or the built-in one. A policy file is
// held to the same rules as the configuration.
func (c Config) LoadPolicy() (*shieldcore.Policy, error) {
	if c.Policy == "" {
		return shieldcore.Load("policy.default.yaml", defaultPolicy)
	}
	data, err := readOwn("policy", c.Policy)
	if err != nil {
		return nil, err
	}
	return shieldcore.Load(c.Policy, data)
}

// readOwn reads a file that nobody else can have written.
func readOwn(what, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", what, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", what, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the %s %s is not a regular file", what, path)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return nil, fmt.Errorf("the %s %s can be written by others (mode %04o): run chmod go-w on it", what, path, mode)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !trusted(st.Uid, os.Geteuid()) {
		return nil, fmt.Errorf("the %s %s belongs to neither root nor you: whoever owns it could change it", what, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, strictyaml.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", what, err)
	}
	return data, nil
}

// trusted reports whether a file's owner may decide what the program does.
func trusted(owner uint32, euid int) bool {
	return owner == 0 || int64(owner) == int64(euid)
}
