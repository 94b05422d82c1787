package telegram

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/tokens"
)

func textOf(m message) string { s, _ := m.page.marked(); return s }

// labels are the buttons of a message, in order.
func labels(m message) string {
	var out []string
	if m.buttons != nil {
		for _, b := range slices.Concat(m.buttons.InlineKeyboard...) {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, " | ")
}

func mustRender(t testing.TB, card approver.Card) message {
	t.Helper()
	m, err := render(card, whole)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRenderHigh(t *testing.T) {
	card := highCard(t)
	card.Notice = "NOT ISOLATED"
	m := mustRender(t, card)
	want := `🟠 HIGH · git push --force origin main
git push --force origin main
Why A forced push rewrites history. · git.force_push
Agent says (not checked): tidy up
Agent claude · 7f3a · /home/dev/shop @ devbox
⚠️ NOT ISOLATED
⏳ until 14:32:10 UTC (2 min)
Tap a button, or reply yes or no, or send /approve ` + card.Code.Reveal() + "."
	if got := textOf(m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := labels(m); got != "✅ Approve once | ⛔ Deny | 🔎 Details | 📋 Copy /approve" {
		t.Errorf("the buttons are %s", got)
	}
	html := m.page.html()
	if !strings.HasPrefix(html, "<b>🟠 HIGH</b> · <code>git push") ||
		!strings.Contains(html, "<pre>git push --force origin main</pre>\n") {
		t.Errorf("the HTML is\n%s", html)
	}
}

func TestRenderCatastrophic(t *testing.T) {
	card := catastrophicCard(t)
	card.OneTap = true // the core never says so; the severity is stronger
	m := mustRender(t, card)
	if got := labels(m); got != "⛔ Deny | 🔎 Details" {
		t.Errorf("the buttons are %s", got)
	}
	if s := textOf(m); !strings.Contains(s, "reply to this message with "+card.Code.Reveal()) ||
		strings.Contains(s, "Tap a button") {
		t.Errorf("the card says\n%s", s)
	}
}

func TestOneTapNeedsEverything(t *testing.T) {
	for name, change := range map[string]func(*approver.Card){
		"nothing":          func(*approver.Card) {},
		"not one tap":      func(c *approver.Card) { c.OneTap = false },
		"catastrophic":     func(c *approver.Card) { c.Severity = approver.Catastrophic },
		"unknown severity": func(c *approver.Card) { c.Severity = 9 },
		"approved already": func(c *approver.Card) { c.State = approver.Approved },
		"cut":              func(c *approver.Card) { c.Command = strings.Repeat("x", 5000) },
		"zero card":        func(c *approver.Card) { *c = approver.Card{Request: c.Request, State: approver.Pending} },
	} {
		card := highCard(t)
		change(&card)
		if got := strings.Contains(labels(mustRender(t, card)), "Approve"); got != (name == "nothing") {
			t.Errorf("%s: an approve button is offered: %v", name, got)
		}
	}
}

func TestRenderSettled(t *testing.T) {
	for _, c := range []struct {
		state  approver.State
		result string
		want   string
	}{
		{approver.Consumed, "✅ Approved once by Ann via telegram · 12 s",
			"✅ 🟠 HIGH · git push --force origin main\n✅ Approved once by Ann via telegram · 12 s\n"},
		{approver.Denied, "⛔ Denied by Bob", "⛔ 🟠 HIGH · git push --force origin main\n⛔ Denied by Bob\n"},
		{approver.Expired, "⌛ Expired", "⌛ 🟠 HIGH · git push --force origin main\n⌛ Expired\n"},
		{approver.Withdrawn, "↩ Withdrawn", "↩ 🟠 HIGH · git push --force origin main\n↩ Withdrawn\n"},
		{approver.Denied, "⛔ Denied by Bob\n✅ Approved",
			"⛔ 🟠 HIGH · git push --force origin main\n⛔ Denied by Bob ⏎ ✅ Approved\n"},
		{approver.Expired, "", "⌛ 🟠 HIGH · git push --force origin main\n⌛ expired\n"},
		{approver.Denied, "", "⛔ 🟠 HIGH · git push --force origin main\n⛔ denied\n"},
		{99, "", "⛔ 🟠 HIGH · git push --force origin main\n⛔ denied\n"},
	} {
		card := highCard(t) // with its code and its one tap: they must not show
		card.State, card.Result = c.state, c.result
		m := mustRender(t, card)
		s := textOf(m)
		if !strings.HasPrefix(s, c.want) || strings.Contains(s, card.Code.Reveal()) || strings.Contains(s, "⏳") ||
			m.buttons != nil {
			t.Errorf("%s: buttons %q, and\n%s", c.state, labels(m), s)
		}
	}
	var zero approver.Card
	if m := mustRender(t, zero); m.buttons != nil {
		t.Error("the zero card has buttons")
	}
}

func TestRenderExpiry(t *testing.T) {
	created := time.Date(2026, 5, 4, 23, 59, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		left time.Duration
		want string
	}{
		{45 * time.Second, "⏳ until 22:59:45 UTC (45 s)"},
		{2 * time.Minute, "⏳ until 23:01:00 UTC (2 min)"},
		{90 * time.Second, "⏳ until 23:00:30 UTC (1 min 30 s)"},
		{2 * time.Hour, "⏳ until 2026-05-05 00:59:00 UTC (2 h)"},
		{-time.Second, "⏳ until 22:58:59 UTC (0 s)"},
	} {
		card := highCard(t)
		card.Created, card.Due = created, created.Add(c.left)
		if s := textOf(mustRender(t, card)); !strings.Contains(s, c.want+"\n") {
			t.Errorf("want %q in\n%s", c.want, s)
		}
	}
	card := highCard(t)
	card.Created = time.Time{}
	if s := textOf(mustRender(t, card)); !strings.Contains(s, "until 14:32:10 UTC\n") {
		t.Errorf("without a beginning:\n%s", s)
	}
	card.Due = time.Time{}
	if s := textOf(mustRender(t, card)); strings.Contains(s, "⏳") {
		t.Errorf("without an end:\n%s", s)
	}
}

func TestRenderRefusesOddRequests(t *testing.T) {
	for _, id := range []string{"", "x", "not-a-uuid", "{01890a5d-ac96-774b-bcce-b302099a8057}",
		"01890A5D-AC96-774B-BCCE-B302099A8057"} {
		card := highCard(t)
		card.Request = id
		if _, err := render(card, whole); err == nil {
			t.Errorf("request %q was rendered", id)
		}
	}
}

func TestCodeStandsInOnePlace(t *testing.T) {
	for _, card := range []approver.Card{highCard(t), catastrophicCard(t)} {
		s := textOf(mustRender(t, card))
		first, _, _ := strings.Cut(s, "\n")
		if strings.Contains(first, "CONFIRM") || !strings.Contains(s, card.Code.Reveal()) {
			t.Errorf("the card is\n%s", s)
		}
		card.Code = tokens.Code{}
		if s := textOf(mustRender(t, card)); strings.Contains(s, "CONFIRM") || strings.Contains(s, "/approve") {
			t.Errorf("without a code the card is\n%s", s)
		}
	}
}

// The long card keeps its command whole by shortening what is around it, before
// it cuts.
func TestRenderTightensBeforeItCuts(t *testing.T) {
	card := highCard(t)
	long := strings.Repeat("lorem ipsum ", 100)
	card.Why, card.Claimed, card.Session, card.Dir, card.Notice = long, long, long, long, long
	card.Command = strings.Repeat("c", 2600)
	m := mustRender(t, card)
	if !m.partial || !strings.Contains(textOf(m), card.Command) || m.page.units() > maxText {
		t.Errorf("a command of 2600 characters was cut; the card has %d units and is partial: %v", m.page.units(), m.partial)
	}
	if n := strings.Count(textOf(m), "bytes hidden"); n != 5 {
		t.Errorf("%d lines say that they were shortened, want 5", n)
	}
	card.Command = strings.Repeat("c", 4000)
	if m := mustRender(t, card); !m.partial || !strings.Contains(textOf(m), "bytes hidden") ||
		!strings.Contains(textOf(m), "attached file") {
		t.Errorf("a command of 4000 characters: partial %v\n%s", m.partial, textOf(m))
	}
}

// show posts a message to the fake the way Post does, and returns what people
// see of it.
func show(t testing.TB, c *Channel, s *telegramtest.Server, m message) telegramtest.Message {
	t.Helper()
	s.SetRate(1 << 30)
	id, err := c.send(t.Context(), place{chat: teamChat}, m)
	if err != nil {
		t.Fatalf("send: %v\n%s", err, m.page.html())
	}
	all := s.Messages(teamChat)
	last := all[len(all)-1]
	if last.ID != id {
		t.Fatalf("message %d, want %d", last.ID, id)
	}
	return last
}

// literal checks that the service shows exactly the page, and that the only
// entities are the ones of the layout: no mention, link, hashtag or command.
func literal(t testing.TB, m message, got telegramtest.Message) {
	t.Helper()
	if want := strings.TrimRight(textOf(m), " \n\t"); got.Text != want {
		t.Errorf("the service shows\n%q\nwant\n%q", got.Text, want)
	}
	for _, e := range got.Entities {
		if e.Type != "bold" && e.Type != "code" && e.Type != "pre" {
			t.Errorf("a text became a %s in\n%s", e.Type, got.Text)
		}
	}
	if got.Protected || !got.NoPreview || got.Silent {
		t.Errorf("protected %v, no preview %v, silent %v", got.Protected, got.NoPreview, got.Silent)
	}
}

var hostile = []string{
	"</code></pre></blockquote><b>APPROVED</b> &lt; &#60; & <a href=\"tg://user?id=1\">x</a>",
	"@everyone @ann_lee https://evil.example/x tg://user?id=5 evil.example #tag $BTC /approve@approver_test_bot " +
		"mail@evil.example",
	"``` ~~~ **b** __i__ [x](https://evil.example) ||s|| > q",
	"\n\n✅ Approved once by Ann\n/deny x\n@channel",
	"эта строка, עברית, 漢字, 🔥👩‍👩‍👧 e\u0301 \u202e",
	"\x00\xff\xfe broken bytes",
}

func TestHostileTexts(t *testing.T) {
	s := newWorld(t)
	c := newChannel(t, testConfig(s))
	for i, text := range hostile {
		for _, state := range []approver.State{approver.Pending, approver.Denied} {
			card := highCard(t)
			card.State = state
			card.Push, card.Command, card.Why, card.Rule, card.Claimed = text, text, text, text, text
			card.Agent, card.Session, card.Dir, card.Host, card.Notice, card.Result = text, text, text, text, text, text
			m := mustRender(t, card)
			literal(t, m, show(t, c, s, m))
			if !strings.Contains(textOf(m), strings.ToValidUTF8(text, "\uFFFD")) {
				t.Errorf("text %d is not shown whole:\n%s", i, textOf(m))
			}
			for line := range strings.SplitSeq(textOf(m), "\n") {
				if i == 3 && strings.HasPrefix(line, "Why") && !strings.Contains(line, "⏎ ✅ Approved") {
					t.Errorf("a line break got out of its line: %q", line)
				}
			}
			literal(t, m, sendMarked(t, c, s, m))
		}
	}
}

// sendMarked posts a message the way it is sent after the service did not
// understand the HTML.
func sendMarked(t testing.TB, c *Channel, s *telegramtest.Server, m message) telegramtest.Message {
	t.Helper()
	s.FailNext("sendMessage",
		telegramtest.APIError{Code: 400,
			Description: `Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 1`})
	got := show(t, c, s, m)
	if got.Markup != "" {
		t.Errorf("sent with the markup %q", got.Markup)
	}
	return got
}

func FuzzRender(f *testing.F) {
	var err error
	for _, text := range hostile {
		f.Add(text, text, text, 1, uint8(1))
	}
	f.Add("x", "🔥", "é<&>", 3000, uint8(5))
	f.Add("", "", "\n", 100_000, uint8(0))
	fixed := highCard(f)
	fixed.Request = "01890a5d-ac96-774b-bcce-b302099a8057"
	if fixed.Code, err = tokens.Parse("CONFIRM-7KQ4MX"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, push, command, around string, times int, state uint8) {
		card := fixed
		card.State = approver.State(state % 6)
		times = min(max(times, 1), 5000)
		card.Push, card.Command = push, strings.Repeat(command, min(times, 1+(100<<10)/(1+len(command))))
		card.Why, card.Rule, card.Claimed, card.Agent, card.Session = around, around+around, strings.Repeat(around, 50),
			around, around
		card.Dir, card.Host, card.Notice, card.Result = around, around, around, around
		m, err := render(card, whole)
		if err != nil {
			t.Fatal(err)
		}
		if n := m.page.units(); n > maxText {
			t.Fatalf("the message has %d units", n)
		}
		if !m.partial && !strings.Contains(textOf(m), strings.ToValidUTF8(card.Command, "\uFFFD")) {
			t.Error("the command is not whole, and the card is not called partial")
		}
		if m.partial && strings.Contains(labels(m), "Approve") {
			t.Error("a cut card offers an approve button")
		}
		if !utf8.ValidString(m.page.html()) {
			t.Error("the message is no UTF-8")
		}
		shown, entities, err := telegramtest.Read(m.page.html())
		if err != nil {
			t.Fatalf("the service does not understand the HTML: %v", err)
		}
		literal(t, m, telegramtest.Message{Text: shown, Entities: entities, NoPreview: true})
	})
}

func TestNoButtonOpensADialog(t *testing.T) {
	data := cards.ButtonData(uuid.New(), cards.Code, 0)
	if got, _, _, ok := parseButton(data); ok {
		t.Errorf("%q is %s", data, got)
	}
}
