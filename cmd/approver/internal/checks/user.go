package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/services"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
	"approver.example/shieldcore/evaluator"
)

// unseen reports what this user may not see. That is not a mistake.
func (d *doctor) unseen(check, what, config string) {
	fix := display.AsRoot("doctor")
	if config != "" {
		fix += " --config " + words.ShellWord(config)
	}
	d.say(check, finding.Warn, fmt.Sprintf("not checked as this user (uid %d): %s", os.Geteuid(), what), fix)
}

// outside makes the checks that are possible for a user who may not read the configuration,
// such as an agent's user on an isolated machine.
func (d *doctor) outside(c DoctorCmd, why error) {
	d.unseen("config", "the configuration, and what it names: "+why.Error(), c.Config)
	home, _ := os.UserHomeDir() // Dir says what is missing
	dir, err := socketpath.Dir(home)
	pin, pinned, pinErr := socketpath.ReadPin(cmp.Or(d.pin, socketpath.PinFile), 0)
	switch {
	case pinErr != nil:
		d.say("socket", finding.Fail, pinErr.Error(), "")
	case pinned:
		d.cfg.Sockets.Submit = pin.Socket
	case err == nil:
		d.cfg.Sockets.Submit = filepath.Join(dir, socketpath.Submit)
	}
	refused := false
	if submit := d.cfg.Sockets.Submit; submit != "" {
		err := adminclient.Answers(submit)
		if refused = errors.Is(err, adminclient.ErrTurnedAway); refused {
			d.say("socket", finding.Warn,
				fmt.Sprintf("the daemon answers on %s, and it does not admit this user (uid %d)", submit, os.Geteuid()),
				adminclient.SubmitCure)
		} else if errors.Is(err, httpapi.ErrSilent) {
			d.say("socket", finding.Fail,
				"somebody listens on "+submit+", where agents ask, and does not answer: it may be stopped or overloaded",
				adminclient.SilentCure)
		} else if err != nil {
			d.say("socket", finding.Fail, "nobody answers on "+submit+", where agents ask: "+err.Error(),
				"start the daemon: sudo systemctl start approver, or as it is started here")
		} else {
			d.say("socket", finding.OK, "submit: the daemon answers on "+submit, "")
		}
	}
	d.hookOutside(agents.Installers()[0], c.Target, refused && !operates(d.cfg.Sockets.Submit))
	d.path()
	d.service(c.units())
}

// operates reports whether this user may answer requests. If so, no agent runs as this user.
func operates(submit string) bool {
	return adminclient.Answers(filepath.Join(filepath.Dir(submit), socketpath.Resolve)) == nil
}

// hookOutside checks the hook as far as that is possible without the configuration. refused
// means that the daemon does not admit this user.
func (d *doctor) hookOutside(agent agents.Installer, which settings.Target, refused bool) {
	f := agent.Files()
	path, err := which.Path(f)
	if err != nil {
		d.say("hook", finding.Fail, err.Error(), "")
		return
	}
	_, sources := hookfiles.Look(f, which, path, false)
	h, there := hookfiles.HookIn(agent, sources, path)
	install := display.AsRoot(strings.TrimPrefix(f.Install(), "approver ") + " --system")
	if !there {
		d.say("hook", finding.Warn, "no settings that this user's "+f.Title+" reads have a hook of approver", install)
		return
	}
	err = d.hookFinds(h)
	if err == nil {
		_, err = os.Stat(h.Program())
	}
	if err == nil && refused {
		d.say("hook", finding.Fail,
			h.Program()+" asks on "+d.cfg.Sockets.Submit+", which refuses this user, so every call is denied",
			adminclient.SubmitCure)
		return
	}
	d.judge("hook", err, h.Program()+" asks on "+d.cfg.Sockets.Submit+"; how long it waits is not checked as this user",
		install)
}

// sockets checks who listens on the sockets. If both have the same trouble, it reports that
// once.
func (d *doctor) sockets() {
	asked := [2]struct{ name, path string }{{"submit", d.cfg.Sockets.Submit}, {"resolve", d.cfg.Sockets.Resolve}}
	var errs [len(asked)]error
	var both sync.WaitGroup // in parallel, because a stopped daemon uses up the whole timeout of each
	for i, at := range asked {
		both.Go(func() { errs[i] = adminclient.Answers(at.path) })
	}
	both.Wait()
	var silent, stuck []string
	for i, at := range asked {
		switch err := errs[i]; {
		case err == nil, errors.Is(err, adminclient.ErrTurnedAway): // the daemon need not admit its own user
			d.say("socket", finding.OK, at.name+": the daemon answers on "+at.path, "")
		case errors.Is(err, httpapi.ErrSilent):
			stuck = append(stuck,
				at.name+": somebody listens on "+at.path+" and does not answer: it may be stopped or overloaded")
		default:
			silent = append(silent, at.name+": nobody answers on "+at.path+": "+err.Error())
		}
	}
	if len(stuck) > 0 {
		d.say("socket", finding.Fail, strings.Join(stuck, "\n"), adminclient.SilentCure)
	}
	if len(silent) > 0 {
		fix := "start the daemon: " + services.StartsDaemon(d.cfg)
		if d.cfg.File == "" {
			fix = "approver init, and then " + fix
		}
		d.say("socket", finding.Fail, strings.Join(silent, "\n"), fix)
	}
}

// evaluator makes one small evaluation, so that a wrong model, key or address is noticed before
// a call needs it.
func (d *doctor) evaluator(ctx context.Context, offline bool) {
	cfg := d.cfg.Shield.Evaluator
	if cfg == nil {
		return
	}
	e, err := evaluator.New(*cfg)
	switch {
	case err != nil:
		return // reported with the files
	case offline:
		d.say("evaluator", finding.OK, e.String()+": not asked (--offline)", "")
		return
	}
	said, err := e.Health(ctx)
	if theirs := d.status.Shield; theirs != nil && d.status.Up && theirs.Evaluator != e.String() {
		d.say("evaluator", elseThan(theirs),
			fmt.Sprintf("the daemon asks %s, and the configuration says %s", cmp.Or(theirs.Evaluator, "none"), e),
			"restart the daemon, which asks those who approve where the change loosens")
	} else if err == nil && theirs.Fails() {
		d.say("evaluator", finding.Fail,
			fmt.Sprintf("the daemon's last evaluation failed at %s; it answers now, and the daemon will see that at the next "+
				"call, or within %v",
				theirs.LastFailure.Format(time.DateTime+" UTC"), adminapi.ProbeMost), "")
		return
	}
	switch {
	case err != nil:
		d.say("evaluator", finding.Fail, display.OneLine(err.Error()),
			"shield.evaluator in the configuration; docs/evaluator.md")
	case said != "ALLOW":
		d.say("evaluator", finding.Warn, fmt.Sprintf("%s answers, and says %s to a plain ls", e, said),
			"another model; docs/evaluator.md")
	default:
		d.say("evaluator", finding.OK, e.String()+": it answers as it must", "")
	}
}

// elseThan returns how bad it is that the daemon uses another evaluator than the configuration
// names.
func elseThan(s *adminapi.Shield) finding.Result {
	if s.Fails() {
		return finding.Fail
	}
	return finding.Warn
}
