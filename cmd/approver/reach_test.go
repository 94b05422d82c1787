package main

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// newUsualMachine runs a daemon with the configuration at the usual place.
func newUsualMachine(t *testing.T, config string) *badMachine {
	t.Helper()
	m := &badMachine{t: t, dir: shortDir(t)}
	m.must(os.MkdirAll(m.path(".approver"), 0o700))
	m.file(".approver/approver.yaml", config)
	log, err := os.OpenFile(m.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	m.must(err)
	defer log.Close()
	m.daemon, m.exit = m.program("serve"), -1
	m.daemon.Stderr = log
	m.must(m.daemon.Start())
	t.Cleanup(m.kill)
	m.eventually("the daemon listens", func() bool { return listens(m.path(".approver/run/resolve.sock")) })
	return m
}

const usualConfigText = "channels: {terminal: {approvers: [{id: \"0\"}]}}\n"

// One typing error in the configuration, or a wrong mode, made every command say that a
// daemon that ran was down, and freeze, people remove and deny did nothing while the agents'
// calls went on. The daemon is found all the same, the commands work, and what is wrong with
// the file is a warning.
func TestASpoiledConfigurationKeepsNobodyFromTheDaemon(t *testing.T) {
	startsPrograms(t)
	for _, tt := range []struct {
		name, config string // empty: the named one
		spoil        func(m *badMachine, path string) error
		want         string
	}{
		{"a typing error", "usual", appendTo("tll: 5m\n"), "unknown key"},
		{"no YAML", "usual", appendTo("ttl: [1\n"), "check indentation"},
		{"a wrong value", "usual", appendTo("ttl: soon\n"), "ttl"},
		{"an invisible character", "usual", appendTo("policy: a\u200bb\n"), "invisible"},
		{"twice", "usual", appendTo(usualConfigText), "channels"},
		{"mode 0666", "usual", func(_ *badMachine, path string) error { return os.Chmod(path, 0o666) }, "written by others"},
		{"mode 0620", "usual", func(_ *badMachine, path string) error { return os.Chmod(path, 0o620) }, "written by others"},
		{"a folder in its place", "usual", func(_ *badMachine, path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		}, "is not a regular file"},
		{"a typing error, named", "", appendTo("tll: 5m\n"), "unknown key"},
		{"no YAML, named", "", appendTo("ttl: [1\n"), "check indentation"},
		{"half of it, named", "", appendTo("channels:\n  telegram: {token: \"12"), "check indentation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var m *badMachine
			var which []string
			path := ""
			if tt.config == "usual" {
				m = newUsualMachine(t, usualConfigText)
				path = m.path(".approver/approver.yaml")
			} else {
				m = &badMachine{t: t, dir: shortDir(t)}
				t.Cleanup(m.kill)
				m.start(terminalOnly)
				path, which = m.path("approver.yaml"), []string{"--config", "approver.yaml"}
			}
			m.must(tt.spoil(m, path))
			for command, want := range map[string]string{ // the daemon itself answers both
				"ask --severity high --ttl 5s":            "nobody watches the terminal",
				"appeal 5f0c6a7e2b9d4a1c8e3f7a6b5c4d3e2f": "approver refused",
			} {
				args := append(strings.Fields(command), which...)
				if strings.HasPrefix(command, "ask") {
					args = append(args, "--", "make", "deploy")
				}
				out, _ := m.run("", args...)
				if out = strings.Join(strings.Fields(out), " "); !strings.Contains(out, tt.want) || !strings.Contains(out, want) {
					t.Errorf("%s: want %q and %q\n%s", command, tt.want, want, out)
				}
			}
			for _, command := range [][]string{
				{"status"}, {"status", "--json"}, {"people"}, {"pending"}, {"grants"},
				{"deny", "0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11"},
				{"people", "remove", "terminal:0", "--reason", "stolen"}, {"freeze", "--reason", "panic"},
			} {
				out, exit := m.run("", append(command, which...)...)
				out = strings.Join(strings.Fields(out), " ")
				said := strings.Join(command, " ")
				if !strings.Contains(out, tt.want) || strings.Contains(out, "down:") || strings.Contains(out, "not running") {
					t.Errorf("%s: want %q as a warning\n%s", said, tt.want, out)
				}
				switch command[0] {
				case "status":
					if !strings.Contains(out, "up since") && !strings.Contains(out, `"up":true`) {
						t.Errorf("%s: %s", said, out)
					}
				case "deny":
					if !strings.Contains(out, "Answers are not taken in this terminal") {
						t.Errorf("%s: %d %s", said, exit, out)
					}
				case "people":
				default:
					if exit != 0 {
						t.Errorf("%s: exit %d\n%s", said, exit, out)
					}
				}
			}
			out, _ := m.run("", append([]string{"doctor", "--offline"}, which...)...)
			if !strings.Contains(out, "goes on with what it read") || strings.Contains(out, "start the daemon") {
				t.Errorf("doctor: %s", out)
			}
			m.must(os.RemoveAll(path))
			socket := "run/submit.sock"
			if tt.config == "usual" {
				socket = ".approver/run/submit.sock"
			}
			if got := m.hook(bashPayload("ls"), "--socket", m.path(socket)); !blocks(got, "panic") {
				t.Errorf("nothing was frozen: %+v", got)
			}
		})
	}
}

func appendTo(text string) func(*badMachine, string) error {
	return func(_ *badMachine, path string) error {
		old, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(old, text...), 0o600)
		}
		return err
	}
}

// A file that does not say where its daemon listens any more must not lead to the daemon of
// another configuration: whoever takes that for theirs freezes, or lets go on, the wrong one.
func TestASpoiledConfigurationDoesNotLeadToAnotherDaemon(t *testing.T) {
	m := newUsualMachine(t, usualConfigText)
	for name, text := range map[string]string{
		"other.yaml": "sockets:\n  resolve: [other.sock\n", "empty.yaml": "x\n",
		"half.yaml": "channels: {terminal: {}}\nsockets:\n  submit: \"a",
	} {
		m.file(name, text)
		for _, command := range []string{"freeze", "status", "pending", "ask true",
			"appeal 5f0c6a7e2b9d4a1c8e3f7a6b5c4d3e2f"} {
			out, exit := m.run("", append(strings.Fields(command), "--config", name)...)
			out = strings.Join(strings.Fields(out), " ")
			if exit == 0 || !strings.Contains(out, "was started with") || !strings.Contains(out, "--socket") {
				t.Errorf("%s of %s: exit %d\n%s", command, name, exit, out)
			}
		}
	}
	if out, exit := m.run("", "freeze", "--config", "none.yaml"); exit == 0 {
		t.Errorf("a file that is not there: %s", out)
	}
	if out, _ := m.run("", "status", "--json"); strings.Contains(out, `"freeze"`) {
		t.Errorf("the other daemon was frozen: %s", out)
	}
}

// The daemon's file was taken away, or moved: it knows which one it read.
func TestAConfigurationThatIsGone(t *testing.T) {
	m := newUsualMachine(t, usualConfigText)
	path := m.path(".approver/approver.yaml")
	m.must(os.Remove(path))
	for _, which := range [][]string{{}, {"--config", path}} {
		if out, exit := m.run("", append([]string{"freeze"}, which...)...); exit != 0 {
			t.Errorf("%v: exit %d\n%s", which, exit, out)
		}
	}
}

// A daemon was stopped (SIGSTOP; a machine without memory is the same), and status, people
// and pending of a monitor never came back, so nobody was alarmed. doctor said "start the
// daemon", which would have been refused. All end within ten seconds and say what it is.
func TestADaemonThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	m := &badMachine{t: t, dir: shortDir(t)}
	t.Cleanup(m.kill)
	m.start(terminalOnly)
	m.must(m.daemon.Process.Signal(syscall.SIGSTOP))
	defer func() { _ = m.daemon.Process.Signal(syscall.SIGCONT) }()
	var all sync.WaitGroup
	for _, command := range [][]string{
		{"status"}, {"status", "--json"}, {"people"}, {"pending"}, {"grants"}, {"freeze"}, {"unfreeze"}, {"pause", "5m"},
		{"people", "remove", "terminal:0"},
		{"deny", "0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11"}, {"doctor", "--offline"}, {"check"},
	} {
		all.Go(func() {
			began := time.Now()
			out, exit := m.run("", append(command, "--config", "approver.yaml")...)
			out = strings.Join(strings.Fields(out), " ")
			if took := time.Since(began); took > 20*time.Second { // ten, on a machine that has nothing else to do
				t.Errorf("%v took %v", command, took)
			}
			if command[0] == "check" {
				return
			}
			if exit != exitFail || !strings.Contains(out, "does not answer") || !strings.Contains(out, "stopped or overloaded") {
				t.Errorf("%v: exit %d\n%s", command, exit, out)
			}
			for _, wrong := range []string{"fix: start the daemon", ": start it with", "down:", "not running"} {
				if strings.Contains(out, wrong) {
					t.Errorf("%v says %q\n%s", command, wrong, out)
				}
			}
		})
	}
	all.Wait()
}
