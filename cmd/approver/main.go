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
	"syscall"

	"github.com/alecthomas/kong"

	"approver.example/cmd/approver-hook/courier"
)

// Exit codes of the commands. `approver hook` has the agent's own instead.
const (
	exitOK    = 0
	exitFail  = 1 // it did not work, or something is wrong
	exitUsage = 2 // the command line is not understood
)

// The commands.
type cli struct {
	Serve      serveCmd      `cmd:"" help:"Run the daemon: take calls from hooks, ask people, answer."`
	Hook       hookCmd       `cmd:"" help:"Carry one hook call to the daemon. Agents run this; approver-hook is the same, faster."`
	Watch      watchCmd      `cmd:"" help:"Show open requests in this terminal and answer them."`
	Judge      judgeCmd      `cmd:"" help:"Say what would become of calls, one JSON line each. Asks nobody."`
	Policy     policyCmd     `cmd:"" help:"Test, explain and compare policies."`
	Check      checkCmd      `cmd:"" help:"Check configuration and policy, and tell all problems at once."`
	Ask        askCmd        `cmd:"" help:"Put an action before people from a script."`
	Appeal     appealCmd     `cmd:"" help:"Put a call that a rule denied before people."`
	Pending    pendingCmd    `cmd:"" help:"List the open requests."`
	Approve    approveCmd    `cmd:"" help:"Approve an open request on this machine."`
	Deny       denyCmd       `cmd:"" help:"Deny an open request on this machine."`
	Status     statusCmd     `cmd:"" help:"Say how the daemon is: store, channels, open requests, freeze, audit."`
	Freeze     freezeCmd     `cmd:"" help:"Stop every call now."`
	Unfreeze   unfreezeCmd   `cmd:"" help:"Lift a freeze."`
	Pause      pauseCmd      `cmd:"" help:"Ask nobody for a while; people approve that first."`
	Observe    observeCmd    `cmd:"" help:"For some days only record what would be asked or denied; people approve that first."`
	Rules      rulesCmd      `cmd:"" help:"List, show, test and lint the rules of the reflex engine."`
	Model      modelCmd      `cmd:"" help:"Add and verify models of the optional classifier program."`
	Report     reportCmd     `cmd:"" help:"Show what was, or would have been, asked and denied, by rule and session."`
	Enforce    enforceCmd    `cmd:"" help:"End observe mode now."`
	Grants     grantsCmd     `cmd:"" help:"List and revoke what may run without being asked again."`
	Audit      auditCmd      `cmd:"" help:"Read, verify and export the audit."`
	Demo       demoCmd       `cmd:"" help:"Show one approval after another, end to end, on fakes. Needs nothing."`
	Version    versionCmd    `cmd:"" help:"Print version and build."`
	Init       initCmd       `cmd:"" help:"Write a configuration with the first approver."`
	Doctor     doctorCmd     `cmd:"" help:"Check everything, and say how to mend what is wrong."`
	Pair       pairCmd       `cmd:"" help:"Find out who somebody is in a chat, and add them as an approver."`
	Service    serviceCmd    `cmd:"" help:"Let systemd or launchd run the daemon."`
	Install    installCmd    `cmd:"" help:"Put approver's hook into an agent's settings."`
	Uninstall  uninstallCmd  `cmd:"" help:"Take approver's hook out of an agent's settings."`
	Completion completionCmd `cmd:"" help:"Print the completion of a shell."`
	Bench      benchCmd      `cmd:"" help:"Measure this build on this machine."`
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
	var c cli
	parser, err := kong.New(&c, kong.Name("approver"), kong.Description("Approvals for AI agents: people decide what a tool call may do."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(os.Stderr, "approver:", err)
		return exitFail
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "approver: %v (see approver --help)\n", err)
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
			fmt.Fprintln(os.Stderr, "approver:", err)
		}
		return exitFail
	}
	return exitOK
}

// errSaid is the error of a command that has already told the person.
var errSaid = errors.New("failed")

// asksForHelp is true for nothing that an agent could run as its hook: with any
// other argument the answer has to be one that the agent understands.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}
