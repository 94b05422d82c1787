package configs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/httpapi/socketpath"
	"approver.example/internal/secret"
)

// systemDir is the data folder of an isolated daemon.
const systemDir = "/var/lib/approver"

// Resolve returns c with every path absolute: ~/ is the home folder of the user who runs the
// program, other relative paths start from base, and a data folder and sockets that are left
// out get their default places. The values that c points to are not modified.
func (c Config) Resolve(base string) (Config, error) { return c.resolve(base, socketpath.Dir) }

func (c Config) resolve(base string, sockets func(home string) (string, error)) (Config, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return Config{}, err
	}
	home, _ := os.UserHomeDir() // it is an error only if it is needed
	if c.Dir == "" || c.Sockets.Submit == "" || c.Sockets.Resolve == "" {
		if err := c.place(home, sockets); err != nil {
			return Config{}, err
		}
	}
	for _, p := range c.paths() {
		switch {
		case *p == "", p == &c.Policy && strings.HasPrefix(*p, PresetPrefix):
		case *p == "~" || strings.HasPrefix(*p, "~/"):
			if home == "" {
				return Config{}, errors.New("HOME is not set, so a path with ~ leads nowhere: write it out")
			}
			*p = filepath.Join(home, (*p)[1:])
		case !filepath.IsAbs(*p):
			*p = filepath.Join(base, *p)
		}
	}
	return c, nil
}

// place fills in the data folder and the sockets.
func (c *Config) place(home string, sockets func(home string) (string, error)) error {
	dir, err := sockets(home)
	if err != nil {
		return errors.New("no place for data and sockets: set HOME, or dir, sockets.submit and sockets.resolve")
	}
	data := filepath.Dir(dir) // ~/.approver
	if dir == socketpath.SystemDir {
		data = systemDir
	}
	for p, usual := range map[*string]string{
		&c.Dir:             data,
		&c.Sockets.Submit:  filepath.Join(dir, socketpath.Submit),
		&c.Sockets.Resolve: filepath.Join(dir, socketpath.Resolve),
	} {
		if *p == "" {
			*p = usual
		}
	}
	return nil
}

// paths returns every setting of c that is a path. It first replaces what c points to with
// copies.
func (c *Config) paths() []*string {
	all := []*string{&c.Dir, &c.Sockets.Submit, &c.Sockets.Resolve, &c.Policy, &c.Audit.Dir, &c.Audit.KeyFile,
		&c.Reflex.Rules.Hub, &c.Reflex.Rules.User}
	var secrets []*string
	own(&c.Store)
	own(&c.Shield)
	own(&c.Channels)
	for _, s := range sections[storeSection](&c.Store) {
		all = append(all, s.Storage().Paths...)
	}
	if m := c.Shield.Sidecar; m != nil {
		all = append(all, &m.Program, &m.Library, &m.Model)
	}
	for _, s := range c.secrets() {
		secrets = append(secrets, s.File)
	}
	// A secret may come from elsewhere than a file.
	return append(all, slices.DeleteFunc(secrets, func(p *string) bool { return !secret.IsPath(*p) })...)
}

// secrets returns all settings that hold a secret, with their full names.
func (c Config) secrets() (all []secret.Setting) {
	add := func(section string, settings []secret.Setting) {
		for _, s := range settings {
			s.Name = section + "." + s.Name
			all = append(all, s)
		}
	}
	for _, ch := range c.Channels.InUse() {
		add("channels."+ch.Name, ch.Secrets())
	}
	if e := c.Shield.Evaluator; e != nil {
		add("shield.evaluator", e.Secrets())
	}
	for key, s := range sections[storeSection](&c.Store) {
		add("store."+key, s.Secrets())
	}
	return all
}
