package hookinstall

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
)

// A desk is a home in which agents are installed for, in a test.
type desk struct {
	*testing.T
	home, config string
	hook         string
}

// newDesk makes an empty home, and a configuration and a hook program outside of it.
func newDesk(t *testing.T) desk {
	t.Helper()
	dir, err := os.MkdirTemp("", "desk") // a socket has no room for the name of the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := desk{t, filepath.Join(dir, "home"), filepath.Join(dir, "approver.yaml"), filepath.Join(dir, "approver-hook")}
	d.ttl("2m")
	d.must(os.Mkdir(d.home, 0o755), os.WriteFile(d.hook, []byte("#!/bin/sh\n"), 0o600), os.Chmod(d.hook, 0o700))
	d.at(d.home)
	return d
}

// at lets the agents' settings be in a home.
func (d desk) at(home string) {
	d.Setenv("HOME", home)
	for _, agent := range agents.Installers() {
		for _, name := range []string{agent.Files().Home, agent.Files().Config} {
			if name != "" {
				d.Setenv(name, "")
			}
		}
	}
}

func (d desk) must(errs ...error) {
	d.Helper()
	if err := errors.Join(errs...); err != nil {
		d.Fatal(err)
	}
}

// ttl sets how long people have.
func (d desk) ttl(ttl string) {
	d.must(os.WriteFile(d.config, []byte("dir: data\nttl: "+ttl+"\n"), 0o600))
}

func (d desk) record() string { return filepath.Join(filepath.Dir(d.config), "data") }

func (d desk) install(agent string, which settings.Target) error {
	return AgentCmd{Agent: agent, Target: which, Config: d.config, Hook: d.hook}.Install()
}

func (d desk) uninstall(agent string, which settings.Target) error {
	return UninstallAgentCmd{Agent: agent, Target: which, Config: d.config}.Run()
}

// path returns the settings of an agent.
func (d desk) path(agent agents.Installer) string {
	d.Helper()
	path, err := settings.Target{}.Path(agent.Files())
	d.must(err)
	return path
}

// tree returns what is below a folder: each name with its mode and its text, one a line.
func (d desk) tree(dir string) string {
	d.Helper()
	var all strings.Builder
	d.must(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		var text []byte
		if err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&all, "%s %v %q\n", strings.TrimPrefix(path, dir+"/"), info.Mode(), text)
		return err
	}))
	return all.String()
}

// records returns what is recorded.
func (d desk) records() []hookfiles.Installed {
	d.Helper()
	all, err := hookfiles.ReadInstalls(d.record())
	d.must(err)
	return all.Installs
}

// everyAgent runs a test for each agent, at an empty desk.
func everyAgent(t *testing.T, test func(d desk, agent agents.Installer)) {
	t.Helper()
	if len(agents.Installers()) < 15 {
		t.Fatalf("only %d agents", len(agents.Installers()))
	}
	for _, agent := range agents.Installers() {
		t.Run(agent.Name(), func(t *testing.T) { test(newDesk(t), agent) })
	}
}

// said returns what is printed meanwhile.
func said(t *testing.T, do func()) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = was }()
	do()
	text, err := os.ReadFile(out.Name())
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The story: somebody tried approver with a longer ttl too, mended a hook, or has a home that is a link.
// Then they took it out, and stubs and copies stayed, with the word that they had changed something.
func TestUninstallLeavesNothingOfAnyAgent(t *testing.T) {
	nothing := func(desk, string) {}
	for name, c := range map[string]struct {
		before, between func(d desk, path string)
	}{
		"once": {nothing, nothing},
		"another ttl": {nothing, func(d desk, _ string) {
			d.ttl("10m")
		}},
		"a hook that was weakened, and repaired": {nothing, func(d desk, path string) {
			text, err := os.ReadFile(path)
			weak := strings.NewReplacer("--deadline 2", "--deadline 1", "--deadline 1", "--deadline 2").Replace(string(text))
			d.must(err, os.WriteFile(path, []byte(weak), 0o600))
		}},
		"a home that is a link": {func(d desk, _ string) {
			d.must(os.Symlink(d.home, d.home+"-link"))
			d.at(d.home + "-link")
		}, nothing},
		"a home that becomes a link": {nothing, func(d desk, _ string) {
			d.must(os.Symlink(d.home, d.home+"-link"))
			d.at(d.home + "-link")
		}},
		"a folder that is a link": {func(d desk, path string) {
			d.must(os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o755), os.Mkdir(d.home+"/dotfiles", 0o700),
				os.Symlink(d.home+"/dotfiles", filepath.Dir(path)))
		}, nothing},
		"a folder that was there": {func(d desk, path string) {
			d.must(os.MkdirAll(filepath.Dir(path), 0o700))
		}, nothing},
		"a write that was killed": {nothing, func(d desk, path string) {
			d.must(os.WriteFile(path+".approver-new-1", []byte("half"), 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			everyAgent(t, func(d desk, agent agents.Installer) {
				c.before(d, d.path(agent))
				was := d.tree(d.home)
				d.must(d.install(agent.Name(), settings.Target{}))
				if d.tree(d.home) == was {
					d.Fatal("nothing was installed")
				}
				c.between(d, d.path(agent))
				d.must(d.install(agent.Name(), settings.Target{}))
				if _, err := os.Stat(d.path(agent)); err != nil || len(d.records()) != 1 {
					d.Fatal(err, d.records())
				}
				out := said(t, func() { d.must(d.uninstall(agent.Name(), settings.Target{})) })
				if now := d.tree(d.home); now != was || len(d.records()) > 0 {
					d.Errorf("left: %s\nwas: %s\nrecorded: %v", now, was, d.records())
				}
				if strings.Contains(out, "since") || !strings.Contains(out, "removed "+d.path(agent)) {
					d.Errorf("it said: %s", out)
				}
			})
		})
	}
}

// A project may be named by a link.
func TestUninstallLeavesNothingInAProject(t *testing.T) {
	everyAgent(t, func(d desk, agent agents.Installer) {
		link := settings.Target{Project: d.home + "-link"}
		d.must(os.Symlink(d.home, link.Project))
		if agent.Files().Unread != "" {
			d.Skip("not in a project")
		}
		d.must(d.install(agent.Name(), link), d.uninstall(agent.Name(), link))
		if now := d.tree(d.home); now != "" {
			d.Errorf("left: %s", now)
		}
	})
}

// What was there before is there again, to the byte, and no copy of it.
func TestUninstallRestoresTheFilesOfAnyAgent(t *testing.T) {
	everyAgent(t, func(d desk, agent agents.Installer) {
		path := d.path(agent)
		d.must(d.install(agent.Name(), settings.Target{}))
		text, err := os.ReadFile(path)
		d.must(err)
		bare, err := agent.WithHooks(path, text, nil)
		d.must(err, d.uninstall(agent.Name(), settings.Target{}), os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, append(bare, "\n\n"...), 0o640))
		if agent.Name() == "codex" {
			d.must(os.WriteFile(filepath.Join(filepath.Dir(path), "config.toml"), []byte("model = \"x\"\r\n"), 0o600))
		}
		was := d.tree(d.home)
		for _, ttl := range []string{"2m", "10m"} {
			d.ttl(ttl)
			d.must(d.install(agent.Name(), settings.Target{}))
		}
		d.must(d.uninstall(agent.Name(), settings.Target{}))
		if now := d.tree(d.home); now != was {
			d.Errorf("now: %s\nwas: %s", now, was)
		}
	})
}

// The story: somebody deleted the settings by hand, and a script that stops the task, a trust in hooks
// that were gone and the manifest of a plugin without a program lived on, which uninstall did not see.
func TestUninstallWithoutTheSettings(t *testing.T) {
	for name, gone := range map[string]func(d desk, path string) error{
		"recorded": func(_ desk, path string) error { return os.Remove(path) },
		"not recorded": func(d desk, path string) error {
			d.Setenv("PATH", filepath.Dir(d.hook))
			return errors.Join(os.Remove(path), os.RemoveAll(d.record()))
		},
		"without a hook": func(_ desk, path string) error {
			return os.WriteFile(path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			everyAgent(t, func(d desk, agent agents.Installer) {
				path := d.path(agent)
				d.must(d.install(agent.Name(), settings.Target{}), gone(d, path))
				d.must(d.uninstall(agent.Name(), settings.Target{}))
				for line := range strings.Lines(d.tree(d.home)) {
					if !strings.Contains(line, " d") && !strings.Contains(line, strings.TrimPrefix(path, d.home+"/")+" -") {
						d.Errorf("left: %s", line)
					}
				}
				if name == "recorded" && (d.tree(d.home) != "" || len(d.records()) > 0) {
					d.Errorf("left: %s, recorded: %v", d.tree(d.home), d.records())
				}
			})
		})
	}
}

// The trust in a hook is found by what it is, also where the hook stood behind another one.
func TestUninstallTakesTheTrustOfHooksThatAreGone(t *testing.T) {
	const theirs = "[hooks.state.\"x:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n"
	d := newDesk(t)
	dir := filepath.Join(d.home, ".codex")
	hooks := `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/mine.sh"}]}]}}`
	d.must(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "hooks.json"), []byte(hooks), 0o600),
		os.WriteFile(filepath.Join(dir, "config.toml"), []byte(theirs), 0o600), d.install("codex", settings.Target{}))
	made, err := os.ReadFile(filepath.Join(dir, "config.toml"))
	d.must(err, os.Remove(filepath.Join(dir, "hooks.json")))
	if !strings.Contains(string(made), "pre_tool_use:1:0") {
		t.Fatalf("%s", made)
	}
	backups, err := filepath.Glob(filepath.Join(dir, "*.before-approver-*"))
	d.must(err)
	for _, path := range backups {
		d.must(os.Remove(path))
	}
	d.must(d.uninstall("codex", settings.Target{}))
	if now, err := os.ReadFile(filepath.Join(dir, "config.toml")); err != nil || string(now) != theirs {
		t.Errorf("%s, %v", now, err)
	}
}

// A pipe in the place of settings held install for good, and it did not hear SIGTERM. What is no file
// is refused by its name, with what to do, and nothing is written.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"socket": func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
			if err == nil {
				l.SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		},
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"more than": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, settings.MaxFile+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(".") // and back at the end
			everyAgent(t, func(d desk, agent agents.Installer) {
				path := d.path(agent)
				paths := []string{path}
				for _, c := range companionsOf(agent, path, nil, nil) {
					paths = append(paths, c.Path)
				}
				for _, path := range paths {
					d.must(os.RemoveAll(d.home), os.MkdirAll(filepath.Dir(path), 0o755), os.Chdir(filepath.Dir(path)),
						put(filepath.Base(path)))
					was := d.tree(d.home)
					for what, do := range map[string]func() error{
						"install":   func() error { return d.install(agent.Name(), settings.Target{}) },
						"uninstall": func() error { return d.uninstall(agent.Name(), settings.Target{}) },
						"doctor":    func() error { return settings.ReadSource(settings.User, path).Err },
					} {
						err := soon(t, do)
						if err == nil || !strings.Contains(err.Error(), path+" ") || !strings.Contains(err.Error(), name) ||
							!strings.Contains(err.Error(), "move it away") {
							d.Errorf("%s of %s: %v", what, path, err)
						}
					}
					if now := d.tree(d.home); now != was || len(d.records()) > 0 {
						d.Errorf("changed: %s\nwas: %s", now, was)
					}
				}
			})
		})
	}
}

// soon returns what a function returns, if it does within a few seconds.
func soon(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("it is held")
		return nil
	}
}

// An install that is killed after any of its writes is one that uninstall knows: before the first of
// them it is recorded.
func TestAnInstallThatIsCutShort(t *testing.T) {
	everyAgent(t, func(d desk, agent agents.Installer) {
		cfg, err := configs.LoadOrDefault(d.config)
		d.must(err)
		who, err := cfg.Sockets.Submitters()
		d.must(err)
		_, want, err := hookfiles.WantedHooks(agent, cfg, who, d.hook)
		d.must(err)
		in := hookfiles.Installed{Path: d.path(agent), Program: d.hook, Hooks: want}
		whole, err := agent.NewFile(in.Path, want)
		d.must(err)
		for done := 0; ; done++ {
			edits, err := planned(agent, in.Path, want, whole)
			d.must(err)
			made := folders(edits)
			_, err = begin(agent, cfg, in, made)
			d.must(err)
			if done > len(edits) {
				break
			}
			d.must(apply(edits[:done], made))
			if all := d.records(); len(all) != 1 || !all[0].Changing || all[0].Key() != (hookfiles.Key{
				Agent: agent.Name(), Path: in.Path,
			}) {
				d.Fatalf("after %d writes, recorded: %v", done, all)
			}
			d.must(d.uninstall(agent.Name(), settings.Target{}))
			if now := d.tree(d.home); now != "" || len(d.records()) > 0 {
				d.Errorf("after %d writes, left: %s, recorded %v", done, now, d.records())
			}
		}
		// Another install settles it, and what is settled stays watched while it is installed again.
		for range 2 {
			d.must(d.install(agent.Name(), settings.Target{}))
			if all := d.records(); len(all) != 1 || all[0].Changing || len(all[0].Folders) == 0 {
				d.Errorf("recorded: %v", all)
			}
		}
		if noted, err := begin(agent, cfg, in, nil); err != nil || noted.Changing || d.records()[0].Changing {
			d.Errorf("%v, %v", noted, err)
		}
	})
}

// If one file cannot be written, the others become what they were.
func TestAllFilesOrNone(t *testing.T) {
	d := newDesk(t)
	there, missing := filepath.Join(d.home, "there"), filepath.Join(d.home, "new", "folder", "missing")
	last := filepath.Join(d.home, "last")
	d.must(os.WriteFile(there, []byte("old"), 0o640), os.WriteFile(last, []byte("changed meanwhile"), 0o600))
	was := d.tree(d.home)
	edits := []edit{{path: there, old: []byte("old"), text: []byte("new")}, {path: missing, text: []byte("new")},
		{path: last, old: []byte("read before"), text: []byte("new")}}
	if err := apply(edits, folders(edits)); err == nil || !strings.Contains(err.Error(), "last was changed by somebody") {
		t.Error(err)
	}
	if now := d.tree(d.home); now != was {
		t.Errorf("now: %s\nwas: %s", now, was)
	}
}

// Two agents may have one file: each is recorded, watched and taken out for itself.
func TestTwoAgentsWithOneFile(t *testing.T) {
	pairs := 0
	for _, a := range agents.Installers() {
		for _, b := range agents.Installers() {
			if a.Name() == b.Name() {
				continue
			}
			d := newDesk(t)
			which := settings.Target{File: filepath.Join(d.home, "folder", "settings.json")}
			if errors.Join(d.install(a.Name(), which), d.install(b.Name(), which)) != nil {
				continue // the form of one is none of the other
			}
			both, err := os.ReadFile(which.File)
			d.must(err)
			if _, err := a.ReadHooks(which.File, both); err != nil {
				continue // nor is that of both
			}
			pairs++
			keys := func() (all []string) {
				for _, in := range d.records() {
					all = append(all, in.Key().Agent)
				}
				return all
			}
			if !slices.Equal(keys(), []string{a.Name(), b.Name()}) {
				t.Errorf("%s and %s: %v are recorded", a.Name(), b.Name(), keys())
			}
			d.must(d.uninstall(a.Name(), which))
			text, err := os.ReadFile(which.File)
			d.must(err)
			if left := installing(nil, which.File, text); len(left) != 1 || left[0].Name() != b.Name() ||
				!slices.Equal(keys(), []string{b.Name()}) {
				t.Errorf("%s and %s: %v are recorded; %s", a.Name(), b.Name(), keys(), text)
			}
			d.must(d.uninstall(b.Name(), which))
			if now := d.tree(d.home); now != "" || len(d.records()) > 0 {
				t.Errorf("%s and %s: left: %s, recorded: %v", a.Name(), b.Name(), now, d.records())
			}
		}
	}
	if pairs < 20 {
		t.Errorf("only %d pairs were tried", pairs)
	}
}

// A folder that one install made is removed with the last thing in it.
func TestTheLastUninstallRemovesTheFolders(t *testing.T) {
	d := newDesk(t)
	for _, agent := range agents.Installers() {
		d.must(d.install(agent.Name(), settings.Target{}))
	}
	for _, agent := range agents.Installers() {
		d.must(d.uninstall(agent.Name(), settings.Target{}))
	}
	if now := d.tree(d.home); now != "" || len(d.records()) > 0 {
		t.Errorf("left: %s, recorded: %v", now, d.records())
	}
}

// A record of a version for which a path was enough is read as it was meant.
func TestARecordFromBefore(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"claude", "codex"} {
		d.must(d.install(name, settings.Target{}))
		path := hookfiles.InstallsFile(d.record())
		text, err := os.ReadFile(path)
		d.must(err)
		if strings.Contains(string(text), `"agent": "claude"`) {
			t.Errorf("an older version does not expect: %s", text)
		}
		_, old, _ := strings.Cut(string(text), `"folders"`)
		old, _, _ = strings.Cut(old, "]")
		d.must(os.WriteFile(path, []byte(strings.Replace(string(text), `,
      "folders"`+old+"]", "", 1)), 0o600), d.uninstall(name, settings.Target{}))
		if len(d.records()) > 0 {
			t.Errorf("%s: recorded: %v", name, d.records())
		}
	}
}
