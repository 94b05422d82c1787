package hookinstall

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
)

// uninstallAllCmd takes the hooks out of all settings in the record of what was installed.
type uninstallAllCmd struct {
	All    bool   `help:"Out of all settings that approver was installed into: show them in one table, and ask once."`
	Yes    bool   `help:"With --all: do not ask." short:"y"`
	DryRun bool   `help:"With --all: print the table, and change nothing."`
	Config string `help:"Configuration file, for the daemon that watches the settings." short:"c" placeholder:"FILE"`
}

// Help returns the long help.
func (uninstallAllCmd) Help() string {
	return `Takes the hooks out of all settings that approver was installed into.

Example:
  approver uninstall --all
  approver uninstall --all --dry-run`
}

// Run shows what was installed, asks, and takes it out. Settings that fail do not keep the others from
// being changed.
func (c uninstallAllCmd) Run() error {
	if !c.All {
		return fmt.Errorf("name an agent, or say --all: the agents are %s", strings.Join(agents.Names(), ", "))
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	all, err := hookfiles.ReadInstalls(cfg.Dir)
	if err != nil {
		return err
	}
	if len(all.Installs) == 0 {
		term.Print(0, "nothing is installed: %s names no settings; of others, name the agent\n",
			hookfiles.InstallsFile(cfg.Dir))
		return nil
	}
	rows := []string{"AGENT\tSETTINGS\tUNINSTALL WOULD"}
	for _, in := range all.Installs {
		rows = append(rows, titleOf(in)+"\t"+in.Path+"\t"+wouldTakeOut(in))
	}
	table(rows)
	if c.DryRun {
		return nil
	}
	if !c.Yes && !term.TypedYes(os.Stdin, os.Stdout, "Take the hooks out of these settings?") {
		return errors.New("nothing was changed; without a terminal say --yes")
	}
	var failed []error
	for _, in := range all.Installs {
		term.Print(0, "\n%s\n", titleOf(in))
		one := UninstallAgentCmd{Agent: cmp.Or(in.Agent, facts.Example()), Target: settings.Target{File: in.Path},
			Config: c.Config}
		if err := one.Run(); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", one.Agent, err))
		}
	}
	return errors.Join(failed...)
}

// titleOf returns the name of an agent for people.
func titleOf(in hookfiles.Installed) string {
	if agent := in.Of(); agent != nil {
		return agent.Files().Title
	}
	return in.Agent
}

// wouldTakeOut says what uninstall would do.
func wouldTakeOut(in hookfiles.Installed) string {
	agent, s := in.Of(), settings.ReadSource(settings.User, in.Path)
	switch {
	case agent == nil:
		return "cannot: this version does not know the agent"
	case s.Err != nil:
		return "cannot: " + s.Err.Error()
	case len(hookfiles.Asking(agent, s)) == 0:
		return "forget it: there is no hook any more"
	}
	return "take the hooks out, and leave the rest as it is"
}

// table prints rows, whose columns are separated by tabs.
func table(rows []string) {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush() // a strings.Builder takes everything
	term.Print(0, "%s", term.Visibly(out.String()))
}
