package telegram

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/pairing"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/tokens"
)

// A meeting is a bot that waits for a pairing code.
type meeting struct {
	*testing.T
	s     *telegramtest.Server
	c     *Channel
	code  tokens.Code
	found chan approver.Paired
	ended chan error
}

// meet runs a bot that waits for a code, as approver pair does without a daemon, or on the channel
// of a daemon.
func meet(t *testing.T, open func(Config) (*Channel, error), within time.Duration) *meeting {
	t.Helper()
	m := &meeting{T: t, s: newWorld(t), found: make(chan approver.Paired, 1), ended: make(chan error, 1)}
	m.s.AddChat(telegramtest.Chat{ID: mallory})
	var err error
	if m.c, err = open(testConfig(m.s)); err != nil {
		t.Fatal(err)
	}
	m.c.pace = quickPace()
	if m.code, err = tokens.Mint(12); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { defer close(ran); m.ended <- m.c.Run(ctx, nil) }()
	t.Cleanup(func() { cancel(); <-ran })
	wait, stop := context.WithTimeout(ctx, within)
	t.Cleanup(stop)
	go func() {
		if who, err := m.c.Pair(wait, m.code); err == nil {
			m.found <- who
		}
	}()
	m.await("the wait for the code", func() bool {
		m.c.pairing.Other("")
		return m.c.pairing.Passed().Messages > 0 && m.c.Reception().Up
	})
	return m
}

func alone(cfg Config) (*Channel, error) {
	p, err := cfg.ForPairing(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return p.(*Channel), nil
}

func serving(cfg Config) (*Channel, error) { return New(cfg, nil) }

func (m *meeting) await(what string, done func() bool) {
	m.Helper()
	for end := time.Now().Add(15 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			m.Fatalf("%s does not come", what)
		}
	}
}

// none asserts that nobody was found so far.
func (m *meeting) none(after string) {
	m.Helper()
	select {
	case who := <-m.found:
		m.Fatalf("%s pairs %+v", after, who)
	default:
	}
}

// inject sends a changed message of Mallory with the code.
func (m *meeting) inject(kind, text string, change map[string]any) {
	payload := m.s.Payload(mallory, mallory, text)
	for k, v := range change {
		payload[k] = v
	}
	m.s.Inject(map[string]any{kind: payload})
}

// told waits for a text to a person.
func (m *meeting) told(who int64, want string) {
	m.Helper()
	m.await("to "+text(who)+": "+want, func() bool {
		return strings.Contains(strings.Join(m.s.Told(text(who)), "\n"), want)
	})
}

// The story: Ann gets a link from her own terminal, and somebody who has seen it wants to be the
// approver instead, or at least a nuisance. Whatever is not a person's own, new message with the
// whole code pairs nobody, and Ann's tap on Start, which sends "/start CODE", pairs her. The same
// link used once more pairs nobody.
func TestStartWithTheCodePairsOnce(t *testing.T) {
	for name, open := range map[string]func(Config) (*Channel, error){"alone": alone, "in the daemon": serving} {
		t.Run(name, func(t *testing.T) {
			m := meet(t, open, time.Minute)
			start := "/start " + m.code.Reveal()
			forwarded := map[string]any{"type": "user", "date": 1, "sender_user": map[string]any{"id": ann, "is_bot": false,
				"first_name": "Ann"}}
			for _, c := range []struct {
				name, kind, text string
				change           map[string]any
			}{
				{"a forwarded message", "message", start, map[string]any{"forward_origin": forwarded}},
				{"an edited message", "edited_message", start, map[string]any{"edit_date": 1}},
				{"a message that was edited", "message", start, map[string]any{"edit_date": 1}},
				{"a bot", "message", start, map[string]any{"from": map[string]any{"id": 555, "is_bot": true, "first_name": "x"}}},
				{"a message through a bot", "message", start, map[string]any{"via_bot": map[string]any{"id": 555,
					"is_bot": true, "first_name": "x"}}},
				{"an anonymous admin", "message", start, map[string]any{"sender_chat": map[string]any{"id": teamChat,
					"type": "supergroup"}}},
				{"a post of a channel", "channel_post", start, nil},
				{"an answered message with the code in it", "message", "/start", map[string]any{
					"reply_to_message": m.s.Payload(mallory, mallory, start)}},
				{"a caption", "message", "", map[string]any{"caption": start}},
				{"a wrong code", "message", "/start CONFIRM-AAAAAAAAAAAA", nil},
				{"a half code", "message", start[:len(start)-4], nil},
				{"two codes", "message", start + " CONFIRM-AAAAAAAAAAAA", nil},
				{"no code", "message", "/start", nil},
				{"for another bot", "message", "/start@other_bot " + m.code.Reveal(), nil},
			} {
				m.inject(c.kind, c.text, c.change)
				// Another message of the same person is handled behind it.
				n := m.c.Passed().Messages
				m.inject("message", "are you there?", nil)
				m.await(c.name, func() bool { return m.c.Passed().Messages > n })
				m.none(c.name)
			}
			if got := m.c.Passed().Codes; got < 1 {
				t.Errorf("%d wrong codes were counted", got)
			}
			for _, said := range m.s.Told(text(mallory)) {
				if strings.Contains(said, m.code.Reveal()) {
					t.Errorf("the bot tells the code: %s", said)
				}
			}
			m.s.Type(text(ann), text(ann), start)
			select {
			case who := <-m.found:
				if who.ID != text(ann) || who.Chat != text(ann) || who.Name != "Ann" {
					t.Errorf("paired %+v", who)
				}
			case <-time.After(15 * time.Second):
				t.Fatal("the link pairs nobody")
			}
			m.told(ann, pairing.PairedText)
			m.s.Type(text(mallory), text(mallory), start)
			m.told(mallory, pairing.NotPairedText)
			m.none("the used link")
		})
	}
}

// Expired is expired, also a moment later and by the link.
func TestStartWithAnExpiredCode(t *testing.T) {
	m := meet(t, alone, 300*time.Millisecond)
	time.Sleep(400 * time.Millisecond)
	m.s.Type(text(ann), text(ann), "/start "+m.code.Reveal())
	m.told(ann, pairing.NotPairedText)
	m.none("an expired code")
}

// In a group the link for groups sends "/start@bot CODE", and the group is the place.
func TestStartInAGroup(t *testing.T) {
	m := meet(t, alone, time.Minute)
	m.s.Type(text(ann), text(teamChat), "/start@"+telegramtest.BotName+" "+m.code.Reveal())
	if who := <-m.found; who.ID != text(ann) || who.Chat != text(teamChat) {
		t.Errorf("paired %+v", who)
	}
}

// The story: somebody finds the bot and taps Start. It says what it is and how to become an
// approver, once, and never a code; in a group it does not answer what may be for others.
func TestTheBotSaysWhatItIs(t *testing.T) {
	for name, open := range map[string]func(Config) (*Channel, error){"alone": alone, "in the daemon": serving} {
		t.Run(name, func(t *testing.T) {
			m := meet(t, open, time.Minute)
			m.s.Type(text(mallory), text(mallory), "/start")
			m.told(mallory, "I am the bot of approver")
			for who, at := range map[int64]string{mallory: text(mallory), bob: otherTxt} {
				for _, quiet := range []string{"hello", "/start"} {
					n := m.c.Passed().Messages
					m.s.Type(text(who), at, quiet)
					m.await(quiet, func() bool { return m.c.Passed().Messages > n })
					time.Sleep(100 * time.Millisecond) // for an answer that should not come
				}
			}
			m.s.Type(text(mallory), text(mallory), "/pair CONFIRM-AAAAAAAAAAAA")
			m.told(mallory, pairing.NotPairedText)
			all := m.s.Told(text(mallory))
			if len(all) != 2 || strings.Contains(strings.Join(all, " "), m.code.Reveal()) {
				t.Errorf("it says %q", all)
			}
			if said := m.s.Told(text(bob)); len(said) != 0 {
				t.Errorf("it answers in a group: %q", said)
			}
			if name == "in the daemon" {
				m.s.AddChat(telegramtest.Chat{ID: bob})
				m.s.Type(text(bob), text(bob), "hello")
				m.told(bob, "this chat gets none")
			}
		})
	}
}

// Who uses the pairing's link again as an approver is told so, and it is no answer to a card.
func TestTheLinkIsNoAnswer(t *testing.T) {
	m := meet(t, serving, time.Minute)
	m.s.Type(text(ann), text(ann), "/start CONFIRM-7KQ4MX")
	m.told(ann, pairing.NotPairedText)
}

// The story: approver serve runs on another machine with the same bot, and somebody pairs here.
// Each would take the other's updates for ever; so pairing ends, and says where to do it.
func TestPairingLeavesABotThatIsTaken(t *testing.T) {
	m := meet(t, alone, time.Minute)
	m.s.FailNext("getUpdates", telegramtest.APIError{Code: 409,
		Description: "Conflict: terminated by other getUpdates request"})
	m.s.Type(text(ann), text(ann), "hello")
	select {
	case err := <-m.ended:
		if err == nil || !strings.Contains(err.Error(), "another program receives for this bot") {
			t.Errorf("it ends with %v", err)
		}
		m.ended <- nil
	case <-time.After(15 * time.Second):
		t.Error("it fights on")
	}
}

// What is shown at the terminal opens the bot and carries the code.
func TestIntroduce(t *testing.T) {
	m := meet(t, alone, time.Minute)
	bot, err := m.c.Introduce(t.Context(), m.code)
	if err != nil || bot.Name != "@"+telegramtest.BotName ||
		bot.Steps[0].Link != "https://t.me/"+telegramtest.BotName+"?start="+m.code.Reveal() ||
		bot.Steps[1].Link != "https://t.me/"+telegramtest.BotName+"?startgroup="+m.code.Reveal() {
		t.Errorf("%+v, %v", bot, err)
	}
	m.s.Break(fake.Malformed)
	if _, err := m.c.Introduce(t.Context(), m.code); err == nil {
		t.Error("a broken platform is introduced")
	}
}

// What the bot says at the end of pairing is text, with its commands as code.
func TestTheGreetingIsText(t *testing.T) {
	m := meet(t, alone, time.Minute)
	if err := m.c.Tell(t.Context(), approver.Paired{ID: text(ann), Chat: text(ann)},
		"You are paired, Ann.\n\nSilence is a no. /help says what works."); err != nil {
		t.Fatal(err)
	}
	all := m.s.Messages(ann)
	said := all[len(all)-1]
	if len(said.Entities) != 1 || said.Entities[0].Type != "code" || said.Entities[0].Length != len("/help") {
		t.Errorf("it says %q with %+v", said.Text, said.Entities)
	}
}
