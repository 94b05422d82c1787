package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/cmd/approver-hook/courier"
	"approver.example/store/storetest/redistest"
)

// These tests play a changed command from an agent's hook to a phone and back, with a daemon of its own
// process and each platform's own protocol.

const editPolicy = `version: 1
tools: {known: [Bash]}
rules:
  - {name: no.mirror, command: 'git push --mirror*', decision: deny, reason: mirrors are forbidden}
  - {name: ask.push, command: 'git push*', decision: ask, severity: high}
`

// withPolicy is a machine whose daemon asks Ada about pushes.
func withPolicy(t *testing.T, app chatApp, more string) pairMachine {
	m := newPairMachine(t, app.section)
	if err := os.WriteFile(filepath.Join(m.dir, "policy.yaml"), []byte(editPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(m.before, "dir: data", "dir: data\npolicy: policy.yaml\n"+more, 1)
	if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// A hook is a courier that waits for the answer to one call.
type hook struct {
	m    pairMachine
	said chan string
}

// calls has an agent ask whether it may run a command.
func (m pairMachine) calls(agent, command string) hook {
	payload := fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":%q,"permission_mode":"default",`+
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"toolu_1"}`,
		m.dir, command)
	if agent == "windsurf" {
		payload = fmt.Sprintf(`{"agent_action_name":"pre_run_command","trajectory_id":"t","execution_id":"e",`+
			`"tool_info":{"command_line":%q,"cwd":%q}}`, command, m.dir)
	}
	h := hook{m, make(chan string, 1)}
	go func() {
		var out strings.Builder
		exit := courier.Run([]string{"--agent", agent, "--socket", filepath.Join(m.dir, "run", "s.sock"), "--deadline",
			"100s"}, strings.NewReader(payload), &out, &out, os.Environ())
		h.said <- fmt.Sprint(exit, " ", out.String())
	}()
	return h
}

// wants waits for the answer, which has to have each text.
func (h hook) wants(texts ...string) {
	h.m.Helper()
	select {
	case said := <-h.said:
		for _, text := range texts {
			if !strings.Contains(said, text) {
				h.m.Errorf("the agent hears %s\nwithout %s", said, text)
			}
		}
	case <-time.After(time.Minute):
		h.m.Fatal("the agent hears nothing")
	}
}

// card waits for the card that offers a change.
func (a chatApp) card(t *testing.T) (found fake.Shown) {
	t.Helper()
	for range 1200 {
		for _, found = range a.fake.Cards(a.room) {
			if slices.Contains(found.Buttons, fake.EditButton) {
				return found
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("no card offers a change: %+v", a.fake.Cards(a.room))
	return found
}

// edits has Ada change the command on the card, and waits until she hears a text.
func (a chatApp) edits(t *testing.T, command, hears string) {
	t.Helper()
	card := a.card(t)
	if err := a.fake.(fake.Filler).Fill(a.ada, a.room, card.Message, fake.EditButton, command); err != nil {
		t.Fatal(err)
	}
	for range 1200 {
		if strings.Contains(strings.Join(a.fake.Told(a.ada), "\n"), hears) {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("for %q Ada hears %q, want %q", command, a.fake.Told(a.ada), hears)
}

// shows waits until a card shows a text, and nothing can be tapped on it any more.
func (a chatApp) shows(t *testing.T, text string) {
	t.Helper()
	for range 1200 {
		for _, card := range a.fake.Cards(a.room) {
			if strings.Contains(card.Text, text) && !slices.Contains(card.Buttons, fake.EditButton) {
				return
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("no card shows %q: %+v", text, a.fake.Cards(a.room))
}

// The story: a push lacks a flag. Ada types another one, which a rule forbids, and hears why, and one with
// the hyphens of her phone. Then she types the right one: that is what the agent runs, where its protocol
// can say so, and what it is told to run where it cannot.
func TestACommandIsChangedOnThePhone(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, app := range chatApps(t) {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel()
			m := withPolicy(t, app, "")
			m.serve()
			h := m.calls("claude", "git push --force origin main")
			app.edits(t, "git push --mirror origin", "mirrors are forbidden. Nothing was approved")
			app.edits(t, "git push —force-with-lease origin main", "a phone's keyboard puts")
			app.edits(t, "git push --force-with-lease origin main", "the changed command was released")
			h.wants(`0 `, `"permissionDecision":"allow"`,
				`"updatedInput":{"command":"git push --force-with-lease origin main"}`)
			app.shows(t, "Approved with changes by Ada")
			h = m.calls("windsurf", "git push --force origin main")
			app.edits(t, "git push origin HEAD:fix", "to run your command instead")
			h.wants("2 ", "A person asks you to run this instead", `{"command":"git push origin HEAD:fix"}`)
			app.shows(t, "told to run this instead")
		})
	}
}

// The story: the daemon is started anew while Ada reads. The hook comes back, the card is the same, and what
// she changes is judged as the call that waits.
func TestACommandIsChangedAfterARestart(t *testing.T) {
	t.Parallel()
	app := chatApps(t)[0]
	m := withPolicy(t, app, "")
	stop := m.serve()
	h := m.calls("claude", "git push --force origin main")
	before := app.card(t)
	stop()
	m.serve()
	time.Sleep(3 * time.Second) // until the hook is back
	if after := app.card(t); after.Message != before.Message {
		t.Errorf("the card is another one: %+v, was %+v", after, before)
	}
	app.edits(t, "git push origin HEAD:fix", "the changed command was released")
	h.wants(`"permissionDecision":"allow"`, `"updatedInput":{"command":"git push origin HEAD:fix"}`)
}

// The story: two machines share a Redis. The hook waits at one, and the other hears the chat. It does not
// know the environment of the call, so the agent is told to run the changed command as a new call.
func TestACommandIsChangedAtAnotherDaemon(t *testing.T) {
	t.Parallel()
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	app := chatApps(t)[0]
	key := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	shared := fmt.Sprintf("store: {redis: {addrs: [%q], hub_key_file: %s}}\n", server.Addr, key)
	hears, asks := withPolicy(t, app, shared+"audit: {id: one}\n"), withPolicy(t, app, shared+"audit: {id: two}\n")
	hears.serve()
	for range 1200 {
		if p, ok := app.fake.(interface{ Polling() bool }); ok && p.Polling() {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	asks.serve()
	h := asks.calls("claude", "git push --force origin main")
	app.edits(t, "git push origin HEAD:fix", "to run your command instead")
	h.wants(`"permissionDecision":"deny"`, "A person asks you to run this instead", "git push origin HEAD:fix")
	app.shows(t, "told to run this instead")
}
