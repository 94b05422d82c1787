package discord

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"approver.example"
	"approver.example/channels/discord/discordtest"
)

// update is the flag that writes the matrix anew.
var update = flag.Bool("update", false, "rewrite the golden file")

// A seat is a kind of person at a place.
type seat struct{ kind, place string }

const (
	cardsChannel = "the card's channel"
	takenOut     = "a channel taken out"
	inDirect     = "direct messages"
)

var seats = []seat{
	{"approver", cardsChannel}, {"approver", takenOut}, {"approver", inDirect}, {"member", cardsChannel},
	{"member", inDirect},
}

// A try is one person's attempt at one place.
type try struct {
	*bench
	seat
	channel string
	user    string
	card    approver.Card
	message string
}

// A way is one way in.
type way struct {
	name string
	send func(t try)
}

// press is a press of the button of an action on the card, changed by change.
func (t try) press(action string, change func(e event)) {
	t.s.SendPress(t.user, t.channel, t.message, discordtest.CustomID(t.card.Request, action), 1, func(e event) {
		e["message"] = t.shown()
		if change != nil {
			change(e)
		}
		delete(e, "member")
		delete(e, "user")
		user := event{"id": t.user, "username": "p"}
		if t.place == inDirect {
			e["user"] = user
		} else {
			e["member"] = event{"user": user}
		}
	})
}

// shown is the card as Discord copies it into events.
func (t try) shown() event {
	return event{"id": t.message, "channel_id": t.channel, "author": event{"id": t.s.Bot(), "bot": true},
		"content": t.card.Push, "embeds": []event{{"description": "git push"}},
		"components": []event{{"type": 1, "components": []event{
			{"type": 2, "style": 3, "label": "Approve", "custom_id": discordtest.CustomID(t.card.Request, "o")}}}}}
}

// dialog is the submitted dialog of an action.
func (t try) dialog(action, field, text string) {
	t.press(action, func(e event) {
		e["type"] = 5
		e["data"] = event{"custom_id": discordtest.CustomID(t.card.Request, action), "components": []event{
			{"type": 1, "components": []event{{"type": 4, "custom_id": field, "value": text}}}}}
	})
}

// command is a registered command with its options, each a name and a text.
func (t try) command(name string, options ...string) {
	t.press("", func(e event) {
		delete(e, "message")
		e["type"] = 2
		sent := []event{}
		for i := 0; i < len(options); i += 2 {
			sent = append(sent, event{"type": 3, "name": options[i], "value": options[i+1]})
		}
		e["data"] = event{"id": t.s.Bot(), "name": name, "type": 1, "options": sent}
	})
}

// reply is a message that replies to the card, and mentions the bot.
func (t try) reply(text string) {
	t.s.SendMessage(t.user, t.channel, text, 1, func(e event) {
		e["type"] = 19
		e["message_reference"] = event{"message_id": t.message, "channel_id": t.channel}
		e["referenced_message"] = t.shown()
	})
}

func (t try) code() string { return t.card.Code.Reveal() }

// ways are one of each kind that counts, and the dialogs that are sent although none was opened. What is forged is
// in identity_test.go.
var ways = []way{
	{"Approve once", func(t try) { t.press("o", nil) }},
	{"dialog: the code", func(t try) { t.dialog("c", "code", t.code()) }},
	{"dialog: a reason", func(t try) { t.dialog("r", "why", "use a branch") }},
	{"dialog: the command", func(t try) { t.dialog("e", "edit", "ls") }},
	{"/approve for session", func(t try) { t.command("approve", "code", t.code(), "for", "session") }},
	{"/freeze", func(t try) { t.command("freeze") }},
	{"reply: the code", func(t try) { t.reply(t.code()) }},
	{"reply: yes", func(t try) { t.reply("yes") }},
	{"reply: no, with a reason", func(t try) { t.reply("no, use a branch") }},
	{"reply: talk", func(t try) { t.reply("what is this?") }},
}

// Who gets through where cards are is in channels/channeltest. Here are the places of Discord and its
// settings. "yes" and "no" went to the core; the rest is what the person was told; "–" is silence.
func TestMatrix(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	out.WriteString("Who gets through on Discord: what reaches the core, or what the person is told; – is silence.\n")
	for _, texts := range []bool{false, true} {
		all := ways
		if texts {
			all = slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return !strings.HasPrefix(w.name, "reply") })
		}
		cells := runMatrix(t, all, texts)
		fmt.Fprintf(&out, "\n== text_approvals: %v ==\n", texts)
		for _, at := range seats {
			fmt.Fprintf(&out, "\n%s, %s\n", at.kind, at.place)
			for _, w := range all {
				got := cells[w.name+at.kind+at.place]
				out.WriteString("  " + w.name + strings.Repeat(" ", 28-utf8.RuneCountInString(w.name)) + got + "\n")
				if counts := strings.Contains(got, " by ") || strings.Contains(got, "asks: "); counts &&
					(at.kind != "approver" || at.place == takenOut && w.name != "/freeze") {
					t.Errorf("%s by a %s in %s reached the core: %s", w.name, at.kind, at.place, got)
				}
			}
		}
	}
	t.Log("\n" + out.String())
	file := filepath.Join("testdata", "matrix.golden")
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if out.String() != string(want) {
		t.Error("it is not as in " + file + " (go test -update writes it)")
	}
}

// runMatrix makes each try with a person of its own, and says what became of it.
func runMatrix(t *testing.T, all []way, texts bool) map[string]string {
	var tries []try
	var names []string
	b := newBench(t, func(b *bench) {
		b.cfg.TextApprovals, b.s.MessageContent = texts, texts
		out := b.s.AddChannel()
		for _, w := range all {
			for _, at := range seats {
				one := try{seat: at, user: b.s.AddUser("p"), card: high()}
				direct := b.s.AddDirect(one.user)
				one.channel = map[string]string{cardsChannel: b.here, takenOut: out, inDirect: direct}[at.place]
				one.message = direct // any id that is nobody else's
				if at.kind == "approver" {
					b.cfg.Approvers = append(b.cfg.Approvers, approver.Approver{ID: one.user})
					b.cfg.Channels = append(b.cfg.Channels, direct)
				}
				tries, names = append(tries, one), append(names, w.name+at.kind+at.place)
			}
		}
	})
	b.run(func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "noted"}
	})
	b.until("the connection", func() bool { return !b.c.Reception().Good.IsZero() })
	for i, one := range tries {
		one.bench = b
		all[i/len(seats)].send(one)
		// so that refusals do not crowd each other out; all is read once more at the end
		for end := time.Now().Add(200 * time.Millisecond); b.became(one) == "–" && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	b.nothing("the end")
	time.Sleep(300 * time.Millisecond)
	cells := map[string]string{}
	for i, one := range tries {
		cells[names[i]] = b.became(one)
	}
	return cells
}

// became is what became of a try.
func (b *bench) became(one try) string {
	var parts []string
	for _, r := range b.got() {
		if r.Sender != one.user {
			continue
		}
		word := map[bool]string{true: "yes", false: "no"}[r.Approve]
		switch {
		case r.Want != approver.WantAnswer:
			word = "asks: " + r.Want.String()
		default:
			word += " by " + r.Method.String()
		}
		if r.Grant != (approver.Term{}) {
			word += ", " + r.Grant.String()
		}
		if r.Reason != "" {
			word += ", reason"
		}
		if r.Request != "" && r.Request != one.card.Request || r.Code.IsZero() && r.Request == "" && r.Want == 0 {
			word += " OF ANOTHER REQUEST"
		}
		parts = append(parts, word)
	}
	for _, text := range b.s.Told(one.user) {
		switch {
		case text == "noted":
		case strings.HasPrefix(text, "You are not on the approver list"):
			parts = append(parts, "not on the list")
		case strings.HasPrefix(text, "I am the bot of approver"):
			parts = append(parts, "told who the bot is")
		case strings.HasPrefix(text, "This is not a channel"):
			parts = append(parts, "not a place for it")
		case strings.HasPrefix(text, "This chat gets no cards"):
			parts = append(parts, "it leaked")
		case strings.HasPrefix(text, "A typed message cannot approve"):
			parts = append(parts, "press the button")
		case strings.HasPrefix(text, "approver shows its questions"):
			parts = append(parts, "told what works")
		default:
			parts = append(parts, text)
		}
	}
	if n := b.s.Dialogs(one.user); n > 0 {
		parts = append(parts, "a dialog opens")
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, "; ")
}
