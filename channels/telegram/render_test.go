package telegram

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
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
	m, err := render(card, cards.Fresh)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRenderHigh(t *testing.T) {
	card := highCard(t)
	card.Warnings = []string{"./x can change after you answer."}
	card.Why = append(card.Why, "Hard to undo.")
	card.Part = "--force"
	m := mustRender(t, card)
	want := `🟠 HIGH · Force-push main (acme/shop)
git push --force origin main
👉 --force
Why A forced push rewrites history.
· Hard to undo.
⚠️ ./x can change after you answer.
Agent says (not checked): tidy up
👤 claude of dev @ devbox · ~/shop (main) · NOT ISOLATED
⏳ 14:32:10 UTC · no answer by then is a no
Or type this to approve once: ` + card.Code.Reveal() + "\n"
	if got := textOf(m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := labels(m); got != "✅ Approve once | ⛔ Deny | ✋ Deny, say why… | 🔎 Details | 📋 Copy /approve" {
		t.Errorf("the buttons are %s", got)
	}
	html := m.page.html()
	if !strings.HasPrefix(html, "<b>🟠 HIGH</b> · <code>Force-push") ||
		!strings.Contains(html, "<pre>git push --force origin main</pre>\n") ||
		!strings.Contains(html, `<tg-time unix="1777905130" format="r">14:32:10 UTC</tg-time>`) {
		t.Errorf("the HTML is\n%s", html)
	}
}

func TestRenderCatastrophic(t *testing.T) {
	card := catastrophicCard(t)
	card.OneTap = true // the core never says so; the severity is stronger
	m := mustRender(t, card)
	if got := labels(m); got != "⛔ Deny | ✋ Deny, say why… | 🔎 Details | 📋 Copy the code" {
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
		"cut":              func(c *approver.Card) { c.Body = channeltest.Command(strings.Repeat("x", 5000)) },
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
			"✅ 🟠 HIGH · Force-push main (acme/shop)\n✅ Approved once by Ann via telegram · 12 s\n"},
		{approver.Denied, "⛔ Denied by Bob", "⛔ 🟠 HIGH · Force-push main (acme/shop)\n⛔ Denied by Bob\n"},
		{approver.Expired, "⌛ Expired", "⌛ 🟠 HIGH · Force-push main (acme/shop)\n⌛ Expired\n"},
		{approver.Withdrawn, "↩ Withdrawn", "↩ 🟠 HIGH · Force-push main (acme/shop)\n↩ Withdrawn\n"},
		{approver.Denied, "⛔ Denied by Bob\n✅ Approved",
			"⛔ 🟠 HIGH · Force-push main (acme/shop)\n⛔ Denied by Bob ⏎ ✅ Approved\n"},
		{approver.Expired, "", "⌛ 🟠 HIGH · Force-push main (acme/shop)\n⌛ expired\n"},
		{approver.Denied, "", "⛔ 🟠 HIGH · Force-push main (acme/shop)\n⛔ denied\n"},
		{99, "", "⛔ 🟠 HIGH · Force-push main (acme/shop)\n⛔ denied\n"},
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

// The client counts down by itself. One that cannot shows the time, with the date if that is another day.
func TestRenderExpiry(t *testing.T) {
	created := time.Date(2026, 5, 4, 23, 59, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		left time.Duration
		want string
	}{
		{45 * time.Second, `<tg-time unix="1777935585" format="r">22:59:45 UTC</tg-time>`},
		{2 * time.Hour, `<tg-time unix="1777942740" format="r">2026-05-05 00:59:00 UTC</tg-time>`},
	} {
		card := highCard(t)
		card.Created, card.Due = created, created.Add(c.left)
		if s := mustRender(t, card).page.html(); !strings.Contains(s, "⏳ "+c.want+" · no answer by then is a no\n") {
			t.Errorf("want %q in\n%s", c.want, s)
		}
	}
	card := highCard(t)
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
		if _, err := render(card, cards.Fresh); err == nil {
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
	card.Why, card.Claimed, card.Context, card.Warnings = []string{long}, long, long, []string{long}
	card.Body = channeltest.Command(strings.Repeat("c", 2600))
	m := mustRender(t, card)
	if !m.partial || !strings.Contains(textOf(m), card.Body[0].Text) || m.page.units() > maxText {
		t.Errorf("a command of 2600 characters was cut; the card has %d units and is partial: %v", m.page.units(), m.partial)
	}
	if n := strings.Count(textOf(m), "bytes hidden"); n != 4 {
		t.Errorf("%d lines say that they were shortened, want 4", n)
	}
	card.Body = channeltest.Command(strings.Repeat("c", 4000))
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
		if e.Type != "bold" && e.Type != "code" && e.Type != "pre" && e.Type != "date_time" {
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
			card.Push, card.Body, card.Why, card.Claimed = text, hostileBody(text), []string{text}, text
			card.Context, card.Warnings, card.Result = text, []string{text}, text
			m := mustRender(t, card)
			literal(t, m, show(t, c, s, m))
			if !strings.Contains(textOf(m), lasting(strings.ToValidUTF8(text, "\uFFFD"))) {
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

// Telegram takes some characters out of a message: "å" with the ring as a mark of its own is shown as "a", and
// a tab as one space. Two commands that differ in such a character only must not look the same.
func TestWhatTelegramDrops(t *testing.T) {
	s := newWorld(t)
	c := newChannel(t, testConfig(s))
	seen := map[string]string{}
	for _, path := range []string{"жа", "жа\u030a", "жа\u0333", "жа\u033f", "ж\tа", "ж а", "ж⇥а", "ж\u202dа", "ж\rа"} {
		card := highCard(t)
		card.Body = channeltest.Command("rm -r " + path)
		m := mustRender(t, card)
		got := show(t, c, s, m)
		literal(t, m, got)
		_, command, _ := strings.Cut(got.Text, "\n")
		command, _, _ = strings.Cut(command, "\n")
		if other, ok := seen[command]; ok {
			t.Errorf("%q and %q are both shown as %q", path, other, command)
		}
		seen[command] = path
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

// hostileBody is a body with a text in every place.
func hostileBody(text string) []display.Block {
	return []display.Block{{Label: text, Text: text}, {Kind: display.Code, Label: text, Text: text},
		{Kind: display.Diff, Text: text}}
}

func TestNoButtonOpensADialog(t *testing.T) {
	data := cards.ButtonData(uuid.New(), cards.EnterCode, 0)
	if got, _, _, ok := parseButton(data); ok {
		t.Errorf("%q is %s", data, got)
	}
}
