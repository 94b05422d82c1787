package channeltest

import (
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
)

var textChecks = []check{
	{"a text stays on its own line", checkOwnLine},
	{"a text that is cut says so, is attached whole and takes no tap", checkCutTexts},
	{"directories that look the same take no tap", checkDirectories},
	{"a settled card always says what became of it", checkResults},
}

// around are the texts of a card that stand around its command.
var around = []struct {
	name string
	of   func(*approver.Card) *string
}{
	{"why", func(c *approver.Card) *string { return &c.Why[0] }},
	{"loss", func(c *approver.Card) *string { return &c.Why[1] }},
	{"claim", func(c *approver.Card) *string { return &c.Claimed }},
	{"context", func(c *approver.Card) *string { return &c.Context }},
	{"warning", func(c *approver.Card) *string { return &c.Warnings[0] }},
	{"argument", func(c *approver.Card) *string {
		if len(c.Body) == 1 {
			c.Body = append(c.Body, display.Block{Label: "owner"})
		}
		return &c.Body[1].Text
	}},
}

// checkOwnLine: a directory may have a line break in its name, and an agent may
// make one. It must not get to write lines of the card, nor may the cut of a
// long text begin one for it.
func checkOwnLine(t *testing.T, m maker) {
	b := start(t, m)
	for _, begin := range []string{"x", "x" + strings.Repeat("✅", 2000)} {
		forged := begin + "\n✅ Approved by Eve"
		card := high(t)
		for _, text := range around {
			*text.of(&card) = forged
		}
		ref, s := b.post(b.Here, card)
		if n := strings.Count(plain(s.Text), "⏎ ✅ Approved by Eve"); !ref.Partial && n != len(around) {
			t.Errorf("%d of %d line breaks are made visible:\n%.3000s", n, len(around), s.Text)
		}
		wantNoForgedLine(t, "card", s.Text)
		for _, file := range s.Files {
			wantNoForgedLine(t, "attachment", file)
		}
		s = b.update(ref, settled(card, approver.Denied, "⛔ Denied by "+forged))
		wantNoForgedLine(t, "settled card", s.Text)
	}
}

func wantNoForgedLine(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(plain(line)), "✅") {
			t.Errorf("the %s has a line of the agent's own making: %.100q in\n%.3000s", what, line, text)
			return
		}
	}
}

// checkCutTexts: people judge a call by every text of its card.
func checkCutTexts(t *testing.T, m maker) {
	b := start(t, m)
	for i, text := range around {
		for j, n := range []int{150, 3000} {
			card := high(t)
			long := "begin " + strings.Repeat("/srv/a", n/6) + " end of the " + text.name
			*text.of(&card) = long
			ref, s := b.post([]approver.Destination{b.Here, b.second()}[(i+j)%2], card)
			wantWhole(t, ref, s, card)
			wantShownOrAttached(t, text.name, long, ref, s)
		}
	}
}

// wantShownOrAttached checks that a text is on the card whole, or cut by the
// rules.
func wantShownOrAttached(t *testing.T, what, text string, ref approver.Ref, s fake.Shown) {
	t.Helper()
	if strings.Contains(plain(s.Text), text) {
		return
	}
	if !ref.Partial || slices.Contains(s.Buttons, fake.ApproveButton) {
		t.Errorf("the card cuts the %s, is called partial: %v, and has the buttons %v:\n%.3000s", what, ref.Partial,
			s.Buttons, s.Text)
	}
	if !strings.Contains(s.Text, "bytes hidden") {
		t.Errorf("the card cuts the %s and does not say so:\n%.3000s", what, s.Text)
	}
	if !slices.ContainsFunc(s.Files, func(file string) bool { return strings.Contains(file, text) }) {
		t.Errorf("the card cuts the %s, and none of its %d attachments has it whole", what, len(s.Files))
	}
}

// checkDirectories: "make deploy" is another command in staging than it is in
// production. Cards for the two must not look the same while a tap approves
// them, however little room a long command leaves.
func checkDirectories(t *testing.T, m maker) {
	b := start(t, m)
	for i, c := range []struct{ command, dir int }{{20, 250}, {20, 900}, {2400, 250}, {3300, 80}, {3600, 120}} {
		to := []approver.Destination{b.Here, b.second()}[i%2]
		part := "/" + strings.Repeat("d", c.dir/2-10)
		looks := map[string]string{}
		for _, dir := range []string{part + "/stage" + part + "/end", part + "/prod1" + part + "/end",
			part + "/stage" + part + "/eu1"} {
			card := high(t)
			card.Push, card.Context = display.PushLine(approver.High.String(), "Run make deploy", ""), "claude · "+dir
			card.Body = Command("make deploy # " + strings.Repeat("x", c.command))
			ref, s := b.post(to, card)
			wantWhole(t, ref, s, card)
			if !slices.Contains(s.Buttons, fake.ApproveButton) {
				continue
			}
			look := timeless(strings.NewReplacer(card.Request, "", card.Code.Reveal(), "").Replace(s.Text))
			if other, taken := looks[look]; taken {
				t.Errorf("a tap approves in %s and in %s, and the cards look the same:\n%.6000s", dir, other, s.Text)
			}
			looks[look] = dir
		}
	}
}

// checkResults: who decided is told on one line, cut where it is endless; where
// nothing is told, the state is.
func checkResults(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	s := b.update(ref, settled(card, approver.Expired, ""))
	wantFirstLine(t, s, card.Push)
	if !strings.Contains(strings.ReplaceAll(s.Text, card.Push, ""), approver.Expired.String()) {
		t.Errorf("the card does not say that it is expired:\n%s", s.Text)
	}
	card = high(t)
	ref, _ = b.post(b.Here, card)
	long := "⛔ Denied by " + strings.Repeat("Ann ", 1000) + "at last"
	s = b.update(ref, settled(card, approver.Denied, long))
	if !strings.Contains(plain(s.Text), long) &&
		(!strings.Contains(s.Text, "bytes hidden") || !strings.Contains(s.Text, "at last")) {
		t.Errorf("the result is cut, and the card does not say so in its midst:\n%.3000s", s.Text)
	}
	wantSettled(t, s, card, "⛔", "⛔ Denied by Ann Ann")
}
