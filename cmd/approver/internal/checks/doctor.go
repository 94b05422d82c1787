// Package checks has the commands doctor and check. doctor.go lists what doctor checks. The
// other files check the daemon, the hooks, and what depends on the user. check.go checks only
// the configuration.
package checks

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/term"
	"approver.example/cmd/approver/internal/tryhook"
)

// canaryOf has the flag of doctor for the hook test.
type canaryOf struct {
	Agent string `help:"Also start this agent once, to see whether the hook stops a call: ${testers}." enum:",${testers}" default:"" placeholder:"NAME"`
}

// DoctorCmd is the command doctor.
type DoctorCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	settings.Target
	canaryOf
	AcceptAlarms uint64 `help:"Somebody has looked into the audit's alarms of loss up to this seq, and the others: they no longer fail, or are told." placeholder:"SEQ"`
	Offline      bool   `help:"Ask no chat platform and no model provider."`
	JSON         bool   `help:"Print one JSON object per check."`
	Pin          string `kong:"-"` // the file that pins couriers; empty: that of the machine
}

// Run makes all checks and prints them.
func (c DoctorCmd) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d := doctor{pin: c.Pin}
	c.ConfigFile = c.Config
	c.examine(ctx, &d)
	c.canary(ctx, &d)
	failed := false
	for _, f := range d.found {
		failed = failed || f.Result == finding.Fail
		if c.JSON {
			if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
				return err
			}
			continue
		}
		f.Print()
	}
	if failed {
		return term.ErrSaid
	}
	return nil
}

// examine makes the checks that this user can make.
func (c DoctorCmd) examine(ctx context.Context, d *doctor) {
	cfg, err := adminclient.LoadAsDaemon(c.Config)
	switch {
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		d.outside(c, err)
		return
	case err != nil:
		d.say("config", finding.Fail, err.Error(), "")
		d.beside(ctx, c.Config)
		return
	}
	d.cfg = cfg
	// This comes first, while the process may still be root: the settings are read as agents
	// read them.
	hooks := doctor{cfg: cfg, pin: d.pin}
	if d.sealed() {
		hooks.hook(c.Target, c.Agent)
	}
	if err := asuser.Become(asuser.RunsAs(cfg.Dir), cfg.Dir); err != nil {
		d.say("user", finding.Fail, err.Error(), "")
	}
	whole := d.isDaemon()
	if whole {
		_, _ = d.ask(ctx) // daemon reports an error
	}
	d.config()
	d.files(whole)
	d.isolation()
	d.sockets()
	if whole {
		d.daemon(ctx)
	}
	d.output()
	if whole {
		d.store(ctx)
		d.channels(ctx, c.Offline)
		d.people()
		d.evaluator(ctx, c.Offline)
		if !c.Offline {
			d.platformClocks(ctx)
		}
	}
	if !d.sealed() {
		hooks.hook(c.Target, c.Agent)
	}
	d.found = append(d.found, hooks.found...)
	d.path()
	d.service(c.units())
	if whole {
		d.audit(ctx, c.AcceptAlarms)
	} else {
		d.unseen("user", "tokens, keys, store, chats, daemon and audit", c.Config)
	}
}

// canary runs the hook test, as install does.
func (c DoctorCmd) canary(ctx context.Context, d *doctor) {
	for _, agent := range agents.Installers() {
		if c.Agent == agent.Name() {
			d.found = append(d.found, tryhook.Try(ctx, agent, c.Target))
		}
	}
}
