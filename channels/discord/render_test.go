package discord

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

// checkLimits fails if Discord would refuse a view.
func checkLimits(t testing.TB, v view) {
	t.Helper()
	total := 0
	limit := func(what, s string, most int) {
		total += cards.Units(s)
		if n := cards.Units(s); n > most || n == 0 {
			t.Errorf("the %s has %d units, must be 1 to %d", what, n, most)
		}
	}
	limit("content", v.Content, 2000)
	total = 0
	e := v.Embeds[0]
	limit("description", e.Description, 4096)
	if total > 6000 {
		t.Errorf("the embed has %d units, at most 6000 are allowed", total)
	}
}

func TestRenderLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	for name, unit := range map[string]string{
		"plain": "a", "escaped": "_", "ticks": "`", "fences": "``` ", "wide": "漢", "emoji": "🔥", "newlines": "\n",
		"invalid": "\xff", "links": "https://",
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 700, 2600, 100_000} {
				long := strings.Repeat(unit, n)
				card := high()
				card.Body, card.Why, card.Claimed, card.Context = channeltest.Command(long), []string{long, long, long}, long, long
				card.Warnings, card.Part, card.Push, card.Result = []string{long, long, long, long}, long, long, long
				for _, state := range []approver.State{approver.Pending, approver.Approved, approver.Consumed, approver.Denied} {
					card.State = state
					v, err := embedded.render(card, cards.Fresh)
					if err != nil {
						t.Fatal(err)
					}
					checkLimits(t, v)
					head := fmt.Sprintf("\nCommand, %d bytes:\n", len(long))
					if n == 100_000 && (!v.partial || v.file.Name != "card.txt" ||
						!strings.Contains(v.file.Content, head+strings.TrimSuffix(long, "\n"))) {
						t.Errorf("partial %v, %s of %d bytes; the command has %d", v.partial, v.file.Name, len(v.file.Content), len(long))
					}
				}
			}
		})
	}
}

func labels(v view) []string {
	var out []string
	for _, row := range v.Components {
		for _, c := range row.(discordgo.ActionsRow).Components {
			out = append(out, c.(discordgo.Button).Label)
		}
	}
	return out
}

func argument(label, text string) []display.Block { return []display.Block{{Label: label, Text: text}} }

func TestButtons(t *testing.T) {
	const oneTap, typed = "✅ Approve once|⛔ Deny|✋ Deny, say why…|🔎 Details",
		"⛔ Deny|Enter code…|✋ Deny, say why…|🔎 Details"
	long := strings.Repeat("echo hello; ", 400)
	for name, c := range map[string]struct {
		change func(*approver.Card)
		posted cards.Attachment
		want   string
	}{
		"everything": {func(c *approver.Card) {
			c.Lasting, c.Extends, c.Disowns = "git push of acme/shop", true, true
			c.Choices = []approver.Choice{{Label: "all", Detail: "all"}, {Label: "some", Detail: "some"}}
		}, cards.Fresh, "✅ Approve once|⛔ Deny|🕒 Approve 15 min|🔁 Approve session|" +
			"✋ Deny, say why…|🚫 Not mine|🔎 Details|⏱ More time|" +
			"✅ 1 · all|✅ 2 · some"},
		"one tap":              {func(*approver.Card) {}, cards.Fresh, oneTap},
		"no one tap":           {func(c *approver.Card) { c.OneTap = false }, cards.Fresh, typed},
		"catastrophic":         {func(c *approver.Card) { c.Severity = approver.Catastrophic }, cards.Fresh, typed},
		"unknown severity":     {func(c *approver.Card) { c.Severity = 9 }, cards.Fresh, typed},
		"cut":                  {func(c *approver.Card) { c.Body = channeltest.Command(long) }, cards.Fresh, typed},
		"posted cut":           {func(*approver.Card) {}, cards.Attached, typed},
		"a cut context":        {func(c *approver.Card) { c.Context = long }, cards.Fresh, typed},
		"a cut why":            {func(c *approver.Card) { c.Why = []string{"x", long} }, cards.Fresh, typed},
		"a cut warning":        {func(c *approver.Card) { c.Warnings = []string{"x", long} }, cards.Fresh, typed},
		"a cut argument":       {func(c *approver.Card) { c.Body = argument("x", long) }, cards.Fresh, typed},
		"a cut label":          {func(c *approver.Card) { c.Body = argument(long, "x") }, cards.Fresh, typed},
		"no code":              {func(c *approver.Card) { c.Code = tokens.Code{} }, cards.Fresh, oneTap},
		"a cut claim":          {func(c *approver.Card) { c.Claimed = long }, cards.Fresh, typed},
		"fenced":               {func(c *approver.Card) { c.Body = channeltest.Command("echo ```") }, cards.Fresh, oneTap},
		"approved":             {func(c *approver.Card) { c.State = approver.Approved }, cards.Fresh, ""},
		"denied":               {func(c *approver.Card) { c.State = approver.Denied }, cards.Fresh, ""},
		"expired":              {func(c *approver.Card) { c.State = approver.Expired }, cards.Fresh, ""},
		"consumed":             {func(c *approver.Card) { c.State = approver.Consumed }, cards.Fresh, ""},
		"a state of tomorrow":  {func(c *approver.Card) { c.State = 77 }, cards.Fresh, ""},
		"zero state is denied": {func(c *approver.Card) { c.State = 0 }, cards.Fresh, ""},
	} {
		t.Run(name, func(t *testing.T) {
			card := high()
			c.change(&card)
			v, err := embedded.render(card, c.posted)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(labels(v), "|"); got != c.want {
				t.Errorf("the buttons are %q, want %q", got, c.want)
			}
			raw, err := json.Marshal(v.message)
			if err != nil {
				t.Fatal(err)
			}
			code := strings.TrimPrefix(card.Code.Reveal(), tokens.Prefix)
			if shows := code != "" && strings.Contains(string(raw), code); shows != (c.want != "" && code != "") {
				t.Errorf("the card shows its code: %v", shows)
			}
			if code != "" && strings.Contains(v.Content, code) {
				t.Error("the notification shows the code")
			}
			for _, part := range []string{`"allowed_mentions":{"parse":[],"replied_user":false}`, `"components":[`} {
				if !strings.Contains(string(raw), part) {
					t.Errorf("the message has no %s: %s", part, raw)
				}
			}
			if v.Flags != 0 {
				t.Errorf("the flags %d could hide the embed", v.Flags)
			}
		})
	}
}

func TestRenderBadRequest(t *testing.T) {
	for _, id := range []string{"", "x", "{" + uuid.NewString() + "}",
		strings.ToUpper("0198c0de-aaaa-7000-8000-00000000abcd"), strings.ReplaceAll(uuid.NewString(), "-", "")} {
		card := high()
		card.Request = id
		if _, err := embedded.render(card, cards.Fresh); err == nil {
			t.Errorf("render took the request id %q", id)
		}
	}
}

func TestFencedCommand(t *testing.T) {
	for _, command := range []string{"```", "a```b", "````", "`````", "``` `` ` ```", "\n```\n@everyone",
		strings.Repeat("`", 99)} {
		card := high()
		card.Body = channeltest.Command(command)
		v, err := embedded.render(card, cards.Fresh)
		if err != nil {
			t.Fatal(err)
		}
		d := v.Embeds[0].Description
		inside, rest, _ := strings.Cut(strings.TrimPrefix(d, "```bash\n"), "\n```\n")
		if strings.Contains(inside, "```") || strings.Contains(rest, "```") {
			t.Errorf("%q breaks out of its block: %q", command, d)
		}
		if strings.ReplaceAll(inside, "\u200b", "") != command {
			t.Errorf("%q is shown as %q", command, inside)
		}
		if v.file.Name != "command.txt" || v.file.Content != command || v.partial {
			t.Errorf("file %q, partial %v", v.file, v.partial)
		}
		if !strings.Contains(rest, "zero-width space") || !strings.Contains(rest, "exact text is in the attached file") {
			t.Errorf("the card does not say that the backticks are changed: %q", rest)
		}
	}
	card := high()
	card.Body = channeltest.Command("echo `date` ``x``")
	if v, _ := embedded.render(card, cards.Fresh); v.file != (cards.File{}) ||
		!strings.Contains(v.Embeds[0].Description, card.Body[0].Text) {
		t.Errorf("a command without a fence was changed: %q", v.Embeds[0].Description)
	}
}

func TestFakeWritesTheDataOfOurButtons(t *testing.T) {
	id := uuid.Must(uuid.NewV7())
	for _, action := range []cards.Action{cards.Approve, cards.Deny, cards.Details, cards.EnterCode} {
		s := discordtest.CustomID(id.String(), string(action))
		if got, a, _, ok := parseButton(s); s != cards.ButtonData(id, action, 0) || !ok || got != id || a != action {
			t.Errorf("the fake's button data for %c is %q", action, s)
		}
	}
}

var hostile = []string{
	"plain", "**b** *i* __u__ _i_ ~~s~~ ||sp||", "`code` ``` fence ```",
	"[a](https://evil.example) <https://evil.example>",
	"@everyone @here <@1> <@!1> <@&2> <#3>", "<t:0:R> <:e:1> <a:e:1> </approve:1>",
	"# head\n## two\n-# sub\n> quote\n>>> q\n- list\n* list",
	"https://evil.example discord.gg/abc DiscordApp.com/invite/x steam://run", `\* \\ \@everyone \`,
	"  # indented\n\t> tab", "漢🔥é", "a_b_c snake_case",
}

func TestEscape(t *testing.T) {
	for _, s := range hostile {
		if got := discordtest.Drawn(escape(s)); got != s {
			t.Errorf("%q is drawn as %q (written %q)", s, got, escape(s))
		}
	}
	if got := escape("git push --force origin main"); got != "git push --force origin main" {
		t.Errorf("a harmless text became %q", got)
	}
	for _, s := range []string{"see https://evil.example/x", "HTTPS://E.example", "discord.gg/abc"} {
		if e := strings.ToLower(escape(s)); strings.Contains(e, "https://") || strings.Contains(e, "discord.") {
			t.Errorf("%q could unfurl as %q", s, e)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = display.Visible(s) // what a channel is given
		if got := discordtest.Drawn(escape(s)); got != s {
			t.Errorf("%q is drawn as %q (written %q)", s, got, escape(s))
		}
	})
}

// plainly is an element as people are to read it.
func plainly(e cards.Element) string {
	switch e.Kind {
	case cards.Code, cards.Diff:
		if e.Label != "" {
			return e.Label + "\n" + e.Text + "\n"
		}
		return e.Text + "\n"
	case cards.Note:
		return e.Text + "\n"
	case cards.Answer:
		var b strings.Builder
		for _, w := range e.Words {
			b.WriteString(w.Text)
		}
		return b.String() + "\n"
	case cards.Argument:
		e.Label += ":"
	case cards.Field, cards.Result, cards.Clock:
	}
	return e.Label + " " + e.Text + "\n"
}

// readBack reads a card as Discord's clients do: nothing but our own layout got a meaning, and the texts are whole.
func readBack(t testing.TB, w channeltest.Written) {
	t.Helper()
	v, err := embedded.render(w.Card, cards.Fresh)
	if err != nil {
		t.Fatal(err)
	}
	checkLimits(t, v)
	var want strings.Builder
	for _, e := range dialect().Lay(w.Card, cards.Fresh).Elements {
		if e.Kind != cards.Clock && e.Kind != cards.Result {
			want.WriteString(plainly(e))
		}
	}
	unbroken := func(s string) string { return strings.ReplaceAll(s, "\u200b", "") }
	d := v.Embeds[0].Description
	shown, blocks := discordtest.Read(d)
	// A message ends without line breaks. Check compares the blocks, also one at the end, with theirs.
	if shown = unbroken(shown); strings.TrimRight(shown, "\n") != strings.TrimRight(want.String(), "\n") {
		t.Errorf("Discord shows\n%q\nwant\n%q\nwritten\n%q", shown, want.String(), d)
	}
	for i := range blocks {
		blocks[i] = unbroken(blocks[i])
	}
	w.Check(t, channeltest.Seen{
		Text: discordtest.Drawn(v.Content) + "\n" + shown, Blocks: blocks, Partial: v.partial,
		Tap: slices.Contains(labels(v), "✅ Approve once"), File: v.file.Content,
	})
}

func TestManyCards(t *testing.T) { channeltest.Cards(t, readBack) }

func FuzzRender(f *testing.F) { channeltest.FuzzCards(f, readBack) }
