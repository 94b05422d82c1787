package hookinstall

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
)

// installHere puts the hooks into a file, as install does with a ttl.
func installHere(t *testing.T, path, program string) error {
	t.Helper()
	cfg := configs.Default()
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := hookfiles.WantedHooks(agents.Claude{}, cfg, who, program)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := agents.Claude{}.NewFile(path, want)
	if err != nil {
		t.Fatal(err)
	}
	edits, err := planned(agents.Claude{}, path, want, whole)
	if err != nil {
		return err
	}
	return apply(edits, nil)
}

var oddSettings = map[string]string{
	"empty":                  "",
	"one newline":            "\n",
	"blanks":                 " \t\r\n ",
	"an object":              "{}",
	"an object and newline":  "{}\n",
	"a wide object":          "{ }\n\n",
	"no hooks":               "{\n  \"model\": \"opus\"\n}\n",
	"empty hooks":            `{"hooks":{}}`,
	"empty hooks, indented":  "{\n  \"hooks\": {\n  }\n}\n",
	"null hooks":             `{"hooks":null}`,
	"null hooks and a model": "{\"hooks\": null,\n \"model\": \"opus\"}",
	"an empty event":         `{"hooks":{"PreToolUse":[]}}`,
	"a null event":           `{"hooks":{"PreToolUse":null}}`,
	"three empty events":     `{"hooks":{"PreToolUse":[ ],"PostToolUse":[],"Stop":[]}}`,
	"an empty matcher":       `{"hooks":{"PreToolUse":[{"matcher":"","hooks":[]}]}}`,
	"another's empty event":  `{"hooks":{"Stop":[]}}`,
	"CRLF":                   "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n  }\r\n}\r\n",
	"CRLF without hooks":     "{\r\n\t\"model\": \"opus\"\r\n}\r\n",
	"CRLF and other hooks": "{\r\n \"hooks\": {\r\n  \"PreToolUse\": [\r\n" +
		"   {\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": \"/mine.sh\"}]}\r\n  ]\r\n }\r\n}",
	"mixed line ends":  "{\r\n \"a\": 1,\n \"b\": 2\r\n}",
	"CR alone":         "{\r\"model\":\"opus\"\r}\r",
	"no final newline": "{\n\t\"model\" :\"opus\"  }",
	"other hooks": `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command",` +
		`"command":"/mine.sh"}]}]}}`,
	"other hooks around": "{ \"hooks\" : { \"Stop\" : [ { \"hooks\" : [ ] } ] , \"PreToolUse\" : [ { \"hooks\" : [ " +
		"{ \"type\":\"command\",\"command\":\"/mine.sh\" } ] } ] } }",
	"escapes":            `{"mod\u0065l":"\u006fpus","\/":"\/"}`,
	"numbers as written": `{"cleanupPeriodDays":3e1,"x":1.50,"y":-0}`,
	"keys in no order":   `{"z":1,"a":{"c":1,"b":2},"env":{"B":"1","A":"2"}}`,
}

// The story: somebody tried approver and took it out again, and their settings were not
// what they had been: a CR was gone, an empty list was gone, an empty file had become
// an object, and where there had been none a stub was left. What install kept beside
// the file now brings it back, as long as it is only approver's hooks that were added.
func TestUninstallIsExact(t *testing.T) {
	const hook, moved = "/opt/bin/approver-hook", "/usr/local/bin/approver-hook"
	for name, text := range oddSettings {
		for _, mode := range []fs.FileMode{0o600, 0o644, 0o440} {
			path := filepath.Join(t.TempDir(), "settings.json")
			for _, err := range []error{os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			same := func(when string) {
				t.Helper()
				info, err := os.Stat(path)
				now, readErr := os.ReadFile(path)
				if err != nil || readErr != nil || string(now) != text || info.Mode().Perm() != mode {
					t.Errorf("%s, %s: %q is now %q, %v; %v, %v", name, when, text, now, info.Mode(), err, readErr)
				}
			}
			// also a second install, and one that moved
			for _, programs := range [][]string{{hook}, {hook, hook}, {hook, moved}} {
				refused := false
				for _, program := range programs {
					err := installHere(t, path, program)
					// Claude Code drops such a file
					if refused = err != nil && strings.Contains(name, "null"); err != nil && !refused {
						t.Fatalf("%s: %v", name, err)
					}
				}
				if refused {
					same("refused")
					continue
				}
				if now, err := os.ReadFile(path); err != nil || !strings.Contains(string(now), programs[len(programs)-1]) {
					t.Fatalf("%s: %s, %v", name, now, err)
				}
				for _, when := range []string{"once", "twice"} {
					if err := unhook(path); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					same(when)
				}
			}
		}
	}
}

// Where there was no file, none is left, nor is a link changed.
func TestUninstallLeavesNoStub(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "settings.json"),
		filepath.Join(dir, "new", "folder", "settings.json")} {
		if err := unhook(path); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := installHere(t, path, "/opt/bin/approver-hook"); err != nil {
				t.Fatal(err)
			}
			if err := unhook(path); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is left: %v", path, err)
			}
		}
	}
	nothing := filepath.Join(dir, "link.json")
	if err := os.Symlink("dotfiles/settings.json", nothing); err != nil {
		t.Fatal(err)
	}
	if err := installHere(t, nothing, "/opt/bin/approver-hook"); err == nil ||
		!strings.Contains(err.Error(), "is a link to dotfiles/settings.json, which cannot be followed") {
		t.Errorf("install: %v", err)
	}
	if err := unhook(nothing); err == nil {
		t.Error("a link to nothing is no place to take hooks out of")
	}
	if to, err := os.Readlink(nothing); err != nil || to != "dotfiles/settings.json" {
		t.Errorf("%s, %v", to, err)
	}
	// A link to a file stays one, and the file is what it was.
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "dotfiles"), 0o755),
		os.WriteFile(filepath.Join(dir, "dotfiles/settings.json"), []byte("{\r\n}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(installHere(t, nothing, "/opt/bin/approver-hook"), unhook(nothing)); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dotfiles/settings.json"))
	if to, linkErr := os.Readlink(nothing); err != nil || linkErr != nil || to != "dotfiles/settings.json" ||
		string(text) != "{\r\n}" {
		t.Errorf("%s, %q, %v, %v", to, text, err, linkErr)
	}
}

// What was changed since is kept: no copy from before is put over it.
func TestUninstallKeepsWhatWasChangedSince(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"a key of the user's": func(s string) string { return strings.Replace(s, "{", `{"model":"opus",`, 1) },
		"a hook of the user's": func(s string) string {
			return strings.Replace(s, `"hooks":{`, `"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/mine.sh"}]}],`, 1)
		},
		"a newline at the end":     func(s string) string { return s + "\n" },
		"one byte in a timeout":    func(s string) string { return strings.Replace(s, `"x":1`, `"x":2`, 1) },
		"a hook taken out by hand": func(s string) string { return strings.Replace(s, `"PostToolUse"`, `"Notification"`, 1) },
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := errors.Join(os.WriteFile(path, []byte(`{"x":1,"hooks":{"Stop2":[]}}`), 0o600),
			installHere(t, path, "/opt/bin/approver-hook")); err != nil {
			t.Fatal(err)
		}
		installed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := change(string(installed))
		if changed == string(installed) {
			t.Fatalf("%s: nothing was changed in %s", name, installed)
		}
		if err := errors.Join(os.WriteFile(path, []byte(changed), 0o600), unhook(path)); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(now), "approver-hook") {
			t.Errorf("%s: %s, %v", name, now, err)
		}
		for _, part := range []string{`"model":"opus"`, "/mine.sh", `"x":2`} {
			if strings.Contains(changed, part) != strings.Contains(string(now), part) {
				t.Errorf("%s: %s became %s", name, changed, now)
			}
		}
	}
}

// unhook is takeOut without what it says.
func unhook(path string) error {
	_, err := takeOut(&report{}, agents.Claude{}, path, nil)
	return err
}

// The story: somebody had put the hooks of Claude Code and of Cursor into one file by hand. Neither program
// reads it so, and install refuses it, but uninstall refused it too, and the hooks could not be taken out.
func TestUninstallOfOneOfTwoThatDoNotAgree(t *testing.T) {
	const claudes = `"PreToolUse":[{"matcher":"*","hooks":[{"type":"command",` +
		`"command":"/x/approver-hook --agent claude"}]}]`
	const cursors = `"preToolUse":[{"command":"/x/approver-hook --agent cursor","timeout":330}]`
	text := func(hooks ...string) string {
		return `{"version":1,"x":"kept","hooks":{` + strings.Join(hooks, ",") + `}}`
	}
	for name, left := range map[string]string{"claude": text(cursors), "cursor": text(claudes)} {
		d := newDesk(t)
		which := settings.Target{File: filepath.Join(d.home, "settings.json")}
		d.must(os.WriteFile(which.File, []byte(text(claudes, cursors)), 0o600))
		if err := d.install(name, which); err == nil {
			t.Errorf("%s is installed where the other one's hooks are", name)
		}
		d.must(d.uninstall(name, which))
		if now, err := os.ReadFile(which.File); err != nil || string(now) != left {
			t.Errorf("%s is taken out: %s, %v\nwant %s", name, now, err, left)
		}
	}
}

// The story: somebody had hooks in the folder of a plugin with approver's name, without a manifest. Install
// wrote the manifest, and uninstall left it there, because other hooks were left.
func TestUninstallTakesTheManifestOfGoose(t *testing.T) {
	for name, edit := range map[string]func(string) string{
		"as installed": func(s string) string { return s },
		"edited since": func(s string) string { return strings.Replace(s, "/mine.sh", "/mine-too.sh", 1) },
	} {
		d := newDesk(t)
		goose, _ := agents.For("goose")
		path := d.path(goose.(agents.Installer))
		const theirs = `{"hooks":{"PreToolUse":[{"matcher":".*","hooks":[{"type":"command","command":"/mine.sh"}]}]}}`
		d.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(theirs), 0o600),
			d.install("goose", settings.Target{}))
		manifest := filepath.Join(filepath.Dir(filepath.Dir(path)), "plugin.json")
		text, err := os.ReadFile(path)
		_, missing := os.Stat(manifest)
		d.must(err, missing, os.WriteFile(path, []byte(edit(string(text))), 0o600),
			d.uninstall("goose", settings.Target{}))
		left, err := os.ReadFile(path)
		if _, still := os.Stat(manifest); !errors.Is(still, fs.ErrNotExist) || err != nil || string(left) != edit(theirs) {
			t.Errorf("%s: the manifest: %v; left: %s, %v", name, still, left, err)
		}
	}
}

// The story: the machine's settings of Droid were edited after install, and uninstall left the switch there that
// install had written beside the hooks. One that was there before is somebody else's.
func TestUninstallTakesTheSwitchOfDroid(t *testing.T) {
	const theirs = `"Stop":[{"hooks":[{"type":"command","command":"/mine.sh"}]}]`
	for before, stays := range map[string]bool{
		`{"a":1,"hooks":{` + theirs + `}}`:                           false,
		`{"a":1,"hooks":{"hooksDisabled":false,` + theirs + `}}`:     true,
		`{"a":1,"hooks":{"hooksDisabled" : false , ` + theirs + `}}`: true,
		"": false,
	} {
		d := newDesk(t)
		which := settings.Target{File: filepath.Join(d.home, "settings.json")}
		if before != "" {
			d.must(os.WriteFile(which.File, []byte(before), 0o600))
		}
		d.must(d.install("droid", which))
		text, err := os.ReadFile(which.File)
		mine := strings.Replace(theirs, "Stop", "Start", 1)
		edited := strings.Replace(string(text), `"PostToolUse"`, mine+`,"PostToolUse"`, 1)
		d.must(err, os.WriteFile(which.File, []byte(edited), 0o600), d.uninstall("droid", which))
		left, err := os.ReadFile(which.File)
		if err != nil || edited == string(text) || strings.Contains(string(left), "hooksDisabled") != stays ||
			strings.Contains(string(left), "approver-hook") || !strings.Contains(string(left), `"Start"`) {
			t.Errorf("%s: left: %s, %v", before, left, err)
		}
	}
}
