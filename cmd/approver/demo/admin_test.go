package demo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"approver.example/channels/channeltest/fake"
	"approver.example/httpapi"
	"approver.example/store/storetest/redistest"
)

// courier builds the real approver-hook.
func courier(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "approver-hook")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path,
		"approver.example/cmd/approver-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// A running program, and what it has printed.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan error
}

func start(t *testing.T, stdin []byte, program string, args ...string) *running {
	t.Helper()
	p := &running{cmd: exec.CommandContext(t.Context(), program, args...), ended: make(chan error, 1)}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = bytes.NewReader(stdin), &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	return p
}

// end waits for the program and returns its exit code.
func (p *running) end(t *testing.T) int {
	t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatalf("%v never ended: %s%s", p.cmd.Args, &p.stdout, &p.stderr)
		return -1
	}
}

func (p *running) answer(t *testing.T) outcome {
	exit := p.end(t)
	return outcome{stdout: p.stdout.String(), stderr: p.stderr.String(), exit: exit}
}

// must ends the test with the daemon's log.
func must(t *testing.T, w *world, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v\n%s", err, w.lastLog())
	}
}

// newest waits for the n-th card with this text on an app.
func newest(t *testing.T, w *world, a *app, text string, n int) fake.Shown {
	t.Helper()
	must(t, w, w.wait(30*time.Second, fmt.Sprintf("%s shows card %d of %s", a.name, n, text),
		func() bool { return len(cardsOf(a, text)) >= n }))
	return cardsOf(a, text)[n-1]
}

// onBothStores plays a story on the embedded store and on a real Redis. dump
// returns all that the store holds; the daemon must be down.
func onBothStores(t *testing.T, story func(t *testing.T, w *world, dump func() []byte)) {
	t.Run("embedded", func(t *testing.T) {
		w := staged(t, Options{})
		story(t, w, func() []byte {
			var all []byte
			db, err := sqlite3.Open(filepath.Join(w.dir, "data", "approver.db"))
			must(t, w, err)
			defer db.Close()
			rows, _, err := db.Prepare("SELECT key, value FROM records")
			must(t, w, err)
			defer rows.Close()
			for rows.Step() {
				all = append(append(append(all, rows.ColumnText(0)...), rows.ColumnRawBlob(1)...), '\n')
			}
			must(t, w, rows.Err())
			raw, err := os.ReadFile(filepath.Join(w.dir, "data", "approver.db"))
			must(t, w, err)
			return append(all, raw...)
		})
	})
	t.Run("redis", func(t *testing.T) {
		server, err := redistest.Start(t.Context(), redistest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		w := staged(t, Options{store: fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: %q}\n", server.Addr, hubKey(t))})
		story(t, w, func() []byte {
			var all []byte
			keys, err := server.Admin().Keys(t.Context(), "*").Result()
			must(t, w, err)
			for _, key := range keys {
				kind, err := server.Admin().Type(t.Context(), key).Result()
				must(t, w, err)
				var value any
				switch kind {
				case "string":
					value, err = server.Admin().Get(t.Context(), key).Result()
				case "hash":
					value, err = server.Admin().HGetAll(t.Context(), key).Result()
				case "zset":
					value, err = server.Admin().ZRange(t.Context(), key, 0, -1).Result()
				case "none":
					continue
				default:
					t.Fatalf("the key %s is a %s, which this test does not read", key, kind)
				}
				must(t, w, err)
				all = fmt.Appendf(all, "%s %s\n", key, value)
			}
			return all
		})
	})
}

// claude is the recorded payload with a command, worded and numbered anew each time.
func (w *world) claude(command string) []byte {
	w.calls++
	return payload(command, fmt.Sprintf("try number %d", w.calls), w.calls)
}

// The story: nobody is at hand. Claude is told to come back, the daemon restarts,
// Alice says yes on her phone, the daemon restarts again, and Claude, with a new
// id and other words, runs the same call: once. The next time it is asked anew.
// Nothing in the store tells what the command was.
func TestComeBackLater(t *testing.T) {
	hook := courier(t)
	onBothStores(t, func(t *testing.T, w *world, dump func() []byte) {
		const command = "git push origin --delete come-back-later"
		tg := w.apps[0]
		call := func(flags ...string) outcome {
			t.Helper()
			args := append([]string{"--agent", "claude", "--socket",
				w.daemon.Submit(), "--deadline", "60s"}, flags...)
			return start(t, w.claude(command), hook, args...).answer(t)
		}
		parked := func(o outcome) {
			t.Helper()
			var doc struct {
				Hook struct {
					Reason string `json:"permissionDecisionReason"`
				} `json:"hookSpecificOutput"`
			}
			if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || o.decision() != "deny" || o.exit != 2 ||
				!strings.Contains(doc.Hook.Reason, "Waiting for approval (request ") ||
				!strings.Contains(doc.Hook.Reason, "run the same call again later") {
				t.Fatalf("%+v (%v)\n%s", o, err, w.lastLog())
			}
		}
		restart := func() {
			t.Helper()
			must(t, w, w.daemon.Kill())
			must(t, w, w.startDaemon())
		}
		parked(call("--park-after", "0s"))
		parked(call("--park-after", "0s")) // joins: nobody is asked twice
		card := newest(t, w, tg, command, 1)
		if !strings.Contains(card.Text, "told to come back later; your yes waits for it until") {
			t.Errorf("the card says\n%s", card.Text)
		}
		restart()
		must(t, w, tg.fake.Tap(w.alice.id["telegram"], tg.conversation, card.Message, fake.ApproveButton))
		for _, a := range w.apps {
			must(t, w, w.wait(30*time.Second, a.name+" says that the yes waits", func() bool {
				cards := cardsOf(a, command)
				return len(cards) == 1 && len(cards[0].Buttons) == 0 && strings.Contains(cards[0].Text, "waits for the agent")
			}))
		}
		must(t, w, w.daemon.Stop(stopTime))
		hidesCommand(t, dump(), command)
		must(t, w, w.startDaemon())

		if o := call(); o.decision() != "allow" || o.exit != 0 ||
			!strings.Contains(o.stdout, "approved by Alice via Telegram") {
			t.Fatalf("%+v\n%s", o, w.lastLog())
		}
		// A yes is used up; now by the daemon's own configuration.
		must(t, w, w.daemon.Stop(stopTime))
		f, err := os.OpenFile(w.daemon.Config(), os.O_APPEND|os.O_WRONLY, 0o600)
		must(t, w, err)
		_, err = f.WriteString("agents: {claude: {park_after: 5s}}\n")
		must(t, w, errors.Join(err, f.Close()))
		must(t, w, w.startDaemon())
		parked(call())
		second := newest(t, w, tg, command, 2)
		tg.fake.Type(w.alice.id["telegram"], tg.conversation, "/approve "+codeIn(second.Text)+" 60m")
		must(t, w, w.wait(30*time.Second, "the yes is recorded",
			func() bool { return strings.Contains(w.auditText(), `"once":"`+requestOf(w)+`:granted"`) }))
		for range 2 { // for an hour
			if o := call(); o.decision() != "allow" {
				t.Fatalf("%+v\n%s", o, w.lastLog())
			}
		}
		must(t, w, w.daemon.Stop(stopTime))
		hidesCommand(t, dump(), command)
		must(t, w, w.startDaemon())
	})
}

// hidesCommand looks for a command in what the store holds, as it is and in the forms in
// which JSON could hold it.
func hidesCommand(t *testing.T, all []byte, command string) {
	t.Helper()
	if len(all) < 1000 || !bytes.Contains(all, []byte("}:grant:")) && !bytes.Contains(all, []byte("}:parked:")) {
		t.Fatalf("the dump has %d bytes and no grant: it looks at nothing", len(all))
	}
	forms := []string{command, strings.ReplaceAll(command, "-", `\u002d`), "come-back-later"}
	for skip := range 3 {
		forms = append(forms, base64.RawStdEncoding.EncodeToString([]byte(command[skip:skip+24])))
	}
	for _, form := range forms {
		if i := bytes.Index(all, []byte(form)); i >= 0 {
			t.Errorf("the store holds the command in clear: …%q…", all[max(0, i-80):min(len(all), i+80)])
		}
	}
}

// The story: Alice freezes at her machine. An agent, on the one socket that it has,
// can neither lift that nor answer; a no leaves it as it is, and so does a command
// that was interrupted. With the typed code it is lifted; then a pause, too.
func TestAdminAsksPeople(t *testing.T) {
	onBothStores(t, func(t *testing.T, w *world, _ func() []byte) {
		tg, alice := w.apps[0], w.alice.id["telegram"]
		admin := func(args ...string) *running {
			return start(t, nil, w.daemon.Program, append(args, "--config", w.daemon.Config())...)
		}
		ok := func(want string, args ...string) {
			t.Helper()
			if p := admin(args...); p.end(t) != 0 || !strings.Contains(p.stdout.String(), want) {
				t.Fatalf("%v: %s%s\n%s", args, &p.stdout, &p.stderr, w.lastLog())
			}
		}
		call := func(command string) outcome {
			t.Helper()
			return start(t, w.claude(command), w.daemon.Program, "hook", "--agent", "claude", "--socket",
				w.daemon.Submit(), "--deadline",
				"60s").answer(t)
		}
		stopped := func() {
			t.Helper()
			if o := call("ls"); o.decision() != "deny" || !strings.Contains(o.stderr, "frozen") {
				t.Fatalf("%+v\n%s", o, w.lastLog())
			}
		}
		ok("frozen: every call is denied", "freeze", "--reason", "runaway")
		stopped()

		// The submit socket knows no such thing.
		agent := httpapi.ResolveClient{Socket: w.daemon.Submit()}
		for _, op := range []string{"unfreeze", "pause", "freeze", "grants", "revoke"} {
			if err := agent.Operate(t.Context(), op, map[string]any{"for": time.Minute}, new(any)); err == nil {
				t.Errorf("%s over the submit socket", op)
			}
		}

		// A no, one tap, and a command that was interrupted.
		p := admin("unfreeze")
		card := newest(t, w, tg, "Lift the freeze of ", 1)
		if err := tg.fake.Tap(alice, tg.conversation, card.Message, fake.ApproveButton); err == nil {
			t.Error("lifting a freeze is one tap away")
		}
		tg.fake.Forge(alice, tg.conversation, card.Message, requestOf(w), fake.ApproveButton)
		for _, body := range []string{
			fmt.Sprintf(`{"request":%q,"approve":true}`, requestOf(w)),
			fmt.Sprintf(`{"code":%q,"approve":true,"command":true}`, codeIn(card.Text)),
		} {
			if out, err := agent.Answer(t.Context(), json.RawMessage(body)); err == nil {
				t.Errorf("an answer over the submit socket: %s", out)
			}
		}
		must(t, w, tg.fake.Tap(alice, tg.conversation, card.Message, fake.DenyButton))
		if exit := p.end(t); exit != 1 || !strings.Contains(p.stderr.String(), "denied by Alice via Telegram") {
			t.Errorf("exit %d: %s", exit, &p.stderr)
		}
		stopped()
		p = admin("unfreeze")
		card = newest(t, w, tg, "Lift the freeze of ", 2)
		must(t, w, p.cmd.Process.Signal(os.Interrupt))
		p.end(t)
		must(t, w, w.wait(30*time.Second, "the question is withdrawn",
			func() bool { return strings.Contains(tg.now(card.Message).Text, "Withdrawn") }))
		tg.fake.Type(alice, tg.conversation, "/approve "+codeIn(card.Text))
		stopped()

		// Frozen again while the question is open: the yes was to another freeze.
		p = admin("unfreeze")
		card = newest(t, w, tg, "Lift the freeze of ", 3)
		ok("every call is denied", "freeze", "--reason", "worse")
		tg.fake.Type(alice, tg.conversation, codeIn(card.Text))
		if exit := p.end(t); exit != 1 || !strings.Contains(p.stderr.String(),
			"a freeze began or ended while people were asked") {
			t.Errorf("exit %d: %s", exit, &p.stderr)
		}
		stopped()

		lift := func(what string, n int, args ...string) *running {
			t.Helper()
			p := admin(args...)
			card := newest(t, w, tg, what, n)
			tg.fake.Type(alice, tg.conversation, codeIn(card.Text))
			if p.end(t) != 0 {
				t.Fatalf("%v: %s\n%s", args, &p.stderr, w.lastLog())
			}
			return p
		}
		lift("Lift the freeze of ", 4, "unfreeze")
		if o := call("ls"); o.exit != 0 {
			t.Fatalf("%+v", o)
		}
		lift("Stop asking about HIGH calls for 15 min", 1, "pause", "15m")
		if o := call("git push origin --delete paused"); o.exit != 0 || o.stdout != "" {
			t.Errorf("in a pause: %+v\n%s", o, w.lastLog())
		}
		if n := len(cardsOf(tg, "--delete paused")); n != 0 {
			t.Errorf("%d cards in a pause", n)
		}
		ok("not paused", "pause", "--end")
		held := start(t, w.claude("git push origin --delete held"), w.daemon.Program, "hook", "--agent", "claude", "--socket",
			w.daemon.Submit(), "--deadline", "60s")
		newest(t, w, tg, "--delete held", 1)
		ok("1 open request was denied", "freeze")
		if o := held.answer(t); o.decision() != "deny" || !strings.Contains(o.stderr, "everything was frozen") {
			t.Errorf("%+v", o)
		}
		if err := w.verify(); err != nil || w.failed > 0 {
			t.Errorf("%v, %d", err, w.failed)
		}
	})
}

// requestOf is the request that was asked last.
func requestOf(w *world) (id string) {
	for _, l := range w.audit() {
		if l.Event == "asked" {
			id = l.Request
		}
	}
	return id
}
