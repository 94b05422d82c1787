package discord

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

// checkLimits fails if Discord would refuse a view.
func checkLimits(t *testing.T, v view) {
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
	for _, f := range e.Fields {
		limit("name", f.Name, 256)
		limit("value of "+f.Name, f.Value, 1024)
	}
	limit("footer", e.Footer.Text, 2048)
	if total > 6000 {
		t.Errorf("the embed has %d units, at most 6000 are allowed", total)
	}
}

func TestRenderLimits(t *testing.T) {
	for name, unit := range map[string]string{
		"plain": "a", "escaped": "_", "ticks": "`", "fences": "``` ", "wide": "漢", "emoji": "🔥", "newlines": "\n",
		"invalid": "\xff", "links": "https://",
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 700, 2600, 100_000} {
				long := strings.Repeat(unit, n)
				card := high()
				card.Command, card.Why, card.Rule, card.Claimed, card.Agent, card.Session = long, long, long, long, long, long
				card.Dir, card.Host, card.Notice, card.Push, card.Result = long, long, long, long, long
				for _, state := range []approver.State{approver.Pending, approver.Consumed, approver.Denied} {
					card.State = state
					v, err := render(card, false)
					if err != nil {
						t.Fatal(err)
					}
					checkLimits(t, v)
					if n == 100_000 && (!v.partial || v.file.name != cardFile ||
						!strings.HasSuffix(v.file.content, "\nCommand:\n"+long)) {
						t.Errorf("partial %v, %s of %d bytes; the command has %d", v.partial, v.file.name, len(v.file.content), len(long))
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

func TestButtons(t *testing.T) {
	long := strings.Repeat("echo hello; ", 400)
	for name, c := range map[string]struct {
		change  func(*approver.Card)
		partial bool
		want    string
	}{
		"one tap":    {func(*approver.Card) {}, false, "Approve Deny Details"},
		"no one tap": {func(c *approver.Card) { c.OneTap = false }, false, "Deny Enter code… Details"},
		"catastrophic": {func(c *approver.Card) { c.Severity = approver.Catastrophic }, false,
			"Deny Enter code… Details"},
		"unknown severity":     {func(c *approver.Card) { c.Severity = 9 }, false, "Deny Enter code… Details"},
		"cut":                  {func(c *approver.Card) { c.Command = long }, false, "Deny Enter code… Details"},
		"posted cut":           {func(*approver.Card) {}, true, "Deny Enter code… Details"},
		"a cut directory":      {func(c *approver.Card) { c.Dir = long }, false, "Deny Enter code… Details"},
		"a cut claim":          {func(c *approver.Card) { c.Claimed = long }, false, "Deny Enter code… Details"},
		"fenced":               {func(c *approver.Card) { c.Command = "echo ```" }, false, "Approve Deny Details"},
		"approved":             {func(c *approver.Card) { c.State = approver.Approved }, false, ""},
		"denied":               {func(c *approver.Card) { c.State = approver.Denied }, false, ""},
		"expired":              {func(c *approver.Card) { c.State = approver.Expired }, false, ""},
		"consumed":             {func(c *approver.Card) { c.State = approver.Consumed }, false, ""},
		"a state of tomorrow":  {func(c *approver.Card) { c.State = 77 }, false, ""},
		"zero state is denied": {func(c *approver.Card) { c.State = 0 }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			card := high()
			c.change(&card)
			v, err := render(card, c.partial)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(labels(v), " "); got != c.want {
				t.Errorf("the buttons are %q, want %q", got, c.want)
			}
			raw, err := json.Marshal(v.message)
			if err != nil {
				t.Fatal(err)
			}
			code := strings.TrimPrefix(card.Code.Reveal(), tokens.Prefix)
			if shows := strings.Contains(string(raw), code); shows != (c.want != "") {
				t.Errorf("the card shows its code: %v", shows)
			}
			if strings.Contains(v.Content, code) {
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
		if _, err := render(card, false); err == nil {
			t.Errorf("render took the request id %q", id)
		}
	}
}

func TestFencedCommand(t *testing.T) {
	for _, command := range []string{"```", "a```b", "````", "`````", "``` `` ` ```", "\n```\n@everyone",
		strings.Repeat("`", 99)} {
		card := high()
		card.Command = command
		v, err := render(card, false)
		if err != nil {
			t.Fatal(err)
		}
		d := v.Embeds[0].Description
		inside := strings.TrimSuffix(strings.TrimPrefix(d, "```bash\n"), "\n```")
		if strings.Contains(inside, "```") {
			t.Errorf("%q breaks out of its block: %q", command, d)
		}
		if strings.ReplaceAll(inside, "\u200b", "") != command {
			t.Errorf("%q is shown as %q", command, inside)
		}
		if v.file != (file{commandFile, command}) || v.partial {
			t.Errorf("file %q, partial %v", v.file, v.partial)
		}
		answer := v.Embeds[0].Fields[len(v.Embeds[0].Fields)-1].Value
		if !strings.Contains(answer, "zero-width space") || !strings.Contains(answer, commandFile) {
			t.Errorf("the card does not say that the backticks are changed: %q", answer)
		}
	}
	card := high()
	card.Command = "echo `date` ``x``"
	if v, _ := render(card, false); v.file != (file{}) || !strings.Contains(v.Embeds[0].Description, card.Command) {
		t.Errorf("a command without a fence was changed: %q", v.Embeds[0].Description)
	}
}

func TestFakeWritesTheDataOfOurButtons(t *testing.T) {
	id := uuid.Must(uuid.NewV7())
	for _, action := range []cards.Action{cards.Approve, cards.Deny, cards.Details, cards.Code} {
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

func FuzzRender(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s, 1)
	}
	f.Add("```", "x", 3000)
	f.Fuzz(func(t *testing.T, command, text string, times int) {
		command = display.Visible(strings.Repeat(command, 1+max(times, 0)%400))
		text = display.Visible(strings.Repeat(text, 1+max(times, 0)%400))
		if strings.TrimSpace(text) == "" {
			return
		}
		card := high()
		card.Command, card.Push = command, text
		card.Why, card.Rule, card.Claimed, card.Agent, card.Session, card.Dir, card.Host, card.Notice = text, text, text,
			text, text, text, text, text
		v, err := render(card, false)
		if err != nil {
			t.Fatal(err)
		}
		checkLimits(t, v)
		inside := strings.TrimSuffix(strings.TrimPrefix(v.Embeds[0].Description, "```bash\n"), "\n```")
		if strings.Contains(inside, "```") {
			t.Errorf("the command breaks out: %q", inside)
		}
		whole := strings.ReplaceAll(inside, "\u200b", "") == command
		if !whole && (!v.partial || !strings.HasSuffix(v.file.content, command)) {
			t.Errorf("the command %q is shown as %q, partial %v, file %q", command, inside, v.partial, v.file)
		}
	})
}
