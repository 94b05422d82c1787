// Package hookinstall has the commands install and uninstall, which put the hooks into an
// agent's settings and take them out again.
package hookinstall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"

	"approver.example/agents"
	"approver.example/agents/blocking"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/services"
	"approver.example/cmd/approver/internal/term"
	"approver.example/cmd/approver/internal/tryhook"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/safefile"
	"github.com/alecthomas/kong"
)

// Cmd is a command with a subcommand for each agent.
type Cmd struct {
	Agents kong.Plugins `embed:""`
	Every  allCmd       `cmd:"" default:"withargs" hidden:"" help:"Do it for all agents that are on this machine."`
}

// Install returns the command install for all agents.
func Install() Cmd {
	return Cmd{Agents: perAgent(func(agent agents.Installer) (any, string) {
		return AgentCmd{Agent: agent.Name()}, "Put the hook into " + agent.Files().Title + "'s settings."
	})}
}

// perAgent makes a command for each agent, named after the agent.
func perAgent(command func(agents.Installer) (command any, help string)) (all kong.Plugins) {
	for _, agent := range agents.Installers() {
		c, help := command(agent)
		one := reflect.New(reflect.StructOf([]reflect.StructField{{
			Name: "Agent", Type: reflect.TypeOf(c),
			Tag: reflect.StructTag(fmt.Sprintf(`cmd:"" name:%q help:%q set:"agent=%[1]s" set:%[3]q`, agent.Name(), help,
				"title="+agent.Files().Title)),
		}}))
		one.Elem().Field(0).Set(reflect.ValueOf(c))
		all = append(all, one.Interface())
	}
	return all
}

// installer returns the agent with that name. It is an error if the agent cannot be installed.
func installer(name string) (agents.Installer, error) {
	adapter, _ := agents.For(name)
	if agent, ok := adapter.(agents.Installer); ok {
		return agent, nil
	}
	return nil, fmt.Errorf("approver cannot be installed for the agent %q", name)
}

// AgentCmd is the command install for one agent.
type AgentCmd struct {
	Agent string `kong:"-"`
	settings.Target
	withTest
	DryRun bool   `help:"Print what would be changed, as a diff, and change nothing."`
	Config string `help:"Configuration file, for its ttl and sockets." short:"c" placeholder:"FILE"`
	Hook   string `help:"The program approver-hook; left out, the one beside this program or in PATH." placeholder:"PATH"`
	Pin    string `help:"The pin of couriers, written for an isolated daemon by root." default:"/etc/approver/courier" placeholder:"FILE"`
}

// Help returns the long help.
func (c AgentCmd) Help() string {
	agent, err := installer(c.Agent)
	if err != nil {
		return ""
	}
	f := agent.Files()
	text := `Adds approver's hooks and leaves the rest of the file as it is. Run it again after the ttl was changed, or
the program moved. What the file was before is kept beside it (` + copyOf(f) + `). Whether the agent waits for people,
or is told to come back, is not the hook's to say: it is agents.` + c.Agent + `.park_after in the daemon's
configuration.
`
	text += userSettings(f) + "\n"
	if f.Managed != "" {
		text += "Managed settings (--system) are made readable for everybody, and read back as another user.\n"
	}
	text += `For an isolated daemon it also writes the pin that tells couriers which socket and user to trust, if root
runs it. The daemon watches what was installed and raises an alarm when it is weakened.
`
	if _, ok := agents.RecipeOf(agent); ok {
		text += tryhook.Help(c.Agent) + "\n"
	}
	return text + "\nExample:" + examples("install", f) + "\n  " + f.Install() + " --dry-run"
}

// withTest has the flag of install for the hook test.
type withTest struct {
	HookTest bool `help:"Start ${agent} once afterwards, to see whether the hook stops a call." default:"true" negatable:"" env:"APPROVER_HOOK_TEST"`
}

// Run installs the hook, and then tests it unless the flag says otherwise.
func (c AgentCmd) Run(ctx context.Context) error {
	if err := c.Install(); err != nil || !c.HookTest || c.DryRun {
		return err
	}
	agent, err := installer(c.Agent)
	if err != nil {
		return err
	}
	f := tryhook.Try(ctx, agent, c.Target)
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

// installable rejects an agent that would run calls that the hook means to stop.
func installable(agent string) error {
	if blocking.Known(agent) {
		return nil
	}
	return fmt.Errorf("it is not known how %s is told no, so its hook would stop nothing; agents/blocking needs a row "+
		"for it", agent)
}

// Install changes the settings, and writes the pin for couriers if agents have users of their
// own.
func (c AgentCmd) Install() error {
	if err := installable(c.Agent); err != nil {
		return err
	}
	agent, err := installer(c.Agent)
	if err != nil {
		return err
	}
	f := agent.Files()
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	program, err := hookfiles.HookProgram(c.Hook)
	if err != nil {
		return err
	}
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return err
	}
	text, want, err := hookfiles.WantedHooks(agent, cfg, who, program)
	if err != nil {
		return err
	}
	path, err := c.Path(f)
	if err != nil {
		return err
	}
	if s, ok := agent.(agents.Shaper); ok {
		if text, err = s.NewFile(path, want); err != nil {
			return err
		}
	}
	if c.DryRun {
		return preview(agent, path, want, text)
	}
	made := missingFolders(path)
	if err := accompany(agent, path, want, text); err != nil {
		return err
	}
	if _, err := edit(agent, path, want, text); err != nil {
		return err
	}
	tellBudget(agent, cfg, path)
	if c.OfMachine(f, path) {
		if err := publish(f, path, made, hookfiles.SubmitterUID(cfg)); err != nil {
			return err
		}
	}
	if err := remember(agent, cfg, path, program, want); err != nil {
		term.Print(0, "the daemon does not watch %s: %v: install as the daemon's user, or as root\n", path, err)
	}
	if _, err := os.Stat(cfg.Sockets.Submit); errors.Is(err, fs.ErrNotExist) {
		term.Print(0, "until the daemon runs, %s's calls are blocked: %s\n", f.Title, services.StartsDaemon(cfg))
	}
	if who.Named() {
		if err := pin(c.Pin, cfg); err != nil {
			return err
		}
	}
	return c.standing(agent, cfg, path, want)
}

// standing prints what keeps the hooks from running, although they are written, as doctor does. It returns
// an error if anything does.
func (c AgentCmd) standing(agent agents.Installer, cfg configs.Config, path string, hooks settings.Hooks) error {
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return err
	}
	runsHere, err := who.Has(uint32(os.Geteuid()))
	ofAgents := c.System && who.Named() && (err != nil || !runsHere)
	places, sources := hookfiles.Look(agent.Files(), c.Target, path, ofAgents)
	want := settings.Want{Hooks: hooks, TTL: cfg.Hold(agent.Name()) - cfg.Evaluating(), Before: cfg.Evaluating()}
	if c.Names(agent.Files(), path) {
		want.In = path
	}
	which := c.Target
	which.ConfigFile = c.Config
	found, err := hookfiles.Standing(agent, which, path, places, sources, want, os.Environ())
	if err != nil {
		return fmt.Errorf("nobody can say whether the hooks hold: %w", err)
	}
	failed := false
	for _, f := range found {
		if !f.Harmless {
			failed = true
			finding.Finding{Check: "hook", Text: f.String(), Fix: f.Fix}.Print()
		}
	}
	if failed {
		return term.ErrSaid
	}
	return nil
}

// tellBudget prints how long each one waits for an answer.
func tellBudget(agent agents.Installer, cfg configs.Config, path string) {
	want := settings.Want{TTL: cfg.Hold(agent.Name()) - cfg.Evaluating(), Before: cfg.Evaluating()}
	for _, b := range hookfiles.Budgets(agent, settings.ReadSource(settings.User, path), want) {
		term.Print(0, "%s\n", cmp.Or(b.Open(), b.Short(), b.String()))
	}
}

// remember records which settings file the daemon has to watch.
func remember(agent agents.Installer, cfg configs.Config, path, program string, want settings.Hooks) error {
	sum, err := hookfiles.HashOf(program)
	if err != nil {
		return err
	}
	in := hookfiles.Installed{Path: path, Program: program, SHA256: sum, Hooks: want}
	if agent.Name() != facts.Example() {
		in.Agent = agent.Name()
	}
	return hookfiles.ChangeInstalls(cfg.Dir, in)
}

// edit puts these hooks into the settings, and reports whether that changed anything. whole is
// the text of a new file; nil means that the hooks are to be removed.
func edit(
	agent agents.Installer, path string, want settings.Hooks, whole []byte,
) (changed bool, err error) {
	fresh := false
	backup, changed, err := safefile.ChangeFile(path, func(old []byte) ([]byte, error) {
		if fresh = old == nil; fresh {
			return whole, nil
		}
		return agent.WithHooks(path, old, want)
	})
	switch {
	case err != nil:
		return false, err
	case !changed && whole == nil:
		term.Print(0, "%s has no hook of approver\n", path)
	case !changed:
		term.Print(0, "%s is as it should be\n", path)
	case fresh:
		term.Print(0, "wrote %s\n", path)
	default:
		term.Print(0, "changed %s\n", path)
	}
	if backup != "" {
		term.Print(0, "what it was is in %s\n", backup)
	}
	return changed, nil
}
