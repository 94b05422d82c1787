package configs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"approver.example/configs"
	"approver.example/internal/glob"
	"approver.example/reflexcore/effect"
)

// noScore are the kinds of effects by which nothing is lost that cannot come back, each with the
// reason. All others have a score in reflexcore/irreversible.go and losses.txt.
var noScore = map[effect.Kind]string{
	effect.Opaque:     "what it loses is not known, and it is a question as it is",
	effect.Exec:       "what the program loses has effects of its own",
	effect.Read:       "nothing is lost",
	effect.NetIn:      "nothing is lost",
	effect.NetOut:     "data that leaves is a matter of rules and of package flow",
	effect.Permission: "rights can be given back",
	effect.Persist:    "what is left there can be removed",
	effect.Privilege:  "nothing is lost by itself",
	effect.Attack:     "nothing is lost by itself",
}

// noRule are the values of What that no rule names, each with the reason.
var noRule = map[string]string{
	"scratch":        "it makes the question about a deletion milder",
	"idle":           "a command that changes nothing needs no look at its rights",
	"rebuilt":        "what is made again at once or at the next start is a warning",
	"agent-settings": "package selfprotect judges it",
	"own":            "files that the user who runs the call gets are no question",
	"interactive":    "a shell that waits for input runs nothing by itself",
	"members":        "package selfprotect asks about what else an archive may bring",
	"mount-guest":    "what another system mounts when it starts is nothing of this host",
	"module":         "it is judged by its name, as a program is",
}

// The story: a payment by a tool was an effect with a target that no rule and no line of the table of
// losses named, so that nobody was asked. Each kind has a rule, and a score or a reason why not. Each
// What and each prefix that the code or a table writes is named by a rule or by a row of losses, or
// is in the list above.
func TestEveryEffectHasARuleAndAScore(t *testing.T) {
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	kinds, whats, targets := map[effect.Kind]bool{}, []string{}, []string{}
	for _, r := range rules {
		for _, c := range r.When {
			for _, k := range c.Effects {
				kinds[k] = true
			}
			whats, targets = append(whats, c.What...), append(targets, c.Targets...)
		}
	}
	scored, err := os.ReadFile("../reflexcore/irreversible.go")
	if err != nil {
		t.Fatal(err)
	}
	losses, err := os.ReadFile("../reflexcore/losses.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[effect.Kind]string{effect.Delete: "Delete", effect.Write: "Write", effect.Discard: "Discard",
		effect.RemoteDelete: "RemoteDelete", effect.Publish: "Publish", effect.Kill: "Kill"}
	for k := effect.Opaque; k <= effect.Attack; k++ {
		if !kinds[k] {
			t.Errorf("no rule is about %v", k)
		}
		has := strings.Contains(string(scored), "case effect."+names[k]+":") && names[k] != ""
		if has == (noScore[k] != "") {
			t.Errorf("%v has a score: %v, and a reason to have none: %q", k, has, noScore[k])
		}
	}
	anyOf := func(globs []string, text string) bool {
		return slices.ContainsFunc(globs, func(g string) bool { return glob.Text(g, text) })
	}
	found := emittedWords(t)
	if len(found.whats) < 6 || len(found.prefixes) < 1 {
		t.Fatalf("found %v", found)
	}
	for what, where := range found.whats {
		if noRule[what] == "" && !anyOf(whats, what) {
			t.Errorf("%s: no rule names what %q, and no line says why", where, what)
		}
	}
	for prefix, where := range found.prefixes {
		if !regexp.MustCompile(`(?m)^\w[^:\n]*:.*\s` + prefix).Match(losses) {
			t.Errorf("%s: no row of losses.txt names %q", where, prefix)
		}
		if !anyOf(targets, prefix+"x") {
			t.Errorf("%s: no rule names targets %q", where, prefix+"*")
		}
	}
}

type emitted struct{ whats, prefixes map[string]string }

var (
	whatWritten   = regexp.MustCompile(`What: +"([a-z-]+)"|\.What = "([a-z-]+)"|addWhat\(effect\.\w+, "([a-z-]+)"`)
	prefixWritten = regexp.MustCompile(`effect\.Publish, "([a-z]+:)`)
	tablePrefix   = regexp.MustCompile(`(?m)^  (?:always|-[^=\n]*?) +publish ([a-z]+:)`)
)

// emittedWords finds the values of What and the prefixes of targets that the engine's code and its
// tables write, each with a file.
func emittedWords(t *testing.T) emitted {
	t.Helper()
	out := emitted{map[string]string{}, map[string]string{}}
	err := filepath.WalkDir("../reflexcore", func(path string, _ fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || ext != ".go" && ext != ".grammar" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range whatWritten.FindAllStringSubmatch(string(text), -1) {
			out.whats[m[1]+m[2]+m[3]] = path
		}
		prefixes := prefixWritten
		if ext == ".grammar" {
			prefixes = tablePrefix
		}
		for _, m := range prefixes.FindAllStringSubmatch(string(text), -1) {
			out.prefixes[m[1]] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
