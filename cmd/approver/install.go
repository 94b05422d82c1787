package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/agents/claudesettings"
	"approver.example/configs"
	"approver.example/daemon/claudehooks"
	"approver.example/daemon/safefile"
	"approver.example/httpapi/socketpath"
)

// missingFolders returns the folders above a path that are not there.
func missingFolders(path string) (missing []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return missing
		}
		missing = append(missing, dir)
	}
}

// publish makes managed settings readable for everybody, whatever the umask is, and
// looks whether another user can read them.
func publish(path string, made []string, agent uint32) error {
	for _, dir := range made {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o444 != 0o444 {
		if err := os.Chmod(path, mode|0o444); err != nil {
			return err
		}
		printed(0, "made %s readable for everybody: managed settings hold only for those who can read them\n", path)
	}
	return claudehooks.ReadableBy(path, agent)
}

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
	claudehooks.Target
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
	program, err := claudehooks.HookProgram(c.Hook)
	if err != nil {
		return err
	}
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return err
	}
	text, want, err := claudehooks.WantedHooks(cfg, who, program)
	if err != nil {
		return err
	}
	path, err := c.Path()
	if err != nil {
		return err
	}
	made := missingFolders(path)
	if _, err := edit(path, want, text); err != nil {
		return err
	}
	if c.OfMachine(path) {
		if err := publish(path, made, claudehooks.SubmitterUID(cfg)); err != nil {
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

// remember tells the daemon which file to watch.
func remember(cfg configs.Config, path, program string, want claudesettings.Settings) error {
	sum, err := claudehooks.HashOf(program)
	if err != nil {
		return err
	}
	return claudehooks.ChangeInstalls(cfg.Dir, claudehooks.Installed{Path: path, Program: program, SHA256: sum, Hooks: want.Hooks})
}

type uninstallClaudeCmd struct {
	claudehooks.Target
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
	path, err := c.Path()
	if err != nil {
		return err
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	var all claudehooks.Installs
	if err == nil {
		all, err = claudehooks.ReadInstalls(cfg.Dir)
	}
	in, watched := all.Of(path)
	if watched { // first, or the daemon would raise an alarm
		err = claudehooks.ChangeInstalls(cfg.Dir, claudehooks.Installed{Path: path})
	}
	if err != nil {
		printed(0, "the daemon may still watch %s: %v\n", path, err)
	}
	changed, removing := removeHooks(path)
	if removing != nil {
		if watched {
			removing = errors.Join(removing, claudehooks.ChangeInstalls(cfg.Dir, in))
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
	backup, changed, err := safefile.ChangeFile(path, func(old []byte) ([]byte, error) {
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
	_, changed, err := safefile.ChangeFile(file, func([]byte) ([]byte, error) { return []byte(want), nil })
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
