// Command approver is the approval service for AI agents: the daemon, and the
// commands around it.
//
// commands.go lists the commands, and help.txt has their long help. A command is one file here.
// What needs several files, or is shared by commands, is a package under internal. The daemon
// is package daemon.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/cmd/approver-hook/courier"
	"approver.example/cmd/approver/demo"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/cmd/approver/internal/pairing"
	"approver.example/cmd/approver/internal/term"
	"approver.example/cmd/approver/internal/tryhook"
	"approver.example/daemon/adminapi"
)

// Exit codes of the commands. `approver hook` has those of the agent instead.
const (
	exitOK    = 0
	exitFail  = 1 // it did not work, or something is wrong
	exitUsage = 2 // the command line is not understood
)

func main() { os.Exit(run(os.Args[1:])) }

// run does the work of main, for tests as well. It returns the exit code.
func run(args []string) int {
	if len(args) > 0 && args[0] == "hook" && !asksForHelp(args[1:]) {
		// This comes first, because each tool call of the agent waits for it.
		return courier.Run(args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if command := plainServe(args); command != nil {
		return execute(command)
	}
	parser, err := newParser()
	if err != nil {
		fmt.Fprintln(os.Stderr, "approver:", err)
		return exitFail
	}
	if len(args) == 0 {
		return usage(parser)
	}
	command, err := parser.Parse(args)
	if err != nil {
		term.PrintOn(os.Stderr, 10, "approver: %v\n", hinted(otherAgent(args, err)))
		if len(args) > 0 && args[0] == "ask" {
			return exitFail // for ask, 2 means that people said no
		}
		return exitUsage
	}
	return execute(command)
}

// execute runs a command, and returns the exit code.
func execute(command *kong.Context) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(); err != nil {
		var own exitError
		if errors.As(err, &own) {
			return int(own)
		}
		if !errors.Is(err, term.ErrSaid) {
			term.PrintOn(os.Stderr, 10, "approver: %s\n", term.Visibly(err.Error())) // it may hold a daemon's words
		}
		return exitFail
	}
	return exitOK
}

// plainServe parses the command line of a daemon by itself: the parser of all commands takes a tenth of its
// start, and of the memory that it then keeps. It returns nil for any other command line, and for one that
// asks for help or is wrong, about which the parser of all commands says more.
func plainServe(args []string) *kong.Context {
	if len(args) == 0 || args[0] != "serve" {
		return nil
	}
	var only struct {
		Serve serveCmd `cmd:""`
	}
	parser, err := kong.New(&only, kong.Name("approver"), kong.NoDefaultHelp())
	if err != nil {
		return nil
	}
	command, err := parser.Parse(args)
	if err != nil {
		return nil
	}
	return command
}

// newParser returns the parser of the command line.
func newParser() (*kong.Kong, error) {
	c := cli{Init: newInit(), Install: hookinstall.Install(), Uninstall: hookinstall.Uninstall(), Pair: pairing.Commands()}
	return kong.New(&c, kong.Name("approver"),
		kong.Description("Approvals for AI agents: people decide what a tool call may do."),
		kong.UsageOnError(), kong.Help(groupHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.NamedMapper("given", kong.MapperFunc(given)), kong.PostBuild(longHelp), kong.Vars{
			"version": "approver " + adminapi.BuildVersion(), "example": facts.Example(),
			"testers": strings.Join(agents.Testers(), ","), "agents": titles(),
			"exit_codes":  "Exit codes: 0 it was done, 1 it failed, 2 the command line is not understood.",
			"hook_test":   tryhook.Help(facts.Example()),
			"demo_events": "  " + strings.ReplaceAll(strings.TrimSpace(demo.Events), "\n", "\n  "),
		})
}

// given reads the value of a flag that must not be empty: without a flag another thing is meant, and
// an empty variable of a script would mean that.
func given(ctx *kong.DecodeContext, target reflect.Value) error {
	var value string
	if err := ctx.Scan.PopValueInto("string", &value); err != nil {
		return err
	}
	if value == "" {
		return errors.New("the value is empty: name one, or leave the flag out")
	}
	target.SetString(value)
	return nil
}

// usage prints the help of all commands if no command was given, and returns the exit code for
// a command line that is not understood.
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

// otherAgent replaces the error for an unknown agent by one that says which agents are
// supported.
func otherAgent(args []string, err error) error {
	if len(args) < 2 || args[0] != "install" && args[0] != "uninstall" || strings.HasPrefix(args[1], "-") ||
		slices.Contains(agents.Names(), args[1]) {
		return err
	}
	return fmt.Errorf("%w: the agents that can be installed are %s", err, strings.Join(agents.Names(), ", "))
}

// hinted adds to a command-line error where to find help, or, if the flag seems to belong to a
// command in the arguments, that this command needs -- in front.
func hinted(err error) error {
	path, takesCommand := "", false
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) && parse.Context != nil {
		for n := parse.Context.Selected(); n != nil && n.Parent != nil; n = n.Parent {
			if n.Type == kong.CommandNode && !n.Hidden {
				path = " " + n.Name + path
			}
		}
		takesCommand = slices.Contains([]string{" policy explain", " ask"}, path)
	}
	if takesCommand && strings.Contains(err.Error(), "unknown flag") {
		return fmt.Errorf("%w: write -- before a command that has flags of its own: approver%s -- git push --force (see "+
			"approver%[2]s --help)", err, path)
	}
	return fmt.Errorf("%w (see approver%s --help)", err, path)
}

// asksForHelp reports whether the arguments ask for help. No agent runs its hook like that:
// with any other arguments, the answer must be one that the agent understands.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}
