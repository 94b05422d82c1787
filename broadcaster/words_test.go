package broadcaster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// A call names its arguments, its files and what it runs like texts of approver's own. A German card shows them as
// they are: another word on the card would be about something that is not there.
func TestWordsOfACallAreNotTranslated(t *testing.T) {
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"Approve once", "Deny", "the whole card", "Details", "deletes data on a server"} {
		for name, call := range map[string]approver.ToolCall{
			"a command":   shellCall(words),
			"a file":      {Tool: "Write", Args: []byte(`{"file_path":"` + words + `","content":"x"}`), Dir: "/repo"},
			"an argument": {Tool: "mcp__a__b", Args: []byte(`{"` + words + `":"x"}`), Dir: "/repo"},
			"its value":   {Tool: "mcp__a__b", Args: []byte(`{"name":"` + words + `"}`), Dir: "/repo"},
		} {
			card := composed(Options{}).Cards.card(Request{Call: call, State: approver.Pending}, german, tokens.Code{})
			body := blockTexts(card.Body)
			if !strings.Contains(body, words) || name != "an argument" && !strings.Contains(card.Push, words) {
				t.Errorf("%s %q is shown as %s\n%s", name, words, card.Push, body)
			}
		}
	}
	ours := german.Say(display.Phrase{Text: "Hard to undo: it %s", Own: []string{"deletes data on a server"}})
	if strings.Contains(ours, "deletes") {
		t.Errorf("approver's own words are not translated: %s", ours)
	}
}

// The headline has the number of things, and the sentence that lists them is not left out because it begins with the
// same name.
func TestAHeadlineCounts(t *testing.T) {
	title := display.Phrase{Text: "Force-push %s", Args: []string{"main"}}
	does := display.Phrase{Text: "Rewrites the history of %s on the remote", Args: []string{"main"}}
	for more, want := range map[int]string{0: "🟠 HIGH · Force-push main (acme/shop)",
		2: "🟠 HIGH · Force-push main and 2 more (acme/shop)"} {
		r := Request{Call: shellCall("git push"), Verdict: approver.Verdict{Severity: approver.High, Says: display.Summary{
			Title: title, More: more, Does: []display.Phrase{does}, Project: "acme/shop"}}}
		card := composed(Options{}).Cards.card(r, display.Texts{}, tokens.Code{})
		if card.Push != want {
			t.Errorf("got %q, want %q", card.Push, want)
		}
		if said := slices.Contains(card.Why, "Rewrites the history of main on the remote."); said != (more > 0) {
			t.Errorf("and %d more: %q", more, card.Why)
		}
	}
}

// The body of a card hides a secret, and the words beside it are made of the call with its variables filled in. None
// of them has the secret, wherever on the card it is, and in no list.
func TestWordsOfACardHaveNoSecretOfItsBody(t *testing.T) {
	const secret = "Xk93mPq7Lw2z"
	said := display.Phrase{Text: "Delete %s", Args: []string{"/srv/" + secret}}
	call := shellCall("PASSWORD=" + secret + "; rm -rf /srv/$PASSWORD")
	call.Claimed = "Clean /srv/" + secret
	r := Request{Call: call, Notices: []display.Phrase{said}, Unbound: []string{"what /srv/" + secret + " runs"},
		Verdict: approver.Verdict{Severity: approver.High, Detail: "deletes " + secret, Reason: "deletes " + secret,
			Choices: []approver.Choice{{Label: "Allow " + secret, Detail: secret}},
			Says: display.Summary{Title: said, Why: said, Does: []display.Phrase{said}, Undo: said, Project: secret,
				Branch: secret}, Irreversible: approver.Irreversibility{Score: 90, Why: "deletes " + secret}}}
	card := composed(Options{}).Cards.card(r, display.Texts{}, tokens.Code{})
	words := fmt.Sprint(card.Push, card.Why, card.Claimed, card.Context, card.Warnings, card.Choices, card.Lasting,
		push(withoutSecrets(r, call.Display().Hidden()), display.Texts{})) + blockTexts(card.Details) + blockTexts(card.Body)
	if strings.Contains(words, secret) {
		t.Errorf("the card shows the secret:\n%s", strings.ReplaceAll(words, secret, ">>>"+secret+"<<<"))
	}
	if !strings.HasPrefix(card.Push, "🟠 HIGH · Delete /srv/[hidden]") {
		t.Errorf("the headline is %s", card.Push)
	}
}
