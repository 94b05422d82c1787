package agentstest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Claude Code at a terminal: its dialog and the people in the chat see the same question, and who
// answers first, wins.
var deskScenarios = []scenario{
	{"desk: answered in the chat", func(t *testing.T) {
		w := atDesk(t, "always", "approve")
		d := w.sit("default", bash("touch made"))
		w.until("it ran", func() bool { return w.there(w.work("made")) })
		w.askedTimes(1)
		d.quiet("Do you want to proceed?")
	}},
	{"desk: denied in the chat", func(t *testing.T) {
		w := atDesk(t, "always", "deny")
		w.sit("default", bash("touch made"))
		w.until("the model is told", func() bool { return strings.Contains(w.said(0, 0), "denied by") })
		w.askedTimes(1)
		w.made(false)
	}},
	{"desk: yes in the dialog", func(t *testing.T) {
		w := atDesk(t, "always", "")
		d := w.sit("default", bash("touch made"))
		w.waiting(1)
		d.sees("Do you want to proceed?")
		d.types("1")
		w.until("it ran", func() bool { return w.there(w.work("made")) })
		w.until("the card is withdrawn", func() bool { return strings.Contains(w.audit(), `"at_desk"`) })
		w.askedTimes(1)
		if strings.Contains(w.audit(), `"alarm"`) {
			t.Error("a yes in the dialog is an alarm")
		}
	}},
	{"desk: yes in the dialog to a call that changes the folder", func(t *testing.T) {
		w := atDesk(t, "always", "")
		d := w.sit("default", bash("mkdir sub && cd sub && touch made"))
		w.waiting(1)
		d.sees("Do you want to proceed?")
		d.types("1")
		w.until("it ran", func() bool { return w.there(w.work("sub/made")) })
		w.until("the card is withdrawn", func() bool { return strings.Contains(w.audit(), `"at_desk"`) })
		w.askedTimes(1)
	}},
	{"desk: no in the dialog", func(t *testing.T) {
		w := atDesk(t, "always", "")
		d := w.sit("default", bash("touch made"))
		w.waiting(1)
		d.sees("Do you want to proceed?")
		d.types("\x1b")
		w.until("the card is withdrawn", func() bool { return w.open() == 0 })
		w.askedTimes(1)
		w.made(false)
	}},
	{"desk: silence leaves the dialog", func(t *testing.T) {
		w := startWith(t, "ttl: 6s\nagents: {claude: {prompts: always}}", always(""))
		d := w.sit("default", bash("touch made"))
		w.waiting(1)
		w.until("nobody has answered", func() bool { return w.open() == 0 })
		d.sees("Do you want to proceed?")
		w.made(false)
		d.types("1")
		w.until("it ran", func() bool { return w.there(w.work("made")) })
		w.askedTimes(1)
	}},
	{"desk: nobody types", func(t *testing.T) {
		w := startWith(t, "agents: {claude: {prompts: away, away_after: 10s}}", always("approve"))
		w.sit("default", bash("touch made"))
		w.until("it ran", func() bool { return w.there(w.work("made")) })
		w.askedTimes(1)
	}},
	{"desk: somebody types", func(t *testing.T) {
		w := startWith(t, "agents: {claude: {prompts: away, away_after: 20s}}", always("approve"))
		d := w.sit("default", bash("touch made; sleep 30"))
		d.sees("Do you want to proceed?")
		time.Sleep(9 * time.Second) // keys are noted every eight seconds
		d.types("1")
		w.until("it ran", func() bool { return w.there(w.work("made")) })
		time.Sleep(15 * time.Second) // the call still runs
		w.askedTimes(0)
	}},
	{"desk: the end of a plan", func(t *testing.T) {
		w := atDesk(t, "always", "approve")
		w.sit("default", call("EnterPlanMode", map[string]any{}), call("ExitPlanMode", map[string]any{"plan": "# Work"}))
		w.until("the plan is approved", func() bool { return strings.Contains(w.said(1, 0), "approved") })
		w.askedTimes(1)
	}},
	{"desk: a question that wants more than a yes", func(t *testing.T) {
		w := atDesk(t, "always", "approve")
		option := func(name string) map[string]any { return map[string]any{"label": name, "description": name} }
		d := w.sit("default", call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
			"question": "Which color?", "header": "Color", "multiSelect": false,
			"options": []any{option("red"), option("blue")}}}}))
		d.sees("Which color?")
		d.types("2")
		w.until("the model is told", func() bool { return strings.Contains(w.said(0, 0), "blue") })
		w.askedTimes(0)
	}},
}

func atDesk(t *testing.T, mode, word string) *claudeWorld {
	t.Helper()
	return startWith(t, "agents: {claude: {prompts: "+mode+"}}", always(word))
}

// A desk is a terminal with Claude Code.
type desk struct {
	*claudeWorld
	master *os.File
	mu     sync.Mutex
	shown  string // without the codes of the terminal, and without white space
}

// sit starts Claude Code at a terminal. It ends with the test.
func (w *claudeWorld) sit(mode string, turns ...turn) *desk {
	w.Helper()
	w.env = append(w.env, "ENABLE_TOOL_SEARCH=false", "TERM=xterm")
	w.write(".claude.json", fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark","projects":{%q:`+
		`{"hasTrustDialogAccepted":true}},"customApiKeyResponses":{"approved":["none"],"rejected":[]}}`,
		w.path("work")), 0o600)
	master, slave := w.terminal()
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	cmd := w.command(ctx, os.Getenv("APPROVER_CLAUDE"), "--permission-mode", mode, "work")
	cmd.Dir, cmd.Env = w.path("work"), append(cmd.Env, modelEnv(w.model(ctx, turns...))...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	_ = slave.Close()
	d := &desk{claudeWorld: w, master: master}
	var reader sync.WaitGroup
	reader.Go(d.read)
	w.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		_ = master.Close()
		reader.Wait()
	})
	return d
}

// terminal makes a pseudo terminal of a usual size.
func (w *claudeWorld) terminal() (master, slave *os.File) {
	w.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	n := 0
	if err == nil {
		n, err = unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 150})
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		w.Skip("NOT RUN: no terminals here:", err)
	}
	return master, slave
}

// codes are the escape sequences of a terminal, and white space.
var codes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)|\s`)

func (d *desk) read() {
	buf := make([]byte, 64<<10)
	raw := ""
	for {
		n, err := d.master.Read(buf)
		raw += string(buf[:n])
		d.mu.Lock()
		d.shown = codes.ReplaceAllString(raw, "")
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (d *desk) has(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(d.shown, codes.ReplaceAllString(text, ""))
}

func (d *desk) sees(text string) {
	d.Helper()
	d.until("the terminal shows "+text, func() bool { return d.has(text) })
}

// quiet forgets what was shown, and asserts that a text does not come again.
func (d *desk) quiet(text string) {
	d.Helper()
	time.Sleep(time.Second)
	d.mu.Lock()
	before := strings.Count(d.shown, codes.ReplaceAllString(text, ""))
	d.mu.Unlock()
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	if after := strings.Count(d.shown, codes.ReplaceAllString(text, "")); after > before {
		d.Errorf("the terminal shows %s again", text)
	}
}

func (d *desk) types(keys string) {
	d.Helper()
	time.Sleep(time.Second) // a dialog takes keys a moment after it appeared
	if _, err := d.master.WriteString(keys); err != nil {
		d.Fatal(err)
	}
}
