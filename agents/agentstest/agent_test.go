package agentstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/agents/canary"
	"approver.example/agents/canary/model"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

// The person in the chat, and the chat.
const (
	adaID = 10042
	chat  = -1001234567890
)

// An agentWorld is a world with any agent, and a person in a chat.
type agentWorld struct {
	*world
	recipe canary.Recipe
	chat   *telegramtest.Server
	url    string // of the model, the same for each run: it is in the environment of the calls

	next    func(c model.Conversation) []model.Call
	results []string // what the model read of each call, in their order
	printed bytes.Buffer
}

// newAgent makes a home. more is added to the configuration.
func newAgent(t *testing.T, name, more string) *agentWorld {
	t.Helper()
	adapter, _ := agents.For(name)
	recipe, ok := agents.RecipeOf(adapter)
	if !ok {
		t.Fatalf("there is no recipe of %s", name)
	}
	program := filepath.Join(os.Getenv("APPROVER_AGENTS"), name, "node_modules", ".bin", recipe.Agent)
	if _, err := os.Stat(program); err != nil {
		t.Fatal(err)
	}
	talk := telegramtest.New()
	t.Cleanup(talk.Close)
	talk.AddUser(adaID, "Ada")
	talk.AddChat(telegramtest.Chat{ID: chat})
	w := &agentWorld{recipe: recipe, chat: talk, world: newWorld(t, name, program, fmt.Sprintf(`%s
channels: {telegram: {token: %q, api_url: %q, chats: [{id: "%d"}], approvers: [{id: "%d", name: Ada}]}}
`, more, talk.Token(), talk.URL(), int64(chat), adaID))}
	w.env = []string{"TERM=dumb", "IS_SANDBOX=1", "LANG=C.UTF-8"}
	w.url = w.listen(t.Context(), func(c model.Conversation) []model.Call {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.next(c)
	})
	t.Cleanup(func() {
		if out := w.printed.String(); t.Failed() {
			t.Logf("the agent: %s", out[max(0, len(out)-3000):])
		}
	})
	// The courier's deadline is for people; what is played here ends sooner.
	w.write("bin/approver-hook", fmt.Sprintf(`#!/bin/sh
n=0
for a do
	[ $n = 0 ] && set --
	n=1
	[ "$a" = 290s ] && a="${APPROVER_TEST_DEADLINE:-290s}"
	set -- "$@" "$a"
done
exec %s/approver-hook "$@"
`, programs), 0o755)
	return w
}

// run starts the agent with a model that makes these calls, one in each turn, and returns when the
// agent has ended.
func (w *agentWorld) run(env []string, commands ...string) {
	w.Helper()
	w.start(env, commands...)()
}

// start is run that does not wait for the end; wait does.
func (w *agentWorld) start(env []string, commands ...string) (wait func()) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	w.mu.Lock()
	first := len(w.results)
	w.next = func(c model.Conversation) []model.Call {
		for _, r := range c.Results {
			if at := first + c.Turn - 1; at >= len(w.results) {
				w.results = append(w.results, r.Text)
			}
		}
		if c.Turn >= len(commands) {
			return nil
		}
		return []model.Call{w.recipe.Call(fmt.Sprintf("call_%d_%d", first, c.Turn), commands[c.Turn])}
	}
	w.mu.Unlock()
	temp := w.path("start") // the same for each run: it is in the environment of the calls
	if err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700)); err != nil {
		w.Fatal(err)
	}
	set := canary.Setting{URL: w.url, Dir: w.path("work"), Temp: temp, Command: commands[0],
		Env: append(w.environ(), env...)}
	cmd, err := w.recipe.Command(ctx, w.program, set)
	if err != nil {
		w.Fatal(err)
	}
	// Codex puts a folder of each start first in PATH, unless its settings are among temporary files. With
	// another PATH, a call is another one: see docs/agents/codex.md.
	cmd.Env = append(cmd.Env, "TMPDIR="+w.home)
	cmd.Stdout, cmd.Stderr = &w.printed, &w.printed
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return func() {
		w.Helper()
		err := cmd.Wait()
		if ctx.Err() != nil {
			w.Errorf("%s was ended after %v: %v", w.agent, limit, err)
		}
		if err := canary.End(cmd); err != nil {
			w.Error(err)
		}
		cancel()
		if w.recipe.Noted != nil {
			if said := w.recipe.Noted(set); said != "" {
				w.mu.Lock()
				w.results = append(w.results, "nothing; in its log: "+said)
				w.mu.Unlock()
			}
		}
	}
}

// heard is what the model read of all calls.
func (w *agentWorld) heard() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.results, " | ")
}

// open returns a question in the chat that is still open.
func (w *agentWorld) open() (card fake.Shown, there bool) {
	for _, c := range w.chat.Cards(strconv.Itoa(chat)) {
		if len(c.Buttons) > 0 {
			return c, true
		}
	}
	return card, false
}

// card waits for an open question, and returns it.
func (w *agentWorld) card() (card fake.Shown) {
	w.Helper()
	w.until("people are asked", func() (there bool) {
		card, there = w.open()
		return there
	})
	return card
}

// answer presses a button of the open question, and presses again if the card was replaced meanwhile, as
// a person does.
func (w *agentWorld) answer(button fake.Button) {
	w.Helper()
	w.card()
	var last time.Time
	w.until("the answer counts", func() bool {
		card, there := w.open()
		if there && time.Since(last) > 3*time.Second {
			last = time.Now()
			if err := w.chat.Tap(strconv.Itoa(adaID), strconv.Itoa(chat), card.Message, button); err != nil {
				w.Log(err)
			}
		}
		return !there
	})
}

// configure adds lines to the configuration.
func (w *agentWorld) configure(lines string) {
	w.Helper()
	w.write(".approver/approver.yaml", lines+"\n"+w.read(".approver/approver.yaml"), 0o600)
}

// serveFails starts a daemon that must not start.
func (w *agentWorld) serveFails() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	out, err := w.command(ctx, filepath.Join(programs, "approver"), "serve").CombinedOutput()
	if err == nil || ctx.Err() != nil {
		w.Errorf("the daemon started: %s", out)
	}
}
