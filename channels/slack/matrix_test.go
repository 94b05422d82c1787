package slack_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/tokens"
)

var rewrite = flag.Bool("update", false, "write the golden files anew")

const (
	otherTeam = "T0OTHER123"
	quiet     = "C0QUIET123" // has cards of ours from before, and gets none now
)

// A cell is one attempt of somebody somewhere; each has a person and a card of its own.
type cell struct {
	b             *bench
	way           wayIn
	kind, user    string
	place         string
	request, card string
	code          string
}

// A wayIn is a way in which somebody may try to answer.
type wayIn struct {
	name string
	send func(cell)
	// never says that it must not count, whoever does it, and anywhere that it counts without a card.
	never, anywhere bool
}

// team is the workspace that an event names. A stranger's comes from another one.
func (c cell) team() string {
	if c.kind == "stranger" {
		return otherTeam
	}
	return slacktest.Team
}

func (c cell) text(s string) string { return strings.ReplaceAll(s, "CODE", c.code) }

func (c cell) who(p object) object {
	p["team"] = object{"id": c.team()}
	u := with(p["user"], "is_bot", c.kind == "bot on the list")
	if c.kind == "stranger" {
		u["team_id"] = otherTeam
	}
	p["user"] = u
	return p
}

func (c cell) press(action string, change ...func(object)) {
	p := c.who(c.b.fake.ButtonPayload(c.user, c.place, c.card, "ap:"+c.request+":1", c.request, action))
	for _, f := range change {
		f(p)
	}
	c.b.fake.Deliver("interactive", p)
}

func (c cell) submit(modal, input, text string) {
	where, err := json.Marshal(map[string]string{"r": c.request, "c": c.place, "m": c.card})
	if err != nil {
		c.b.t.Fatal(err)
	}
	p := c.who(c.b.fake.ButtonPayload(c.user, c.place, c.card, "", "", ""))
	delete(p, "container")
	p["type"] = "view_submission"
	p["view"] = object{"callback_id": modal, "private_metadata": string(where), "state": object{"values": object{
		input: object{input: object{"type": "plain_text_input", "value": c.text(text)}}}}}
	c.b.fake.DeliverSubmission(c.user, p)
}

func (c cell) command(name, text string) {
	if c.kind == "bot on the list" {
		return // Slack gives bots no commands
	}
	p := c.b.fake.CommandPayload(c.user, c.place, name, c.text(text))
	p["team_id"] = c.team()
	if c.kind == "outsider on the list" {
		p["team_id"] = otherTeam
	}
	c.b.fake.DeliverCommand(c.user, p)
}

func (c cell) say(thread, text string, change ...func(event object)) {
	p := c.b.fake.MessagePayload(c.user, c.place, thread, c.text(text))
	p["team_id"] = c.team()
	for _, f := range change {
		f(p["event"].(object))
	}
	c.b.fake.Deliver("events_api", p)
}

// waysIn are all ways: the buttons, the dialogs, the commands, the texts, and what is no act of a person.
func waysIn() []wayIn {
	button := func(name, action string) wayIn {
		return wayIn{name: "press " + name, send: func(c cell) { c.press(action) }}
	}
	command := func(name, text string) wayIn {
		return wayIn{name: name + " " + text, send: func(c cell) { c.command(name, text) }}
	}
	thread := func(text string) wayIn {
		return wayIn{name: "in the thread: " + text, send: func(c cell) { c.say(c.card, text) }}
	}
	ways := []wayIn{
		button("Approve once", "approve"), button("15 min", "quarter"), button("Session", "session"),
		button("a choice", "choice1"), button("Deny", "deny"), button("Details", "details"), button("+10 min", "time"),
		button("Not mine", "disown"), button("Enter code…", "code"), button("Deny, say why…", "why"),
		{name: "dialog: the code", send: func(c cell) { c.submit("ap:code", "code", "CODE") }},
		{name: "dialog: the reason", send: func(c cell) { c.submit("ap:why", "why", "use a branch") }},
		command("/approve", "CODE"), command("/approve", "CODE session"), command("/deny", "CODE use a branch"),
		command("/approve", "pending"),
		thread("CODE"), thread("yes"), thread("no"), thread("no, use a branch instead"), thread("no CODE"),
		thread("what is this?"),
		{name: "beside it: no CODE", send: func(c cell) { c.say("", "no CODE") }},
		{name: "beside it: no", send: func(c cell) { c.say("", "no") }, never: true},
		{name: "the app's Home", anywhere: true, send: func(c cell) {
			if c.kind == "bot on the list" {
				return // a bot opens nothing
			}
			p := c.b.fake.HomePayload(c.user)
			if p["team_id"] = c.team(); c.kind == "outsider on the list" {
				p["team_id"] = otherTeam
			}
			c.b.fake.Deliver("events_api", p)
		}},
		button("Edit…", "edit"),
		{name: "dialog: the command", send: func(c cell) { c.submit("ap:edit", "edit", "ls") }},
	}
	ways[15].anywhere, ways[21].never = true, true
	return append(ways, waysOfNobody()...)
}

// waysOfNobody must never count, whoever seems to be behind them.
func waysOfNobody() []wayIn {
	message := func(change func(object)) func(cell) {
		return func(c cell) { c.say(c.card, "no CODE", change) }
	}
	press := func(change func(object)) func(cell) {
		return func(c cell) { c.press("approve", change) }
	}
	field := func(name string, v any) func(object) { return func(p object) { p[name] = v } }
	inMessage := func(name string, v any) func(object) {
		return func(p object) {
			raw, err := json.Marshal(p["message"])
			m := object{}
			if err == nil && json.Unmarshal(raw, &m) == nil {
				m[name] = v
			}
			p["message"] = m
		}
	}
	return []wayIn{
		{name: "press on another bot's copy", never: true, send: press(inMessage("bot_id", "B0EVIL1234"))},
		{name: "press on a person's copy", never: true, send: press(inMessage("bot_id", ""))},
		{name: "press of another app", never: true, send: press(field("api_app_id", "A0EVIL1234"))},
		{name: "press with another request", never: true, send: func(c cell) {
			c.press("approve", field("actions", []object{{"type": "button", "action_id": "approve",
				"block_id": "ap:" + c.request + ":1", "value": uuid.Nil.String()}}))
		}},
		{name: "press of a made-up button", never: true, send: func(c cell) { c.press("approve_all") }},
		{name: "a message edited into a no", never: true, send: message(field("subtype", "message_changed"))},
		{name: "a message by a workflow", never: true, send: message(field("workflow_id", "Wf1"))},
		{name: "a message with a made-up name", never: true, send: message(field("username", "ann"))},
	}
}

func kinds() []string {
	return []string{"approver", "member", "stranger", "bot on the list", "outsider on the list", "ex-approver"}
}

// became says what became of an attempt: the reply, or what the person was told instead.
func (c cell) became() string {
	var got []string
	for _, r := range c.b.got() {
		if r.Sender == c.user {
			got = append(got, said(r))
		}
	}
	if c.b.fake.Dialog(c.user) != "" {
		got = append(got, "opens the dialog")
	}
	if len(got) > 0 {
		return strings.Join(got, " + ")
	}
	told := strings.Join(append(c.b.fake.Told(c.user), c.b.fake.Home(c.user)), "\n")
	for part, tag := range map[string]string{"on the approver list": "told: not listed", "count only in": "told: not here",
		"cannot approve": "told: not by text", "did not understand": "told: how to", "which card": "told: which card",
		"no card of approver": "told: no card", "older version": "told: old button", "can read the code": "told: it leaked",
	} {
		if strings.Contains(told, part) {
			return tag
		}
	}
	return "-" + strings.TrimSpace(told)
}

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

// Bug classes A1 to A6 of approval systems: some way in had no check, or another one, or asked for a name.
// The matrix has every way in, of every kind of person, in every kind of place. The golden file says what
// became of each: only what an approver of our own workspace does by an act of their own is a reply. Whether
// it fits the card is for the core to check.
func TestWhoIsHeard(t *testing.T) {
	var table strings.Builder
	for _, at := range []struct {
		title, id string
		texts     bool
	}{
		{"In a conversation that gets cards", here, false},
		{"In a conversation that gets cards, with text_approvals: true", here, true},
		{"In a conversation that got cards before", quiet, false},
		{"In a direct message to the app, which gets no cards", direct, false},
	} {
		ways := waysIn()
		if at.texts {
			ways = slices.DeleteFunc(ways, func(w wayIn) bool { return !strings.HasPrefix(w.name, "in the thread") })
		}
		cells := attempts(t, ways, at.id, at.texts)
		table.WriteString(settled(at.title, cells))
		for _, c := range slices.Concat(cells...) {
			got := c.became()
			may := c.kind == "approver" && !c.way.never && (at.id == here || c.way.anywhere)
			if heard := !strings.HasPrefix(got, "told:") && !strings.HasPrefix(got, "-"); heard && !may {
				t.Errorf("%s: %s of the %s became %q", at.title, c.way.name, c.kind, got)
			}
		}
	}
	t.Log("\n" + table.String())
	golden(t, table.String())
}

// attempts makes everybody try every way at a place.
func attempts(t *testing.T, ways []wayIn, at string, texts bool) [][]cell {
	id := func(kind, way int) string { return fmt.Sprintf("U0%c%03dXX", 'A'+kind, way) }
	b := start(t, setup{config: func(c *slack.Config) {
		for _, kind := range []int{0, 3, 4} { // as kinds has them
			for way := range ways {
				c.Approvers = append(c.Approvers, approver.Approver{ID: id(kind, way)})
			}
		}
		c.TextApprovals = texts
	}, fake: func(f *slacktest.Server) { f.AddConversation(slacktest.Conversation{ID: quiet}) }})
	template := b.full()
	b.post(template)
	blocks := string(b.fake.Messages(here)[0].Blocks)
	cells := make([][]cell, len(ways))
	for w, way := range ways {
		for k, kind := range kinds() {
			c := cell{b: b, way: way, kind: kind, user: id(k, w), place: at,
				request: uuid.Must(uuid.NewV7()).String(), code: minted(t)}
			u := slacktest.User{ID: c.user, Name: "ann", Bot: kind == "bot on the list"}
			if kind == "outsider on the list" {
				u.Team = otherTeam
			}
			b.fake.AddUser(u)
			c.card = b.fake.AddMessage(at, slacktest.Message{User: slacktest.BotUser, BotID: slacktest.BotID,
				Blocks: json.RawMessage(strings.ReplaceAll(blocks, template.Request, c.request))})
			cells[w] = append(cells[w], c)
			way.send(c)
		}
		b.pass()
	}
	return cells
}

// settled waits until nothing changes any more, and returns the table of a place.
func settled(title string, cells [][]cell) (table string) {
	for same := 0; same < 5; time.Sleep(100 * time.Millisecond) {
		var out strings.Builder
		fmt.Fprintf(&out, "%s\n\n%-42s", title, "")
		for _, kind := range kinds() {
			fmt.Fprintf(&out, "| %-20s ", kind)
		}
		out.WriteString("|\n")
		for _, row := range cells {
			fmt.Fprintf(&out, "%-42s", row[0].way.name)
			for _, c := range row {
				fmt.Fprintf(&out, "| %-20s ", c.became())
			}
			out.WriteString("|\n")
		}
		if same++; out.String() != table {
			same = 0
		}
		table = out.String()
	}
	return table + "\n"
}

func minted(t *testing.T) string {
	t.Helper()
	code, err := tokens.Mint(8)
	if err != nil {
		t.Fatal(err)
	}
	return code.Reveal()
}

func golden(t *testing.T, got string) {
	t.Helper()
	file := filepath.Join("testdata", "who-is-heard.golden")
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s says otherwise: run go test -run TestWhoIsHeard -update and read it", file)
	}
}
