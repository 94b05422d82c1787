package checks

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"approver.example"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/judges"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/strictyaml"
)

// A doctor makes the checks and collects the findings.
type doctor struct {
	cfg   configs.Config
	pin   string // the file that pins couriers; empty: that of the machine
	found []finding.Finding

	asked    bool            // whether the daemon was asked
	listener uint32          // the uid of the daemon that answered
	status   adminapi.Status // the answer; zero if there was none
	err      error           // why there was none
}

func (d *doctor) say(check string, r finding.Result, text, fix string) {
	d.found = append(d.found, finding.Finding{Check: check, Result: r, Text: text, Fix: fix})
}

// judge is say for a check that may return an error. The error's text usually includes the
// cure.
func (d *doctor) judge(check string, err error, good, fix string) {
	if err != nil {
		d.say(check, finding.Fail, err.Error(), fix)
		return
	}
	d.say(check, finding.OK, good, "")
}

// submits reports whether agents run as this user.
func (d *doctor) submits() bool {
	who, err := d.cfg.Sockets.Submitters()
	if err != nil {
		return false
	}
	in, err := who.Has(uint32(os.Geteuid()))
	return err == nil && in
}

// isDaemon reports whether the daemon runs as this user.
func (d *doctor) isDaemon() bool {
	owner, err := asuser.OwnerOf(d.cfg.Dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && owner == uint32(os.Geteuid())
}

// sealed reports whether agents run as users of their own.
func (d *doctor) sealed() bool {
	who, err := d.cfg.Sockets.Submitters()
	return err == nil && who.Named()
}

// withoutElsewhere separates an error of CheckStart into secrets that only the daemon's
// environment has, and the rest.
func withoutElsewhere(err error) (elsewhere []error, rest error) {
	all := []error{err}
	if several, is := err.(interface{ Unwrap() []error }); is {
		all = several.Unwrap()
	}
	var here []error
	for _, one := range all {
		if several, is := one.(interface{ Unwrap() []error }); is && !secret.OnlyElsewhere(one) {
			more, inner := withoutElsewhere(errors.Join(several.Unwrap()...))
			here, elsewhere = append(here, inner), append(elsewhere, more...)
		} else if secret.OnlyElsewhere(one) {
			elsewhere = append(elsewhere, one)
		} else {
			here = append(here, one)
		}
	}
	return elsewhere, errors.Join(here...)
}

// notHere says, for a secret that only the daemon's environment has, what the running daemon
// reports about it.
func notHere(err error, doc adminapi.Status) string {
	text := "not checked here, where the daemon's environment is not: " + err.Error()
	if !doc.Up {
		return text + "; no daemon runs that could be asked"
	}
	for _, c := range doc.Channels {
		if strings.HasPrefix(err.Error(), "channel "+c.Name+":") {
			return text + "; the daemon that runs has it, and says: " + c.Receiving()
		}
	}
	return text + "; the daemon that runs has started with it"
}

// projectProblems says which rules of the project in the current folder do not apply.
func projectProblems(cfg configs.Config) (out []string) {
	dir, err := os.Getwd()
	if err != nil {
		return nil // then there is no project
	}
	p := configs.ProjectRules{Skip: cfg.UserRules(), Report: func(file string, problem error) {
		if placed := (*strictyaml.FileError)(nil); errors.As(problem, &placed) {
			out = append(out, problem.Error())
			return
		}
		out = append(out, judges.ProjectProblem(file, problem))
	}}
	p.For(dir)
	return out
}

// nobodyApproves says why nobody could approve any request, or any CATASTROPHIC one. It is
// empty if somebody could.
func nobodyApproves(cfg configs.Config) string {
	local := cfg.Channels.Local()
	chats := slices.DeleteFunc(cfg.Destinations(), func(d approver.Destination) bool {
		return cfg.Channels.Pages(d.Channel)
	})
	switch all := len(chats); {
	case all == 0:
		return "nobody can approve ANY request: no channel is configured, so every call that needs people is denied"
	case all == 1 && local != nil && !local.Answers():
		return "nobody can approve ANY request: the only channel is the terminal, which takes no answers (allow_answers)"
	case all == 1 && local != nil && !isolated(cfg):
		return "nobody can approve a CATASTROPHIC request: the only channel is the terminal, which takes none while " +
			"agents run as the daemon's own user"
	}
	return ""
}

// isolated reports whether agents have no access to the daemon's files.
func isolated(cfg configs.Config) bool {
	who, err := cfg.Sockets.Submitters()
	return err == nil && cfg.Isolation(who, asuser.RunsAs(cfg.Dir)).Isolated
}

// waitsCure says who can let the change take effect: people, or root if nobody can approve it.
func waitsCure(nobody string) string {
	if nobody != "" {
		return display.AsRoot("people recover") + ", where nobody is left who could approve it; docs/nobody.md"
	}
	return "approve it in a chat, or restart the daemon, which asks again"
}
