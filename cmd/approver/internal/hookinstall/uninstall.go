package hookinstall

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/safefile"
	"github.com/alecthomas/kong"
)

// Uninstall returns the command uninstall for all agents.
func Uninstall() UninstallCmd {
	return UninstallCmd{Agents: perAgent(func(agent agents.Installer) (any, string) {
		return UninstallAgentCmd{Agent: agent.Name()}, "Take the hook out of " + agent.Files().Title + "'s settings."
	})}
}

// UninstallCmd is the command uninstall, with a subcommand for each agent.
type UninstallCmd struct {
	Agents kong.Plugins    `embed:""`
	Every  uninstallAllCmd `cmd:"" default:"withargs" hidden:"" help:"Do it for all settings that are recorded."`
}

// UninstallAgentCmd is the command uninstall for one agent.
type UninstallAgentCmd struct {
	Agent string `kong:"-"`
	settings.Target
	Config string `help:"Configuration file, for the daemon that watches the settings." short:"c" placeholder:"FILE"`
}

// Run removes the hook.
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
	if watched { // first; otherwise the daemon would raise an alarm
		err = hookfiles.ChangeInstalls(cfg.Dir, hookfiles.Installed{Path: path})
	}
	if err != nil {
		term.Print(0, "the daemon may still watch %s: %v\n", path, err)
	}
	was, _ := textOf(path) // an error is that of removeHooks
	changed, removing := removeHooks(agent, path)
	if removing == nil && changed {
		removing = leave(agent, path, was)
	}
	if removing != nil {
		if watched {
			removing = errors.Join(removing, hookfiles.ChangeInstalls(cfg.Dir, in))
		}
		return removing
	}
	if changed && !watched && err == nil {
		term.Print(0, "the daemon of %s does not watch this file. If another one does, it raises an alarm now: name its "+
			"configuration with --config, and run this again\n", cfg.Dir)
	}
	return nil
}

// madeOf reports whether install makes text out of former, which has no hooks of approver. If
// so, taking the hooks out gives exactly the former text. No other change is lost by that: with
// another change, the text would not be what install makes.
func madeOf(agent agents.Installer, path string, text, former []byte) bool {
	hooks := installedIn(agent, path, text)
	if len(hooks) == 0 || len(installedIn(agent, path, former)) > 0 {
		return false
	}
	made, err := agent.WithHooks(path, former, hooks)
	return err == nil && bytes.Equal(made, text)
}

// nothingElse reports whether a file has approver's hooks and nothing else, or is what install
// writes where no file is, such as with the version that the agent wants.
func nothingElse(agent agents.Installer, path string, text []byte) bool {
	if len(installedIn(agent, path, text)) == 0 {
		return false
	}
	if madeOf(agent, path, text, nil) {
		return true
	}
	rest, err := agent.WithHooks(path, text, nil)
	left := string(bytes.Join(bytes.Fields(rest), nil))
	return err == nil && (left == "{}" || left == "")
}

// installedIn returns the matchers that have approver's hooks.
func installedIn(agent agents.Installer, path string, text []byte) settings.Hooks {
	hooks, err := agent.ReadHooks(path, text)
	if err != nil {
		return nil
	}
	ours := func(hook json.RawMessage) bool { return settings.CommandOf(hook).Ours(agent.Name()) }
	found := settings.Hooks{}
	for event, matchers := range hooks {
		for _, m := range matchers {
			if slices.ContainsFunc(m.Hooks, ours) {
				found[event] = append(found[event], m)
			}
		}
	}
	return found
}

// removeHooks takes approver's hooks out of the settings. If nothing else has changed since
// they were installed, the file becomes exactly what it was before; a file that did not exist
// is removed. Otherwise everything except the hooks stays as it is. changed reports whether
// there were any hooks.
func removeHooks(agent agents.Installer, path string) (changed bool, err error) {
	real, err := safefile.RealFile(path)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		term.Print(0, "there is no %s, so nothing to take out\n", path)
		return false, nil
	case err != nil:
		return false, err
	}
	former := safefile.BackupsOf(real)
	for _, b := range former {
		if madeOf(agent, real, text, b.Text) {
			return true, restore(real, b)
		}
	}
	if real == path && nothingElse(agent, path, text) {
		if err := os.Remove(path); err != nil {
			return false, err
		}
		term.Print(0, "removed %s: it held approver's hooks and nothing else\n", path)
		return true, nil
	}
	if changed, err = edit(agent, path, nil, nil); err != nil || !changed {
		return false, err
	}
	now, err := os.ReadFile(real)
	if err == nil && !bytes.Equal(now, text) {
		term.Print(0, "it was changed since approver was installed, so all else in it was kept as it is now\n")
	}
	return true, err
}

// restore restores the text that a file had before install. Its mode stays, unless install
// changed it for managed settings.
func restore(path string, was safefile.Backup) error {
	kept, _, err := safefile.ChangeFile(path, func([]byte) ([]byte, error) { return was.Text, nil })
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() == was.Mode|0o444 {
		err = os.Chmod(path, was.Mode)
	}
	if err == nil {
		term.Print(0, "changed %s: it is what it was before approver was installed\nwhat it was is in %s\n", path, kept)
	}
	return err
}
