package hookfiles

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/configs"
	"approver.example/httpapi/socketpath"
)

// WantedHooks returns the hooks that must be in an agent's settings, both as the text of a new
// settings file and parsed.
func WantedHooks(
	agent agents.Installer, cfg configs.Config, who configs.Submitters, program string,
) (text []byte, want settings.Hooks, err error) {
	if text, err = agent.HookConfig(program, hookSocket(cfg, who), cfg.Hold(agent.Name())); err == nil {
		want, err = agent.ReadHooks("the hooks of "+agent.Name(), text)
	}
	return text, want, err
}

// hookSocket returns the socket path to write into the hook. It is empty for an isolated
// daemon, whose path is pinned, and if the hook finds the path by default.
func hookSocket(cfg configs.Config, who configs.Submitters) string {
	home, _ := os.UserHomeDir() // without one nothing is usual
	dir, err := socketpath.Dir(home)
	if who.Named() || err == nil && cfg.Sockets.Submit == filepath.Join(dir, socketpath.Submit) {
		return ""
	}
	return cfg.Sockets.Submit
}

// HookProgram returns the absolute path of approver-hook: the named one, or else the one
// beside this program, or else the one in PATH.
func HookProgram(named string) (string, error) {
	if named == "" {
		if self, err := os.Executable(); err == nil {
			named = filepath.Join(filepath.Dir(self), "approver-hook")
		}
		if _, err := os.Stat(named); err != nil {
			if named, err = exec.LookPath("approver-hook"); err != nil {
				return "", errors.New("approver-hook is neither beside this program nor in PATH: install it, or name it with " +
					"--hook")
			}
		}
	}
	path, err := filepath.Abs(named)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("the hook program: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("the hook program %s is not a program", path)
	case filepath.Base(path) != "approver-hook":
		return "", fmt.Errorf("the hook program %s: its name has to be approver-hook, by which it is found again", path)
	}
	return path, nil
}
