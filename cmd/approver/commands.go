package main

import (
	"github.com/alecthomas/kong"

	"approver.example/cmd/approver/internal/auditlog"
	"approver.example/cmd/approver/internal/checks"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/pairing"
	"approver.example/cmd/approver/internal/policies"
	"approver.example/cmd/approver/internal/reporting"
	"approver.example/cmd/approver/internal/services"
	"approver.example/cmd/approver/internal/statusview"
)

// cli has the commands, in the groups of the help. A new command needs only a line here.
type cli struct {
	Init      initCmd                  `cmd:"" group:"Setting up" help:"Write a configuration with the first approver."`
	Install   hookinstall.Cmd          `cmd:"" group:"Setting up" help:"Put approver's hook into an agent's settings."`
	Uninstall hookinstall.UninstallCmd `cmd:"" group:"Setting up" help:"Take approver's hook out of an agent's settings."`
	Pair      pairing.Cmd              `cmd:"" group:"Setting up" help:"Find out who somebody is in a chat, and add them as an approver."`
	Service   services.Cmd             `cmd:"" group:"Setting up" help:"Let systemd or launchd run the daemon."`
	Doctor    checks.DoctorCmd         `cmd:"" group:"Setting up" help:"Check everything, and say how to mend what is wrong."`
	Check     checks.CheckCmd          `cmd:"" group:"Setting up" help:"Check configuration and policy, and tell all problems at once."`

	Serve  serveCmd       `cmd:"" group:"Running" help:"Run the daemon: take calls from hooks, ask people, answer."`
	Status statusview.Cmd `cmd:"" group:"Running" help:"Say how the daemon is: store, channels, open requests, freeze, audit."`
	Watch  watchCmd       `cmd:"" group:"Running" help:"Show open requests in this terminal and answer them."`
	Hook   hookCmd        `cmd:"" group:"Running" help:"Carry one hook call to the daemon. Agents run this; approver-hook is the same, faster."`

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

	Judge  judging.Cmd   `cmd:"" group:"Judging" help:"Say what would become of calls, one JSON line each. Asks nobody."`
	Policy policies.Cmd  `cmd:"" group:"Judging" help:"Test, explain and compare policies."`
	Rules  rulesCmd      `cmd:"" group:"Judging" help:"List, show, test and lint the rules of the reflex engine, and the heuristics."`
	Model  modelCmd      `cmd:"" group:"Judging" help:"Add and verify models of the optional classifier program."`
	Report reporting.Cmd `cmd:"" group:"Judging" help:"Show what was, or would have been, asked and denied, by rule and session."`

	Audit auditlog.Cmd `cmd:"" group:"Proving" help:"Read, verify and export the audit."`

	Store      storeCmd      `cmd:"" group:"Other" help:"Mend the embedded store, or convert it for an older approver."`
	Demo       demoCmd       `cmd:"" group:"Other" help:"Show one approval after another, end to end, on fakes. Needs nothing."`
	Bench      benchCmd      `cmd:"" group:"Other" help:"Measure this build on this machine."`
	Version    versionCmd    `cmd:"" group:"Other" help:"Print version and build."`
	Completion completionCmd `cmd:"" group:"Other" help:"Print the completion of a shell."`

	PrintVersion kong.VersionFlag `name:"version" help:"Print version and build."`
}
