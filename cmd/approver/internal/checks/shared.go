package checks

import (
	"errors"
	"os"
	"strings"

	"approver.example/cmd/approver/internal/asuser"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/judges"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/strictyaml"
)

// withoutElsewhere takes out of what standing says what only the daemon's environment has.
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

// notHere says of a secret that only the daemon's environment has what the daemon that runs
// makes of it.
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

// projectProblems says what of the rules of the project of this folder does not
// count.
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

// nobodyApproves says why every call that needs people would end in a no: empty
// if somebody could approve one.
func nobodyApproves(cfg configs.Config) string {
	local := cfg.Channels.Local()
	switch all := len(cfg.Destinations()); {
	case all == 0:
		return "nobody can approve ANY request: no channel is configured, so every call that needs people is denied"
	case all == 1 && local != nil && !local.Answers():
		return "nobody can approve ANY request: the only channel is the terminal, which takes no answers (allow_answers)"
	case all == 1 && local != nil && !isolated(cfg):
		return "nobody can approve a CATASTROPHIC request: the only channel is the terminal, which takes none while agents run as the daemon's own user"
	}
	return ""
}

// isolated reports whether agents are kept from the daemon's things.
func isolated(cfg configs.Config) bool {
	who, err := cfg.Sockets.Submitters()
	return err == nil && cfg.Isolation(who, asuser.RunsAs(cfg.Dir)).Isolated
}

// waitsCure is what lets it count: people, and where nobody can, root.
func waitsCure(nobody string) string {
	if nobody != "" {
		return display.AsRoot("people recover") + ", where nobody is left who could approve it; docs/nobody.md"
	}
	return "approve it in a chat, or restart the daemon, which asks again"
}
