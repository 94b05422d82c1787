package hookinstall

import (
	"errors"

	"github.com/alecthomas/kong"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"

	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
)

// UninstallCmd is the command uninstall, with a command for each agent.
type UninstallCmd struct {
	Agents kong.Plugins `embed:""`
}

// Uninstall is the command uninstall for all agents.
func Uninstall() UninstallCmd {
	return UninstallCmd{perAgent(func(agent agents.Installer) (any, string) {
		return UninstallAgentCmd{Agent: agent.Name()}, "Take the hook out of " + agent.Files().Title + "'s settings."
	})}
}

// Help is the long text.
func (UninstallCmd) Help() string {
	return `Example:
  approver uninstall ` + facts.Example()
}

// UninstallAgentCmd is uninstall for one agent.
type UninstallAgentCmd struct {
	Agent string `kong:"-"`
	settings.Target
	Config string `help:"Configuration file, for the daemon that watches the settings." short:"c" placeholder:"FILE"`
}

// Help is the long text.
func (c UninstallAgentCmd) Help() string {
	agent, err := installer(c.Agent)
	if err != nil {
		return ""
	}
	return `Takes approver's hooks out. If nothing else in the file was changed since install, it is what it was before, to the byte, by the copy that install
left beside it; a file that was not there before is removed. Otherwise the rest of the file stays as it is now. The daemon stops watching it. A
session of ` + agent.Files().Title + ` that runs keeps its hooks until it ends.

Example:
  approver uninstall ` + c.Agent + `
  approver uninstall ` + c.Agent + ` --project .`
}

// Run uninstalls.
func (c UninstallAgentCmd) Run() error {
	agent, err := installer(c.Agent)
	if err != nil {
		return err
	}
	path, err := c.Path(agent.Files())
	if err != nil {
		return err
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	var all hookfiles.Installs
	if err == nil {
		all, err = hookfiles.ReadInstalls(cfg.Dir)
	}
	in, watched := all.Of(path)
	if watched { // first, or the daemon would raise an alarm
		err = hookfiles.ChangeInstalls(cfg.Dir, hookfiles.Installed{Path: path})
	}
	if err != nil {
		term.Print(0, "the daemon may still watch %s: %v\n", path, err)
	}
	changed, removing := removeHooks(agent, path)
	if removing != nil {
		if watched {
			removing = errors.Join(removing, hookfiles.ChangeInstalls(cfg.Dir, in))
		}
		return removing
	}
	if changed && !watched && err == nil {
		term.Print(0, "the daemon of %s does not watch this file. If another one does, it raises an alarm now: name its configuration with --config, and run this again\n", cfg.Dir)
	}
	return nil
}
