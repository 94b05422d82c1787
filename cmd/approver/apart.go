package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"approver.example/configs"
	"approver.example/display"
)

// This file tells people that a file says something else than what calls are judged by:
// one that is broken, or that loosens and waits for people.

// apart is why the files of a standard are not in force. The zero value: they are.
type apart struct{ why atomic.Pointer[string] }

// set notes why; empty is that they are in force.
func (a *apart) set(why string) { a.why.Store(&why) }

func (a *apart) text() string {
	if why := a.why.Load(); why != nil {
		return display.OneLine(*why)
	}
	return ""
}

// An unheeded standard is one whose files are not in force, or a file that the daemon read
// at its start and that is another now.
type unheeded struct {
	What string `json:"what"` // policy, rule set, information flow, configuration, secret or key
	Why  string `json:"why"`
	File string `json:"file,omitempty"` // of what is read at the start
	// Refused says that the next start would refuse it: it is mended first.
	Refused bool `json:"refused,omitempty"`
}

// brokenFiles begins why files are not in force that cannot be read.
const brokenFiles = "they have problems, so what was read last stays in force: "

// String is for people.
func (u unheeded) String() string {
	if u.File != "" {
		return u.File + " " + u.Why
	}
	return "the files of the " + u.What + " are not in force: " + u.Why
}

// versions are those of all that judges, as a daemon has them in force or as files say.
type versions struct {
	Policy string `json:"policy"`
	Rules  string `json:"rules"`
	Flow   string `json:"flow"`
}

// apart are the standards whose files are not in force.
func (j *judgement) apart() (out []unheeded) {
	for _, s := range []unheeded{
		{What: j.policies.kind.noun, Why: j.policies.apart.text()}, {What: j.rules.kind.noun, Why: j.rules.apart.text()},
		{What: j.flows.kind.noun, Why: j.flows.apart.text()},
	} {
		if s.Why != "" {
			out = append(out, s)
		}
	}
	return out
}

// versions are those in force.
func (j *judgement) versions() *versions {
	return &versions{j.policy.Version(), j.ruling.Version(), j.flowing.Version()}
}

// versionsOf are those that the files of a configuration say.
func versionsOf(cfg configs.Config) (v versions, err error) {
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return v, err
	}
	rules, err := cfg.LoadLibrary(time.Now())
	if err != nil {
		return v, err
	}
	flow, err := cfg.Flow()
	if err != nil {
		return v, err
	}
	return versions{policy.Version(), rules.Version(), flow.Version()}, nil
}

// unlike names what of two differs.
func (v versions) unlike(w versions) (names []string) {
	for _, s := range []struct{ name, a, b string }{{"policy", v.Policy, w.Policy}, {"rule set", v.Rules, w.Rules}, {"information flow", v.Flow, w.Flow}} {
		if s.a != s.b {
			names = append(names, s.name)
		}
	}
	return names
}

// sayNotInForce puts [policyFlags.notInForce] beside what is printed.
func (f policyFlags) sayNotInForce(ctx context.Context) {
	if said := f.notInForce(ctx); said != "" {
		printedOn(os.Stderr, 10, "approver: %s\n", visibly(said))
	}
}

// notInForce says, for judge, policy explain and report, that what they judge by is not
// what the daemon judges by, or that nobody can say. It is empty if it is, and for whoever
// names a policy: they ask about that one.
func (f policyFlags) notInForce(ctx context.Context) string {
	if f.Policy != "" {
		return ""
	}
	cfg, err := configs.LoadOrDefault(f.Config)
	if err != nil {
		return "" // it was told when it was read
	}
	files, err := versionsOf(cfg)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var doc statusDoc
	err = (operatorCmd{daemonAt: daemonAt{Config: f.Config, told: f.told}}).operate(ctx, opStatus, struct{}{}, &doc)
	switch {
	case err != nil && cfg.File == "" && errors.Is(err, fs.ErrNotExist):
		return "" // there is neither a configuration nor a daemon
	case err != nil, doc.InForce == nil:
		return "judged by the files; the daemon may have others in force, which it does not say here"
	}
	names := files.unlike(*doc.InForce)
	if len(names) == 0 {
		return ""
	}
	said := fmt.Sprintf("judged by the files, which are not in force: the daemon judges by another %s", strings.Join(names, " and another "))
	for _, u := range doc.NotInForce {
		said += "; " + u.String()
	}
	return said
}
