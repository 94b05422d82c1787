package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"approver.example/configs"
	"approver.example/shieldcore"
	"approver.example/shieldcore/strictyaml"
)

type checkCmd struct {
	policyFlags
	JSON bool `help:"Print one JSON object."`
}

// Help is the long text.
func (checkCmd) Help() string {
	return `Reads the configuration and the policy as serve would, and starts nothing. Warnings are what works and is rarely meant: a rule that never
decides, a channel or a person that only a rule knows.

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
func (c checkCmd) Run() error {
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
		if known && err == nil {
			out.audience(cfg, policy)
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

// problem notes every problem that is in an error.
func (out *checked) problem(err error) {
	var file *strictyaml.FileError
	switch {
	case err == nil:
	case errors.As(err, &file):
		for _, p := range file.Problems {
			out.Problems = append(out.Problems, p.String())
		}
	default:
		out.Problems = append(out.Problems, err.Error())
	}
}

// audience compares the channels and people of rules with those that there are.
func (out *checked) audience(cfg configs.Config, policy *shieldcore.Policy) {
	people := map[string]bool{}
	for id, p := range cfg.People() {
		people[p.ID], people[id.Channel+":"+id.ID] = true, true
	}
	channels := map[string]bool{}
	for _, d := range cfg.Destinations() {
		channels[d.Channel] = true
	}
	inChannels, byPeople := policy.Audience()
	for _, name := range slices.Sorted(maps.Keys(inChannels)) {
		if !channels[name] {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: the rule asks on the channel %q, which is not configured", inChannels[name], name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byPeople)) {
		if !people[name] {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: the rule asks %q, who is not on the approver list", byPeople[name], name))
		}
	}
	if len(cfg.Destinations()) == 0 {
		out.Warnings = append(out.Warnings, "no channel is configured: every call that needs people will be denied")
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
