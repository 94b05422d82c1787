package telegram

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
	"approver.example/channels/telegram/telegramtest"
)

// readBack reads a card as the service does: nothing but our own layout got a meaning, and the texts are whole.
func readBack(t testing.TB, w channeltest.Written) {
	t.Helper()
	m, err := render(w.Card, cards.Fresh)
	if err != nil {
		t.Fatal(err)
	}
	if n := m.page.units(); n > maxText {
		t.Errorf("the message has %d units", n)
	}
	html := m.page.html()
	if !utf8.ValidString(html) {
		t.Error("the message is no UTF-8")
	}
	shown, entities, err := telegramtest.Read(html)
	if err != nil {
		t.Fatalf("the service does not understand the HTML: %v", err)
	}
	literal(t, m, telegramtest.Message{Text: shown, Entities: entities, NoPreview: true})
	w.Check(t, channeltest.Seen{
		Text: shown, Blocks: blocksOf(shown, entities), Tap: strings.Contains(labels(m), "✅ Approve once"),
		Partial: m.partial, File: m.file.Content, Writes: writes, Original: original,
	})
}

func TestManyCards(t *testing.T) { channeltest.Cards(t, readBack) }

func FuzzRender(f *testing.F) { channeltest.FuzzCards(f, readBack) }

// blocksOf are the texts with a fixed width, as the service shows them.
func blocksOf(shown string, entities []telegramtest.Entity) (all []string) {
	text := utf16.Encode([]rune(shown))
	for _, e := range entities {
		if e.Type == "pre" {
			all = append(all, string(utf16.Decode(text[e.Offset:min(e.Offset+e.Length, len(text))])))
		}
	}
	return all
}

// writes is what the channel makes of a text of a card, and original the inverse, but for marks.
func writes(text string) string { return lasting(strings.ToValidUTF8(text, "\uFFFD")) }

func original(shown string) string { return strings.ReplaceAll(shown, string(tab), "\t") }

// sentences are what people are told, and what others put into it.
var sentences = map[string]string{
	"Too late: Ann approved it. Nothing was changed.": "Too late: Ann approved it. Nothing was changed.",
	"Send /approve CONFIRM-7KQ4MX 15m, or /deny (or /help).": "Send [/approve CONFIRM-7KQ4MX] 15m, or [/deny] " +
		"(or [/help]).",
	"/pending, /status and /grants show it":          "[/pending], [/status] and [/grants] show it",
	"@all see t.me/evil, #now, +49170 123 and x@y.z": "[@all] see [t.me/evil], [#now], [+49170] 123 and [x@y.z]",
	"a <b>bold</b> & \"plain\"  two":                 "a [<b>bold</b>] & \"plain\"  two",
	"":                                               "",
}

// bracketed puts brackets around what is code.
func bracketed(p page) string {
	var b strings.Builder
	for _, s := range p {
		if s.style == code {
			b.WriteString("[" + s.text + "]")
		} else {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// Only what people type, and what Telegram would make a link or a mention of, is code.
func TestSentencesAreText(t *testing.T) {
	for text, want := range sentences {
		var p page
		p.prose(text)
		if got := bracketed(p); got != want {
			t.Errorf("%q is\n%s, want\n%s", text, got, want)
		}
	}
}

// Whatever stands in a sentence, Telegram reads it back as it is, and makes nothing of it but code.
func FuzzSentence(f *testing.F) {
	for text := range sentences {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var p page
		p.prose(text)
		shown, entities, err := telegramtest.Read(p.html())
		if err != nil || strings.TrimSpace(shown) != strings.TrimSpace(writes(text)) {
			t.Fatalf("%q is shown as %q: %v", text, shown, err)
		}
		for _, e := range entities {
			if e.Type != "code" {
				t.Errorf("%q has a %s", text, e.Type)
			}
		}
	})
}
