package display_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"approver.example/display"
)

// Words that are made of a call, such as "Delete /srv/…" with a variable filled in, have nothing that its body hides:
// not a whole secret, not a part of one, and not in capital letters. What the body shows stays.
func TestWordsWithoutWhatTheBodyHides(t *testing.T) {
	for _, c := range []struct{ command, word, want string }{
		{"PASSWORD=Xk93mPq7Lw2z; rm -rf /srv/$PASSWORD", "/srv/Xk93mPq7Lw2z/a", "/srv/[hidden]/a"},
		{"PASSWORD=Xk93mPq7Lw2z; rm -rf /srv/${PASSWORD:0:8}", "/srv/Xk93mPq7", "/srv/[hidden]"},
		{"PASSWORD=Xk93mPq7Lw2z; rm -rf /srv/${PASSWORD^^}", "/srv/XK93MPQ7LW2Z", "/srv/[hidden]"},
		{"redis-cli -a Xk93 FLUSHALL; rm -rf /srv/Xk9*", "/srv/Xk93/a", "/srv/[hidden]/a"},
		{"redis-cli -a Xk93 FLUSHALL; rm -rf /srv/Xk9*", "/srv/Xk932/a", "/srv/Xk932/a"},
		{"PASSWORD=production-Xk93mPq7; rm -rf production", "/repo/production", "/repo/production"},
		{"rm -rf /srv/a", "/srv/a", "/srv/a"},
	} {
		hidden := display.Call{Tool: "Bash", OwnShell: true, Command: c.command}.Hidden()
		says := hidden.Summary(display.Summary{Title: phrase(c.word), Why: phrase(c.word), Undo: phrase(c.word),
			Does: []display.Phrase{phrase(c.word)}, Project: c.word, Branch: c.word})
		for _, got := range []string{says.Title.Args[0], says.Why.Args[0], says.Undo.Args[0], says.Does[0].Args[0],
			says.Project, says.Branch, hidden.Of(c.word)} {
			if got != c.want {
				t.Errorf("%s: %q is said as %q, want %q", c.command, c.word, got, c.want)
			}
		}
	}
}

// A hidden value is searched for as its bytes are, and no letter is cut in half.
func TestNoLetterIsCutInHalf(t *testing.T) {
	hidden := display.Call{Tool: "mcp__a__b", Args: []byte(`{"password":"é93mPq7ü"}`)}.Hidden()
	for word, want := range map[string]string{"a/é93mPq7ü/b": "a/[hidden]/b", "é93mPq7": "[hidden]"} {
		if got := hidden.Of(word); want != "" && got != want || utf8.ValidString(word) && !utf8.ValidString(got) {
			t.Errorf("%q is said as %q, want %q", word, got, want)
		}
	}
}

// A token that is recognized by itself keeps its prefix and its fingerprint.
func TestWordsKeepWhatAMaskSays(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	hidden := display.Call{Tool: "Bash", OwnShell: true, Command: "gh repo delete " + token}.Hidden()
	if got := display.SafeLine(hidden.Of(token)); !strings.HasPrefix(got, "ghp_‹") {
		t.Errorf("got %q", got)
	}
}

func phrase(word string) display.Phrase {
	return display.Phrase{Text: "Delete %s", Args: []string{word}}
}
