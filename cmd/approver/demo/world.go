package demo

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/cmd/approver/internal/child"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// A person has an account in each app.
type person struct {
	name string
	id   map[string]string // by app
}

// An app is one chat app with its fake server.
type app struct {
	name         string // for people
	channel      string // in approver
	conversation string
	fake         fake.Platform
	log          func() []string // what the fake saw
	posts, edits string          // texts in the log for a post and for an edit
	close        func()
	token, url   string
}

// A world is the setting of the demo: three chat apps, a folder, and a daemon.
type world struct {
	*screen
	ctx        context.Context // ends with the demo; stop ends it early
	patience   time.Duration   // for a person at the keyboard
	dir        string
	apps       []*app
	model      *evaluatortest.Server // behind the evaluator
	alice, bob person
	redis      func() error   // ends the private redis-server; nil without one
	daemon     child.Daemon   // runs in dir
	hooks      sync.WaitGroup // hook processes that still run
	calls      int
	outputs    bytes.Buffer   // everything that couriers printed, which an agent can see
	codes      []string       // all codes that were ever shown
	shown      int            // how many cards were shown; each has a code
	asked      map[string]int // cards that each app should have
	noticed    string         // the request whose cards were shown last
	replies    map[string]int // replies of the bot to messages of people, in each app
}

// newWorld returns a world without apps and processes.
func newWorld(ctx context.Context, o Options) *world {
	w := &world{
		screen: &screen{out: o.Out, json: o.JSON, width: cmp.Or(o.Width, 80), start: time.Now()},
		daemon: child.Daemon{Program: o.Program}, patience: cmp.Or(o.patience, patience), asked: map[string]int{},
		replies: map[string]int{},
	}
	w.ctx, w.stop = context.WithCancelCause(ctx)
	return w
}

// startDaemon starts the real daemon as a separate process, and waits until it answers.
func (w *world) startDaemon() error {
	start := time.Now()
	if err := w.daemon.Start(); err != nil {
		return err
	}
	err := w.wait(startTime, "the daemon answers", w.daemon.Healthy)
	if err == nil {
		took := seconds(time.Since(start))
		w.tell(event{Event: "ready", Seconds: &took},
			fmt.Sprintf("  approver runs in the background, ready after %.0f ms\n", 1000*took))
	}
	return err
}

// startTime is how long the daemon may take to start, which is long only on a machine that is busy.
const startTime = 30 * time.Second

// stopTime is how long the daemon may take to stop normally.
const stopTime = 5 * time.Second

// wait calls ok repeatedly until it returns true, for at most limit. what completes the sentence of
// the error.
func (w *world) wait(limit time.Duration, what string, ok func() bool) error {
	for end := time.Now().Add(limit); !ok(); {
		if time.Now().After(end) {
			return fmt.Errorf("after %v it is still not so that %s", limit, what)
		}
		select {
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// An outcome is what a hook process returned to its agent.
type outcome struct {
	stdout, stderr string
	exit           int
	took           time.Duration
}

// decision returns the decision in the answer as Claude Code reads it, or "no decision".
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

// hook runs the real courier with a payload, as the agent would. The process ends with the demo at
// the latest.
func (w *world) hook(command, claim string) chan outcome {
	return w.hookAt(w.daemon.Submit(), command, claim)
}

// hookAt is hook for the daemon with a submit socket.
func (w *world) hookAt(socket, command, claim string) chan outcome {
	w.calls++
	cmd := exec.CommandContext(w.ctx, w.daemon.Program, "hook", "--agent", "claude", "--deadline", "290s",
		"--socket", socket)
	cmd.SysProcAttr = child.Attributes()
	// The courier sends what changes which programs run, and cards warn of it: not of this machine's.
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/dev", "USER=dev"}
	cmd.Stdin = bytes.NewReader(payload(command, claim, w.calls))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	done := make(chan outcome, 1)
	start := time.Now()
	w.hooks.Go(func() {
		err := cmd.Run()
		o := outcome{stdout.String(), stderr.String(), 0, time.Since(start)}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			o.exit = exit.ExitCode()
		} else if err != nil {
			o.exit, o.stderr = -1, err.Error()
		}
		done <- o
	})
	return done
}

// answer waits at most 30 s for the outcome of the hook process.
func (w *world) answer(hook <-chan outcome) (outcome, error) {
	select {
	case o := <-hook:
		w.outputs.WriteString(o.stdout + o.stderr)
		return o, context.Cause(w.ctx) // the end of the demo ends hooks too, and is not an answer
	case <-time.After(30 * time.Second):
		return outcome{}, errors.New("the hook process never ended")
	case <-w.ctx.Done():
		return outcome{}, context.Cause(w.ctx)
	}
}

// recorded is a PreToolUse body as Claude Code sends it, recorded from a real
// run.
//
//go:embed payload.json
var recorded []byte

// payload returns the recorded body with this command and description, and an id from n.
func payload(command, description string, n int) []byte {
	var body map[string]any
	if err := json.Unmarshal(recorded, &body); err != nil {
		panic(fmt.Sprintf("the embedded payload is not JSON: %v", err))
	}
	body["tool_input"] = map[string]any{"command": command, "description": description}
	body["tool_use_id"] = fmt.Sprintf("toolu_demo%08d", n)
	out, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return out
}
