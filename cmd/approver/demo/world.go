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
	ctx        context.Context // ends with the show; stop ends it early
	patience   time.Duration   // for a person at the keyboard
	dir        string
	apps       []*app
	model      *evaluatortest.Server // behind the evaluator
	alice, bob person
	redis      func() error   // ends the private redis-server; nil without one
	daemon     child.Daemon   // in dir
	hooks      sync.WaitGroup // hook processes that still run
	calls      int
	outputs    bytes.Buffer   // all that couriers printed: what an agent can see
	codes      []string       // all codes that were ever shown
	shown      int            // cards that were looked at, each of which has a code
	asked      map[string]int // cards that each app should have
	replies    map[string]int // messages of the bot that answer a person's, in each app
}

// newWorld is an empty stage.
func newWorld(ctx context.Context, o Options) *world {
	w := &world{
		screen: &screen{out: o.Out, json: o.JSON, width: cmp.Or(o.Width, 80), start: time.Now()},
		daemon: child.Daemon{Program: o.Program}, patience: cmp.Or(o.patience, patience), asked: map[string]int{},
		replies: map[string]int{},
	}
	w.ctx, w.stop = context.WithCancelCause(ctx)
	return w
}

// startDaemon starts the real daemon, as a process of its own, and waits until
// it answers.
func (w *world) startDaemon() error {
	start := time.Now()
	if err := w.daemon.Start(); err != nil {
		return err
	}
	err := w.wait(10*time.Second, "the daemon answers", w.daemon.Healthy)
	if err == nil {
		took := seconds(time.Since(start))
		w.tell(event{Event: "ready", Seconds: &took}, fmt.Sprintf("  the daemon is ready after %.0f ms\n", 1000*took))
	}
	return err
}

// stopTime is what the daemon has to end in order.
const stopTime = 5 * time.Second

// wait looks again and again until ok, for at most limit.
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

// hook runs the real courier with a payload, as the agent would. It ends with
// the show, if not before.
func (w *world) hook(command, claim string) chan outcome {
	w.calls++
	cmd := exec.CommandContext(w.ctx, w.daemon.Program, "hook", "--agent", "claude", "--deadline", "290s",
		"--socket", w.daemon.Submit())
	cmd.SysProcAttr = child.Attributes()
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

// answer waits for the hook process.
func (w *world) answer(hook <-chan outcome) (outcome, error) {
	select {
	case o := <-hook:
		w.outputs.WriteString(o.stdout + o.stderr)
		return o, context.Cause(w.ctx) // the end of the show ends hooks too: that is no answer
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

// payload is the recorded body with another command and id in it.
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
