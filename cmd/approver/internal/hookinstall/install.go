// Package hookinstall is the commands install and uninstall: they put the hooks into an
// agent's settings, and take them out again.
package hookinstall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/agents/claudesettings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/services"
	"approver.example/cmd/approver/internal/term"
	"approver.example/cmd/approver/internal/tryhook"
	"approver.example/configs"
	"approver.example/daemon/claudehooks"
)

// InstallCmd is the command install.
type InstallCmd struct {
	Claude ClaudeCmd `cmd:"" help:"Put the hook into Claude Code's settings."`
}

// Help is the long text.
func (InstallCmd) Help() string {
	return `Example:
  approver install claude`
}

// ClaudeCmd is install claude.
type ClaudeCmd struct {
	claudehooks.Target
	withCanary
	Config string `help:"Configuration file, for its ttl and sockets." short:"c" placeholder:"FILE"`
	Hook   string `help:"The program approver-hook; left out, the one beside this program or in PATH." placeholder:"PATH"`
	Pin    string `help:"The pin of couriers, written for an isolated daemon by root." default:"/etc/approver/courier" placeholder:"FILE"`
}

// Help is the long text.
func (ClaudeCmd) Help() string {
	return `Adds approver's hooks and leaves the rest of the file as it is. Run it again after the ttl was changed, or the program moved. What the file was before is kept beside it.
Whether the agent waits for people, or is told to come back, is not the hook's to say: it is agents.claude.park_after in the daemon's configuration.
The user's own settings are in $CLAUDE_CONFIG_DIR, if that is set. Managed settings (--system) are made readable for everybody, and read back as another user.
For an isolated daemon it also writes the pin that tells couriers which socket and user to trust, if root runs it.
The daemon watches what was installed and raises an alarm when it is weakened.
` + tryhook.Help + `

Example:
  approver install claude
  approver install claude --project .
  approver install claude --system`
}

// withCanary is the flag of install.
type withCanary struct {
	HookTest bool `help:"Start claude once afterwards, to see whether the hook stops a call." default:"true" negatable:"" env:"APPROVER_HOOK_TEST"`
}

// Run installs, and looks whether Claude Code asks now.
func (c ClaudeCmd) Run(ctx context.Context) error {
	if err := c.Install(); err != nil || !c.HookTest {
		return err
	}
	f := tryhook.Try(ctx, c.Target)
	switch f.Result {
	case finding.OK:
		term.Print(0, "%s\n", f.Text)
	case finding.Warn:
		term.Print(0, "warning: %s\n", f.Text)
		if f.Fix != "" {
			term.Print(0, "fix: %s\n", f.Fix)
		}
	case finding.Fail:
		return errors.New(f.Text + "\nfix: " + f.Fix)
	}
	return nil
}

// installable refuses an agent that would run what the hook means to stop.
func installable(agent string) error {
	if blocking.Known(agent) {
		return nil
	}
	return fmt.Errorf("it is not known how %s is told no, so its hook would stop nothing; agents/blocking needs a row for it", agent)
}

// Install changes the settings, and pins couriers.
func (c ClaudeCmd) Install() error {
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
		term.Print(0, "the daemon does not watch %s: %v: install as the daemon's user, or as root\n", path, err)
	}
	if _, err := os.Stat(cfg.Sockets.Submit); errors.Is(err, fs.ErrNotExist) {
		term.Print(0, "until the daemon runs, Claude Code's calls are blocked: %s\n", services.StartsDaemon(cfg))
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
