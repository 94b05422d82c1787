package broadcaster

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/display"
)

// People are told in their own language what became of their answers, and the audit is in English.
func TestAPersonIsToldInTheirLanguage(t *testing.T) {
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	x := newBench(t, newMemKV())
	x.LanguageOf = func(channel, sender, conversation string) display.Texts {
		if channel == "telegram" && sender == "666" && conversation == "c" {
			return german
		}
		return display.Texts{}
	}
	stranger := approver.Reply{Channel: "telegram", Sender: "666", Conversation: "c", Approve: true,
		Method: approver.ByTap, Request: "r", Message: "m"}
	const english = "You are not on the approver list of this channel."
	if out := x.Answers.Reply(t.Context(), stranger); !strings.HasPrefix(out.Text, "Dieses Konto steht nicht") ||
		out.Kind != approver.OutcomeRefused {
		t.Errorf("a German stranger is told %q", out.Text)
	}
	if noted := x.audit.all(approver.EventRefused); len(noted) != 1 || noted[0].Note != english {
		t.Errorf("the audit says %+v", noted)
	}
	stranger.Conversation = "d"
	if out := x.Answers.Reply(t.Context(), stranger); out.Text != english {
		t.Errorf("an English stranger is told %q", out.Text)
	}
}

// What becomes of a request reads in German as in English: the same words of others, and no English.
func TestResultsInGerman(t *testing.T) {
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	by := approver.Resolution{Cause: approver.ByPerson, Person: approver.Person{ID: "ada", Name: "Ada \u202e"},
		Identity: approver.Identity{Channel: "telegram", ID: "1"}}
	yes := by
	yes.Approve = true
	for want, res := range map[string]approver.Resolution{
		"⛔ Abgelehnt von Ada ⟨U+202E⟩ über Telegram · 0 s":          by,
		"✅ Einmal erlaubt von Ada ⟨U+202E⟩ über Telegram · 0 s":     yes,
		"⌛ Abgelaufen · blockiert · niemand hat in 0 s geantwortet": {Cause: approver.TimedOut},
		"⛔ Blockiert · alles war gesperrt":                          {Cause: approver.Frozen},
	} {
		if got := german.Message(resultOf(Request{}, res)); got != want {
			t.Errorf("%+v is %q, want %q", res, got, want)
		}
	}
}
