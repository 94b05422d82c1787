package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"approver.example/channels/channeltest/fake"
)

// A person has an account in each app.
type person struct {
	name string
	id   map[string]string // by app
}

// An app is one chat app with its fake server.
type app struct {
	name         string // as people call it
	channel      string // as approver calls it
	conversation string
	fake         fake.Platform
	log          func() []string // what the fake saw
	posts, edits string          // how a post and an edit look in that log
	close        func()
	token, url   string
}

// A world is the stage: three chat apps, a folder, and a daemon.
type world struct {
	*screen
	ctx        context.Context
	program    string
	dir        string
	apps       []*app
	alice, bob person
	redis      func() error // ends the private redis-server; nil without one
	daemon     *exec.Cmd
	daemonLog  *os.File
	calls      int
	outputs    bytes.Buffer // all that couriers printed: what an agent can see
	codes      []string     // all codes that were ever shown
	asked      map[string]int
}

func (w *world) config() string   { return filepath.Join(w.dir, "approver.yaml") }
func (w *world) socket() string   { return filepath.Join(w.dir, "run", "submit.sock") }
func (w *world) auditDir() string { return filepath.Join(w.dir, "data", "audit") }

// startDaemon starts the real daemon, as a process of its own, and waits until
// it answers.
func (w *world) startDaemon() error {
	log, err := os.OpenFile(filepath.Join(w.dir, "daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w.daemonLog = log
	w.daemon = exec.Command(w.program, "serve", "--config", w.config())
	w.daemon.Stderr = log
	w.daemon.Stdout = log
	if err := w.daemon.Start(); err != nil {
		return err
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", w.socket())
		},
		DisableKeepAlives: true,
	}}
	return w.wait(10*time.Second, "the daemon answers", func() bool {
		resp, err := client.Get("http://approver/v1/health")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// stopDaemon ends the daemon in order; killDaemon with SIGKILL.
func (w *world) stopDaemon() error {
	if w.daemon == nil {
		return nil
	}
	if err := w.daemon.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return w.reap()
}

func (w *world) killDaemon() error {
	if err := w.daemon.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := w.reap(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

func (w *world) reap() error {
	err := w.daemon.Wait()
	w.daemon = nil
	_ = w.daemonLog.Close()
	return err
}

// wait looks again and again until ok, for at most limit.
func (w *world) wait(limit time.Duration, what string, ok func() bool) error {
	for end := time.Now().Add(limit); !ok(); {
		if time.Now().After(end) {
			return fmt.Errorf("after %v it is still not so that %s", limit, what)
		}
		select {
		case <-w.ctx.Done():
			return w.ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// An outcome is what a hook process left behind for its agent.
type outcome struct {
	stdout, stderr string
	exit           int
	took           time.Duration
}

// decision is the answer as Claude Code reads it.
func (o outcome) decision() string {
	var doc struct {
		Hook struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(o.stdout), &doc) != nil {
		return "no decision"
	}
	return doc.Hook.Decision
}

// hook runs the real courier with a payload, as the agent would.
func (w *world) hook(command, claim string) <-chan outcome {
	w.calls++
	cmd := exec.CommandContext(w.ctx, w.program, "hook", "--agent", "claude", "--deadline", "290s", "--socket", w.socket())
	cmd.Stdin = bytes.NewReader(payload(command, claim, w.calls))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	done := make(chan outcome, 1)
	start := time.Now()
	go func() {
		err := cmd.Run()
		o := outcome{stdout.String(), stderr.String(), 0, time.Since(start)}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			o.exit = exit.ExitCode()
		} else if err != nil {
			o.exit, o.stderr = -1, err.Error()
		}
		done <- o
	}()
	return done
}

// answer waits for the hook process and shows what the agent gets.
func (w *world) answer(hook <-chan outcome) (outcome, error) {
	select {
	case o := <-hook:
		w.outputs.WriteString(o.stdout + o.stderr)
		w.say("the agent gets, with exit code %d after %.1f s:\n    %s", o.exit, o.took.Seconds(), strings.TrimSpace(o.stdout))
		return o, nil
	case <-time.After(30 * time.Second):
		return outcome{}, errors.New("the hook process never ended")
	case <-w.ctx.Done():
		return outcome{}, w.ctx.Err()
	}
}

// newCards waits until each app shows one more card than before, and returns
// them in the order of the apps.
func (w *world) newCards() ([]fake.Shown, error) {
	cards := make([]fake.Shown, len(w.apps))
	for i, a := range w.apps {
		want := w.asked[a.channel] + 1
		err := w.wait(10*time.Second, a.name+" shows the card", func() bool {
			all := a.cards()
			if len(all) < want {
				return false
			}
			cards[i] = all[want-1]
			return true
		})
		if err != nil {
			return nil, err
		}
		w.asked[a.channel] = want
		if code := codeIn(cards[i].Text); code != "" {
			w.codes = append(w.codes, code)
		}
	}
	return cards, nil
}

// cards are the messages of an app that are cards: answers to typed messages
// and attached files are messages too, but have no severity in their first line.
func (a *app) cards() []fake.Shown {
	var out []fake.Shown
	for _, c := range a.fake.Cards(a.conversation) {
		if strings.Contains(c.Push, "HIGH · ") || strings.Contains(c.Push, "CATASTROPHIC · ") {
			out = append(out, c)
		}
	}
	return out
}

// now returns a card as it looks now.
func (a *app) now(message string) fake.Shown {
	for _, c := range a.fake.Cards(a.conversation) {
		if c.Message == message {
			return c
		}
	}
	return fake.Shown{}
}

// show prints the cards as the three apps show them now.
func (w *world) show(cards []fake.Shown) {
	titles, texts := make([]string, len(cards)), make([]string, len(cards))
	for i, a := range w.apps {
		c := a.now(cards[i].Message)
		titles[i] = a.name
		texts[i] = c.Text
		if len(c.Buttons) > 0 {
			texts[i] += "\n" + buttonRow(c.Buttons)
		}
		for range c.Files {
			texts[i] += "\n📎 attachment"
		}
	}
	w.panels(titles, texts)
}

func buttonRow(buttons []fake.Button) string {
	names := map[fake.Button]string{
		fake.ApproveButton: "[ Approve ]", fake.DenyButton: "[ Deny ]",
		fake.CodeButton: "[ Code… ]", fake.DetailsButton: "[ Details ]",
	}
	var row []string
	for _, b := range buttons {
		row = append(row, names[b])
	}
	return strings.Join(row, " ")
}

// settled waits until every card says how the request ended, checks that they
// agree, and names the audit record.
func (w *world) settledCards(cards []fake.Shown, want string) error {
	for i, a := range w.apps {
		if err := w.wait(10*time.Second, a.name+"'s card is up to date", func() bool {
			c := a.now(cards[i].Message)
			return len(c.Buttons) == 0 && strings.Contains(c.Text, want)
		}); err != nil {
			w.show(cards)
			return err
		}
		w.check(codeIn(a.now(cards[i].Message).Text) == "", "%s: %q, no button, no code", a.name, want)
	}
	return nil
}

// codeIn returns the confirmation code in a card's text.
func codeIn(text string) string {
	i := strings.Index(text, "CONFIRM-")
	if i < 0 {
		return ""
	}
	end := i + len("CONFIRM-")
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] >= 'A' && text[end] <= 'Z') {
		end++
	}
	if end-i < len("CONFIRM-")+6 {
		return ""
	}
	return text[i:end]
}

// An auditLine is what the demo reads of the audit.
type auditLine struct {
	Event   string `json:"event"`
	Request string `json:"request"`
	Hash    string `json:"hash"`
}

// audit reads the audit so far.
func (w *world) audit() []auditLine {
	var lines []auditLine
	for line := range strings.Lines(w.auditText()) {
		var l auditLine
		if json.Unmarshal([]byte(line), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines
}

func (w *world) auditText() string {
	raw, err := os.ReadFile(filepath.Join(w.auditDir(), "audit.jsonl"))
	if err != nil {
		return "" // not there yet
	}
	return string(raw)
}

// auditEnd finds the last record of the newest request.
func (w *world) auditEnd() (auditLine, error) {
	var last auditLine
	err := w.wait(5*time.Second, "the audit has the end of the request", func() bool {
		request := ""
		for _, l := range w.audit() {
			switch l.Event {
			case "asked":
				request, last = l.Request, auditLine{}
			case "released", "denied", "expired", "withdrawn":
				if l.Request == request {
					last = l
				}
			}
		}
		return last.Request != ""
	})
	return last, err
}

// verify stops the daemon in order and runs the real verifier over the audit,
// its end included.
func (w *world) verify() error {
	if err := w.stopDaemon(); err != nil {
		return fmt.Errorf("the daemon did not stop in order: %w", err)
	}
	cmd := exec.CommandContext(w.ctx, w.program, "audit", "verify", "--config", w.config())
	out, err := cmd.CombinedOutput()
	w.check(err == nil && strings.Contains(string(out), "where the store says"), "approver audit verify: %s", strings.TrimSpace(string(out)))
	return nil
}
