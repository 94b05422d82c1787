package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"approver.example/configs"
	"approver.example/shieldcore/strictyaml"
)

type checkCmd struct {
	policyFlags
	JSON bool `help:"Print one JSON object."`
}

// Help is the long text.
func (checkCmd) Help() string {
	return `Reads the configuration, the policy and the files of rules as serve would, and the rules of the project of this folder, and starts nothing. A channel or a person whom only a rule knows is a problem. Warnings
are what works and is rarely meant, such as a rule that never decides, and, if the daemon runs, that calls are observed, paused or frozen.

Exit code 0: no problem, though there may be warnings. 1: there are problems.

Example:
  approver check
  approver check --policy new.yaml --json`
}

// A finding of check is a problem or a warning.
type checked struct {
	Problems []string `json:"problems"`
	Warnings []string `json:"warnings"`
}

// Run checks.
func (c checkCmd) Run(ctx context.Context) error {
	out := checked{Problems: []string{}, Warnings: []string{}}
	cfg, err := configs.LoadOrDefault(c.Config)
	out.problem(err)
	known := err == nil
	if c.Policy != "" {
		cfg.Policy = c.Policy
	}
	// A configuration that cannot be read does not say which policy it means.
	if known || c.Policy != "" {
		policy, err := cfg.LoadPolicy()
		out.problem(err)
		for _, w := range policy.Warnings() {
			out.Warnings = append(out.Warnings, w.String())
		}
		if why := nobodyApproves(cfg); known && err == nil && why != "" {
			out.Warnings = append(out.Warnings, why)
		}
	}
	if known {
		out.rules(cfg)
		if mode := (operatorCmd{daemonAt: daemonAt{Config: c.Config}}).mode(ctx); mode != "" {
			out.Warnings = append(out.Warnings, mode)
		}
	}
	if c.JSON {
		if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
			return err
		}
	} else {
		out.print()
	}
	if len(out.Problems) > 0 {
		return errSaid
	}
	return nil
}

// rules checks the layers of rules, and those of the project of this folder.
func (out *checked) rules(cfg configs.Config) {
	lib, err := cfg.LoadLibrary(time.Now())
	out.problem(err)
	if err == nil {
		for _, w := range lib.Warnings() {
			out.Warnings = append(out.Warnings, w.String())
		}
	}
	out.Warnings = append(out.Warnings, projectProblems(cfg)...)
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
		out = append(out, projectProblem(file, problem))
	}}
	p.For(dir)
	return out
}

// nobodyApproves says why every call that needs people would end in a no: empty
// if somebody could approve one.
func nobodyApproves(cfg configs.Config) string {
	terminal := cfg.Channels.Terminal
	switch all := len(cfg.Destinations()); {
	case all == 0:
		return "no channel is configured: every call that needs people will be denied"
	case all == 1 && terminal != nil && !terminal.AllowAnswers:
		return "the only channel is the terminal, which takes no answers: nobody can approve a call"
	}
	return ""
}

// problem notes every problem that is in an error, of each file if it is of several.
func (out *checked) problem(err error) {
	var file *strictyaml.FileError
	several, is := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
	case is:
		for _, one := range several.Unwrap() {
			out.problem(one)
		}
	case errors.As(err, &file):
		for _, p := range file.Problems {
			out.Problems = append(out.Problems, p.String())
		}
	default:
		out.Problems = append(out.Problems, err.Error())
	}
}

func (out *checked) print() {
	for _, p := range out.Problems {
		fmt.Println(p)
	}
	for _, w := range out.Warnings {
		first, rest, more := strings.Cut(w, "\n")
		fmt.Println("warning: " + first)
		if more {
			fmt.Println(rest)
		}
	}
	fmt.Printf("%d problems, %d warnings\n", len(out.Problems), len(out.Warnings))
}
