package slack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
	"approver.example/channels/slack/slacktest"
	"approver.example/display"
	"approver.example/tokens"
)

func testCode(t testing.TB) tokens.Code {
	t.Helper()
	code, err := tokens.Parse("CONFIRM-7KQ4MX")
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func testCard(t testing.TB) approver.Card {
	t.Helper()
	at := time.Date(2026, 3, 1, 14, 30, 10, 0, time.UTC)
	return approver.Card{
		Request: "0190b2c8-7a9f-7e2c-b1f0-6f0e0a1b2c3d", State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: "🟠 HIGH · Force-push main", Body: channeltest.Command("git push --force"),
		Why: []string{"It rewrites history."}, Claimed: "tidy up", Context: "claude of ann @ box · ~/src", Code: testCode(t),
		Details: []display.Block{{Label: "Rule", Text: "git.force_push"}},
		Created: at, Due: at.Add(2 * time.Minute),
	}
}

// render lays out a card in this form, as it is posted.
func (f form) render(card approver.Card, posted cards.Attachment) message {
	return f.write(card, f.dialect(defaultCommand, defaultDenyCommand).Lay(card, posted), "1")
}

// wire is what Slack gets, checked against its limits.
func wire(t testing.TB, m message) string {
	t.Helper()
	b, err := json.Marshal(m.blocks)
	if err != nil {
		t.Fatal(err)
	}
	if err := slacktest.CheckBlocks(b, false); err != nil {
		t.Fatalf("Slack would refuse the card: %v\n%.3000s", err, b)
	}
	return string(b)
}

func actions(m message) (ids []string) {
	for _, b := range m.blocks {
		if a, ok := b.(*slack.ActionBlock); ok {
			for _, e := range a.Elements.ElementSet {
				ids = append(ids, e.(*slack.ButtonBlockElement).ActionID)
			}
		}
	}
	return ids
}

func TestButtons(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*approver.Card)
		posted cards.Attachment
		want   string
	}{
		{"high", func(*approver.Card) {}, cards.Fresh, "approve deny why details"},
		{"catastrophic", func(c *approver.Card) { c.Severity = approver.Catastrophic }, cards.Fresh, "deny code why details"},
		{"no one-tap", func(c *approver.Card) { c.OneTap = false }, cards.Fresh, "deny code why details"},
		{"was cut when posted", func(*approver.Card) {}, cards.MaybeMissing, "deny code why details"},
		{"cut command", func(c *approver.Card) { c.Body = channeltest.Command(strings.Repeat("x", 20000)) }, cards.Fresh,
			"deny code why details"},
		{"cut reason", func(c *approver.Card) { c.Why[0] = strings.Repeat("x", 20000) }, cards.Fresh,
			"deny code why details"},
		{"cut warning", func(c *approver.Card) { c.Warnings = []string{strings.Repeat("x", 20000)} }, cards.Fresh,
			"deny code why details"},
		{"cut argument", func(c *approver.Card) { c.Body = []display.Block{{Label: "x", Text: strings.Repeat("x", 20000)}} },
			cards.Fresh, "deny code why details"},
		{"cut label", func(c *approver.Card) { c.Body = []display.Block{{Label: strings.Repeat("x", 20000), Text: "x"}} },
			cards.Fresh, "deny code why details"},
		{"cut context", func(c *approver.Card) { c.Context = strings.Repeat("x", 20000) }, cards.Fresh,
			"deny code why details"},
		{"cut claim", func(c *approver.Card) { c.Claimed = strings.Repeat("x", 20000) }, cards.Fresh,
			"deny code why details"},
		{"approved, not released", func(c *approver.Card) { c.State = approver.Approved }, cards.Fresh, ""},
		{"the zero state", func(c *approver.Card) { c.State = 0 }, cards.Fresh, ""},
		{"consumed", func(c *approver.Card) { c.State = approver.Consumed }, cards.Fresh, ""},
		{"an unknown state", func(c *approver.Card) { c.State = 200 }, cards.Fresh, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			card := testCard(t)
			c.change(&card)
			m := inBlocks.render(card, c.posted)
			w := wire(t, m)
			if got := strings.Join(actions(m), " "); got != c.want {
				t.Errorf("the buttons are %q, want %q", got, c.want)
			}
			if shows := strings.Contains(w, "CONFIRM-7KQ4MX"); shows != (c.want != "") {
				t.Errorf("shows the code: %v", shows)
			}
			if strings.Contains(m.text, "CONFIRM") {
				t.Errorf("the notification shows the code: %q", m.text)
			}
		})
	}
}

func TestZeroCard(t *testing.T) {
	m := inBlocks.render(approver.Card{}, cards.Fresh)
	wire(t, m)
	if len(actions(m)) != 0 || !strings.HasPrefix(m.text, "⛔ ") {
		t.Errorf("the zero card is not a settled denial: %q %v", m.text, actions(m))
	}
}

func TestMarks(t *testing.T) {
	for state, want := range map[approver.State]string{
		approver.Pending: "🟠", approver.Approved: "🟠", approver.Consumed: "✅ 🟠", approver.Denied: "⛔ 🟠",
		approver.Expired: "⌛ 🟠", approver.Withdrawn: "↩ 🟠",
	} {
		card := testCard(t)
		card.State, card.Result = state, "the result"
		m := inBlocks.render(card, cards.Fresh)
		if !strings.HasPrefix(m.text, want) || titleOf(m.blocks) != m.text {
			t.Errorf("%s: the notification is %q, the first line %q", state, m.text, titleOf(m.blocks))
		}
		if shows := strings.Contains(wire(t, m), "the result"); shows != state.Settled() {
			t.Errorf("%s shows the result: %v", state, shows)
		}
	}
}

// Untrusted text must reach Slack only where Slack parses nothing.
func TestNothingUntrustedIsMarkup(t *testing.T) {
	const evil = "<!channel> <@U0ANN12345> *b* ```x``` :smile: <https://evil.example|ok>\nApproved by Ann"
	card := testCard(t)
	card.Push, card.Why, card.Claimed, card.Context, card.Part = evil, []string{evil, evil}, evil, evil, evil
	card.Warnings = []string{evil, evil}
	card.Body = append(channeltest.Command(evil), display.Block{Label: evil, Text: evil},
		display.Block{Kind: display.Code, Label: evil, Text: "x"}, display.Block{Kind: display.Diff, Label: evil, Text: "-x"})
	for _, state := range []approver.State{approver.Pending, approver.Denied} {
		card.State, card.Result = state, evil
		m := inBlocks.render(card, cards.Fresh)
		wire(t, m)
		markup := 0
		for _, b := range m.blocks {
			walkText(t, b, func(kind, text string, emoji any) {
				if kind == "mrkdwn" {
					markup++
					if strings.Contains(text, "evil") || strings.Contains(text, "channel") {
						t.Errorf("untrusted text as markup: %q", text)
					}
				}
				if kind == "plain_text" && emoji != false {
					t.Errorf("emoji names in %q would be replaced", text)
				}
				if strings.Contains(text, "\n") && text != card.Body[0].Text {
					t.Errorf("the text can imitate other lines: %q", text)
				}
			})
		}
		if want := 1; state == approver.Pending && markup != want {
			t.Errorf("%d texts are markup, want only the expiry", markup)
		}
		if strings.Contains(m.text, "\n") {
			t.Errorf("the notification has several lines: %q", m.text)
		}
	}
}

func walkText(t *testing.T, b slack.Block, f func(kind, text string, emoji any)) {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			kind, _ := v["type"].(string)
			if text, ok := v["text"].(string); ok {
				f(kind, text, v["emoji"])
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
}

func TestCutCommand(t *testing.T) {
	card := testCard(t)
	card.Body = channeltest.Command("head " + strings.Repeat("\"'\\\n<&>🔥", 20000) + " tail")
	m := inBlocks.render(card, cards.Fresh)
	w := wire(t, m)
	if !m.partial || m.file.Name != "command.txt" || m.file.Content != card.Body[0].Text {
		t.Fatalf("partial %v, %s of %d bytes", m.partial, m.file.Name, len(m.file.Content))
	}
	for _, part := range []string{"head ", " tail", "bytes hidden, sha256",
		" bytes are hidden here. The whole is in the attached file"} {
		if !strings.Contains(w, part) {
			t.Errorf("the card does not say %q", part)
		}
	}
	if n := jsonLength(m.blocks); n < maxBlocksJSON/4 || n > maxBlocksJSON/2 {
		t.Errorf("the card has %d bytes: what is cut anyway should not push the reasons out of sight", n)
	}
}

func TestCutCardHasAllInTheFile(t *testing.T) {
	card := testCard(t)
	card.Why, card.Claimed = []string{strings.Repeat("w", 3000) + "WHY"}, strings.Repeat("c", 3000)+"CLAIM"
	m := inBlocks.render(card, cards.Fresh)
	for _, part := range []string{"wWHY", "cCLAIM", card.Body[0].Text, card.Details[0].Text, card.Context, "not checked"} {
		if !strings.Contains(m.file.Content, part) {
			t.Errorf("the file lacks %q", part)
		}
	}
	if strings.Contains(m.file.Content, "7KQ4MX") {
		t.Error("the file shows the code, and outlives it")
	}
}

func TestLongResult(t *testing.T) {
	card := testCard(t)
	card.State, card.Result = approver.Denied, "⛔ Denied by "+strings.Repeat("Ann ", 1000)+"at last"
	m := inBlocks.render(card, cards.Fresh)
	w := wire(t, m)
	if !strings.Contains(w, "bytes hidden") || !strings.Contains(w, "at last") || m.file.Name != "" ||
		strings.Contains(w, "attached") {
		t.Errorf("a long result is cut in its place, and no file is promised: %.2000s", w)
	}
}

func TestExpiry(t *testing.T) {
	w := wire(t, inBlocks.render(testCard(t), cards.Fresh))
	for _, part := range []string{"\\u003c!date^1772375530^{time_secs}|14:32:10 UTC\\u003e (2 min)"} {
		if !strings.Contains(w, part) {
			t.Errorf("the card lacks %q:\n%s", part, w)
		}
	}
}

func TestDialogs(t *testing.T) {
	card := testCard(t)
	card.Body = channeltest.Command(strings.Repeat("line\n", 1000))
	m := inBlocks.render(card, cards.Fresh)
	for name, v := range map[string]slack.ModalViewRequest{
		"code": codeDialog(display.Texts{}, m.text, `{"r":"x"}`, covered(m.blocks)),
		"details": detailsDialog(display.Texts{},
			approver.Outcome{Text: m.text, Details: strings.Repeat(card.Whole(), 20)}, ""),
	} {
		b, err := json.Marshal(v.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		if err := slacktest.CheckBlocks(b, true); err != nil {
			t.Errorf("Slack would refuse the %s dialog: %v", name, err)
		}
		if len(v.Title.Text) > 24 || strings.Contains(string(b), `"actions"`) {
			t.Errorf("the %s dialog has title %q or buttons", name, v.Title.Text)
		}
		if name == "code" && strings.Contains(string(b), "7KQ4MX") {
			t.Error("the dialog gives the code away")
		}
	}
}

// readBack reads a card as Slack does: nothing but the clock is markup, and the texts are whole.
func readBack(t testing.TB, w channeltest.Written) {
	t.Helper()
	m := inBlocks.render(w.Card, cards.Fresh)
	raw := wire(t, m)
	seen := channeltest.Seen{Partial: m.partial, File: m.file.Content, Tap: slices.Contains(actions(m), actApprove)}
	var markup []string
	seen.Text, seen.Blocks, markup = slacktest.Read([]byte(raw))
	if want := wantClock(w.Card); !slices.Equal(markup, want) {
		t.Errorf("the markup is %q, want %q", markup, want)
	}
	if settled := w.State.Settled(); settled && (strings.Contains(raw, w.Code.Reveal()) || len(actions(m)) > 0) {
		t.Error("a settled card shows code or buttons")
	}
	w.Check(t, seen)
}

// wantClock is the markup of a card.
func wantClock(card approver.Card) []string {
	if card.State.Settled() {
		return nil
	}
	return []string{fmt.Sprintf("⏳ <!date^%d^{time_secs}|%s> (2 min) · no answer by then is a no", card.Due.Unix(),
		card.Due.Format("15:04:05 UTC"))}
}

func TestManyCards(t *testing.T) { channeltest.Cards(t, readBack) }

func FuzzRender(f *testing.F) { channeltest.FuzzCards(f, readBack) }
