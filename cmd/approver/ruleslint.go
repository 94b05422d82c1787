package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"approver.example/cmd/approver/internal/checks"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/words"
	"approver.example/reflexcore"
)

type rulesLintCmd struct {
	rulesFlags
	JSON  bool     `help:"Print one JSON object for each remark."`
	Files []string `arg:"" optional:"" help:"Files of rules; left out, every rule that is configured." placeholder:"FILE"`
}

// Run lints.
func (c rulesLintCmd) Run() error {
	all, own, err := c.rules(c.Files)
	var problems checks.Checked
	problems.Problem(err)
	var remarks []reflexcore.Remark
	if err == nil {
		_, err = reflexcore.Compile(all)
		problems.Problem(err)
		mine := map[string]bool{}
		for _, r := range own {
			mine[r.ID] = true
		}
		remarks = slices.DeleteFunc(reflexcore.Lint(all), func(r reflexcore.Remark) bool { return !mine[r.ID] })
	}
	if lib, err := c.library(); err == nil && len(c.Files) == 0 {
		for _, w := range lib.Warnings() {
			problems.Problems = append(problems.Problems, w.String())
		}
	}
	say := func(doc any, text string) error {
		if c.JSON {
			return json.NewEncoder(os.Stdout).Encode(doc)
		}
		_, err := fmt.Println(text)
		return err
	}
	for _, p := range problems.Problems {
		if err := say(map[string]string{"text": p}, p); err != nil {
			return err
		}
	}
	for _, r := range remarks {
		if err := say(r, fmt.Sprintf("%s: %s: %s", r.Where, r.ID, r.Text)); err != nil {
			return err
		}
	}
	if !c.JSON {
		fmt.Printf("%s, %s\n", words.Count(uint64(len(own)), "rule"),
			words.Count(uint64(len(problems.Problems)+len(remarks)), "remark"))
	}
	if len(problems.Problems)+len(remarks) > 0 {
		return term.ErrSaid
	}
	return nil
}
