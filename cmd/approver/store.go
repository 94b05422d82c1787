package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
)

type storeCmd struct {
	Drop    storeDropCmd    `cmd:"" help:"Show the records of the embedded store that cannot be read, and remove those that are named."`
	Convert storeConvertCmd `cmd:"" help:"Write the embedded store in the format of an older approver, to go back to that."`
}

// A storePlace names the embedded store of a configuration.
type storePlace struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
}

// open returns the store, and its file.
func (p storePlace) open() (configs.FileStore, string, error) {
	cfg, err := configs.LoadOrDefault(p.Config)
	if err != nil {
		return nil, "", err
	}
	at := cfg.Storage()
	store, ok := cfg.FileStore()
	if !ok {
		return nil, "", fmt.Errorf("the store is %s, and this is for one in a file", at.Where)
	}
	return store, at.File, nil
}

type storeDropCmd struct {
	storePlace
	Yes  bool     `help:"Remove the records, instead of only showing them."`
	Keys []string `arg:"" optional:"" name:"key" help:"The records, as the daemon's log and approver check name them; left out, all are shown."`
}

// Run shows the records, and removes them.
func (c storeDropCmd) Run() error {
	store, file, err := c.open()
	if err != nil {
		return err
	}
	lost, err := store.Damaged()
	if err != nil {
		return err
	}
	for _, r := range lost {
		if len(c.Keys) == 0 || slices.Contains(c.Keys, r.Key) {
			term.Say(fmt.Sprintf("%s\n    It is %s.", r.Cause, whatItIs(r.Key)))
		}
	}
	switch {
	case len(lost) == 0:
		term.Print(0, "every record of %s can be read\n", file)
		if len(c.Keys) > 0 {
			return errors.New("nothing was removed")
		}
		return nil
	case len(c.Keys) == 0:
		return nil
	case !c.Yes:
		return errors.New("nothing was removed: --yes does it; copy the file first")
	}
	if err := store.Drop(c.Keys...); err != nil {
		return err
	}
	term.Print(0, "removed %d of %d; the others are as they were\n", len(c.Keys), len(lost))
	return nil
}

// whatItIs says what is lost with a record.
func whatItIs(key string) string {
	kind := strings.SplitN(key+":::", ":", 4)[2]
	switch kind {
	case "req":
		return "a request; what waits for it is denied, and the call may be asked about anew"
	case "control":
		return "the record of freezes, pauses and removed people; without it everything is frozen until somebody lifts it"
	case "audit", "approvers", "rules":
		return "what the daemon knows of its audit or of who may approve; without it everything is frozen, or the daemon " +
			"does not start and says what to do"
	}
	return "a record of the kind " + kind
}

type storeConvertCmd struct {
	storePlace
	To string `help:"The format: bolt, which approver had before 2026-12." enum:"bolt" required:"" placeholder:"bolt"`
}

// Run converts.
func (c storeConvertCmd) Run() error {
	store, file, err := c.open()
	if err != nil {
		return err
	}
	records, kept, err := store.ConvertBack()
	if err != nil {
		return err
	}
	term.Print(0, "%s is in the format of the older approver, with %d records; the file as it was is %s\n", file, records,
		kept)
	return nil
}
