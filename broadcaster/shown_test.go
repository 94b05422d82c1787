package broadcaster

import (
	"encoding/json"
	"strings"
	"testing"

	"approver.example"
)

// The story: what a card showed was not what ran. Characters that are not seen turned
// words around or passed for others, a carriage return wrote over the beginning of a line,
// and white space pushed the dangerous part out of sight. The text of a card, from which
// every channel's is made, has a mark for each, also within the arguments of tools.
func TestWhatIsShownIsWhatRuns(t *testing.T) {
	for name, c := range map[string]struct{ evil, mark string }{
		"bidi":             {"rm -rf /srv/\u202eatad", "⟨U+202E⟩"},
		"isolate":          {"rm \u2066-rf\u2069 x", "⟨U+2066⟩"},
		"zero width":       {"rm -rf /srv/da\u200bta", "⟨U+200B⟩"},
		"soft hyphen":      {"rm -rf da\u00adta", "⟨U+00AD⟩"},
		"homoglyph":        {"kubectl --context pr\u043ed delete ns x", "⟨U+043E⟩"},
		"tag characters":   {"ls \U000e0072\U000e006d", "⟨U+E0072⟩"},
		"ANSI":             {"echo \x1b[2K\x1b[1A; rm -rf x", "⟨U+001B⟩"},
		"backspace":        {"rm -rf data\b\b\b\btest", "⟨U+0008⟩"},
		"carriage return":  {"rm -rf data\rls", "⟨U+000D⟩"},
		"no-break space":   {"rm -rf\u00a0/ x", "⟨U+00A0⟩"},
		"line separator":   {"ls #\u2028rm -rf x", "⟨U+2028⟩"},
		"next line":        {"ls #\u0085rm -rf x", "⟨U+0085⟩"},
		"combining":        {"rm -rf da\u0336ta", "⟨U+0336⟩"},
		"filler":           {"rm -rf da\u3164ta", "⟨U+3164⟩"},
		"imitated marker":  {"ls ⟨U+202E⟩", "⟨U+27E8⟩"},
		"spaces":           {"ls" + strings.Repeat(" ", 500) + "; rm -rf x", "⟨500 spaces⟩"},
		"blank lines":      {"ls" + strings.Repeat("\n", 100) + "rm -rf x", "⟨99 blank lines⟩"},
		"wide spaces":      {"ls" + strings.Repeat("\u3000", 50) + "; rm -rf x", "⟨U+3000⟩"},
		"imitated secret":  {"ls ‹16 characters hidden, 3fa9c1›", "U+2039⟨U+27E9⟩"},
		"full-width":       {"rm －rf x", "⟨U+FF0D⟩"},
		"byte of no char":  {"ls \xff x", "⟨\\xFF⟩"},
		"object character": {"ls \ufffc x", "⟨U+FFFC⟩"},
	} {
		check := func(call approver.ToolCall, marks ...string) {
			t.Helper()
			card := composed(Options{}).Cards.Of(Request{
				Call: call, State: approver.Pending, Verdict: approver.Verdict{Severity: approver.High},
			})
			for _, m := range marks {
				if strings.Contains(called(card), m) {
					return
				}
			}
			t.Errorf("%s: the card has none of %q:\n%q", name, marks, called(card))
		}
		check(shellCall(c.evil), c.mark)
		if name == "byte of no char" {
			continue // no JSON has it
		}
		// JSON writes some of them as escapes, which are seen.
		escapes := []string{c.mark, `\u00`, `\u20`, `\u2028`, `\b`, `\r`, strings.Repeat(`\n`, 100)}
		for _, args := range []any{
			map[string]any{"command": c.evil},
			map[string]any{"a": []any{map[string]any{"b": c.evil}}},
			map[string]any{"file_path": "/x", "content": c.evil},
			map[string]any{"notebook_path": "/x.ipynb", "new_source": c.evil},
			map[string]any{"edits": []any{map[string]any{"old_string": "x", "new_string": c.evil}}},
			map[string]any{c.evil: 1},
		} {
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			check(approver.ToolCall{Tool: "mcp__x__y", Args: raw, Dir: "/repo"}, escapes...)
		}
	}
}
