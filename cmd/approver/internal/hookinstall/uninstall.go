package hookinstall

import (
	"errors"

	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/claudehooks"
)

// UninstallCmd is the command uninstall.
type UninstallCmd struct {
	Claude UninstallClaudeCmd `cmd:"" help:"Take the hook out of Claude Code's settings."`
}

// Help is the long text.
func (UninstallCmd) Help() string {
	return `Example:
  approver uninstall claude`
}

// UninstallClaudeCmd is uninstall claude.
type UninstallClaudeCmd struct {
	claudehooks.Target
	Config string `help:"Configuration file, for the daemon that watches the settings." short:"c" placeholder:"FILE"`
}

// Help is the long text.
func (UninstallClaudeCmd) Help() string {
	return `Takes approver's hooks out. If nothing else in the file was changed since install, it is what it was before, to the byte, by the copy that install
left beside it; a file that was not there before is removed. Otherwise the rest of the file stays as it is now. The daemon stops watching it. A
session of Claude Code that runs keeps its hooks until it ends.

Example:
  approver uninstall claude
  approver uninstall claude --project .`
}

// Run uninstalls.
func (c UninstallClaudeCmd) Run() error {
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
		term.Print(0, "the daemon may still watch %s: %v\n", path, err)
	}
	changed, removing := removeHooks(path)
	if removing != nil {
		if watched {
			removing = errors.Join(removing, claudehooks.ChangeInstalls(cfg.Dir, in))
		}
		return removing
	}
	if changed && !watched && err == nil {
		term.Print(0, "the daemon of %s does not watch this file. If another one does, it raises an alarm now: name its configuration with --config, and run this again\n", cfg.Dir)
	}
	return nil
}
