package hookinstall

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
)

// allCmd installs for all agents that are on this machine.
type allCmd struct {
	All    bool   `help:"For all agents that are on this machine: show them in one table, and ask once."`
	Yes    bool   `help:"With --all: do not ask." short:"y"`
	DryRun bool   `help:"With --all: print what would be changed, as diffs, and change nothing."`
	Config string `help:"Configuration file, for its ttl and sockets." short:"c" placeholder:"FILE"`
	Hook   string `help:"The program approver-hook; left out, the one beside this program or in PATH." placeholder:"PATH"`
}

// Help returns the long help.
func (allCmd) Help() string {
	return `Finds the agents on this machine, by their programs and by the folders of their settings, and puts the hook
into the user's own settings of each.

Example:
  approver install --all
  approver install --all --dry-run`
}

// A found is an agent on this machine.
type found struct {
	agent agents.Installer
	where string // its program, or the folder of its settings
	path  string // the settings that install would change
	state string // what install would do, in words
	err   error  // why it cannot
}

// Run shows what is there, asks, and installs. An agent that fails does not keep the others from
// being installed.
func (c allCmd) Run(ctx context.Context) error {
	if !c.All {
		return fmt.Errorf("name an agent, or say --all: the agents that can be installed are %s",
			strings.Join(agents.Names(), ", "))
	}
	all, err := c.look()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("no agent was found on this machine: name one, such as approver install " + agents.Names()[0])
	}
	rows := []string{"AGENT\tFOUND\tSETTINGS\tINSTALL WOULD"}
	for _, f := range all {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s", f.agent.Files().Title, f.where, f.path, f.state))
	}
	table(rows)
	if !c.DryRun && !c.Yes &&
		!term.TypedYes(os.Stdin, os.Stdout, "Put the hooks into these settings?") {
		return errors.New("nothing was changed; without a terminal say --yes")
	}
	var failed []error
	var said error // the last one that was told already
	for _, f := range all {
		if f.err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", f.agent.Name(), f.err))
			continue
		}
		term.Print(0, "\n%s\n", f.agent.Files().Title)
		one := AgentCmd{Agent: f.agent.Name(), DryRun: c.DryRun, Config: c.Config, Hook: c.Hook, Pin: "/etc/approver/courier"}
		switch err := one.Run(ctx); {
		case errors.Is(err, term.ErrSaid):
			said = err
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", f.agent.Name(), err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	return said
}

// look finds the agents and what install would do.
func (c allCmd) look() (all []found, err error) {
	cfg, program, who, err := given(c.Config, c.Hook)
	if err != nil {
		return nil, err
	}
	for _, agent := range agents.Installers() {
		f := found{agent: agent, where: agent.Files().Found()}
		if f.where == "" {
			continue
		}
		one := AgentCmd{Agent: agent.Name()}
		if f.path, f.err = one.Path(agent.Files()); f.err == nil {
			f.state, f.err = wouldDo(agent, cfg, who, program, f.path)
		}
		if f.err != nil {
			f.state = "cannot: " + settings.Why(f.err)
		}
		all = append(all, f)
	}
	return all, nil
}

// wouldDo says what install would do with a settings file.
func wouldDo(agent agents.Installer, cfg configs.Config, who configs.Submitters, program, path string) (string, error) {
	_, want, err := hookfiles.WantedHooks(agent, cfg, who, program)
	if err != nil {
		return "", err
	}
	whole, err := agent.NewFile(path, want)
	if err != nil {
		return "", err
	}
	edits, err := planned(agent, path, want, whole)
	switch {
	case err != nil:
		return "", err
	case len(edits) == 0:
		return "nothing: it is as it should be", nil
	case edits[len(edits)-1].old == nil:
		return "write it", nil
	}
	return "change it, and keep what it was beside it", nil
}
