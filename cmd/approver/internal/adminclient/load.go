package adminclient

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"approver.example/cmd/approver/internal/asuser"
	"approver.example/configs"
)

// load reads the configuration of the daemon that root means. It first becomes the user who
// owns that configuration, for good, and rejects a configuration that somebody else could
// change.
func (s Sudo) load(named string) (configs.Config, error) {
	t, err := s.target(named)
	if err != nil {
		return configs.Config{}, err
	}
	if t.isolated && t.config == "" && t.pin != "" {
		return configs.Config{},
			fmt.Errorf("root has pinned an isolated daemon (uid %d), and there is no %s: name its configuration with --config",
				*t.uid, filepath.Join(s.etc, configName))
	}
	path := t.config
	if path == "" && t.uid == nil {
		if path, err = configs.DefaultPath(); err != nil {
			return configs.Config{}, err
		}
	}
	as := t.uid
	if path != "" {
		switch f, owner, err := openOwn(path, t.uid); {
		case err == nil:
			_ = f.Close() // it was opened only to check it
			if t.isolated || as == nil {
				as = &owner
			}
		case !errors.Is(err, fs.ErrNotExist):
			return configs.Config{}, err
		}
	}
	if as != nil {
		if err := asuser.Become(*as, cmp.Or(path, t.home)); err != nil {
			return configs.Config{}, err
		}
	}
	switch {
	case t.isolated && t.config != "":
		return configs.LoadIsolated(t.config)
	case t.config != "":
		return configs.Load(t.config)
	}
	return configs.LoadOrDefault("")
}

// LoadAsDaemon loads the configuration of the daemon that this user speaks to. If this process
// runs as root, it first becomes the owner of that configuration.
func LoadAsDaemon(path string) (configs.Config, error) {
	if s := NewSudo(); s.euid == 0 {
		return s.load(path)
	}
	return configs.LoadOrDefault(path)
}
