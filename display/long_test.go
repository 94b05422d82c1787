package display

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// suspicious are characters and words that the mask and the marks look at closely, and around which they
// look for more of them.
var suspicious = map[string]string{
	"quotes": `'"'"`, "quotes in words": `a''`, "backslashes": `\`, "continued lines": "a\\\n",
	"line breaks": "\n", "line breaks of Windows": "\r\n", "lines": "aB3dE5gH7jK9mN1p\n", "indented lines": "\n        ",
	"draws nothing": "\u200b", "soft hyphens": "a\u00ad", "reversed": "a\u202e", "brackets of marks": "⟨",
	"invalid bytes": "\xff", "control characters": "\x01", "marks": "a\u0301", "look-alikes": "аb",
	"keys":       "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB ",
	"split keys": "ghp_0123456''789abcdefghijklmnopqrstuvwxyzAB ",
	"names":      "token: Xk9fQ2mP7vR4aaaa ", "addresses": "https://u:pw123456@h/ ",
	"variables": "T=Xk9fQ2mP7vR4aaaa; curl -u a:$T x\n", "key lines": "-----BEGIN PRIVATE KEY-----\n",
	"notes": "‹5 characters hidden›",
}

// long returns a text of n bytes at most.
func long(text string, n int) string { return strings.Repeat(text, n/len(text)) }

// One call with a long text kept the program busy for minutes: a megabyte of quotes or line breaks was looked
// through once for each of them. With such a search, this test takes minutes.
func TestAKeyBehindALongTextIsMasked(t *testing.T) {
	longComputation(t)
	const key = "ghp_zyxwvutsrqponmlkjihgfedcba9876543210AB"
	for name, text := range suspicious {
		s := "echo '" + long(text, 400_000) + "'\necho " + key + " x"
		if masked := Mask(s); strings.Contains(masked, key) {
			t.Errorf("%s: the key is shown", name)
		}
	}
}

// BenchmarkLong shows what 200 kB of each of these cost, for each pass over a text.
func BenchmarkLong(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(suspicious)) {
		text := "echo '" + long(suspicious[name], 200_000) + "'"
		call := shellCall(text)
		call.Args, _ = json.Marshal(map[string]string{"command": text})
		for what, pass := range map[string]func(){
			"mask": func() { Mask(text) }, "visible": func() { Visible(text) }, "warnings": func() { Warnings(text) },
			"shown": func() { call.Shown() }, "body": func() { call.Body() },
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					pass()
				}
			})
		}
	}
}
