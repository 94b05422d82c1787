package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"approver.example"
	"approver.example/httpapi/socketpath"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
	"approver.example/shieldcore"
	"approver.example/shieldcore/heuristics"
)

// Load reads the configuration file at path. The file must belong to root or to the user who
// runs the program, and nobody else may be able to write it, nor to read it if it contains a
// secret. Relative paths in it start from its folder.
func Load(path string) (Config, error) { return load(path, socketpath.Dir) }

// LoadIsolated is Load for the configuration of an isolated daemon: settings that it leaves
// out get that daemon's places, even while /run/approver does not exist, as after a boot until
// the daemon is up.
func LoadIsolated(path string) (Config, error) {
	return load(path, func(string) (string, error) { return socketpath.SystemDir, nil })
}

func load(path string, sockets func(home string) (string, error)) (Config, error) {
	data, mode, err := readOwn("configuration", path,
		"write one, docs/config.md holds every setting, or name another with --config")
	if err != nil {
		return Config{}, err
	}
	c, err := parse(path, data, sockets)
	if err != nil {
		return Config{}, err
	}
	if key := c.inlineSecret(); key != "" && mode&0o077 != 0 {
		return Config{}, fmt.Errorf("the configuration %s holds a secret, %s, and can be read by others (mode %04o): run "+
			"chmod 600 on it, or move the secret to a file and name it as %s_file", path, key, mode, key)
	}
	c.File, err = filepath.Abs(path)
	return c, err
}

// inlineSecret returns the name of a secret that the configuration itself contains; empty if
// there is none.
func (c Config) inlineSecret() string {
	for _, s := range c.secrets() {
		if !s.Value.IsZero() {
			return s.Name
		}
	}
	return ""
}

// SystemFolder is where the configuration and the pin of an isolated daemon are.
const SystemFolder = "/etc/approver"

// The default configuration files, for when none is given.
const (
	systemFile = SystemFolder + "/approver.yaml"
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
	path, err := DefaultPath()
	if err != nil {
		return Config{}, err
	}
	c, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	return Default().Resolve(filepath.Dir(path))
}

// DefaultPath returns where LoadOrDefault looks.
func DefaultPath() (string, error) {
	home, _ := os.UserHomeDir() // Dir tells what is missing
	sockets, err := socketpath.Dir(home)
	if err != nil {
		return "", fmt.Errorf("no configuration: %w", err)
	}
	if sockets == socketpath.SystemDir {
		return systemFile, nil
	}
	return filepath.Join(home, homeFile), nil
}

// Parse reads a configuration from the bytes of a file. name is used in
// positions, and its folder is where relative paths start. Parse reads no other file; it
// only looks up the socket and home folders.
//
// The error is a [strictyaml.FileError] with every problem of the file. With an error
// the configuration is empty.
func Parse(name string, data []byte) (Config, error) { return parse(name, data, socketpath.Dir) }

func parse(name string, data []byte, sockets func(home string) (string, error)) (Config, error) {
	f, err := strictyaml.Parse(name, data)
	if err != nil {
		return Config{}, err
	}
	c := Default()
	f.Decode(&c)
	c, err = c.resolve(filepath.Dir(name), sockets)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range c.problems() {
		// A value that could not be read is reported already.
		if !f.Has(p.path) || f.Good(p.path) {
			f.Report(p.path, p.text)
		}
	}
	if err := f.Err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// LoadPolicy reads the configured policy, or a built-in one. A policy file must have the same
// owner and mode as the configuration. If the configuration was read from a file, it must have
// the channels and people that the policy names.
func (c Config) LoadPolicy() (*shieldcore.Policy, error) {
	name, data, err := c.ReadPolicy()
	switch {
	case err != nil:
		return nil, err
	case c.File == "":
		return warnable(shieldcore.Load(name, data))
	}
	return warnable(shieldcore.LoadFor(name, data, c.audience()))
}

// warnable checks that a policy turns only those questions into warnings that one tap would answer.
func warnable(p *shieldcore.Policy, err error) (*shieldcore.Policy, error) {
	if err != nil || len(p.Warned()) == 0 {
		return p, err
	}
	rules, err := DefaultRules()
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, w := range p.Warned() {
		i := slices.IndexFunc(rules, func(r reflexcore.Rule) bool { return r.ID == w.Rule })
		twins, heuristic := twinsOf(w.Rule)
		switch {
		case heuristic && len(twins) > 0:
			problems = append(problems, fmt.Errorf("%s: %s is a heuristic, which warns where the rules that say the same do: "+
				"name them (%s)", w.Where, w.Rule, strings.Join(twins, ", ")))
		case heuristic:
			problems = append(problems, fmt.Errorf("%s: %s is a heuristic, and its questions stay questions: "+
				"disable it in a file of rules, or give it an exception", w.Where, w.Rule))
		case i < 0:
			problems = append(problems,
				fmt.Errorf("%s: there is no built-in rule %s: approver rules list shows them", w.Where, w.Rule))
		case isAlwaysCatastrophic(&rules[i]):
			problems = append(problems, fmt.Errorf("%s: the questions of the rule %s are CATASTROPHIC, and stay questions: "+
				"take it out of the list", w.Where, w.Rule))
		case rules[i].Decision != approver.Ask || rules[i].Final():
			problems = append(problems, fmt.Errorf("%s: the rule %s asks no question that may be a warning: take it out of "+
				"the list", w.Where, w.Rule))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return p, nil
}

// isAlwaysCatastrophic reports whether no question of a rule is ever HIGH, as that about a thing for tests is.
func isAlwaysCatastrophic(r *reflexcore.Rule) bool {
	return r.Decision == approver.Ask && r.Severity == approver.Catastrophic &&
		!slices.ContainsFunc(r.When, func(c reflexcore.Condition) bool {
			return slices.Contains(c.Effects, effect.RemoteDelete)
		})
}

// twinsOf returns the rules that say the same as a heuristic, and whether an id is that of one.
func twinsOf(id string) (twins []string, heuristic bool) {
	list, err := builtInHeuristics()
	i := slices.IndexFunc(list, func(h heuristics.Rule) bool { return h.ID == id })
	if err != nil || i < 0 {
		return nil, false
	}
	return list[i].Twins, true
}

// audience returns whom the policy can ask.
func (c Config) audience() shieldcore.Audience {
	out := shieldcore.Audience{}
	for _, d := range c.Destinations() {
		out[d.Channel] = nil
	}
	for id, who := range c.People() {
		if _, shows := out[id.Channel]; shows {
			out[id.Channel] = append(out[id.Channel], shieldcore.Listener{Person: who.ID, Identity: id.Channel + ":" + id.ID})
		}
	}
	return out
}

// ReadPolicy returns the bytes of the configured policy, and the name under
// which they are loaded.
func (c Config) ReadPolicy() (name string, data []byte, err error) {
	preset, is := strings.CutPrefix(c.Policy, PresetPrefix)
	if c.Policy == "" {
		preset, is = "default", true
	}
	if is {
		data, ok := Preset(preset)
		if !ok {
			return "", nil, fmt.Errorf("the policy: unknown preset %q: one of %s", preset, strings.Join(Presets(), ", "))
		}
		return "policy." + preset + ".yaml", data, nil
	}
	hint := "correct the setting policy, or leave it out for the built-in one"
	if name := filepath.Base(c.Policy); slices.Contains(Presets(), name) {
		hint = "the built-in one is called " + PresetPrefix + name
	}
	data, _, err = readOwn("policy", c.Policy, hint)
	return c.Policy, data, err
}

// readOwn reads a regular file that nobody but root and this user can have written. ifNone
// says what to do if there is no such file.
func readOwn(what, path, ifNone string) (data []byte, mode fs.FileMode, err error) {
	return readUpTo(what, path, ifNone, strictyaml.MaxBytes)
}

// readUpTo is readOwn for files that may be larger. It reads no more than one byte beyond most.
func readUpTo(what, path, ifNone string, most int64) (data []byte, mode fs.FileMode, err error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fmt.Errorf("the %s: %w: %s", what, err, ifNone)
	case err != nil:
		return nil, 0, fmt.Errorf("the %s: %w", what, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("the %s: %w", what, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("the %s %s is not a regular file", what, path)
	}
	if mode = info.Mode().Perm(); mode&0o022 != 0 {
		return nil, 0, fmt.Errorf("the %s %s can be written by others (mode %04o): run chmod go-w on it", what, path, mode)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !trusted(st.Uid, os.Geteuid()) {
		return nil, 0, fmt.Errorf("the %s %s belongs to neither root nor you: whoever owns it could change it", what, path)
	}
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, 0, fmt.Errorf("the %s: %w", what, err)
	}
	return data, mode, nil
}

// trusted reports whether a file's owner may decide what the program does.
func trusted(owner uint32, euid int) bool {
	return owner == 0 || int64(owner) == int64(euid)
}
