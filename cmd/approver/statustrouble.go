package main

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A trouble is one thing for which the exit code of status is 1. Status prints it, and
// doctor makes a failed check of it, or a warning if it is about people: there is no other
// list.
type trouble struct {
	of   string // the part of status that prints it; or, for doctor, people and mode
	what string // what fails, in doctor's words
	why  string
	cure string
}

// The parts that have troubles.
const (
	ofSocket    = "socket"
	ofStore     = "store"
	ofChannel   = "channel"
	ofPeople    = "people"
	ofHooks     = "hooks"
	ofMode      = "mode"
	ofFiles     = "files"
	ofModel     = "model"
	ofEvaluator = "evaluator"
	ofBudget    = "budget"
	ofAudit     = "audit"
)

// troubles is all that does not work, as far as the daemon can tell.
func (s statusDoc) troubles() (all []trouble) {
	for _, why := range s.Lost {
		all = append(all, trouble{ofSocket, "a socket of it is LOST, so that nobody can connect", why, "restart the daemon, once what is in its place is gone"})
	}
	if s.Trouble != "" {
		all = append(all, trouble{ofStore, "its store fails", s.Trouble, "approver doctor tells more of the store"})
	}
	for _, c := range s.Channels {
		if c.fails() {
			all = append(all, trouble{ofChannel, "", strings.TrimSuffix(c.receiving()+"\n"+c.posting(), "\n"), "see docs/channels/" + c.Name + ".md"})
		}
	}
	if s.mute() {
		why, cure, _ := strings.Cut(s.Nobody, ". ") // it ends with the way out
		all = append(all, trouble{ofPeople, "", why, cure})
	}
	for _, weak := range s.Hooks {
		why, cure, _ := strings.Cut(weak, fixMark)
		what := "the hooks that it watches are weakened"
		if strings.HasPrefix(why, cannotLook) {
			what = ""
		}
		all = append(all, trouble{ofHooks, what, why, cmp.Or(cure, "approver install claude")})
	}
	if s.Freeze != nil && s.Freeze.By == "approver" { // until people look into it
		all = append(all, trouble{ofMode, "", s.modeText(), s.modeCure()})
	}
	for _, u := range s.NotInForce {
		if strings.HasPrefix(u.Why, brokenFiles) { // the next start is refused
			all = append(all, trouble{ofFiles, "", u.String(), "mend the file: approver check"})
		}
	}
	all = append(all, s.Shield.troubles()...)
	if s.AuditErr != "" {
		all = append(all, trouble{ofAudit, "its audit fails, and every call is denied", s.AuditErr, s.auditCure()})
	}
	return all
}

// auditCure is what helps of an audit that cannot be written. It is tried again all the time.
func (s statusDoc) auditCure() string {
	const itself = "the daemon tries again by itself, at least twice a minute, and needs no restart"
	if s.AuditChanged {
		return "find out who moved, cut or edited it, and look with approver audit verify: " + itself + "; everything is frozen then, until approver unfreeze"
	}
	return "mend what it says, such as a full disk or the rights of the folder: " + itself
}

// troublesOf are those of one part.
func (s statusDoc) troublesOf(part string) []trouble {
	return slices.DeleteFunc(s.troubles(), func(t trouble) bool { return t.of != part })
}

// text is what fails and why, in doctor's words.
func (t trouble) text() string {
	if t.what == "" {
		return t.why
	}
	return t.what + ": " + t.why
}

// troubles is what of the tiers does not work, so that calls are blocked that need it.
func (s *shieldStatus) troubles() (all []trouble) {
	if s == nil {
		return nil
	}
	if m := s.Model; m != nil && !m.Well() && m.Error != "" {
		all = append(all, trouble{ofModel, "the classifier's program is " + string(m.State) + ", so calls are blocked that it would score", m.Error, "shield.sidecar in the configuration; docs/shield.md"})
	}
	if s.fails() {
		why := s.Evaluator + " FAILS since " + s.Since.Format(time.DateTime+" UTC")
		if s.LastSuccess.IsZero() {
			why += ", and never answered: " + s.Problem
		} else {
			why += ": " + s.Problem + "; it last answered at " + s.LastSuccess.Format(time.DateTime+" UTC")
		}
		all = append(all, trouble{ofEvaluator, "the daemon's last evaluation failed at " + s.LastFailure.Format(time.DateTime+" UTC"), why,
			"shield.evaluator in the configuration, and then restart the daemon; if it was the provider's fault, wait: the daemon asks it anew by itself, at least each " + probeMost.String()})
	}
	if s.QuotaErr != "" {
		all = append(all, trouble{ofBudget, "the budget of evaluations cannot be read, so nothing is evaluated", s.QuotaErr, "approver doctor tells more of the store"})
	}
	return all
}
