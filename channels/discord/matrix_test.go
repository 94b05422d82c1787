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

// Kinds of people. A stranger is not even a member of the server. Bots and webhooks have an approver's id,
// and write direct messages too: events that only a broken Discord could send. Who was an approver once is
// not on the list of the configuration that runs.
var kinds = []string{"approver", "member", "stranger", "bot", "webhook", "ex-approver"}

var places = []string{"the card's channel", "a channel taken out", "direct messages"}

// A try is one person's attempt at one place.
type try struct {
	*bench
	kind, place, channel string
	user                 string
	card                 approver.Card
	message              string
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
		user := event{"id": t.user, "username": "p"}
		switch t.kind {
		case "bot":
			user["bot"] = true
		case "webhook":
			user = nil
		}
		delete(e, "member")
		delete(e, "user")
		switch {
		case user == nil:
		case t.place == "direct messages" || t.kind == "stranger": // a stranger is no member
			e["user"] = user
		default:
			e["member"] = event{"user": user}
		}
	})
}

// shown is the card as Discord copies it into events.
func (t try) shown() event {
	return event{"id": t.message, "channel_id": t.channel, "author": event{"id": t.s.Bot(), "bot": true},
		"content": t.card.Push, "components": []event{{"type": 1, "components": []event{
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
		switch t.kind {
		case "bot":
			e["author"].(event)["bot"] = true
		case "webhook":
			e["webhook_id"] = t.s.Guild()
		case "stranger":
			delete(e, "member")
		}
	})
}

func (t try) code() string { return t.card.Code.Reveal() }

var ways = []way{
	{"Approve once", func(t try) { t.press("o", nil) }},
	{"15 min", func(t try) { t.press("m", nil) }},
	{"Session", func(t try) { t.press("s", nil) }},
	{"Deny", func(t try) { t.press("d", nil) }},
	{"Not mine", func(t try) { t.press("x", nil) }},
	{"+10 min", func(t try) { t.press("t", nil) }},
	{"Details", func(t try) { t.press("i", nil) }},
	{"Enter code…", func(t try) { t.press("c", nil) }},
	{"Deny, say why…", func(t try) { t.press("r", nil) }},
	{"dialog: the code", func(t try) { t.dialog("c", "code", t.code()) }},
	{"dialog: a reason", func(t try) { t.dialog("r", "why", "use a branch") }},
	{"Edit…", func(t try) { t.press("e", nil) }},
	{"dialog: the command", func(t try) { t.dialog("e", "edit", "ls") }},
	{"forged: no action of ours", func(t try) { t.press("z", nil) }},
	{"forged: another bot's card", func(t try) {
		t.press("o", func(e event) { e["message"].(event)["author"].(event)["id"] = t.s.Guild() })
	}},
	{"forged: another channel's", func(t try) {
		t.press("o", func(e event) { e["message"].(event)["channel_id"] = t.there })
	}},
	{"forged: a dialog approves", func(t try) { t.dialog("o", "code", t.code()) }},
	{"/approve", func(t try) { t.command("approve", "code", t.code()) }},
	{"/approve for session", func(t try) { t.command("approve", "code", t.code(), "for", "session") }},
	{"/deny with a reason", func(t try) { t.command("deny", "code", t.code(), "reason", "use a branch") }},
	{"/pending", func(t try) { t.command("pending") }},
	{"/freeze", func(t try) { t.command("freeze") }},
	{"reply: the code", func(t try) { t.reply(t.code()) }},
	{"reply: yes", func(t try) { t.reply("yes") }},
	{"reply: no", func(t try) { t.reply("no") }},
	{"reply: no, with a reason", func(t try) { t.reply("no, use a branch") }},
	{"reply: talk", func(t try) { t.reply("what is this?") }},
}

// The matrix: every way in, by every kind of person, at every place. "yes" and "no" went to the core; the
// rest is what the person was told; "–" is silence.
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
		for _, place := range places {
			fmt.Fprintf(&out, "\n== %s, text_approvals: %v ==\n%s", place, texts, row("", kinds))
			for _, w := range all {
				line := []string{}
				for _, kind := range kinds {
					line = append(line, cells[w.name+place+kind])
				}
				out.WriteString(row(w.name, line))
				for i, got := range line {
					if counts := strings.Contains(got, " by ") || strings.Contains(got, "asks: "); counts &&
						(kinds[i] != "approver" || place == places[1] && w.name != "/freeze") {
						t.Errorf("%s by a %s in %s reached the core: %s", w.name, kinds[i], place, got)
					}
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

func row(name string, cells []string) string {
	line := pad(name, 28)
	for _, c := range cells {
		line += pad(c, 24)
	}
	return strings.TrimRight(line, " ") + "\n"
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 1)) }

// runMatrix makes each try with a person of its own, and says what became of it.
func runMatrix(t *testing.T, all []way, texts bool) map[string]string {
	var tries []try
	var names []string
	b := newBench(t, func(b *bench) {
		b.cfg.TextApprovals, b.s.MessageContent = texts, texts
		out := b.s.AddChannel()
		for _, w := range all {
			for _, place := range places {
				for _, kind := range kinds {
					one := try{kind: kind, place: place, user: b.s.AddUser("p"), card: high()}
					direct := b.s.AddDirect(one.user)
					one.channel = map[string]string{places[0]: b.here, places[1]: out, places[2]: direct}[place]
					one.message = direct                                          // any id that is nobody else's
					if kind == "approver" || kind == "bot" || kind == "webhook" { // the latter two use an approver's id
						b.cfg.Approvers = append(b.cfg.Approvers, approver.Approver{ID: one.user})
						b.cfg.Channels = append(b.cfg.Channels, direct)
					}
					tries, names = append(tries, one), append(names, w.name+place+kind)
				}
			}
		}
	})
	b.run(func(_ context.Context, r approver.Reply) approver.Outcome {
		return approver.Outcome{Kind: approver.OutcomeRecorded, Text: "noted"}
	})
	b.until("the connection", func() bool { return !b.c.Reception().Good.IsZero() })
	per := len(kinds) * len(places)
	for i, one := range tries {
		one.bench = b
		all[i/per].send(one)
		for end := time.Now().Add(one.patience()); b.became(one) == "–" && time.Now().Before(end); {
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

// patience is how long to wait for a word, so that refusals do not crowd each other out. All is read once
// more at the end.
func (t try) patience() time.Duration {
	if t.kind == "bot" || t.kind == "webhook" || t.kind == "stranger" && t.place != "direct messages" {
		return 5 * time.Millisecond
	}
	return 200 * time.Millisecond
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
		case strings.HasPrefix(text, "This button or command"):
			parts = append(parts, "unknown button")
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
