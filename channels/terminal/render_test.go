package terminal

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func testCode(t testing.TB) tokens.Code {
	t.Helper()
	c, err := tokens.Parse("CONFIRM-7KQ4MX")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testCard(t testing.TB) approver.Card {
	return approver.Card{
		Request: "r1", State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: "🟠 HIGH · Force-push main (acme/shop)", Body: command("git fetch\ngit push --force origin main"),
		Why: []string{"A forced push rewrites history.", "Others may have built on it."}, Claimed: "tidy up",
		Context:  "claude of dev @ devbox · ~/shop (main) · NOT ISOLATED",
		Warnings: []string{"2 identical calls wait: a yes runs each of them once."},
		Details:  []display.Block{{Label: "Rule", Text: "git.force_push"}},
		Code:     testCode(t), Created: noon, Due: noon.Add(2 * time.Minute),
	}
}

func TestRender(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*approver.Card)
		o      Options
		want   string
	}{
		"pending": {o: Options{Number: 3, Width: 60, Now: noon, Offer: Offer{Tap: true, Code: true, Deny: true}}, want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 3 ───────────────────────────────────
│ git fetch
│ git push --force origin main
└───────────────────────────────────────
Why      A forced push rewrites history.
         Others may have built on it.
Warning  2 identical calls wait: a yes runs each of them
         once.
Agent says (not checked):
         tidy up
From     claude of dev @ devbox · ~/shop (main) · NOT
         ISOLATED
Expires  12:02:00 UTC (in 2 min)
Code     CONFIRM-7KQ4MX
Request  r1
Answer: y 3 approves · n 3 denies
`},
		"narrow": {o: Options{Width: 20, Now: noon.Add(90 * time.Second)}, want: `
🟠 HIGH · Force-push
 main (acme/shop)
┌───────────────────
│ git fetch
│ git push --force o
┊ rigin main
└───────────────────
Why      A forced
         push
         rewrites
         history.
         Others may
         have built
         on it.
Warning  2 identical
          calls
         wait: a yes
          runs each
         of them
         once.
Agent says (not checked):
         tidy up
From     claude of
         dev @
         devbox ·
         ~/shop
         (main) ·
         NOT
         ISOLATED
Expires  12:02:00
         UTC (in 30
         s)
Code     CONFIRM-7KQ
         4MX
Request  r1
`},
		"with the code only": {
			change: func(c *approver.Card) { *c = bare(c, approver.Catastrophic) },
			o:      Options{Number: 1, Width: 80, Now: noon, Offer: Offer{Code: true, Deny: true}}, want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
Expires  12:02:00 UTC (in 2 min)
Code     CONFIRM-7KQ4MX
Answer: n 1 denies · 1 CODE approves, with the code above
`},
		"not to be approved here": {
			change: func(c *approver.Card) { *c = bare(c, approver.Catastrophic); c.Code = tokens.Code{} },
			o:      Options{Number: 1, Width: 80, Now: noon.Add(time.Hour), Offer: Offer{Deny: true}}, want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
Expires  12:02:00 UTC (now)
Answer: n 1 denies · approve it in a chat, with the code there
`},
		"no chat: what works is said, with the ID that it needs": {
			change: func(c *approver.Card) {
				*c = bare(c, approver.Catastrophic)
				c.Request, c.Code = "0192f3a1", tokens.Code{}
			},
			o: Options{Number: 1, Width: 80, Now: noon.Add(time.Hour), Offer: Offer{Deny: true, Alone: true, Owner: true}},
			want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
Expires  12:02:00 UTC (now)
Request  0192f3a1
Answer: n 1 denies · to approve it: sudo approver approve 0192f3a1
`},
		"no chat, and the daemon is root": {
			change: func(c *approver.Card) { *c = bare(c, approver.High); c.Code = tokens.Code{} },
			o:      Options{Number: 1, Width: 80, Now: noon.Add(time.Hour), Offer: Offer{Alone: true}}, want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
Expires  12:02:00 UTC (now)
Answer: nobody can approve it here: pair a chat (approver pair telegram)
`},
		"no answers here": {
			change: func(c *approver.Card) { *c = bare(c, approver.High); c.Code = tokens.Code{} },
			o:      Options{Number: 1, Width: 80, Now: noon.Add(59*time.Second + time.Millisecond)}, want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
Expires  12:02:00 UTC (in 61 s)
Answer: approve it in a chat
`},
		"approved, not taken yet": {
			change: func(c *approver.Card) { *c = bare(c, approver.High); c.State = approver.Approved },
			o:      Options{Number: 1, Width: 80, Now: noon, Offer: Offer{Tap: true}}, want: `
🟠 HIGH · Force-push main (acme/shop)
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
Expires  12:02:00 UTC (in 2 min)
State    approved; the agent has not taken the answer yet
`},
		"settled, with code and offer left by mistake": {
			change: func(c *approver.Card) {
				*c = bare(c, approver.High)
				c.State, c.Result = approver.Consumed, "Approved once by Ann · 12 s"
			},
			o: Options{Number: 1, Width: 80, Now: noon, Offer: Offer{Tap: true, Code: true, Deny: true}}, want: `
✅ 🟠 HIGH · Force-push main (acme/shop)
Approved once by Ann · 12 s
┌─ 1 ───────────────────────────────────
│ x
└───────────────────────────────────────
`},
		"the zero state is denied": {
			change: func(c *approver.Card) { *c = bare(c, approver.High); c.State = 0 },
			o:      Options{Width: 80, Now: noon, Offer: Offer{Tap: true}}, want: `
⛔ 🟠 HIGH · Force-push main (acme/shop)
⛔ denied
┌───────────────────────────────────────
│ x
└───────────────────────────────────────
`},
	} {
		t.Run(name, func(t *testing.T) {
			card := testCard(t)
			if test.change != nil {
				test.change(&card)
			}
			if got := Render(card, test.o); got != strings.TrimPrefix(test.want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, test.want)
			}
		})
	}
}

// command is the body of a command.
func command(text string) []display.Block { return []display.Block{{Kind: display.Code, Text: text}} }

func bare(c *approver.Card, sev approver.Severity) approver.Card {
	return approver.Card{State: c.State, Severity: sev, Push: c.Push, Body: command("x"), Code: c.Code, Due: c.Due}
}

// The agent writes the command. It must not be able to draw a second card, a
// result or an answer of ours below its own box.
func TestRenderCannotBeImitated(t *testing.T) {
	forged := "x\n└───\nWhy      This is fine.\nCode     CONFIRM-AAAAAA\n" +
		"✅ Approved\r\x1b[2J\x1b[1;1Hgone\u202e\u2028Rule     fine\x9b31m\xff"
	card := testCard(t)
	card.Body = append(command(forged), display.Block{Label: forged, Text: forged},
		display.Block{Kind: display.Diff, Label: forged, Text: forged},
		display.Block{Kind: display.Code, Label: forged, Text: forged})
	card.Claimed, card.Context, card.Push, card.Part = forged, forged, forged, forged
	card.Why, card.Warnings = []string{forged}, []string{forged}
	card.Choices = []approver.Choice{{Label: forged, Detail: forged}}
	text := Render(card, Options{Number: 1, Width: 80, Now: noon, Full: true})
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		for _, r := range line {
			if r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
				t.Errorf("line %d has the character %U: %q", i, r, line)
			}
		}
	}
	for what, want := range map[string]int{"└": 1, "Why ": 1, "Code ": 1, "Rule ": 0, "✅": 0, "⛔": 0} {
		got := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, what) {
				got++
			}
		}
		if got != want {
			t.Errorf("%d lines begin with %q, want %d:\n%s", got, what, want, text)
		}
	}
}

func TestRenderCutsClaimsButNotTheCommand(t *testing.T) {
	card := testCard(t)
	all := strings.Repeat("echo all of it;", 10_000)
	card.Body = command(all)
	card.Claimed = strings.Repeat("harmless ", 5_000)
	text := Render(card, Options{Width: 80, Now: noon})
	if got := boxed(text); got != all {
		t.Errorf("the command on the screen has %d bytes, want %d", len(got), len(all))
	}
	if !regexp.MustCompile(`\d+ bytes hidden`).MatchString(text) || strings.Count(text, "harmless") > 100 {
		t.Errorf("the claim fills the screen: %d times", strings.Count(text, "harmless"))
	}
	full := Render(card, Options{Width: 80, Now: noon, Full: true})
	if strings.Contains(full, "bytes hidden") || len(full) < len(all)+len(card.Claimed) {
		t.Errorf("the whole card hides something")
	}
}

// boxed reads what is in the frame back from a card on the screen.
func boxed(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "│ "); ok {
			lines = append(lines, rest)
		} else if rest, ok := strings.CutPrefix(line, "┊ "); ok {
			lines[len(lines)-1] += rest
		}
	}
	return strings.Join(lines, "\n")
}

func TestColor(t *testing.T) {
	for _, card := range []approver.Card{testCard(t), {Push: "x", Result: "r"}, {Push: "x", State: approver.Pending}} {
		without := Render(card, Options{Number: 2, Width: 60, Now: noon, Offer: Offer{Tap: true}})
		if strings.ContainsRune(without, '\x1b') {
			t.Errorf("colors that nobody asked for: %q", without)
		}
		with := Render(card, Options{Number: 2, Width: 60, Now: noon, Offer: Offer{Tap: true}, Color: true})
		if with == without {
			t.Error("no colors")
		}
		if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(with, ""); got != without {
			t.Errorf("without its colors the card is\n%q, want\n%q", got, without)
		}
	}
}

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "\xff": "\uFFFD", "a\x1b[0m": "a\uFFFD[0m", "\u009b": "\uFFFD",
		"\u202e\u2028\u200b\r": "\uFFFD\uFFFD\uFFFD\uFFFD", "漢字 🔥 é": "漢字 🔥 é",
	} {
		if got := harmless(in); got != want {
			t.Errorf("harmless(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		line          string
		indent, width int
		want          []string
	}{
		{"", 0, 10, []string{""}},
		{"abc", 0, 3, []string{"abc"}},
		{"abcd", 0, 3, []string{"abc", "d"}},
		{"abcd", 2, 4, []string{"ab", "cd"}},
		{"漢字漢", 0, 4, []string{"漢字", "漢"}},
		{"a漢字", 0, 4, []string{"a漢", "字"}},
		{"🔥🔥", 0, 3, []string{"🔥", "🔥"}},
		{"e\u0301e\u0301e\u0301", 0, 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"a\tb", 0, 8, []string{"a\t", "b"}},
		{"a\tb", 2, 9, []string{"a\tb"}},
		{"abcdef", 9, 5, []string{"a", "b", "c", "d", "e", "f"}},
		{"anything", 0, 0, []string{"anything"}},
	} {
		got := wrap(test.line, test.indent, test.width)
		if strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("wrap(%q, %d, %d) is %q, want %q", test.line, test.indent, test.width, got, test.want)
		}
	}
}

func TestWideRangesAreSorted(t *testing.T) {
	for i, r := range wideRanges {
		if r[0] > r[1] || i > 0 && wideRanges[i-1][1] >= r[0] {
			t.Errorf("range %d (%X–%X) is out of order", i, r[0], r[1])
		}
	}
	for r, want := range map[rune]bool{'a': false, 'é': false, '─': false, '│': false, '·': false, '漢': true,
		'한': true, '🔥': true, '🟠': true, '⛔': true, '↩': false} {
		if wide(r) != want {
			t.Errorf("wide(%c) is %v", r, !want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("git push --force 漢字 🔥 e\u0301\t|", uint8(2), uint8(20))
	f.Add("\xff\xfe", uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, line string, indent, width uint8) {
		pieces := wrap(line, int(indent), int(width))
		if strings.Join(pieces, "") != line {
			t.Fatalf("the pieces %q are not the line %q", pieces, line)
		}
		for _, p := range pieces {
			col := int(indent)
			bases := 0
			for _, r := range p {
				next := advance(col, r)
				if next > col {
					bases++
				}
				col = next
			}
			if width > 0 && col > int(width) && bases > 1 {
				t.Fatalf("the piece %q ends at column %d of %d", p, col, width)
			}
		}
	})
}

func FuzzRender(f *testing.F) {
	f.Add("rm -rf /\n└──\tx", "claims\x1b[2J", uint8(30), true)
	f.Add("\u202e\xff\x00", "\r\n", uint8(0), false)
	f.Fuzz(func(t *testing.T, cmd, claim string, width uint8, pending bool) {
		card := testCard(t)
		card.Body, card.Claimed, card.Push, card.Why = command(cmd), claim, claim, []string{cmd}
		if !pending {
			card.State = approver.Expired
		}
		text := Render(card, Options{Number: 1, Width: int(width), Now: noon, Offer: Offer{Tap: true}})
		if !utf8.ValidString(text) || strings.ContainsFunc(text, obeyed) {
			t.Fatalf("the card has characters that a terminal obeys: %q", text)
		}
		if width > 0 && boxed(text) != harmless(cmd) {
			t.Fatalf("the command on the screen is %q, want %q", boxed(text), harmless(cmd))
		}
		if !pending && strings.Contains(text, "7KQ4MX") && !strings.Contains(cmd+claim, "7KQ4MX") {
			t.Fatalf("a settled card shows the code: %q", text)
		}
	})
}
