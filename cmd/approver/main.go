// Command approver is the approval service for AI agents: the daemon, and the
// commands around it.
//
// main is a table of commands; each is one file. serve.go is the only place
// that wires the parts together.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"approver.example/agents"
	"approver.example/cmd/approver-hook/courier"
	"approver.example/daemon/adminapi"
)

// Exit codes of the commands. `approver hook` has the agent's own instead.
const (
	exitOK    = 0
	exitFail  = 1 // it did not work, or something is wrong
	exitUsage = 2 // the command line is not understood
)

// The commands.
type cli struct {
	Init      initCmd      `cmd:"" group:"Setting up" help:"Write a configuration with the first approver."`
	Install   installCmd   `cmd:"" group:"Setting up" help:"Put approver's hook into an agent's settings."`
	Uninstall uninstallCmd `cmd:"" group:"Setting up" help:"Take approver's hook out of an agent's settings."`
	Pair      pairCmd      `cmd:"" group:"Setting up" help:"Find out who somebody is in a chat, and add them as an approver."`
	Service   serviceCmd   `cmd:"" group:"Setting up" help:"Let systemd or launchd run the daemon."`
	Doctor    doctorCmd    `cmd:"" group:"Setting up" help:"Check everything, and say how to mend what is wrong."`
	Check     checkCmd     `cmd:"" group:"Setting up" help:"Check configuration and policy, and tell all problems at once."`

	Serve  serveCmd  `cmd:"" group:"Running" help:"Run the daemon: take calls from hooks, ask people, answer."`
	Status statusCmd `cmd:"" group:"Running" help:"Say how the daemon is: store, channels, open requests, freeze, audit."`
	Watch  watchCmd  `cmd:"" group:"Running" help:"Show open requests in this terminal and answer them."`
	Hook   hookCmd   `cmd:"" group:"Running" help:"Carry one hook call to the daemon. Agents run this; approver-hook is the same, faster."`

	Pending pendingCmd `cmd:"" group:"Answering and asking" help:"List the open requests."`
	Approve approveCmd `cmd:"" group:"Answering and asking" help:"Approve an open request on this machine."`
	Deny    denyCmd    `cmd:"" group:"Answering and asking" help:"Deny an open request on this machine."`
	People  peopleCmd  `cmd:"" group:"Answering and asking" help:"List who may approve, take somebody away everywhere, and bring them back."`
	Grants  grantsCmd  `cmd:"" group:"Answering and asking" help:"List and revoke what may run without being asked again."`
	Ask     askCmd     `cmd:"" group:"Answering and asking" help:"Put an action before people from a script."`
	Appeal  appealCmd  `cmd:"" group:"Answering and asking" help:"Put a call that a rule denied before people."`

	Freeze   freezeCmd   `cmd:"" group:"Stopping and letting go" help:"Stop every call now."`
	Unfreeze unfreezeCmd `cmd:"" group:"Stopping and letting go" help:"Lift a freeze."`
	Pause    pauseCmd    `cmd:"" group:"Stopping and letting go" help:"Ask nobody for a while; people approve that first."`
	Observe  observeCmd  `cmd:"" group:"Stopping and letting go" help:"For some days only record what would be asked or denied; people approve that first."`
	Enforce  enforceCmd  `cmd:"" group:"Stopping and letting go" help:"End observe mode now."`

	Judge  judgeCmd  `cmd:"" group:"Judging" help:"Say what would become of calls, one JSON line each. Asks nobody."`
	Policy policyCmd `cmd:"" group:"Judging" help:"Test, explain and compare policies."`
	Rules  rulesCmd  `cmd:"" group:"Judging" help:"List, show, test and lint the rules of the reflex engine."`
	Model  modelCmd  `cmd:"" group:"Judging" help:"Add and verify models of the optional classifier program."`
	Report reportCmd `cmd:"" group:"Judging" help:"Show what was, or would have been, asked and denied, by rule and session."`

	Audit auditCmd `cmd:"" group:"Proving" help:"Read, verify and export the audit."`

	Demo       demoCmd       `cmd:"" group:"Other" help:"Show one approval after another, end to end, on fakes. Needs nothing."`
	Bench      benchCmd      `cmd:"" group:"Other" help:"Measure this build on this machine."`
	Version    versionCmd    `cmd:"" group:"Other" help:"Print version and build."`
	Completion completionCmd `cmd:"" group:"Other" help:"Print the completion of a shell."`

	PrintVersion kong.VersionFlag `name:"version" help:"Print version and build."`
}

// Help is the long text.
func (cli) Help() string {
	return `The configuration is ~/.approver/approver.yaml unless --config names another.

Example:
  approver demo
  approver serve --config ~/.approver/approver.yaml
  approver audit tail --follow`
}

func main() { os.Exit(run(os.Args[1:])) }

// run is main for tests too: it returns the exit code.
func run(args []string) int {
	if len(args) > 0 && args[0] == "hook" && !asksForHelp(args[1:]) {
		// Before everything else: each tool call of the agent waits for this.
		return courier.Run(args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	var c cli
	parser, err := kong.New(&c, kong.Name("approver"), kong.Description("Approvals for AI agents: people decide what a tool call may do."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": "approver " + adminapi.BuildVersion()})
	if err != nil {
		fmt.Fprintln(os.Stderr, "approver:", err)
		return exitFail
	}
	if len(args) == 0 {
		return usage(parser)
	}
	command, err := parser.Parse(args)
	if err != nil {
		printedOn(os.Stderr, 10, "approver: %v\n", hinted(otherAgent(args, err)))
		if len(args) > 0 && args[0] == "ask" {
			return exitFail // its 2 is people's no
		}
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(); err != nil {
		var own exitError
		if errors.As(err, &own) {
			return int(own)
		}
		if !errors.Is(err, errSaid) {
			printedOn(os.Stderr, 10, "approver: %s\n", visibly(err.Error())) // it may hold a daemon's words
		}
		return exitFail
	}
	return exitOK
}

// usage is the answer to no command: all of them, and the exit code of a command line
// that is not understood.
func usage(parser *kong.Kong) int {
	command, err := kong.Trace(parser, nil)
	if err == nil {
		err = command.PrintUsage(false)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "approver:", err)
	}
	return exitUsage
}

// otherAgent says which agents can be installed, to somebody who has another.
func otherAgent(args []string, err error) error {
	if len(args) < 2 || args[0] != "install" && args[0] != "uninstall" || strings.HasPrefix(args[1], "-") || slices.Contains(agents.Names(), args[1]) {
		return err
	}
	return fmt.Errorf("%w: the agents that can be installed are %s", err, strings.Join(agents.Names(), ", "))
}

// hinted adds to the error of a command line where its help is, and that a flag of the
// command that is asked about needs a -- in front.
func hinted(err error) error {
	path, takesCommand := "", false
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) && parse.Context != nil {
		for n := parse.Context.Selected(); n != nil && n.Parent != nil; n = n.Parent {
			if n.Type == kong.CommandNode {
				path = " " + n.Name + path
			}
		}
		takesCommand = slices.Contains([]string{" policy explain", " ask"}, path)
	}
	if takesCommand && strings.Contains(err.Error(), "unknown flag") {
		return fmt.Errorf("%w: write -- before a command that has flags of its own: approver%s -- git push --force (see approver%[2]s --help)", err, path)
	}
	return fmt.Errorf("%w (see approver%s --help)", err, path)
}

// errSaid is the error of a command that has already told the person.
var errSaid = errors.New("failed")

// asksForHelp is true for nothing that an agent could run as its hook: with any
// other argument the answer has to be one that the agent understands.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}
