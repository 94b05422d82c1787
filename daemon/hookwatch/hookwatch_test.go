package hookwatch_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/hookwatch"
)

// A recorder counts alarms by agent.
type recorder map[string]int

func (r recorder) Record(_ context.Context, rec approver.Record) (string, error) {
	if rec.Event == approver.EventAlarm {
		r[rec.Call.Agent]++
	}
	return "", nil
}

// The hooks of two agents in one file are two hooks: each that is weakened is an alarm of its own. What
// an install has only begun is none.
func TestTheHooksOfTwoAgentsInOneFile(t *testing.T) {
	cfg := configs.Default()
	cfg.Dir = t.TempDir()
	program, path := filepath.Join(cfg.Dir, "approver-hook"), filepath.Join(cfg.Dir, "settings.json")
	who, err := cfg.Sockets.Submitters()
	err = errors.Join(err, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o600), os.Chmod(program, 0o700))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	entries := map[string]hookfiles.Installed{}
	for _, name := range []string{"qwen", "gemini"} {
		adapter, _ := agents.For(name)
		agent := adapter.(agents.Installer)
		_, want, err := hookfiles.WantedHooks(agent, cfg, who, program)
		sum, sumErr := hookfiles.HashOf(program)
		if err := errors.Join(err, sumErr); err != nil {
			t.Fatal(err)
		}
		if text, err = agent.WithHooks(path, text, want); err != nil {
			t.Fatal(err)
		}
		entries[name] = hookfiles.Installed{Agent: name, Path: path, Program: program, SHA256: sum, Hooks: want}
	}
	alarms := recorder{}
	w := &hookwatch.Watch{Config: cfg, Managed: t.TempDir(), Audit: alarms, Log: slog.New(slog.DiscardHandler)}
	look := func(text []byte, changing bool) string {
		t.Helper()
		err := os.WriteFile(path, text, 0o600)
		for _, in := range entries {
			in.Changing = changing
			err = errors.Join(err, hookfiles.ChangeInstalls(cfg.Dir, in))
		}
		if err != nil {
			t.Fatal(err)
		}
		w.Look(t.Context())
		return strings.Join(w.Now(), "\n")
	}
	if weak := look(text, false); weak != "" || len(alarms) > 0 {
		t.Errorf("whole: %s, %v", weak, alarms)
	}
	if weak := look([]byte("{}"), true); weak != "" || len(alarms) > 0 {
		t.Errorf("begun: %s, %v", weak, alarms)
	}
	weak := look([]byte(strings.ReplaceAll(string(text), "--agent gemini", "--agent nobody")), false)
	if !strings.Contains(weak, "install gemini") || strings.Contains(weak, "install qwen") || alarms["gemini"] != 1 {
		t.Errorf("one is gone: %s, %v", weak, alarms)
	}
	weak = look([]byte("{}"), false)
	if !strings.Contains(weak, "install gemini") || !strings.Contains(weak, "install qwen") || alarms["qwen"] != 1 {
		t.Errorf("both are gone: %s, %v", weak, alarms)
	}
}

// The story: the hooks were taken out while the disk of the audit was full, and put back. The log said it,
// and the audit never did.
func TestAnAlarmWaitsForTheAudit(t *testing.T) {
	cfg := configs.Default()
	cfg.Dir = t.TempDir()
	path := filepath.Join(cfg.Dir, "settings.json")
	in := hookfiles.Installed{Agent: "claude", Path: path, Program: "/usr/local/bin/approver-hook"}
	if err := hookfiles.ChangeInstalls(cfg.Dir, in); err != nil {
		t.Fatal(err)
	}
	full := &fullDisk{full: true}
	w := &hookwatch.Watch{Config: cfg, Managed: t.TempDir(), Audit: full, Log: slog.New(slog.DiscardHandler)}
	w.Look(t.Context()) // the file and the program are not there
	if err := hookfiles.ForgetInstall(cfg.Dir, in); err != nil {
		t.Fatal(err)
	}
	w.Look(t.Context())
	full.full = false
	for range 2 {
		w.Look(t.Context())
	}
	if len(full.kept) != 2 || full.kept[0].Event != approver.EventAlarm || !strings.Contains(full.kept[0].Note, path) ||
		full.kept[1].Event != approver.EventHooks {
		t.Errorf("recorded is %+v", full.kept)
	}
}

// The audit says when hooks were installed, changed and uninstalled: only the record of what is installed did,
// and only what stands now. What the daemon finds when it starts is nothing new.
func TestInstallsAreRecorded(t *testing.T) {
	cfg := configs.Default()
	cfg.Dir = t.TempDir()
	first := hookfiles.Installed{Agent: "claude", Path: "/first.json", Program: "/usr/local/bin/approver-hook"}
	second := hookfiles.Installed{Agent: "qwen", Path: "/second.json", Program: first.Program}
	kept := &fullDisk{}
	w := &hookwatch.Watch{Config: cfg, Managed: t.TempDir(), Audit: kept, Log: slog.New(slog.DiscardHandler)}
	look := func(err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		before := len(kept.kept)
		for range 2 {
			w.Look(t.Context())
		}
		var got []string
		for _, r := range kept.kept[before:] {
			if r.Event == approver.EventHooks {
				got = append(got, r.Call.Agent+" "+r.Call.Paths[0]+": "+r.Note)
			}
		}
		if text := strings.Join(got, "\n"); !strings.Contains(text, want) || len(got) > 1 || want == "" && len(got) > 0 {
			t.Errorf("recorded is %q, want %q", text, want)
		}
	}
	change := func(in hookfiles.Installed) error { return hookfiles.ChangeInstalls(cfg.Dir, in) }
	look(change(first), "")
	begun := second
	begun.Changing = true
	look(change(begun), "")
	look(change(second), "qwen /second.json: hooks were installed in")
	second.Folders = []string{"/new"} // made by install: nothing of the hooks
	look(change(second), "")
	begun = first
	begun.Changing = true
	look(change(begun), "")
	first.SHA256 = "another"
	look(change(first), "claude /first.json: other hooks were installed in")
	const gone = ": the hooks are no longer watched"
	look(hookfiles.ForgetInstall(cfg.Dir, second), "qwen /second.json"+gone)
	look(os.WriteFile(hookfiles.InstallsFile(cfg.Dir), []byte("{"), 0o600), "") // an alarm, and no uninstall
	look(os.Remove(hookfiles.InstallsFile(cfg.Dir)), "claude /first.json"+gone)
}

// A fullDisk is an audit that records nothing while it is full.
type fullDisk struct {
	full bool
	kept []approver.Record
}

func (f *fullDisk) Record(_ context.Context, rec approver.Record) (string, error) {
	if f.full {
		return "", errors.New("the disk is full")
	}
	f.kept = append(f.kept, rec)
	return "", nil
}

// What is no file has no hooks, whatever the agent.
func TestWhatIsNoFileIsWeak(t *testing.T) {
	cfg := configs.Default()
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, agent := range agents.Installers() {
		_, hooks, err := hookfiles.WantedHooks(agent, cfg, who, "/usr/local/bin/approver-hook")
		if err != nil {
			t.Fatal(err)
		}
		sources := []settings.Source{settings.ReadSource(settings.User, path)}
		found, err := hookfiles.Findings(agent, settings.Places{}, sources, settings.Want{Hooks: hooks, In: path})
		if weak := strings.Join(settings.Weak(found), "\n"); err != nil || !strings.Contains(weak, "move it away") {
			t.Errorf("%s: %s, %v", agent.Name(), weak, err)
		}
	}
}
