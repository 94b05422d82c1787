package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"approver.example/configs"
	"approver.example/daemon/daemontest"
)

// The story, with the real daemon: rules that tighten count at once; rules that
// loosen wait until Ada has typed the code of the card that shows the diff, also
// after a restart.
func TestTheDaemonAsksAboutLooserRules(t *testing.T) {
	app := chatApps(t)[0]
	m := newPairMachine(t, app.section)
	file := filepath.Join(m.dir, "data", "rules.yaml")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	audited := func(what string) func() bool {
		return func() bool {
			files, err := filepath.Glob(filepath.Join(m.dir, "data", "audit", "*.jsonl"))
			if err != nil || len(files) == 0 {
				return false
			}
			text, err := os.ReadFile(files[len(files)-1])
			return err == nil && regexp.MustCompile(what).Match(text)
		}
	}
	stop := m.serve()
	put(daemontest.RulesTight)
	daemontest.Eventually(t, "what tightens is in force", audited(`rule set [0-9a-f]{12} is in force: tightens`))
	stop()
	put(daemontest.RulesLoose)
	m.serve()
	var code string
	daemontest.Eventually(t, "a card with the diff", func() bool {
		for _, card := range app.fake.Cards(app.room) {
			if strings.Contains(card.Text, "+disable: ["+daemontest.BuiltInRule()+"]") {
				code = regexp.MustCompile(`CONFIRM-[A-Z0-9]{6,8}\b`).FindString(card.Text)
			}
		}
		return code != ""
	})
	if audited(`people|approved by Ada`)() {
		t.Error("it is in force unasked")
	}
	app.fake.Type(app.ada, app.room, "/approve "+code)
	daemontest.Eventually(t, "what Ada approved is in force", audited(`rule set [0-9a-f]{12} is in force: [^"]*Ada`))
}

// The lines of rules list --json are what machines read.
func TestRulesAsJSON(t *testing.T) {
	lib, err := configs.NewLibrary(nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(docs(lib)[0])
	if err != nil ||
		!regexp.MustCompile(
			`^\{"id":"\w+","category":"[a-z-]+","decision":"\w+","severity":"[A-Z]+","confidence":[0-9.]+,"appealable":`).Match(
			line) {
		t.Errorf("%v: %s", err, line)
	}
}
