package configs

import (
	"fmt"
	"path"
	"strings"
	"time"

	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
)

// allow adds an exception to a rule.
func (l *layering) allow(f *strictyaml.File, at string, a allowFile, layer reflexcore.Layer) {
	if !f.Good(at) {
		return
	}
	if a.Rule == "" {
		f.Report(at+".rule", "the exception names no rule: write its id")
		return
	}
	r := l.find(f, at+".rule", a.Rule)
	if r != nil && r.Final() && !l.stored {
		f.Report(at+".rule",
			fmt.Sprintf("there is no exception from %s: it denies without appeal, or protects approver itself", a.Rule))
	}
	checkScope(f, at+".scope", a.Scope)
	out := reflexcore.Allowance{Scope: a.Scope, Reason: a.Reason, Where: f.Position(at)}
	if a.Expires == "" {
		f.Report(at+".expires", "the exception has no end: add expires, a date like 2027-01-31")
	} else {
		out.Expires = expiry(f, at+".expires", a.Expires)
	}
	if strings.TrimSpace(a.Reason) == "" {
		f.Report(at+".reason", "the exception has no reason: say why, for those who approve it")
	}
	if !l.stored && !out.Expires.IsZero() {
		switch {
		case past(out.Expires, l.now):
			f.Warn(at+".expires", "the exception has ended: take it away")
		case out.Expires.Sub(l.now) > MaxAllowed+24*time.Hour:
			f.Report(at+".expires", "the exception lasts too long: it may end at most a year from now")
		case out.Expires.Sub(l.now) < soon:
			f.Warn(at+".expires", "the exception ends soon: "+out.Expires.Format(time.DateTime)+" UTC")
		}
	}
	if r != nil && !r.Final() {
		r.Allow = append(r.Allow, out)
		l.step(a.Rule, layer, "allows", out.Where)
	}
}

// checkScope reports a scope that is empty, too wide or malformed.
func checkScope(f *strictyaml.File, at string, s reflexcore.Scope) {
	if s == (reflexcore.Scope{}) {
		f.Report(at, "the exception has no scope, so that it would be for every call: name a command, path, agent or "+
			"project; to switch a rule off, disable it")
		return
	}
	for key, folder := range map[string]string{"path": s.Path, "project": s.Project} {
		switch {
		case folder == "":
		case !path.IsAbs(folder) || path.Clean(folder) != folder || strings.ContainsAny(folder, "*?[~"):
			f.Report(at+"."+key, key+" must be an absolute path without wildcards, .. or a slash at its end")
		case folder == "/":
			f.Report(at+"."+key, key+" must be narrower than /: to switch a rule off, disable it")
		}
	}
	if s.Command != "" && strings.Trim(s.Command, "* \t") == "" {
		f.Report(at+".command", "command would be every command: name the program")
	} else if s.Command != "" && strings.ContainsAny(s.Command, "\"'`$;&|<>(){}[]?~\\#!") {
		f.Report(at+".command",
			"command may have plain words and * only: a command with quotes, variables, pipes or several parts is never "+
				"excepted")
	}
}

func past(end, now time.Time) bool { return !end.IsZero() && !now.IsZero() && !now.Before(end) }
