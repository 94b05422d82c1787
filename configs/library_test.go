package configs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
)

var january = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)

const ownRule = "{id: own, category: bulk, decision: ask, severity: high, confidence: 0.5, reason: r, cure: c, " +
	"when: [{effects: [delete]}]}"

// inWords puts ids of built-in rules for the words FINAL (denies without appeal),
// PLAIN and OTHER (there may be exceptions from them), and GUARD (protects approver).
var inWords = sync.OnceValue(func() *strings.Replacer {
	rules, err := configs.DefaultRules()
	if err != nil {
		panic(err)
	}
	first := func(is func(*reflexcore.Rule) bool) string {
		return rules[slices.IndexFunc(rules, func(r reflexcore.Rule) bool { return is(&r) })].ID
	}
	plain := first(func(r *reflexcore.Rule) bool { return !r.Final() && r.Decision == approver.Ask })
	return strings.NewReplacer("PLAIN", plain,
		"FINAL", first(func(r *reflexcore.Rule) bool { return r.Final() && r.Decision == approver.Deny }),
		"OTHER", first(func(r *reflexcore.Rule) bool { return !r.Final() && r.Decision == approver.Ask && r.ID != plain }),
		"GUARD", first(func(r *reflexcore.Rule) bool { return r.Category == "self-protection" }))
})

func layer(l reflexcore.Layer, text string) configs.RuleSource {
	return configs.RuleSource{Layer: l, File: string(l) + ".yaml", Text: []byte(inWords().Replace("version: 1\n" + text))}
}

func named(lib *configs.Library, id string) *reflexcore.Rule {
	id = inWords().Replace(id)
	list := lib.Rules().List()
	if i := slices.IndexFunc(list, func(r reflexcore.Rule) bool { return r.ID == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

// What a layer does to rules, and which place is told.
func TestLayers(t *testing.T) {
	hub, user := func(s string) configs.RuleSource { return layer(reflexcore.HubLayer, s) },
		func(s string) configs.RuleSource { return layer(reflexcore.UserLayer, s) }
	replace := "rules: [" +
		strings.Replace(strings.Replace(ownRule, "id: own", "id: FINAL, replace: true", 1), "decision: ask", "decision: warn",
			1) + "]\n"
	for name, c := range map[string]struct {
		sources []configs.RuleSource
		id      string
		ok      func(r *reflexcore.Rule, lib *configs.Library) bool
		steps   string
	}{
		"nothing": {nil, "FINAL", func(r *reflexcore.Rule, lib *configs.Library) bool {
			return r.Decision == approver.Deny && lib.Version() == ""
		}, "built-in adds"},
		"an add": {[]configs.RuleSource{hub("rules: [" + ownRule + "]\n")}, "own",
			func(r *reflexcore.Rule, _ *configs.Library) bool {
				return r.Layer == reflexcore.HubLayer && r.Where.Line == 2
			}, "hub adds"},
		"a replace": {[]configs.RuleSource{user(replace)}, "FINAL", func(r *reflexcore.Rule, _ *configs.Library) bool {
			return r.Decision == approver.Warn && len(r.When) == 1
		}, "built-in adds, user replaces"},
		"a disable": {[]configs.RuleSource{user("disable: [FINAL]\n")}, "FINAL",
			func(r *reflexcore.Rule, lib *configs.Library) bool {
				return r == nil && lib.Disabled[0].ID == inWords().Replace("FINAL")
			}, "built-in adds, user disables"},
		"a shadow": {[]configs.RuleSource{user("shadow: [FINAL]\n")}, "FINAL",
			func(r *reflexcore.Rule, _ *configs.Library) bool { return r.Shadow }, "built-in adds, user shadows"},
		"exceptions": {[]configs.RuleSource{hub("allow: [{rule: PLAIN, scope: {agent: a}, expires: 2027-02-28, reason: " +
			"r}]\n"), user("allow: [{rule: PLAIN, scope: {path: /x}, expires: '2027-02-28T10:00:00+01:00', reason: r}]\n")},
			"PLAIN", func(r *reflexcore.Rule, _ *configs.Library) bool {
				return len(r.Allow) == 2 && r.Allow[0].Expires.Equal(time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)) &&
					r.Allow[1].Expires.Equal(time.Date(2027, 2, 28, 9, 0, 0, 0, time.UTC))
			}, "built-in adds, hub allows, user allows"},
		// The user's layer lies over the hub's: a rule that it replaces has neither the
		// hub's exceptions nor its shadow.
		"one over the other": {[]configs.RuleSource{hub("shadow: [FINAL]\nrules: [" + ownRule + "]\n"), user(replace)},
			"FINAL", func(r *reflexcore.Rule, _ *configs.Library) bool { return !r.Shadow },
			"built-in adds, hub shadows, user replaces"},
		"disabled twice": {[]configs.RuleSource{hub("disable: [OTHER]\n"), user("disable: [OTHER]\n")}, "OTHER",
			func(r *reflexcore.Rule, lib *configs.Library) bool {
				return r == nil && len(lib.Disabled) == 1 &&
					strings.Contains(lib.Warnings()[0].String(),
						inWords().Replace("user.yaml:2:11: this does nothing: the rule OTHER is disabled at hub.yaml:2:11"))
			}, "built-in adds, hub disables"},
	} {
		lib, err := configs.NewLibrary(c.sources, january)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var steps []string
		for _, s := range lib.Steps(inWords().Replace(c.id)) {
			steps = append(steps, string(s.Layer)+" "+s.Does)
		}
		if !c.ok(named(lib, c.id), lib) || strings.Join(steps, ", ") != c.steps {
			t.Errorf("%s: %+v, steps %v", name, named(lib, c.id), steps)
		}
		// What is stored is the same once it is in force again.
		if again, err := configs.StoredLibrary(c.sources); err != nil || again.Version() != lib.Version() ||
			configs.CompareLibraries(lib, again).Loosens() {
			t.Errorf("%s: stored it is another: %v", name, err)
		}
	}
}

// Each mistake is one clear error with its place and what to do.
func TestBadLayers(t *testing.T) {
	in := func(s string) string { return "rules: [" + strings.Replace(ownRule, "id: own", s, 1) + "]\n" }
	with := func(was, is string) string { return "rules: [" + strings.Replace(ownRule, was, is, 1) + "]\n" }
	for text, want := range map[string]string{
		"disable: [FINALx]\n": `user.yaml:2:11: there is no rule "FINALx": did you mean ` +
			`"FINAL"?`,
		"shadow: [xxxxxxxx]\n": `user.yaml:2:10: there is no rule "xxxxxxxx": approver rules ` +
			`list has them all`,
		in("id: FINAL"):                                     "user.yaml:2:14: the id FINAL is taken by the rule at rules/",
		in("id: own, replace: true"):                        `user.yaml:2:14: there is no rule "own" to replace`,
		in("id: OwnRule"):                                   `user.yaml:2:14: the id "OwnRule" is not in snake_case`,
		with("0.5", "0"):                                    "confidence must be more than 0 and at most 1",
		with("0.5", "1.5"):                                  "confidence must be more than 0 and at most 1",
		with("0.5", ".nan"):                                 "confidence",
		with("severity: high", "severity: low"):             `unknown severity "low": high or catastrophic`,
		with("decision: ask", "decision: allow"):            "its decision is allow: deny, ask or warn",
		with("category: bulk", "category: misc"):            `there is no category "misc": one of browser, bulk`,
		with("reason: r", "reason: it is so."):              "reason must be one sentence without a final period",
		with("effects: [delete]", "effects: [erase]"):       `unknown effect "erase"`,
		with("effects: [delete]", "places: [root]"):         "a condition names no effect",
		with("cure: c", "pattern: '('"):                     "missing closing )",
		with("cure: c", "colour: red"):                      `unknown key "colour"`,
		with("cure: c", "expires: soon"):                    "not a date: write one like 2027-01-31",
		in("id: FINAL, replace: true, expires: 2027-02-01"): "a rule that replaces another cannot expire",
		"allow: [{rule: FINAL, scope: {agent: a}, expires: 2027-02-01, reason: r}]\n": "user.yaml:2:16: " +
			"there is no exception from FINAL: it denies without appeal",
		"allow: [{rule: GUARD, scope: {agent: a}, expires: 2027-02-01, reason: r}]\n": "there is no exception from GUARD: " +
			"it denies without appeal, or protects approver itself",
		"allow: [{rule: PLAINx, scope: {agent: a}, expires: 2027-02-01, reason: r}]\n": `there is no rule ` +
			`"PLAINx": did you mean "PLAIN"?`,
		"allow: [{scope: {agent: a}, expires: 2027-02-01, reason: r}]\n": "the exception names " +
			"no rule",
		"allow: [{rule: PLAIN, expires: 2027-02-01, reason: r}]\n": "the exception has no " +
			"scope",
		"allow: [{rule: PLAIN, scope: {agent: a}, reason: r}]\n": "the exception has no " +
			"end: add expires",
		"allow: [{rule: PLAIN, scope: {agent: a}, expires: 2027-02-01}]\n": "the exception has no " +
			"reason",
		"allow: [{rule: PLAIN, scope: {agent: a}, expires: 2030-02-01, reason: r}]\n": "it may end at most a " +
			"year from now",
		"allow: [{rule: PLAIN, scope: {path: x}, expires: 2027-02-01, reason: r}]\n": "path must be an " +
			"absolute path",
		"allow: [{rule: PLAIN, scope: {path: /x/../y}, expires: 2027-02-01, reason: r}]\n": "path must be an " +
			"absolute path",
		"allow: [{rule: PLAIN, scope: {project: /}, expires: 2027-02-01, reason: r}]\n": "project must be " +
			"narrower than /",
		"allow: [{rule: PLAIN, scope: {command: '** *'}, expires: 2027-02-01, reason: r}]\n": "command would be " +
			"every command",
		"allow: [{rule: PLAIN, scope: {command: 'rm x; rm y'}, expires: 2027-02-01, reason: r}]\n": "command may have " +
			"plain words and * only",
	} {
		want = inWords().Replace(want)
		_, err := configs.NewLibrary([]configs.RuleSource{layer(reflexcore.UserLayer, text)}, january)
		var file *strictyaml.FileError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &file) || len(file.Problems) != 1 ||
			file.Problems[0].Pos.Line == 0 {
			t.Errorf("%s got  %v\n want %s", text, err, want)
		}
	}
	// Problems of both layers are told at once.
	_, err := configs.NewLibrary([]configs.RuleSource{layer(reflexcore.HubLayer, "disable: [a]\n"),
		layer(reflexcore.UserLayer, "shadow: [b]\n")}, january)
	if err == nil || !strings.Contains(err.Error(), "hub.yaml:2:11") || !strings.Contains(err.Error(), "user.yaml:2:10") {
		t.Error(err)
	}
	if _, err := configs.LoadRules("rules/x.yaml", []byte("version: 1\ndisable: [OTHER]\n")); err == nil ||
		!strings.Contains(err.Error(), "rules/x.yaml:2:1: disable is for layers") {
		t.Error(err)
	}
}

// What ended, or soon will, is said.
func TestEndsAreWarnedOf(t *testing.T) {
	lib, err := configs.NewLibrary([]configs.RuleSource{layer(reflexcore.UserLayer, `
rules: [{id: own, category: bulk, decision: ask, severity: high, confidence: 0.5, reason: r, when: [{effects:
   [delete]}], expires: 2027-01-01}]
allow:
  - {rule: PLAIN, scope: {agent: a}, expires: 2027-01-01, reason: r}
  - {rule: PLAIN, scope: {agent: b}, expires: 2027-01-20, reason: r}
  - {rule: PLAIN, scope: {agent: c}, expires: 2027-12-20, reason: r}
`)}, january)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range lib.Warnings() {
		got = append(got, w.Text)
	}
	if want := []string{"the rule own has ended: take it away", "the exception has ended: take it away",
		"the exception ends soon: 2027-01-21 00:00:00 UTC"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Layers that were in force under an older program are read so that nothing of them
// can be looser: what its rules no longer have does nothing.
func TestStoredLayersOfAnOlderProgram(t *testing.T) {
	s := []configs.RuleSource{layer(reflexcore.UserLayer,
		"disable: [long_gone]\nshadow: [long_gone]\nrules: ["+strings.Replace(ownRule, "own", "FINAL", 1)+
			"]\nallow: [{rule: FINAL, scope: {agent: a}, expires: 2020-01-01, reason: r}]\n")}
	if _, err := configs.NewLibrary(s, january); err == nil {
		t.Error("a new file with these is right")
	}
	lib, err := configs.StoredLibrary(s)
	if err != nil {
		t.Fatal(err)
	}
	if r := named(lib, "FINAL"); r == nil || r.Decision != approver.Deny || r.Shadow || len(r.Allow) > 0 {
		t.Errorf("%+v", r)
	}
}

// The files of layers: none that is named may be missing, and nobody else may be
// able to write one.
func TestRuleFiles(t *testing.T) {
	dir := t.TempDir()
	cfg := configs.Default()
	cfg.Dir = dir
	if s, err := cfg.RuleSources(); err != nil || len(s) != 0 {
		t.Errorf("%v, %v", s, err)
	}
	file := filepath.Join(dir, "rules.yaml")
	write(t, file, "version: 1\n")
	if s, err := cfg.RuleSources(); err != nil || len(s) != 1 || s[0].File != file || s[0].Layer != reflexcore.UserLayer {
		t.Errorf("%v, %v", s, err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.RuleSources(); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Error(err)
	}
	cfg.Reflex.Rules.User = filepath.Join(dir, "none.yaml")
	if _, err := cfg.RuleSources(); err == nil || !strings.Contains(err.Error(), "correct the setting reflex.rules.user") {
		t.Error(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const projectRule = "version: 1\nrules: [" + ownRule + "]\n"

// Rules of projects are those of the folder and of the ones above it up to the
// outermost repository. What would loosen is refused and told once, and so is a file
// that is broken, too long, a pipe or a link out of the folder; none of that waits.
func TestProjectRules(t *testing.T) {
	type report struct{ file, text string }
	var reports []report
	now := january
	p := &configs.ProjectRules{Now: func() time.Time { return now },
		Report: func(file string, err error) { reports = append(reports, report{file, err.Error()}) }}
	ids := func(dir string) string {
		now = now.Add(2 * time.Second)
		var out []string
		if set := p.For(dir); set != nil {
			for _, r := range set.List() {
				out = append(out, r.ID)
			}
		}
		return strings.Join(out, " ")
	}
	root := t.TempDir()
	repo := filepath.Join(root, "repo")
	inner := filepath.Join(repo, "a", "inner")
	file := filepath.Join(repo, ".approver", "rules.yaml")
	for _, d := range []string{filepath.Join(repo, ".git"), filepath.Join(inner, ".git"), filepath.Join(inner, "deep")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(root, ".approver", "rules.yaml"), projectRule) // above the repository
	if got := ids(inner); got != "" {
		t.Errorf("rules from above the repository: %s", got)
	}
	write(t, file, projectRule)
	if got := ids(filepath.Join(inner, "deep")); got != "own" {
		t.Errorf("a repository inside another hides its rules: %q", got)
	}
	write(t, filepath.Join(inner, ".approver", "rules.yaml"), projectRule)
	if got := ids(inner); got != "own own_2" {
		t.Errorf("two files with one id: %q", got)
	}
	if got := ids("relative"); got != "" || len(reports) > 0 {
		t.Errorf("%q, %v", got, reports)
	}

	for name, c := range map[string]struct {
		prepare func(file string) error
		rules   string
		report  string
	}{
		"loosens": {func(f string) error { return os.WriteFile(f, []byte(projectRule+"disable: [FINAL]\n"), 0o600) }, "own",
			":3:1: disable loosens, so it is refused here"},
		"excepts": {func(f string) error {
			return os.WriteFile(f, []byte(projectRule+"allow: [{rule: PLAIN}]\n"), 0o600)
		}, "own", ":3:1: allow loosens"},
		"broken": {func(f string) error { return os.WriteFile(f, []byte(projectRule+"colour: red\n"), 0o600) }, "",
			`:3:1: unknown key "colour"`},
		"no YAML": {func(f string) error { return os.WriteFile(f, []byte("{["), 0o600) }, "", ":1:"},
		"twice": {func(f string) error {
			return os.WriteFile(f, []byte("version: 1\nrules: ["+ownRule+", "+ownRule+"]\n"), 0o600)
		}, "", "the id own is used twice"},
		"too long": {func(f string) error {
			return os.WriteFile(f, []byte(projectRule+strings.Repeat("#", 65<<10)),
				0o600)
		}, "", "larger than 65536 bytes"},
		"a pipe":   {func(f string) error { return syscall.Mkfifo(f, 0o600) }, "", "not a regular file"},
		"a folder": {func(f string) error { return os.Mkdir(f, 0o700) }, "", "not a regular file"},
		"a link out": {func(f string) error { return os.Symlink(filepath.Join(root, ".approver", "rules.yaml"), f) }, "",
			"escapes"},
	} {
		reports = nil
		dir := t.TempDir()
		f := filepath.Join(dir, ".approver", "rules.yaml")
		if err := errors.Join(os.Mkdir(filepath.Dir(f), 0o755), c.prepare(f)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got := ids(dir); got != c.rules {
				t.Errorf("%s: rules %q", name, got)
			}
		}
		if len(reports) != 1 || !strings.Contains(reports[0].text, c.report) || reports[0].file != f {
			t.Errorf("%s: told %q, want once %q", name, reports, c.report)
		}
	}

	// A change counts within a second, and before that nothing is read.
	write(t, file, strings.Replace(projectRule, "own", "other_id", 1))
	if got := ids(repo); got != "other_id" {
		t.Errorf("after a change: %q", got)
	}
	set := p.For(repo)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if p.For(repo) != set {
		t.Error("it is read more often than once a second")
	}
	if got := ids(repo); got != "" {
		t.Errorf("without the file: %q", got)
	}
	// The user's own file is no project's.
	write(t, file, projectRule)
	p = &configs.ProjectRules{Skip: file}
	if p.For(repo) != nil {
		t.Error("the user's layer counts as a project's")
	}
}

// A project's file may name sources of data, from the project on, with rules or
// without; other files of rules may not.
func TestProjectSources(t *testing.T) {
	now := january
	var reports []string
	p := &configs.ProjectRules{Now: func() time.Time { return now },
		Report: func(_ string, err error) { reports = append(reports, err.Error()) }}
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	for _, d := range []string{filepath.Join(outer, ".git"), filepath.Join(outer, ".approver"),
		filepath.Join(inner, ".approver")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	label := func(path string) string {
		now = now.Add(2 * time.Second)
		set := p.For(inner)
		if set == nil {
			return ""
		}
		return set.Sources.Path(path, "/home/ada").String()
	}
	write(t, filepath.Join(outer, ".approver", "rules.yaml"),
		"version: 1\nsources: [{label: confidential, paths: [data/**]}]\n")
	if got := label(outer + "/data/x"); got != "confidential" {
		t.Errorf("a source without rules: %q", got)
	}
	write(t, filepath.Join(inner, ".approver", "rules.yaml"),
		projectRule+"sources: [{label: critical, paths: [data/**], basenames: [k]}]\ndisable: [FINAL]\n")
	if got := label(inner + "/data/x"); got != "critical" || label(outer+"/data/x") != "confidential" ||
		label("/x/k") != "critical" || label("/x/y") != "public" || len(reports) != 1 {
		t.Errorf("%q, %v", got, reports)
	}
	reports = nil
	write(t, filepath.Join(inner, ".approver", "rules.yaml"),
		projectRule+"sources: [{label: critical, basenames: [a/b]}]\n")
	if got := label(inner + "/data/x"); got != "public" || len(reports) != 1 ||
		!strings.Contains(reports[0], `rules.yaml:3:41: "a/b" has a slash: put it under paths`) {
		t.Errorf("a source that is wrong: %q, %v", got, reports)
	}
	_, err := configs.NewLibrary([]configs.RuleSource{layer(reflexcore.UserLayer,
		"sources: [{label: public, basenames: [a]}]\n")}, january)
	if err == nil || !strings.Contains(err.Error(),
		"user.yaml:2:1: sources belong under reflex.flow of the configuration") {
		t.Errorf("sources in the user's layer: %v", err)
	}
}

// Whatever is in a file, it is read or refused with a place; what a project's file
// loosens never gets through.
func FuzzLayer(f *testing.F) {
	f.Add("rules: [" + ownRule +
		"]\ndisable: [OTHER]\nshadow: [PLAIN]\n" +
		"allow: [{rule: PLAIN, scope: {command: 'rm *', path: /x}, expires: 2027-02-01, reason: r}]\n")
	f.Add("rules: [{id: FINAL, replace: true, pattern: 'a+', expires: 2027-02-01T00:00:00Z}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := layer(reflexcore.UserLayer, text)
		lib, err := configs.NewLibrary([]configs.RuleSource{s}, january)
		var file *strictyaml.FileError
		if err != nil && !errors.As(err, &file) {
			t.Fatalf("an error without a place: %v", err)
		}
		if err == nil {
			if again, err := configs.StoredLibrary([]configs.RuleSource{s}); err != nil ||
				configs.CompareLibraries(again, lib).Loosens() {
				t.Fatalf("what is in force cannot be stored: %v", err)
			}
		}
		rules, _, err := configs.LoadProjectRules("p.yaml", s.Text)
		if err != nil && !errors.As(err, &file) {
			t.Fatalf("an error without a place: %v", err)
		}
		for _, r := range rules {
			if r.Shadow || len(r.Allow) > 0 || r.Layer != reflexcore.ProjectLayer {
				t.Fatalf("%+v", r)
			}
		}
		if _, err := reflexcore.Compile(rules); err != nil {
			t.Fatal(err)
		}
	})
}
