package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"approver.example"
)

// The audit has both commands and the person: what the agent wanted, and what people changed it to.
func TestEditedCommands(t *testing.T) {
	for yes, want := range map[bool]string{
		true: "who changed it to: git push fix", false: "who said to run instead: git push fix",
	} {
		event := map[bool]approver.Event{true: approver.EventApproved, false: approver.EventDenied}[yes]
		edited := json.RawMessage(`{"command":"git push fix"}`)
		l := newRedactor(asIs).lineOf(approver.Record{
			Event: event, Call: approver.ToolCall{ID: "c", Tool: "Bash", Command: "git push --force"},
			Resolution: approver.Resolution{Approve: yes, Cause: approver.ByPerson,
				Person: approver.Person{ID: "a", Name: "Ann"},
				Edit:   &approver.Edit{Command: "git push fix", Args: edited}},
		}, "host", testTime)
		if l.Command != "git push --force" || l.Resolution.Edited != "git push fix" ||
			l.Resolution.EditedHash != argsHash(edited) {
			t.Errorf("%+v", l.Resolution)
		}
		if text := l.Human(); !strings.Contains(text, "Ann "+want) || !strings.Contains(text, "git push --force") {
			t.Errorf("it is shown as %s", text)
		}
	}
}
