package channeltest_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/broadcaster/ladder"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/oncall"
	"approver.example/channels/oncall/oncalltest"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/tokens"
)

// The story: a question stood in a chat at night, and nobody looked. Two seconds later on-call is called at two
// services, which say where to answer and nothing that would let anybody answer there. The tap in the chat closes both
// alerts.
func TestOnCallIsCalledToTheChat(t *testing.T) {
	chat := newTelegram(t).(*telegramApp)
	ann := chat.add("approver")
	listed := []approver.Approver{{ID: ann, Name: "Ann"}}
	telegram, to, err := chat.open(listed)
	if err != nil {
		t.Fatal(err)
	}
	services := oncalltest.New()
	t.Cleanup(func() { services.Close() })
	cfg := oncall.Config{
		PagerDutyKey: secret.New(oncalltest.PagerDutyKey), PagerDutyURL: services.URL(),
		OpsgenieKey: secret.New(oncalltest.OpsgenieKey), OpsgenieURL: services.URL(),
	}
	pager, err := cfg.Open(section.Installation{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o := coreOptions(embeddedIn(t, filepath.Join(t.TempDir(), "approver.db")), telegram, to, listed)
	o.Channels, o.Destinations = append(o.Channels, pager), append(o.Destinations, cfg.Destinations()...)
	places := []ladder.Place{{Destination: to}}
	for _, d := range cfg.Destinations() {
		places = append(places, ladder.Place{Destination: d, Pages: true})
	}
	plan, problems := ladder.Config{Steps: []ladder.Step{
		{To: []string{"telegram"}}, {After: 2 * time.Second, To: []string{"oncall"}},
	}}.Plan(places)
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	o.Ladder = plan
	m := &matrix{t: t, app: chat}
	m.run(o)
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	began := time.Now()
	answer := make(chan approver.Verdict, 1)
	go func() {
		answer <- m.core.Ask(context.Background(), approver.ToolCall{ID: "c1", Agent: "claude", Session: "s", Tool: "Bash",
			Command: "deploy --token=" + token + " production", Args: []byte(`{"command":"x"}`), Dir: "/repo", At: began},
			approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
	}()
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	until("both alerts", func() bool { return len(services.Open()) == 2 })
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("on-call was called after %v", took)
	}
	here := strconv.FormatInt(group, 10)
	cards := chat.Cards(here)
	if len(cards) != 1 {
		t.Fatalf("%d cards", len(cards))
	}
	code := codeOnCard.FindString(cards[0].Text)
	for _, a := range services.Open() {
		if !strings.HasPrefix(a.Headline, "🟠 HIGH · ") || !strings.Contains(a.Text,
			"Answer it where its card is: Telegram") {
			t.Errorf("%s says %q", a.Service, a.Text)
		}
	}
	for _, sent := range services.Bodies() {
		if strings.Contains(sent, token) || strings.Contains(sent, "CONFIRM-") ||
			code != "" && strings.Contains(sent, strings.TrimPrefix(code, "CONFIRM-")) {
			t.Errorf("a service was sent %s", sent)
		}
	}
	if err := chat.Tap(ann, here, cards[0].Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	if v := <-answer; v.Decision != approver.Deny {
		t.Errorf("%v %s", v.Decision, v.Reason)
	}
	until("the end of the alerts", func() bool { return len(services.Open()) == 0 })
	if all := services.Alerts(); !strings.Contains(all[0].Note+all[1].Note, "Ann") {
		t.Errorf("nobody is told who decided: %+v", all)
	}
}

// Nobody can approve where people are only called.
func TestNobodyApprovesWherePeopleAreOnlyCalled(t *testing.T) {
	services := oncalltest.New()
	t.Cleanup(func() { services.Close() })
	cfg := oncall.Config{PagerDutyKey: secret.New(oncalltest.PagerDutyKey), PagerDutyURL: services.URL()}
	pager, err := cfg.Open(section.Installation{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o := coreOptions(embeddedIn(t, filepath.Join(t.TempDir(), "approver.db")), pager, cfg.Destinations()[0],
		[]approver.Approver{{ID: "1"}})
	b, err := broadcaster.NewBroadcaster(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []approver.Severity{approver.High, approver.Catastrophic} {
		if b.Approvers.Nobody(s) == "" {
			t.Errorf("somebody could approve %s", s)
		}
	}
}

// People are reminded beside the card, in its chat: the card stays as it is, and the reminder has no code. At the end
// it is taken away, also if somebody has done that already. A reminder of a card that is gone goes nowhere.
func TestPeopleAreRemindedBesideTheCard(t *testing.T) {
	for name, begin := range platforms {
		t.Run(name, func(t *testing.T) {
			a := begin(t)
			channel, to, err := a.open([]approver.Approver{{ID: a.add("approver")}})
			if err != nil {
				t.Fatal(err)
			}
			code, err := tokens.Mint(tokens.MinLength)
			if err != nil {
				t.Fatal(err)
			}
			ref, err := channel.Post(t.Context(), to, approver.Card{
				Request: "01a202c8-d1ca-7ed5-8a27-ef64d1726bbc", State: approver.Pending, Severity: approver.High,
				OneTap: true,
				Push:   "🟠 HIGH · Deploy", Body: channeltest.Command("make deploy"), Code: code, Created: time.Now(),
				Due: time.Now().Add(time.Minute),
			})
			if err != nil {
				t.Fatal(err)
			}
			before := a.Cards(to.Conversation)
			reminder, can := channel.(approver.Reminder)
			if !can {
				t.Fatal("it cannot remind anybody")
			}
			const text = "⏰ Nobody has answered <b>yet</b> & the card waits until 10:24:11 UTC."
			said := func() []string {
				if replies, apart := a.(interface{ RepliesTo(message string) []string }); apart { // they are not among the cards
					return replies.RepliesTo(ref.Message)
				}
				return texts(a.Cards(to.Conversation)[1:])
			}
			rung, err := reminder.Remind(t.Context(), ref, text)
			if err != nil || rung.Destination != ref.Destination || rung.Message == "" || rung.Message == ref.Message {
				t.Fatalf("%+v %v", rung, err)
			}
			after, told := a.Cards(to.Conversation), said()
			if len(told) != 1 || !strings.Contains(told[0], text) || strings.Contains(told[0], code.Reveal()) {
				t.Errorf("people are told %q", told)
			}
			if len(before) != 1 || after[0].Text != before[0].Text || len(after[0].Buttons) == 0 {
				t.Errorf("the card is now\n%s", after[0].Text)
			}
			elsewhere := ref
			elsewhere.Conversation = a.elsewhere()
			if _, err := reminder.Remind(t.Context(), elsewhere, text); !errors.Is(err, approver.ErrFinal) {
				t.Errorf("in a chat that gets no cards: %v", err)
			}
			for range 2 {
				if err := reminder.Unremind(t.Context(), rung); err != nil {
					t.Errorf("take it away: %v", err)
				}
			}
			if left, cards := said(), a.Cards(to.Conversation); len(left) != 0 || len(cards) != 1 || len(cards[0].Buttons) == 0 {
				t.Errorf("afterwards people see %q and %d cards", left, len(cards))
			}
			elsewhere.Message = rung.Message
			if err := reminder.Unremind(t.Context(), elsewhere); !errors.Is(err, approver.ErrFinal) {
				t.Errorf("take something away in a chat that gets no cards: %v", err)
			}
		})
	}
}
