package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An auditLine is the part of an audit record that the demo reads.
type auditLine struct {
	Event      string `json:"event"`
	Timestamp  string `json:"timestamp"`
	Once       string `json:"once"`
	Request    string `json:"request"`
	Hash       string `json:"hash"`
	Note       string `json:"note"`
	Outcome    string `json:"outcome"`
	Resolution struct {
		Cause  string `json:"cause"`
		Person struct {
			Name string `json:"name"`
		} `json:"person"`
		Identity struct {
			Channel string `json:"channel"`
		} `json:"identity"`
	} `json:"resolution"`
}

// ended reports whether the line is the end of a request.
func (l auditLine) ended() bool {
	switch l.Event {
	case "released", "denied", "expired", "withdrawn":
		return true
	}
	return false
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
	raw, err := os.ReadFile(filepath.Join(w.dir, "data", "audit", "audit.jsonl"))
	if err != nil {
		return "" // not there yet
	}
	return string(raw)
}

// auditHas waits for a record of the current request, and returns it.
func (w *world) auditHas(what string, is func(auditLine) bool) (found auditLine, err error) {
	err = w.wait(5*time.Second, "the audit has "+what, func() bool {
		for _, l := range w.audit() {
			if l.Request == w.request && is(l) {
				found = l
				return true
			}
		}
		return false
	})
	return found, err
}

// refused waits for the record of a reply that did not count, and shows it.
func (w *world) refused(outcome string) error {
	l, err := w.auditHas("a refused reply", func(l auditLine) bool { return l.Event == "refused" && l.Outcome == outcome })
	if err == nil {
		w.recorded(l)
	}
	return err
}

// verify stops the daemon normally and runs the real verifier over the audit, including its end.
func (w *world) verify() error {
	if err := w.daemon.Stop(stopTime); err != nil {
		return fmt.Errorf("the daemon did not stop in order: %w", err)
	}
	cmd := exec.CommandContext(w.ctx, w.daemon.Program, "audit", "verify", "--config", w.daemon.Config())
	out, err := cmd.CombinedOutput()
	w.say("approver audit verify checks the whole log; the alarm in it is the command that took the model over:")
	w.check(err == nil && strings.Contains(string(out), "where the store says"), "approver audit verify: %s",
		strings.TrimSpace(string(out)))
	return nil
}
