package broadcaster

import (
	"context"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// asks sends what somebody wants without a card.
func (x *bench) asks(want approver.Want, channel, conversation, sender string) approver.Outcome {
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: channel, Conversation: conversation, Sender: sender, Want: want, Method: approver.ByCommand,
	})
}

// The story: people wrote /pending and /status to the bot and heard nothing. Now they are told, of what
// concerns them where they ask: what has a card there. Nobody is shown a code, and strangers nothing.
func TestWhatPeopleMayKnow(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tune(func(o *Options) {
			o.Troubles = func(context.Context) []string { return []string{"the disk is nearly full"} }
			o.Notice = "NOT ISOLATED: the agent runs as approver's own user"
		})
		x.lastingYes(hookCall("c0"))
		secret := testCall("c1")
		secret.Command, secret.Args = "deploy", []byte(`{"command":"deploy"}`)
		x.askUnder(secret, approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.Catastrophic, Channels: []string{"discord"},
			Approvers: []string{"bob"},
		})
		open := testCall("c2")
		open.Command, open.Args = "terraform apply", []byte(`{"command":"terraform apply"}`)
		x.askAsync(t.Context(), open, approver.Catastrophic)
		time.Sleep(time.Second)
		for _, c := range []struct {
			name, channel, conversation, sender string
			want                                approver.Want
			has, lacks                          []string
		}{
			{
				"here", "telegram", "T", "1", approver.WantPending, []string{"wait here: 1", "terraform apply", "left"},
				[]string{"deploy"},
			},
			{"where both are", "discord", "D", "d1", approver.WantPending, []string{"wait here: 2", "deploy"}, nil},
			{"in another chat", "telegram", "X", "1", approver.WantPending, []string{"No request waits"}, []string{"terraform"}},
			{"alone, who may answer", "discord", "", "d2", approver.WantPending, []string{"deploy", "terraform"}, nil},
			{"alone, who may not", "discord", "", "d1", approver.WantPending, []string{"terraform"}, []string{"deploy"}},
			{
				"alone, on the wrong platform", "telegram", "", "2", approver.WantPending, []string{"terraform"},
				[]string{"deploy"},
			},
			{"grants", "telegram", "T", "1", approver.WantGrants, []string{"git push", "15m, until", "Alice via Telegram"}, nil},
			{"grants elsewhere", "telegram", "X", "1", approver.WantGrants, []string{"Nothing from here"}, []string{"git push"}},
			{"status", "telegram", "T", "1", approver.WantStatus, []string{
				"approver works", "wait here: 1", "Telegram receives answers", "Discord receives answers", "disk is nearly full",
				"NOT ISOLATED",
			}, []string{"deploy"}},
			{
				"help", "telegram", "T", "1", approver.WantHelp,
				[]string{"/approve CODE 15m", "/deny CODE reason", "/pending"}, nil,
			},
		} {
			out := x.asks(c.want, c.channel, c.conversation, c.sender)
			all := out.Text + "\n" + out.Details
			if out.Kind != approver.OutcomeShown {
				t.Errorf("%s: %+v", c.name, out)
			}
			for _, text := range c.has {
				if !strings.Contains(all, text) {
					t.Errorf("%s lacks %q:\n%s", c.name, text, all)
				}
			}
			for _, text := range c.lacks {
				if strings.Contains(all, text) {
					t.Errorf("%s has %q:\n%s", c.name, text, all)
				}
			}
			if _, err := tokens.Find(all); err == nil {
				t.Errorf("%s shows a code:\n%s", c.name, all)
			}
		}
		for w := approver.WantDetails; w <= approver.WantFreeze+1; w++ {
			if out := x.asks(w, "telegram", "T", "9"); out.Kind != approver.OutcomeRefused || out.Details != "" ||
				out.Text != "You are not on the approver list of this channel." {
				t.Errorf("a stranger who wants %v: %+v", w, out)
			}
		}
		if out := x.asks(approver.WantFreeze+1, "telegram", "T", "1"); out.Kind != approver.OutcomeRefused || out.Text == "" {
			t.Errorf("what nobody knows: %+v", out)
		}
		x.stop()
	})
}

// A channel whose commands have other names says so in its help.
type named struct{ *chat }

func (named) Commands() (approve, deny string) { return "/ok-approver", "/no-approver" }

func TestHelpNamesTheCommand(t *testing.T) {
	b := composed(Options{Channels: []approver.Channel{named{newChat("slack")}}})
	out := b.Answers.help(approver.Reply{Channel: "slack"})
	if !strings.Contains(out.Details, "/ok-approver CODE") || !strings.Contains(out.Details, "/no-approver CODE reason") {
		t.Error(out.Details)
	}
}

// One word from a phone stops everything, and says how that is lifted. It is recorded with who it was.
func TestFreezeFromAChat(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		out := x.asks(approver.WantFreeze, "telegram", "T", "2")
		if out.Kind != approver.OutcomeShown || !strings.Contains(out.Text, "denied: 1") ||
			!strings.Contains(out.Text, "approver unfreeze") {
			t.Errorf("%+v", out)
		}
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("%+v", v)
		}
		if notes := x.notes(approver.EventFrozen); len(notes) != 1 || !strings.Contains(notes[0], "Bob via Telegram") {
			t.Errorf("%q", notes)
		}
		if out := x.asks(approver.WantFreeze, "telegram", "T", "1"); !strings.Contains(out.Text, "frozen already") {
			t.Errorf("%+v", out)
		}
		status := x.asks(approver.WantStatus, "telegram", "T", "1")
		if !strings.HasPrefix(status.Text, "Frozen:") || !strings.Contains(status.Details, "Bob via Telegram") {
			t.Errorf("%+v", status)
		}
	})
}

// The reason that somebody freezes for is in the record, without a code that it may have.
func TestFreezeKeepsItsReason(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.Answers.Reply(t.Context(), approver.Reply{Want: approver.WantFreeze, Method: approver.ByCommand,
			Channel: "telegram", Conversation: "T", Sender: "2", Reason: "the agent  went mad CONFIRM-7KQ4MX"})
		notes := x.notes(approver.EventFrozen)
		if len(notes) != 1 || !strings.Contains(notes[0], "the agent went mad") || strings.Contains(notes[0], "7KQ4MX") {
			t.Errorf("%q", notes)
		}
	})
}

// A yes for longer may come with the code alone, as beside /approve: it is for that long, or it is refused. Nothing
// of it is dropped.
func TestATermBesideTheBareCode(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		for n, sev := range []approver.Severity{approver.High, approver.Catastrophic} {
			answer := x.askAsync(t.Context(), hookCall(sev.String()), sev)
			time.Sleep(time.Second)
			_, card := x.tg.card(n)
			rep := typed(approver.ByCode, card)
			rep.Grant = approver.Term{For: 15 * time.Minute}
			out := x.Answers.Reply(t.Context(), rep)
			if high := sev == approver.High; high != (out.Kind == approver.OutcomeApproved) {
				t.Errorf("%v: %+v", sev, out)
			} else if high {
				<-answer
				if v := x.Ask(t.Context(), hookCall(sev.String()), asking(sev)); v.Decision != approver.Allow {
					t.Errorf("it is for longer, and is asked again: %+v", v)
				}
			}
		}
	})
}

// The story: somebody had a photo of a card and typed its code in their own chat. They were told that there
// is no such code, and nobody learned that it had leaked. Now the audit names both places. It counts as a
// wrong code like any other, and approves nothing.
func TestALeakedCodeNamesItsLeak(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		_, leaked := x.dc.card(0)
		out := x.Answers.Reply(t.Context(), typed(approver.ByCode, leaked))
		if out.Kind != approver.OutcomeUnknown || !strings.Contains(out.Text, "another conversation, on Discord") ||
			!strings.Contains(out.Text, "4 more wrong codes") {
			t.Errorf("%+v", out)
		}
		notes := x.notes(approver.EventMisplaced)
		if len(notes) != 1 || !strings.Contains(notes[0], "discord/D") || !strings.Contains(notes[0], "telegram/T") {
			t.Errorf("%q", notes)
		}
		for _, r := range x.audit.recorded() {
			if r.Event == approver.EventMisplaced && (r.Request != leaked.Request || r.Reply.Sender != "1") {
				t.Errorf("it is of %q, by %q", r.Request, r.Reply.Sender)
			}
		}
		// A stranger is told nothing of the code.
		rep := typed(approver.ByCode, leaked)
		rep.Sender = "9"
		if out := x.Answers.Reply(t.Context(), rep); strings.Contains(out.Text, "Discord") {
			t.Errorf("%+v", out)
		}
		// Where a channel takes no answers, the audit gets both places too, but not of every code: anybody may
		// send some.
		rep.Conversation = "a stranger's own"
		for range 2 * mostOverheard {
			x.Answers.overhear(t.Context(), rep)
		}
		_, mine := x.tg.card(0)
		rep.Code = mine.Code
		x.Answers.overhear(t.Context(), rep)
		if notes := x.notes(approver.EventMisplaced); len(notes) != 1+mostOverheard ||
			!strings.Contains(notes[1], "in telegram/a stranger's own") {
			t.Errorf("%d: %q", len(notes), notes[1:])
		}
		time.Sleep(time.Minute)
		rep.Conversation = "T" // its own
		x.Answers.overhear(t.Context(), rep)
		if notes := x.notes(approver.EventMisplaced); len(notes) != 1+mostOverheard {
			t.Errorf("%q", notes)
		}
		// Nor is the code of one card that of another, which is named by the dialog.
		rep = typed(approver.ByCode, mine)
		rep.Request = "other"
		if out := x.Answers.Reply(t.Context(), rep); !strings.Contains(out.Text, "another request") {
			t.Errorf("%+v", out)
		}
		if r := x.loaded(leaked.Request); r.State != approver.Pending {
			t.Errorf("%v", r.State)
		}
		x.stop()
	})
}
