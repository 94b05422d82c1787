package telegram

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/tokens"
)

var rewrite = flag.Bool("update", false, "write the golden files anew")

// ids of people that only the matrix has.
const (
	carl   int64 = 10044     // was an approver once; his private chat still gets cards
	robot  int64 = 555000555 // a bot whose id somebody put on the list
	double int64 = 10045     // calls themselves what an approver does
	eve    int64 = 77777     // never seen before
)

// A cell is one attempt of somebody somewhere: what makes it recognizable.
type cell struct {
	user    map[string]any
	chat    map[string]any
	thread  int
	request uuid.UUID
	code    tokens.Code
	message int
}

// A wayIn is a way in which somebody may try to answer; update is what Telegram sends the bot then.
type wayIn struct {
	name   string
	update func(b *bench, c cell) map[string]any
}

// waysIn are all of them: the buttons, the texts, and what is no act of a person here and now.
func waysIn() []wayIn {
	text := func(format string) func(*bench, cell) map[string]any {
		return func(_ *bench, c cell) map[string]any { return c.says(format, nil) }
	}
	reply := func(format string) func(*bench, cell) map[string]any {
		return func(_ *bench, c cell) map[string]any {
			return c.says(format, map[string]any{"reply_to_message": c.card(cards.Deny)})
		}
	}
	tap := func(action cards.Action) func(*bench, cell) map[string]any {
		return func(b *bench, c cell) map[string]any { return c.taps(b, c.card(action), action) }
	}
	question := func(edits bool) func(*bench, cell) map[string]any {
		return func(b *bench, c cell) map[string]any {
			b.c.asked.add(place{c.chat["id"].(int64), c.thread}, c.message,
				why{person: ann, request: c.request.String(), card: c.message, edits: edits})
			question := c.message0(map[string]any{"text": "Ann, why not?", "from": botUser, "entities": []any{map[string]any{
				"type": "text_mention", "offset": 0, "length": 3, "user": map[string]any{"id": ann, "first_name": "Ann"}}}})
			return c.says("not today", map[string]any{"reply_to_message": question})
		}
	}
	return append([]wayIn{
		{"tap Approve once", tap(cards.Approve)},
		{"tap 15 min", tap(cards.ApproveFor)},
		{"tap Session", tap(cards.ApproveSession)},
		{"tap a choice", tap(cards.Choose(1))},
		{"tap Deny", tap(cards.Deny)},
		{"tap Details", tap(cards.Details)},
		{"tap +10 min", tap(cards.MoreTime)},
		{"tap Not mine", tap(cards.Disown)},
		{"tap Deny, say why…", tap(cards.DenyWhy)},
		{"the reply to that question", question(false)},
		{"tap Edit…", tap(cards.Edit)},
		{"the command as a reply to that", question(true)},
		{"tap with made-up data", func(b *bench, c cell) map[string]any {
			other := c
			other.request = uuid.Nil
			return c.taps(b, other.card(cards.Deny), cards.Approve)
		}},
		{"/approve CODE", text("/approve CODE")},
		{"/deny CODE reason", text("/deny CODE reason")},
		{"the code", text("CODE")},
		{"the code as a reply to the card", reply("CODE")},
		{"yes as a reply to the card", reply("yes")},
		{"no as a reply to the card", reply("no")},
		{"no and a reason as a reply", reply("no, use a branch instead")},
		{"/pending", text("/pending")},
	}, waysOfNobody()...)
}

// waysOfNobody are those that must never count, whoever seems to be behind them.
func waysOfNobody() []wayIn {
	altered := func(more map[string]any) func(*bench, cell) map[string]any {
		return func(_ *bench, c cell) map[string]any { return c.says("/approve CODE", more) }
	}
	return []wayIn{
		{"/approve CODE, forwarded", altered(map[string]any{"forward_origin": map[string]any{"type": "hidden_user",
			"date": 1, "sender_user_name": "Ann"}})},
		{"/approve CODE, edited into a message", func(_ *bench, c cell) map[string]any {
			return map[string]any{"edited_message": c.says("/approve CODE", map[string]any{"edit_date": 9})["message"]}
		}},
		{"/approve CODE, through another bot", altered(map[string]any{"via_bot": map[string]any{"id": 9, "is_bot": true,
			"first_name": "x"}})},
		{"/approve CODE, scheduled", altered(map[string]any{"is_from_offline": true})},
		{"/approve CODE, below a picture", func(_ *bench, c cell) map[string]any {
			u := c.says("", nil)
			u["message"].(map[string]any)["caption"] = c.text("/approve CODE")
			return u
		}},
		{"/approve CODE, as an anonymous admin", func(_ *bench, c cell) map[string]any {
			return c.says("/approve CODE", map[string]any{"sender_chat": c.chat})
		}},
		{"/approve CODE, as a channel", func(_ *bench, c cell) map[string]any {
			return map[string]any{"channel_post": c.says("/approve CODE", nil)["message"]}
		}},
		{"tap on another bot's message", func(b *bench, c cell) map[string]any {
			card := c.card(cards.Approve)
			card["from"] = map[string]any{"id": 778, "is_bot": true, "first_name": "x"}
			return c.taps(b, card, cards.Approve)
		}},
		{"tap on a message of their own", func(b *bench, c cell) map[string]any {
			card := c.card(cards.Approve)
			card["from"] = c.user
			return c.taps(b, card, cards.Approve)
		}},
	}
}

var botUser = map[string]any{"id": telegramtest.BotID, "is_bot": true, "first_name": "approver"}

func (c cell) text(format string) string { return strings.ReplaceAll(format, "CODE", c.code.Reveal()) }

func (c cell) message0(more map[string]any) map[string]any {
	m := map[string]any{"message_id": c.message, "date": time.Now().Unix(), "chat": c.chat, "from": c.user}
	if c.thread != 0 {
		m["message_thread_id"], m["is_topic_message"] = c.thread, true
	}
	maps.Copy(m, more)
	return m
}

func (c cell) says(format string, more map[string]any) map[string]any {
	m := c.message0(map[string]any{"text": c.text(format)})
	maps.Copy(m, more)
	return map[string]any{"message": m}
}

// card is a card of the bot with one button.
func (c cell) card(action cards.Action) map[string]any {
	return c.message0(map[string]any{"from": botUser, "text": "card", "reply_markup": map[string]any{
		"inline_keyboard": [][]any{{map[string]any{"text": "x", "callback_data": cards.ButtonData(c.request, action, 0)}}}}})
}

func (c cell) taps(b *bench, card map[string]any, action cards.Action) map[string]any {
	return map[string]any{"callback_query": map[string]any{"id": b.s.NewQuery(c.user["id"].(int64)), "from": c.user,
		"message": card, "chat_instance": "1", "data": cards.ButtonData(c.request, action, 0)}}
}

// mine reports whether a reply came of this cell.
func (c cell) mine(r approver.Reply) bool {
	return r.Request == c.request.String() || r.Code.Equal(c.code) && !c.code.IsZero() ||
		r.Want == approver.WantPending && r.Sender == fmt.Sprint(c.user["id"])
}

// said is how the table shows a reply.
func said(r approver.Reply) string {
	switch {
	case r.Want != approver.WantAnswer:
		return r.Want.String()
	case r.Approve && r.Grant.Lasts():
		return "yes, for longer"
	case r.Approve && r.Choice > 0:
		return "yes, and more"
	case r.Approve:
		return "yes"
	case r.Reason != "":
		return "no, because"
	}
	return "no"
}

type someone struct {
	name string
	user map[string]any
}

func person(id int64, name string, isBot bool) map[string]any {
	return map[string]any{"id": id, "is_bot": isBot, "first_name": name, "username": strings.ToLower(name)}
}

func kindsOfPeople() []someone {
	return []someone{
		{"approver", person(ann, "Ann", false)},
		{"member", person(mallory, "Mallory", false)},
		{"stranger", person(eve, "Eve", false)},
		{"bot on the list", person(robot, "Robot", true)},
		{"same name", person(double, "Ann", false)},
		{"ex-approver", person(carl, "Carl", false)},
	}
}

// Bug classes A1 to A6 of approval systems: some way in had no check, or another one. The matrix has every
// way in, of every kind of person, in every kind of place. The golden file says what becomes a reply: only
// what the approver does, where cards are, by an act of their own. Whether made-up data fit the card is for
// the core to check.
func TestWhoIsHeard(t *testing.T) {
	b := idle(t)
	cfg := testConfig(b.s)
	cfg.Approvers = append(cfg.Approvers, approver.Approver{ID: text(robot)})
	cfg.Chats = append(cfg.Chats, Chat{ID: text(carl)})
	c := newChannel(t, cfg)
	c.pace = quickPace()
	b.c = c
	b.run()
	ways, people := waysIn(), kindsOfPeople()
	var table strings.Builder
	for _, at := range []struct {
		name         string
		chat, thread int64
	}{
		{"in a chat that gets cards", teamChat, 0}, {"in a topic that gets cards", teamChat, topic},
		{"in another topic of that group", teamChat, 8}, {"in another chat", -1005555555555, 0},
		{"in their own private chat with the bot", 0, 0},
	} {
		rows := make([][]string, len(ways))
		for _, who := range people {
			for i, got := range b.tryAll(ways, who, at.chat, int(at.thread)) {
				rows[i] = append(rows[i], got)
				allowed := who.name == "approver" && i < len(ways)-len(waysOfNobody()) && at.thread != 8 &&
					at.chat != -1005555555555
				if (got != "") != allowed {
					t.Errorf("%s: %s of the %s gave %q", at.name, ways[i].name, who.name, got)
				}
			}
		}
		writeTable(&table, at.name, ways, people, rows)
	}
	t.Log("\n" + table.String())
	file := filepath.Join("testdata", "who-is-heard.golden")
	if *rewrite {
		if err := os.WriteFile(file, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if table.String() != string(want) {
		t.Errorf("%s says otherwise: run go test -run TestWhoIsHeard -update and read it", file)
	}
}

// tryAll makes one person try every way in at a place, and returns what became of each.
func (b *bench) tryAll(ways []wayIn, who someone, chat int64, thread int) []string {
	b.Helper()
	if chat == 0 {
		chat = who.user["id"].(int64)
	}
	kind := map[bool]string{true: "private", false: "supergroup"}[chat > 0]
	cells := make([]cell, len(ways))
	before := len(b.got())
	for i, way := range ways {
		cells[i] = cell{user: who.user, chat: map[string]any{"id": chat, "type": kind}, thread: thread,
			request: uuid.Must(uuid.NewV7()), code: mint(b.T), message: 500_000 + len(ways)*before + i}
		b.s.Inject(way.update(b, cells[i]))
	}
	b.settled()
	out := make([]string, len(ways))
	for i, c := range cells {
		var got []string
		for _, r := range b.got()[before:] {
			if c.mine(r) && (r.Want == approver.WantPending) == (ways[i].name == "/pending") {
				got = append(got, said(r))
			}
		}
		if b.wasAsked(c) {
			got = append(got, "asked for it")
		}
		out[i] = strings.Join(got, " + ")
	}
	return out
}

// wasAsked reports whether the bot asked somebody for the reason of a no to the request of a cell.
func (b *bench) wasAsked(c cell) bool {
	b.c.asked.mu.Lock()
	defer b.c.asked.mu.Unlock()
	for key, w := range b.c.asked.of {
		if w.request == c.request.String() && key.message != c.message {
			return true
		}
	}
	return false
}

func writeTable(b *strings.Builder, title string, ways []wayIn, people []someone, rows [][]string) {
	fmt.Fprintf(b, "%s\n\n%-38s", title, "")
	for _, who := range people {
		fmt.Fprintf(b, "| %-15s ", who.name)
	}
	b.WriteString("|\n")
	for i, way := range ways {
		fmt.Fprintf(b, "%-38s", way.name)
		for _, got := range rows[i] {
			if got == "" {
				got = "-"
			}
			fmt.Fprintf(b, "| %-15s ", got)
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
}
