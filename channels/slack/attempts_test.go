package slack_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// The story: a person writes a no below a card, and Slack fails just then to say what card that is. Nobody heard
// of it, and the call stayed open. The lookup is tried again; if it fails for good, the person is told.
func TestAReplyWhoseCardCannotBeRead(t *testing.T) {
	b := start(t, setup{})
	ref := b.post(b.card())
	for i, says := range []string{"no, use a branch instead", "lieber einen Branch"} {
		b.fake.Refuse("conversations.replies", "internal_error")
		b.fake.ReplyTo(ann, here, ref.Message, says)
		b.eventually("a word", func() bool { return len(b.fake.Told(ann)) > i })
		if got := b.fake.Told(ann)[i]; !strings.Contains(got, "could not read which card") {
			t.Errorf("%q: told %q", says, got)
		}
	}
	if len(b.got()) != 0 {
		t.Errorf("got %+v", b.got())
	}
	before := b.fake.Count("conversations.replies")
	b.fake.ReplyTo(ann, here, ref.Message, "no, not on main")
	b.eventually("a failed lookup", func() bool { return b.fake.Count("conversations.replies") > before })
	b.fake.Refuse("conversations.replies", "")
	if r := b.want(1)[0]; r.Approve || r.Reason != "not on main" || r.Message != ref.Message {
		t.Errorf("after one failure: %+v", r)
	}
}

// What follows freeze behind the command is its reason, and a question does not freeze.
func TestFreezeWithAReason(t *testing.T) {
	b := start(t, setup{})
	for i, c := range []struct {
		says, reason string
		want         approver.Want
	}{
		{"freeze", "", approver.WantFreeze}, {"Freeze! it went mad", "it went mad", approver.WantFreeze},
		{"freeze the agent went mad", "the agent went mad", approver.WantFreeze}, {"freeze?", "", approver.WantHelp},
		{"/pending.", "", approver.WantPending},
	} {
		b.fake.DeliverCommand(ann, b.fake.CommandPayload(ann, here, "/approve", c.says))
		if r := b.want(i + 1)[i]; r.Want != c.want || r.Reason != c.reason {
			t.Errorf("%q gave %+v", c.says, r)
		}
	}
}

// The dialog for a code takes the same words beside it as the command: plain consent and one term.
func TestWordsInTheCodeDialog(t *testing.T) {
	b := start(t, setup{})
	card := b.catastrophic()
	ref := b.post(card)
	if err := b.fake.EnterCode(ann, here, ref.Message, card.Code.Reveal()+" if Bob agrees"); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "neither a clear yes")
	if err := b.fake.EnterCode(ann, here, ref.Message, card.Code.Reveal()+" 15 min"); err != nil {
		t.Fatal(err)
	}
	if r := b.want(1)[0]; !r.Approve || !r.Code.Equal(card.Code) || r.Grant != (approver.Term{For: 15 * time.Minute}) {
		t.Errorf("got %+v", r)
	}
}

// The story: a person denies below two cards, each time with a picture of what they mean. The second hint in ten
// seconds was silence. Each attempt is told that it does not count.
func TestEachPictureIsTold(t *testing.T) {
	b := start(t, setup{})
	for i, says := range []string{"no", "no", "no, as in the picture"} {
		ref := b.post(b.card())
		p := b.fake.MessagePayload(ann, here, ref.Message, says)
		p["event"] = with(p["event"], "subtype", "file_share")
		b.fake.Deliver("events_api", p)
		b.eventually("a word on "+says, func() bool { return len(b.fake.Told(ann)) > i })
	}
	if len(b.got()) != 0 {
		t.Errorf("got %+v", b.got())
	}
}

// editedFrom makes a message one that its author edited, some time ago.
func editedFrom(before string, ago time.Duration) func(e, _ object) {
	return func(e, _ object) {
		m := maps.Clone(e)
		at := fmt.Sprintf("%d.000100", time.Now().Add(-ago).Unix())
		m["edited"] = object{"user": e["user"], "ts": at}
		clear(e)
		e["type"], e["subtype"], e["channel"], e["channel_type"], e["ts"] = "message", "message_changed", m["channel"],
			m["channel_type"], at
		e["message"], e["previous_message"] = m, with(m, "text", before)
	}
}

// The story: somebody edits their message into /freeze, or sends it beside a picture, or in another conversation,
// and nothing stops. To stop everything only tightens, so it counts wherever an approver wrote it themselves.
func TestFreezeWhereNoAnswerCounts(t *testing.T) {
	b := start(t, setup{fake: other})
	file := func(e, _ object) { e["subtype"] = "file_share" }
	for i, c := range []struct {
		where  string
		change func(e, o object)
	}{
		{here, nil}, {here, file}, {here, editedFrom("hm", 0)}, {"C0OTHER123", nil}, {"C0OTHER123", file},
		{"C0OTHER123", editedFrom("hm", 0)},
	} {
		p := b.fake.MessagePayload(ann, c.where, "", " /freeze it went mad")
		if c.change != nil {
			c.change(p["event"].(object), p)
		}
		b.fake.Deliver("events_api", p)
		if r := b.want(i + 1)[i]; r.Want != approver.WantFreeze || r.Reason != "it went mad" || r.Sender != ann {
			t.Errorf("%d gave %+v", i, r)
		}
		b.eventually("a word", func() bool { return len(b.fake.Told(ann)) > i })
	}
	for _, user := range []string{stranger, ann} {
		p := b.fake.MessagePayload(user, here, "", " /freeze it went mad")
		editedFrom("hm", 10*time.Minute)(p["event"].(object), p) // delivered late, or again
		b.fake.Deliver("events_api", p)
	}
	p := b.fake.MessagePayload(stranger, "C0OTHER123", "", " /freeze it went mad")
	b.fake.Deliver("events_api", p)
	b.pass()
	b.want(6)
}

// The story: a card of an older version is still there, and its button is one that approver no longer has. The
// press met silence.
func TestOldButtonsAreTold(t *testing.T) {
	b := start(t, setup{})
	ref := b.post(b.card())
	b.fake.Deliver("interactive", b.fake.ButtonPayload(ann, here, ref.Message, "ap:x:1", "x", "approve_all"))
	b.told(ann, "may come from an older version")
	p := b.fake.ButtonPayload(ben, here, ref.Message, "ap:x:1", "x", "approve")
	p["message"] = with(p["message"], "bot_id", "B0OTHER123")
	b.fake.Deliver("interactive", p)
	b.told(ben, "no card of approver")
	b.fake.Deliver("interactive", b.fake.ButtonPayload(stranger, here, ref.Message, "ap:x:1", "x", "approve_all"))
	b.told(stranger, "not on the approver list")
	if got := b.got(); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// Slack sends the name of a sign, with the tone of its skin behind it.
func TestAThumbDownIsANo(t *testing.T) {
	b := start(t, setup{})
	ref := b.post(b.card())
	for i, says := range []string{":-1:", ":thumbsdown::skin-tone-3:", ":x:", ":octagonal_sign: use a branch"} {
		b.fake.ReplyTo(ann, here, ref.Message, says)
		r := b.want(i + 1)[i]
		want := map[int]string{3: "use a branch"}[i]
		if r.Approve || r.Method != approver.ByPlain || r.Message != ref.Message || r.Reason != want {
			t.Errorf("%q gave %+v", says, r)
		}
	}
}
