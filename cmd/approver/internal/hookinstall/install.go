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
	"slices"

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

// given reads the configuration, and finds the hook program and who may submit calls.
func given(config, hook string) (cfg configs.Config, program string, who configs.Submitters, err error) {
	if cfg, err = configs.LoadOrDefault(config); err != nil {
		return cfg, "", who, err
	}
	if program, err = hookfiles.HookProgram(hook); err != nil {
		return cfg, "", who, err
	}
	who, err = cfg.Sockets.Submitters()
	return cfg, program, who, err
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
	cfg, program, who, err := given(c.Config, c.Hook)
	if err != nil {
		return err
	}
	_, want, err := hookfiles.WantedHooks(agent, cfg, who, program)
	if err != nil {
		return err
	}
	path, err := c.Path(agent.Files())
	if err == nil {
		err = c.Exists()
	}
	if err != nil {
		return err
	}
	whole, err := agent.NewFile(path, want)
	if err != nil {
		return err
	}
	if c.DryRun {
		return preview(agent, path, want, whole)
	}
	var r report
	defer r.print()
	if err := c.put(&r, agent, cfg, hookfiles.Installed{Path: path, Program: program, Hooks: want}, whole); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Sockets.Submit); errors.Is(err, fs.ErrNotExist) {
		r.say("until the daemon runs, %s's calls are blocked: %s\n", agent.Files().Title, services.StartsDaemon(cfg))
	}
	if who.Named() {
		if err := pin(&r, c.Pin, cfg); err != nil {
			return err
		}
	}
	r.print()
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

// put writes the hooks and records them. What is begun is recorded first, so that uninstall knows it
// also if this process is killed half way.
func (c AgentCmd) put(
	r *report, agent agents.Installer, cfg configs.Config, in hookfiles.Installed, whole []byte,
) error {
	done, err := hookfiles.Alone(cfg.Dir)
	if err != nil {
		return err
	}
	defer done()
	edits, err := planned(agent, in.Path, in.Hooks, whole)
	if err != nil {
		return err
	}
	made := folders(edits)
	noted, unnoted := begin(agent, cfg, in, made)
	if err := apply(edits, made); err != nil {
		if unnoted == nil && noted.Changing {
			err = errors.Join(err, hookfiles.ForgetInstall(cfg.Dir, noted))
		}
		return err
	}
	for _, e := range edits {
		e.tell(r)
	}
	if len(edits) == 0 {
		r.say("%s is as it should be\n", in.Path)
	}
	tellBudget(r, agent, cfg, in.Path)
	if f := agent.Files(); c.OfMachine(f, in.Path) {
		if err := publish(r, f, in.Path, made, hookfiles.SubmitterUID(cfg)); err != nil {
			return err
		}
	}
	if unnoted == nil {
		noted.Hooks, noted.Program, noted.Changing = in.Hooks, in.Program, false
		if noted.SHA256, unnoted = hookfiles.HashOf(in.Program); unnoted == nil {
			unnoted = hookfiles.ChangeInstalls(cfg.Dir, noted)
		}
	}
	if unnoted != nil {
		r.say("the daemon does not watch %s: %v: install as the daemon's user, or as root\n", in.Path, unnoted)
	}
	return nil
}

// begin records that an install has begun, and returns the entry. What was installed before is watched
// until the end.
func begin(
	agent agents.Installer, cfg configs.Config, in hookfiles.Installed, made []string,
) (hookfiles.Installed, error) {
	all, err := hookfiles.ReadInstalls(cfg.Dir)
	if err != nil {
		return in, err
	}
	if there, ok := all.Of(agent.Name(), in.Path); ok {
		in = there
	} else if agent.Name() != facts.Example() {
		in.Agent = agent.Name()
	}
	if in.SHA256 == "" {
		in.Changing = true
		if in.SHA256, err = hookfiles.HashOf(in.Program); err != nil {
			return in, err
		}
	}
	in.Folders = append(slices.Clone(made), in.Folders...)
	return in, hookfiles.ChangeInstalls(cfg.Dir, in)
}

// tellBudget says how long each one waits for an answer.
func tellBudget(r *report, agent agents.Installer, cfg configs.Config, path string) {
	want := settings.Want{TTL: cfg.Hold(agent.Name()) - cfg.Evaluating(), Before: cfg.Evaluating()}
	for _, b := range hookfiles.Budgets(agent, settings.ReadSource(settings.User, path), want) {
		r.say("%s\n", cmp.Or(b.Open(), b.Short(), b.String()))
	}
}
