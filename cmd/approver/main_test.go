package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"

	"approver.example/agents/canary/canarytest"
	"approver.example/shieldcore/sidecar/sidecartest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"approver":      func() { os.Exit(run(os.Args[1:])) },
		"pinned-hook":   pinnedHook,
		"fake-daemon":   fakeDaemon,
		"false-resolve": falseResolve,
		// Like pinned-hook, but for the other places of the machine.
		"placed-doctor":  placedDoctor,
		"placed-install": placedInstall,
		// Not under its own name: whether it is installed is for a script to say.
		"fake-claude":     func() { os.Exit(canarytest.Main()) },
		"fake-classifier": func() { os.Exit(sidecartest.Main(os.Args[1:])) },
	})
}

// startsPrograms leaves a test to the full run. The race detector runs the short tests: programs
// that are started many times, each by itself, are slow with it, and have nothing for it to find.
func startsPrograms(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts programs, each by itself: the full run has it")
	}
}

// Each script is a session at the command line.
func TestScripts(t *testing.T) {
	startsPrograms(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("APPROVER_HOOK_TEST", "false") // no claude of this machine
			payloads, err := filepath.Abs("../../agents/testdata/claude")
			env.Setenv("PAYLOADS", payloads) // what Claude Code really sent
			if err != nil {
				return err
			}
			fake, err := exec.LookPath("fake-classifier")
			env.Setenv("FAKE", fake)
			return err
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// readByPrograms are the commands whose exit code decides something in a script.
var readByPrograms = []string{"ask", "approve", "audit verify", "check", "demo", "deny", "doctor", "freeze", "judge",
	"model add", "model verify", "pause", "pending", "policy diff", "policy test", "rules lint", "rules list",
	"rules show", "rules test", "status", "unfreeze"}

// The README's table of commands names them all, by themselves or by their group.
func TestReadmeNamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| commands | |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	leaves := parser.Model.Leaves(true)
	for _, leaf := range leaves {
		name := strings.TrimPrefix(leaf.Path(), "approver ")
		group, _, _ := strings.Cut(name, " ")
		if !strings.Contains(table, "`"+name+"`") && !strings.Contains(table, "`"+group+"`") {
			t.Errorf("the README does not name approver %s", name)
		}
	}
	if len(leaves) < 40 {
		t.Errorf("only %d commands", len(leaves))
	}
}

// Each section of the long help is that of a command, and its variables are known.
func TestTheLongHelpIsOfCommands(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	details, vars := map[string]string{}, map[string]bool{}
	err = kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if n, is := node.(*kong.Node); is {
			details[n.FullPath()] = n.Detail
			if n.Parent != nil {
				details[n.Parent.FullPath()+" *"] = n.Detail
			}
			for name := range n.Vars() {
				vars[name] = true
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(helpText) {
		if name, is := strings.CutPrefix(line, "== "); is && details[strings.TrimSpace(name)] == "" {
			t.Errorf("help.txt has a section for %q, which is no command", name)
		}
		for _, match := range regexp.MustCompile(`\$\{?(\w*)`).FindAllStringSubmatch(line, -1) {
			if !vars[match[1]] {
				t.Errorf("%s: there is no variable %q", line, match[0])
			}
		}
	}
}

// The program, every group and every command explains itself with an example.
func TestEveryCommandHasAnExample(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	seen, read := 0, 0
	err = kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		n, ok := node.(*kong.Node)
		if !ok || n.Hidden {
			return next(nil)
		}
		seen++
		name := strings.TrimSpace("approver " + strings.TrimPrefix(n.Path(), "approver"))
		_, example, _ := strings.Cut(n.Detail, "Example:\n")
		if first, _, _ := strings.Cut(example, "\n"); !strings.HasPrefix(first+" ", "  "+name+" ") {
			t.Errorf("%s --help has no example", name)
		}
		if slices.Contains(readByPrograms, strings.TrimPrefix(name, "approver ")) {
			read++
			if !strings.Contains(strings.ToLower(n.Detail), "exit code") {
				t.Errorf("%s --help does not say what its exit codes mean", name)
			}
		}
		// An example must be a command line that is understood.
		for line := range strings.Lines(example) {
			args := strings.Fields(line)
			if len(args) < 2 || args[0] != "approver" || args[1] == "hook" {
				continue // another program, or one that reads its own flags
			}
			if end := slices.IndexFunc(args, func(s string) bool { return strings.ContainsAny(s, "|<>") }); end > 0 {
				args = args[:end]
			}
			if _, err := parser.Parse(args[1:]); err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(line), err)
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 || read != len(readByPrograms) {
		t.Errorf("only %d commands, %d of which programs read", seen, read)
	}
}
