package slack_test

import (
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
	for i, says := range []string{"no, use a branch instead", "nein, nimm einen Branch"} {
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
