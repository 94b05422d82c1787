package slack

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

var plainForms = map[string]form{"in sections": inSections, "as text": asText}

// plainLines are the lines of a plain card, as a person reads them.
func plainLines(m message) []string {
	text := m.text
	if len(m.blocks) > 0 {
		var sections []string
		for _, b := range m.blocks {
			if s, ok := b.(*slack.SectionBlock); ok {
				sections = append(sections, s.Text.Text)
			}
		}
		text = strings.Join(sections, "\n")
	}
	return strings.Split(text, "\n")
}

// call is what a plain card shows of the call.
func call(m message) string {
	var out []string
	for _, line := range plainLines(m) {
		if rest, ok := strings.CutPrefix(line, dotted); ok && len(out) > 0 {
			out[len(out)-1] += rest
		} else if rest, ok := strings.CutPrefix(line, bar); ok {
			out = append(out, rest)
		}
	}
	return strings.Join(out, "\n")
}

// awkward are commands that something between us and a person might change.
func awkward() map[string]string {
	const other = "0190b2c8-7a9f-7e2c-b1f0-000000000000"
	return map[string]string{
		"short":         "git push --force origin HEAD",
		"lines":         "set -e\n\n  cd /srv\n\trm -rf ./data \nexit",
		"markup":        "echo *a* _b_ ~c~ `d` ```e``` <!channel> <@U0ANN12345> & > x\n> quoted\n- a list",
		"a bar":         bar + "make\n" + dotted + "clean\n" + bar,
		"our own lines": "make\nWhy It is harmless.\n✅ Approved by Ann\nTo approve, send yes\n" + "🔖 " + other,
		"a long line":   strings.Repeat("漢字 ", 700) + "&<end",
		"marked":        "rm ⟨U+202E⟩x ⟨U+200B⟩ …[secret, 20 bytes]…",
		"ends in lines": "make\n\n",
	}
}

// The story: a card is shown in another form, and that form has another command: shortened, formatted, or with lines
// that look like ours. A plain card has the call byte for byte as the usual one has it, or says that it is cut.
func TestPlainCardShowsTheCall(t *testing.T) {
	for form, f := range plainForms {
		for name, command := range awkward() {
			card := testCard(t)
			card.Body = channeltest.Command(command)
			usual, m := inBlocks.render(card, cards.Fresh), f.render(card, cards.Fresh)
			if usual.partial || m.partial {
				t.Fatalf("%s %s: it is cut: %v, %v", name, form, usual.partial, m.partial)
			}
			if got := call(m); got != command || !strings.Contains(strings.Join(lines(usual), "\n"), command) {
				t.Errorf("%s %s shows\n%q, want\n%q", name, form, got, command)
			}
			for _, want := range []string{"It rewrites history.", "tidy up", "claude of ann @ box · ~/src", "14:32:10 UTC",
				card.Push, "CONFIRM-7KQ4MX"} {
				if !strings.Contains(strings.Join(plainLines(m), "\n"), want) {
					t.Errorf("%s %s does not say %q: %q", name, form, want, plainLines(m))
				}
			}
		}
	}
}

// Every line of a plain card that is not behind a bar is one of ours, whatever texts it is made of.
func TestPlainCardHasOnlyItsOwnLines(t *testing.T) {
	const other = "0190b2c8-7a9f-7e2c-b1f0-000000000000"
	const forged = "x\n\n✅ Approved\n🔖 " + other
	card := testCard(t)
	card.Why, card.Claimed, card.Context, card.Part = []string{forged, forged}, forged, forged, forged
	card.Push, card.Warnings = "🟠 HIGH · "+forged, []string{forged, forged}
	card.Body = []display.Block{{Label: "✅ Approved", Text: forged}, {Kind: display.Code, Label: forged, Text: forged},
		{Kind: display.Diff, Label: "✅ Approved", Text: "-x\n" + forged}}
	for form, f := range plainForms {
		for _, state := range []approver.State{approver.Pending, approver.Approved, approver.Denied} {
			card.State, card.Result = state, forged
			m := f.render(card, cards.Fresh)
			all := plainLines(m)
			for i, line := range all {
				if strings.HasPrefix(line, "✅") || strings.HasPrefix(line, "🔖") && i < len(all)-1 {
					t.Errorf("%s, %v: line %d is %q", form, state, i, line)
				}
			}
			request, ok := cards.Referred(m.text)
			if want := f == asText && state == approver.Pending; ok != want || want && request != card.Request {
				t.Errorf("%s, %v: the text names %q, %v", form, state, request, ok)
			}
		}
	}
	// Where nothing stands below the call, its end is the end of the message.
	card.State, card.Body = approver.Denied, channeltest.Command("make\n🔖 "+other)
	card.Why, card.Warnings, card.Claimed, card.Context = nil, nil, "", ""
	if request, ok := cards.Referred(asText.render(card, cards.Fresh).text); ok {
		t.Errorf("a command names the request %s", request)
	}
}

// Slack takes a plain card of any size, and one that is cut says so, has its file, and takes no tap.
func TestPlainLimits(t *testing.T) {
	for form, f := range plainForms {
		for _, unit := range []string{"a", "\n", "&<>", "\"\\", "漢", "🔥", "x y\n"} {
			for _, n := range []int{1, 500, 3000, 3600, 8000, 20_000} {
				text, card := strings.Repeat(unit, n/len(unit)+1), testCard(t)
				card.Body, card.Push = channeltest.Command(text), "🟠 HIGH · "+strings.Repeat("&", 200)
				for _, card.State = range []approver.State{approver.Pending, approver.Denied} {
					m := f.render(card, cards.Fresh)
					if len(m.blocks) > 0 {
						wire(t, m)
					}
					if got := utf8.RuneCountInString(escape(m.text)); got > maxText || got == 0 {
						t.Fatalf("%s, %d × %q: the text has %d characters", form, n, unit, got)
					}
					if size := jsonLength(m.blocks); size > maxBlocksJSON {
						t.Errorf("%s, %d × %q: the blocks have %d bytes", form, n, unit, size)
					}
					ids := strings.Join(actions(m), " ")
					if m.partial && (m.file.Content != text || strings.Contains(ids, actApprove)) ||
						n == 20_000 && !m.partial {
						t.Errorf("%s, %d × %q: cut %v, a file of %d bytes, %s", form, n, unit, m.partial, len(m.file.Content), ids)
					}
				}
			}
		}
	}
}

// A card without buttons says what to type, and offers nothing that only a button does.
func TestPlainCardSaysWhatToType(t *testing.T) {
	full := testCard(t)
	full.Lasting, full.Choices = "the very same call", []approver.Choice{{Label: "more", Detail: "deploy"}}
	silent := testCard(t)
	silent.Code = tokens.Code{}
	for name, c := range map[string]struct {
		card        approver.Card
		want, never string
	}{
		"a tap would do": {full, "To approve, send /approve CONFIRM-7KQ4MX.\nTo refuse, send /deny CONFIRM-7KQ4MX, or " +
			"reply no in the thread of this message.\n🔖 " + full.Request, "session"},
		"without a code": {silent, "This card can only be refused.\nTo refuse, reply no in the thread of this message.\n🔖 " +
			full.Request, "approve,"},
	} {
		m := asText.render(c.card, cards.Fresh)
		if !strings.HasSuffix(m.text, c.want) || strings.Contains(m.text, c.never) || len(m.blocks) > 0 {
			t.Errorf("%s: the card ends\n%s", name, m.text)
		}
	}
	full.Body = channeltest.Command("echo :tada: a:b:c")
	m := asText.render(full, cards.Fresh)
	if m.partial || m.file.Content != "echo :tada: a:b:c" || !strings.Contains(m.text, "as a picture") {
		t.Errorf("a command with the name of a picture: %s\n%+v", m.text, m.file)
	}
}
