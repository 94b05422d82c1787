package checks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/internal/strictyaml"
)

// CheckCmd is the command check.
type CheckCmd struct {
	judging.Flags
	JSON bool `help:"Print one JSON object."`
}

// Checked has the problems and warnings that check found.
type Checked struct {
	Problems []string `json:"problems"`
	Warnings []string `json:"warnings"`
	Ladder   []string `json:"ladder,omitempty"` // in words, if there is one
	unseen   error    // this user may not read the configuration, so nothing was checked
}

// Run checks.
func (c CheckCmd) Run(ctx context.Context) error {
	out := c.look(ctx)
	if out.unseen != nil && !c.JSON {
		return fmt.Errorf("not checked as this user (uid %d), who may not read it: %w. Run it as the daemon's user, or %s",
			os.Geteuid(), out.unseen, display.AsRoot("check"))
	}
	if c.JSON {
		if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
			return err
		}
	} else {
		out.print()
	}
	if len(out.Problems) > 0 {
		return term.ErrSaid
	}
	return nil
}

// look collects what there is to report.
func (c CheckCmd) look(ctx context.Context) Checked {
	out := Checked{Problems: []string{}, Warnings: []string{}}
	cfg, err := adminclient.LoadAsDaemon(c.Config)
	out.Problem(err)
	known := err == nil
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 && c.Policy == "" {
		out.unseen = err
	}
	if known {
		out.Problem(asuser.Become(asuser.RunsAs(cfg.Dir), cfg.Dir))
	}
	if c.Policy != "" {
		cfg.Policy = c.Policy
	}
	// A configuration that cannot be read does not say which policy it uses.
	if known || c.Policy != "" {
		policy, err := cfg.LoadPolicy()
		out.Problem(err)
		for _, w := range policy.Warnings() {
			out.Warnings = append(out.Warnings, w.String())
		}
	}
	if known {
		out.Ladder = cfg.LadderLines(time.Now())
		doc := daemonSays(ctx, c.Config)
		out.Warnings = append(out.Warnings, nobodyNow(cfg, doc)...)
		out.Warnings = append(out.Warnings, daemon.OutOfReach(cfg, asuser.RunsAs(cfg.Dir))...)
		for _, gone := range doc.Removed {
			if strings.Contains(gone, adminapi.StillListed) {
				out.Warnings = append(out.Warnings, gone)
			}
		}
		for _, waits := range doc.Waiting {
			out.Warnings = append(out.Warnings, adminapi.WaitsLine(waits)+": "+waitsCure(doc.Nobody))
		}
		for _, u := range doc.NotInForce {
			out.Warnings = append(out.Warnings, u.String())
		}
		out.rules(cfg)
		elsewhere, here := withoutElsewhere(daemon.CheckStart(cfg))
		out.Problem(here)
		for _, err := range elsewhere {
			out.Warnings = append(out.Warnings, notHere(err, doc))
		}
		out.Problem(daemon.CheckParts(cfg))
		out.Problem(cfg.CheckStoreRecords())
		out.hooks(cfg, c.Config)
		if mode := display.OneLine(doc.Control); mode != "" {
			out.Warnings = append(out.Warnings, mode)
		}
	}
	return out
}

// rules checks the layers of rules, and the rules of the project in the current folder.
func (out *Checked) rules(cfg configs.Config) {
	lib, err := cfg.LoadLibrary(time.Now())
	out.Problem(err)
	if err == nil {
		for _, w := range lib.Warnings() {
			out.Warnings = append(out.Warnings, w.String())
		}
	}
	out.Warnings = append(out.Warnings, projectProblems(cfg)...)
}

// hooks finds hooks that were installed for a shorter ttl, in the settings that doctor looks
// at.
func (out *Checked) hooks(cfg configs.Config, config string) {
	which := settings.Target{ConfigFile: config}
	for _, agent := range agents.Installers() {
		f := agent.Files()
		path, err := which.Path(f)
		if err != nil {
			continue // it is not known where they are; doctor says why
		}
		_, sources := hookfiles.Look(f, which, path, false)
		for _, found := range hookfiles.Short(agent, sources, waitingFor(agent, cfg)) {
			out.Problems = append(out.Problems, found.String()+": "+hookfiles.Cure(f, which, found.Path))
		}
	}
}

// nobodyNow says which requests nobody can approve, according to the configuration and to the
// running daemon.
func nobodyNow(cfg configs.Config, doc adminapi.Status) (all []string) {
	file := nobodyApproves(cfg)
	if file != "" {
		all = append(all, file)
	}
	which, _, _ := strings.Cut(doc.Nobody, ":")
	if doc.Nobody != "" && !strings.HasPrefix(file, which) {
		all = append(all, "by the daemon that runs, "+doc.Nobody)
	}
	return all
}

// daemonSays returns the status of the running daemon. It is zero if none answers.
func daemonSays(ctx context.Context, config string) adminapi.Status {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	doc, _ := adminclient.Cmd{At: adminclient.At{Config: config}}.Status(ctx)
	return doc
}

// Problem records every problem in an error. The error may be joined from several.
func (out *Checked) Problem(err error) {
	var file *strictyaml.FileError
	several, is := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
	case is:
		for _, one := range several.Unwrap() {
			out.Problem(one)
		}
	case errors.As(err, &file):
		for _, p := range file.Problems {
			out.Problems = append(out.Problems, p.String())
		}
	default:
		out.Problems = append(out.Problems, err.Error())
	}
}

func (out *Checked) print() {
	for _, line := range out.Ladder {
		term.Print(0, "ladder: %s\n", line)
	}
	for _, p := range out.Problems {
		term.Print(0, "%s\n", p)
	}
	for _, w := range out.Warnings {
		first, rest, more := strings.Cut(w, "\n")
		term.Print(0, "%s\n", "warning: "+first)
		if more {
			term.Print(0, "%s\n", rest)
		}
	}
	term.Print(0, "%s, %s\n", words.Count(uint64(len(out.Problems)), "problem"),
		words.Count(uint64(len(out.Warnings)), "warning"))
}
