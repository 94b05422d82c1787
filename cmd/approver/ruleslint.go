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
	enc := json.NewEncoder(os.Stdout)
	for _, p := range problems.Problems {
		if c.JSON {
			err = enc.Encode(map[string]string{"text": p})
		} else {
			_, err = fmt.Println(p)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range remarks {
		if c.JSON {
			err = enc.Encode(r)
		} else {
			_, err = fmt.Printf("%s: %s: %s\n", r.Where, r.ID, r.Text)
		}
		if err != nil {
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
