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

// WantedHooks are the hooks that have to stand in an agent's settings, as the text of new
// settings and as what it means.
func WantedHooks(
	agent agents.Installer, cfg configs.Config, who configs.Submitters, program string,
) (text []byte, want settings.Hooks, err error) {
	if text, err = agent.HookConfig(program, hookSocket(cfg, who), cfg.Hold(agent.Name())); err == nil {
		want, err = agent.ReadHooks("the hooks of "+agent.Name(), text)
	}
	return text, want, err
}

// hookSocket is the socket that the hook has to be told: none for an isolated
// daemon, whose place is pinned, and none if the hook looks there by itself.
func hookSocket(cfg configs.Config, who configs.Submitters) string {
	home, _ := os.UserHomeDir() // without one nothing is usual
	dir, err := socketpath.Dir(home)
	if who.Named() || err == nil && cfg.Sockets.Submit == filepath.Join(dir, socketpath.Submit) {
		return ""
	}
	return cfg.Sockets.Submit
}

// HookProgram finds approver-hook.
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
	}
	return path, nil
}
