package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/agents/claudesettings"
	"approver.example/configs"
	"approver.example/httpapi/socketpath"
)

type installCmd struct {
	Claude installClaudeCmd `cmd:"" help:"Put the hook into Claude Code's settings."`
}

// Help is the long text.
func (installCmd) Help() string {
	return `Example:
  approver install claude`
}

type uninstallCmd struct {
	Claude uninstallClaudeCmd `cmd:"" help:"Take the hook out of Claude Code's settings."`
}

// Help is the long text.
func (uninstallCmd) Help() string {
	return `Example:
  approver uninstall claude`
}

type installClaudeCmd struct {
	claudeFile
	withCanary
	Config string `help:"Configuration file, for its ttl and sockets." short:"c" placeholder:"FILE"`
	Hook   string `help:"The program approver-hook; left out, the one beside this program or in PATH." placeholder:"PATH"`
	Pin    string `help:"The pin of couriers, written for an isolated daemon by root." default:"/etc/approver/courier" placeholder:"FILE"`
}

// Help is the long text.
func (installClaudeCmd) Help() string {
	return `Adds approver's hooks and leaves the rest of the file as it is. Run it again after the ttl was changed, or the program moved. What the file was before is kept beside it.
Whether the agent waits for people, or is told to come back, is not the hook's to say: it is agents.claude.park_after in the daemon's configuration.
The user's own settings are in $CLAUDE_CONFIG_DIR, if that is set. Managed settings (--system) are made readable for everybody, and read back as another user.
For an isolated daemon it also writes the pin that tells couriers which socket and user to trust, if root runs it.
The daemon watches what was installed and raises an alarm when it is weakened.
` + canaryHelp + `

Example:
  approver install claude
  approver install claude --project .
  approver install claude --system`
}

// installable refuses an agent that would run what the hook means to stop.
func installable(agent string) error {
	if blocking.Known(agent) {
		return nil
	}
	return fmt.Errorf("it is not known how %s is told no, so its hook would stop nothing; agents/blocking needs a row for it", agent)
}

// install changes the settings, and pins couriers.
func (c installClaudeCmd) install() error {
	if err := installable(agents.Claude{}.Name()); err != nil {
		return err
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	program, err := hookProgram(c.Hook)
	if err != nil {
		return err
	}
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return err
	}
	text, want, err := wantedHooks(cfg, who, program)
	if err != nil {
		return err
	}
	path, err := c.path()
	if err != nil {
		return err
	}
	made := missingFolders(path)
	if _, err := edit(path, want, text); err != nil {
		return err
	}
	if c.ofMachine(path) {
		if err := publish(path, made, submitterUID(cfg)); err != nil {
			return err
		}
	}
	if err := remember(cfg, path, program, want); err != nil {
		printed(0, "the daemon does not watch %s: %v: install as the daemon's user, or as root\n", path, err)
	}
	if _, err := os.Stat(cfg.Sockets.Submit); errors.Is(err, fs.ErrNotExist) {
		printed(0, "until the daemon runs, Claude Code's calls are blocked: %s\n", startsDaemon(cfg))
	}
	if !who.Named() {
		return nil
	}
	return pin(c.Pin, cfg)
}

// wantedHooks are the hooks that have to stand in Claude Code's settings, as text and
// as what it means.
func wantedHooks(cfg configs.Config, who configs.Submitters, program string) (text []byte, want claudesettings.Settings, err error) {
	if text, err = (agents.Claude{}).HookConfig(program, hookSocket(cfg, who), cfg.Hold(agents.Claude{}.Name())); err == nil {
		err = json.Unmarshal(text, &want)
	}
	return text, want, err
}

// remember tells the daemon which file to watch.
func remember(cfg configs.Config, path, program string, want claudesettings.Settings) error {
	sum, err := hashOf(program)
	if err != nil {
		return err
	}
	return changeInstalls(cfg.Dir, installed{Path: path, Program: program, SHA256: sum, Hooks: want.Hooks})
}

// submitterUID is a user whom agents run as.
func submitterUID(cfg configs.Config) uint32 {
	if len(cfg.Sockets.SubmitUIDs) > 0 {
		return cfg.Sockets.SubmitUIDs[0]
	}
	return nobody
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

type uninstallClaudeCmd struct {
	claudeFile
	Config string `help:"Configuration file, for the daemon that watches the settings." short:"c" placeholder:"FILE"`
}

// Help is the long text.
func (uninstallClaudeCmd) Help() string {
	return `Takes approver's hooks out. If nothing else in the file was changed since install, it is what it was before, to the byte, by the copy that install
left beside it; a file that was not there before is removed. Otherwise the rest of the file stays as it is now. The daemon stops watching it. A
session of Claude Code that runs keeps its hooks until it ends.

Example:
  approver uninstall claude
  approver uninstall claude --project .`
}

// Run uninstalls.
func (c uninstallClaudeCmd) Run() error {
	path, err := c.path()
	if err != nil {
		return err
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	var all installs
	if err == nil {
		all, err = readInstalls(cfg.Dir)
	}
	in, watched := all.of(path)
	if watched { // first, or the daemon would raise an alarm
		err = changeInstalls(cfg.Dir, installed{Path: path})
	}
	if err != nil {
		printed(0, "the daemon may still watch %s: %v\n", path, err)
	}
	changed, removing := removeHooks(path)
	if removing != nil {
		if watched {
			removing = errors.Join(removing, changeInstalls(cfg.Dir, in))
		}
		return removing
	}
	if changed && !watched && err == nil {
		printed(0, "the daemon of %s does not watch this file. If another one does, it raises an alarm now: name its configuration with --config, and run this again\n", cfg.Dir)
	}
	return nil
}

// edit brings the settings to these hooks, and reports whether they were not so. whole is
// the text of a new file; without one there are no hooks to be had.
func edit(path string, want claudesettings.Settings, whole []byte) (changed bool, err error) {
	fresh := false
	backup, changed, err := changeFile(path, func(old []byte) ([]byte, error) {
		if fresh = old == nil; fresh {
			return whole, nil
		}
		return claudesettings.WithHooks(path, old, want)
	})
	switch {
	case err != nil:
		return false, err
	case !changed && whole == nil:
		printed(0, "%s has no hook of approver\n", path)
	case !changed:
		printed(0, "%s is as it should be\n", path)
	case fresh:
		printed(0, "wrote %s\n", path)
	default:
		printed(0, "changed %s\n", path)
	}
	if backup != "" {
		printed(0, "what it was is in %s\n", backup)
	}
	return changed, nil
}

// hookProgram finds approver-hook.
func hookProgram(named string) (string, error) {
	if named == "" {
		if self, err := os.Executable(); err == nil {
			named = filepath.Join(filepath.Dir(self), "approver-hook")
		}
		if _, err := os.Stat(named); err != nil {
			if named, err = exec.LookPath("approver-hook"); err != nil {
				return "", errors.New("approver-hook is neither beside this program nor in PATH: install it, or name it with --hook")
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

// pin writes which socket and user couriers trust. The daemon's user is the
// owner of its data folder.
func pin(file string, cfg configs.Config) error {
	owner, err := ownerOf(cfg.Dir)
	if err != nil {
		return fmt.Errorf("the pin: %w: make the folder for the daemon's user first", err)
	}
	want := fmt.Sprintf("socket %s\nuid %d\n", cfg.Sockets.Submit, owner)
	if os.Geteuid() != 0 {
		have, ok, err := socketpath.ReadPin(file, 0)
		if err != nil || !ok || have != (socketpath.Pin{Socket: cfg.Sockets.Submit, UID: owner}) {
			return fmt.Errorf("couriers are not pinned to the isolated daemon: as root, write this to %s\n%s", file, want)
		}
		return nil
	}
	_, changed, err := changeFile(file, func([]byte) ([]byte, error) { return []byte(want), nil })
	if err == nil && changed {
		err = os.Chmod(file, 0o644)
		printed(0, "pinned couriers in %s to %s of uid %d\n", file, cfg.Sockets.Submit, owner)
	}
	return err
}

// ownerOf returns whose a file or folder is.
func ownerOf(path string) (uint32, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("the owner of %s is not known", path)
	}
	return st.Uid, nil
}
