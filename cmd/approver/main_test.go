package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"approver": func() { os.Exit(run(os.Args[1:])) },
	})
}

// Each script is a session at the command line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
	})
}

// Every command explains itself with an example.
func TestEveryCommandHasAnExample(t *testing.T) {
	var c cli
	parser, err := kong.New(&c, kong.Name("approver"))
	if err != nil {
		t.Fatal(err)
	}
	leaves := 0
	for _, cmd := range parser.Model.Leaves(false) {
		leaves++
		if !strings.Contains(cmd.Detail, "Example:") || !strings.Contains(cmd.Detail, "approver "+cmd.Path()) {
			t.Errorf("%s --help has no example", cmd.Path())
		}
	}
	if leaves < 7 {
		t.Errorf("only %d commands", leaves)
	}
}
