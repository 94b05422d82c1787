package hookinstall

import (
	"errors"

	"approver.example/agents"
	"approver.example/agents/settings"
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
	var r report
	defer r.print()
	cfg, err := configs.LoadOrDefault(c.Config)
	done, held := hookfiles.Alone(cfg.Dir)
	if held != nil {
		return held
	}
	defer done()
	var all hookfiles.Installs
	if err == nil {
		all, err = hookfiles.ReadInstalls(cfg.Dir)
	}
	in, watched := all.Of(agent.Name(), path)
	if watched { // first; otherwise the daemon would raise an alarm
		changing := in
		changing.Changing = true
		err = hookfiles.ChangeInstalls(cfg.Dir, changing)
	} else if missing := c.Exists(); missing != nil {
		return missing
	}
	if err != nil {
		r.say("the daemon may still watch %s: %v\n", path, err)
	}
	defer c.tellElsewhere(&r, agent, path, all)
	hooks := in.Hooks
	if hooks == nil {
		hooks = usual(agent, cfg)
	}
	changed, failed := takeOut(&r, agent, path, hooks)
	if failed != nil {
		if watched {
			failed = errors.Join(failed, hookfiles.ChangeInstalls(cfg.Dir, in))
		}
		return failed
	}
	if watched {
		removeEmpty(in.Folders)
		return hookfiles.ForgetInstall(cfg.Dir, in)
	}
	if changed && err == nil {
		r.say("the daemon of %s does not watch this file. If another one does, it raises an alarm now: name its "+
			"configuration with --config, and run this again\n", cfg.Dir)
	}
	return nil
}

// tellElsewhere says in which other settings approver is installed for the agent, if no flag named any: when it
// was installed, a variable such as CODEX_HOME may have named another folder.
func (c UninstallAgentCmd) tellElsewhere(r *report, agent agents.Installer, path string, all hookfiles.Installs) {
	if c.File != "" || c.Project != "" || c.System {
		return
	}
	here, _ := all.Of(agent.Name(), path)
	for _, in := range all.Installs {
		if in.Key().Agent != agent.Name() || in.Path == path || in.Key() == here.Key() {
			continue
		}
		cure := "approver uninstall " + agent.Name() + " --file " + settings.ShellWord(in.Path)
		if c.Config != "" {
			cure += " --config " + settings.ShellWord(c.Config)
		}
		r.say("%s has approver's hooks in %s, too; to take them out: %s\n", agent.Files().Title, in.Path, cure)
	}
}

// usual returns the hooks that install would write now, or nil.
func usual(agent agents.Installer, cfg configs.Config) settings.Hooks {
	program, err := hookfiles.HookProgram("")
	who, whoErr := cfg.Sockets.Submitters()
	if errors.Join(err, whoErr) != nil {
		return nil
	}
	_, hooks, err := hookfiles.WantedHooks(agent, cfg, who, program)
	if err != nil {
		return nil // also with the zero configuration, if there is no good one
	}
	return hooks
}

// takeOut takes approver's hooks out of the settings, and what belongs to them out of the companions,
// also if the settings are gone. installed are the hooks that were there, as far as that is known.
func takeOut(r *report, agent agents.Installer, path string, installed settings.Hooks) (changed bool, err error) {
	was, err := safefile.Read(path)
	if err != nil {
		return false, err
	}
	f := settingsOf(agent, path)
	texts := [][]byte{was}
	for _, b := range f.backups() {
		texts = append(texts, b.Text)
	}
	if whole, err := agent.NewFile(path, installed); err == nil && len(installed) > 0 {
		texts = append(texts, whole)
	}
	if changed, err = f.takeOut(r); err != nil {
		return changed, err
	}
	becomes, err := safefile.Read(path)
	if err != nil {
		return changed, err
	}
	for i := range companionsOf(agent, path, was, becomes) {
		with, err := companionAt(agent, path, i, texts, becomes).takeOut(r)
		changed = changed || with
		if err != nil {
			return changed, err
		}
	}
	switch {
	case changed:
	case was == nil:
		r.say("there is no %s, so nothing to take out\n", path)
	default:
		r.say("%s has no hook of approver\n", path)
	}
	return changed, nil
}
