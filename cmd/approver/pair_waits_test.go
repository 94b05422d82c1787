package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// waiting is what status says that does not count yet.
func (m pairMachine) waiting() []string {
	m.Helper()
	out, err := m.command(m.Context(), "status", "--json", "--config", m.config).Output()
	var doc adminapi.Status
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = nil // the chat may not be reached yet, which status says by its exit code
	}
	if err := errors.Join(err, json.Unmarshal(out, &doc)); err != nil {
		m.Fatalf("%v\n%s", err, out)
	}
	return doc.Waiting
}

// The story, with the real daemon: Bob is written into the configuration beside
// Ada, and the terminal is to take answers. After a restart his code is refused,
// status says what waits, Ada types hers, and from then on Bob decides, also after
// another restart. Ada is taken out and has no say any more.
func TestAnAddedApproverWaitsForPeople(t *testing.T) {
	t.Parallel() // it waits most of the time
	app := chatApps(t)[0]
	m := newPairMachine(t, app.section)
	m.before = strings.Replace(m.before, `{id: "0"}`, fmt.Sprintf(`{id: "%d"}`, os.Getuid()), 1)
	if err := os.WriteFile(m.config, []byte(m.before), 0o600); err != nil {
		t.Fatal(err)
	}
	m.serve()()
	ada := "      - {id: \"" + app.ada + "\", name: Ada}\n"
	const noAnswers = "Answers are not taken in this terminal"
	local := func() string {
		out, err := m.command(t.Context(), "pending", "--json", "--config", m.config).Output()
		var doc adminapi.Pending
		if err := errors.Join(err, json.Unmarshal(out, &doc)); err != nil || len(doc.Requests) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		out, _ = m.command(t.Context(), "deny", "--config", m.config, doc.Requests[0].ID).CombinedOutput()
		return string(out)
	}
	both := strings.Replace(m.before, "  terminal:\n", "  terminal:\n    allow_answers: true\n", 1) + "      - {id: \"" +
		app.bob + "\", name: Bob}\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(both)
	stop := m.serve()
	code := func(about string) (found string) {
		t.Helper()
		daemontest.Eventually(t, "a card about "+about, func() bool {
			for _, card := range app.fake.Cards(app.room) {
				if strings.Contains(card.Text, about) {
					found = regexp.MustCompile(`CONFIRM-[A-Z0-9]{6,8}\b`).FindString(card.Text)
				}
			}
			return found != ""
		})
		return found
	}
	refused := func(who string) {
		t.Helper()
		daemontest.Eventually(t, "a refusal", func() bool {
			files, err := filepath.Glob(filepath.Join(m.dir, "data", "audit", "*.jsonl"))
			if err != nil || len(files) == 0 {
				return false
			}
			text, err := os.ReadFile(files[len(files)-1])
			return err == nil && regexp.MustCompile(`"event":"refused".*`+who).Match(text)
		})
	}
	added := code("+channels.telegram.approvers: " + app.bob)
	app.fake.Type(app.bob, app.room, "/approve "+added)
	refused(app.bob)
	if w := m.waiting(); len(w) != 2 || !strings.Contains(w[0], app.bob) || !strings.Contains(w[1], "allow_answers") {
		t.Fatalf("%v waits", w)
	}
	if said := local(); !strings.Contains(said, noAnswers) {
		t.Errorf("the terminal takes answers unasked: %s", said)
	}
	app.fake.Type(app.ada, app.room, "/approve "+added)
	daemontest.Eventually(t, "Bob counts", func() bool { return len(m.waiting()) == 0 })

	asks := func(who, what string) {
		t.Helper()
		c := m.command(t.Context(), "ask", "--config", m.config, "--", what)
		var out daemontest.SafeBuffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		app.fake.Type(who, app.room, "/approve "+code(what))
		if err := c.Wait(); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
	asks(app.bob, "deploy-one")
	stop()
	write(strings.Replace(both, ada, "", 1))
	stop = m.serve()
	if w := m.waiting(); len(w) != 0 {
		t.Errorf("%v waits", w)
	}
	asks(app.bob, "deploy-two")
	stop()
	write(both)
	m.serve()
	if w := m.waiting(); len(w) != 1 || !strings.Contains(w[0], app.ada) {
		t.Errorf("Ada is back: %v waits", w)
	}
	code("+channels.telegram.approvers: " + app.ada)
	if said := local(); strings.Contains(said, noAnswers) {
		t.Errorf("what people approved does not count: %s", said)
	}
}
