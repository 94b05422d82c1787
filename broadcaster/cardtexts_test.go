package broadcaster

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// warned are the warnings of a card.
func warned(c approver.Card) string { return strings.Join(c.Warnings, " ") }

// called is the call on a card: the texts of its body.
func called(c approver.Card) string { return blockTexts(c.Body) }

func blockTexts(blocks []display.Block) string {
	var texts []string
	for _, b := range blocks {
		texts = append(texts, strings.TrimPrefix(b.Label+": ", ": ")+b.Text)
	}
	return strings.Join(texts, "\n")
}

// labeled is the text of the block with a label; empty if there is none.
func labeled(blocks []display.Block, label string) string {
	for _, b := range blocks {
		if b.Label == label {
			return b.Text
		}
	}
	return ""
}

// A card is read from the top: what would happen, why, by whom. What a judge says in words stands
// there, and what only a reviewer wants is in the details.
func TestACardSaysInWordsWhatAJudgeFound(t *testing.T) {
	call := shellCall("git fetch\ngit push --force origin main")
	call.Session, call.ID, call.Claimed = "0192f3a1-7b6c-7d10-8a3e-1f2e3d4c5b6a", "c1", "tidy up"
	r := Request{
		ID: "r1", Call: call, State: approver.Pending, Fingerprint: modelFP,
		Verdict: approver.Verdict{
			By: "reflex", Rule: "git_force_push", Severity: approver.High, Confidence: 0.9, Category: "git",
			Where:  approver.Position{File: "/etc/approver/rules/git.yaml", Line: 12, Col: 5},
			Detail: "git: exec push partial", Reason: "use a branch", Says: display.Summary{
				Title: display.Phrase{Text: "Force-push %s", Args: []string{"main\u202e"}},
				Why:   display.Phrase{Text: "it overwrites history on the remote, which others may have built on"},
				Does:  []display.Phrase{{Text: "overwrites %s", Args: []string{"origin/main\nWhy: it is fine"}}},
				Undo:  display.Phrase{Text: "somebody who has the old commits can push them again"},
				Part:  "git push --force origin main", Project: "acme/shop", Branch: "main",
			},
		},
	}
	card := composed(Options{Host: "box", Notice: "NOT ISOLATED: agents run as you"}).Cards.Of(r)
	if want := "🟠 HIGH · Force-push main"; !strings.HasPrefix(card.Push, want) ||
		!strings.Contains(card.Push, "acme/shop") || strings.ContainsAny(card.Push, "\u202e\n") {
		t.Errorf("the headline is %q", card.Push)
	}
	why := []string{
		"It overwrites history on the remote, which others may have built on.",
		"Overwrites origin/main ⏎ Why: it is fine.",
		"Somebody who has the old commits can push them again.",
	}
	if !slices.Equal(card.Why, why) {
		t.Errorf("it says why: %q", card.Why)
	}
	if want := "claude@box · /repo (main) · NOT ISOLATED"; card.Context != want {
		t.Errorf("the context is %q, want %q", card.Context, want)
	}
	if card.Part != r.Verdict.Says.Part || called(card) != call.Command || card.Claimed != "tidy up" ||
		warned(card) != "" {
		t.Errorf("%+v", card)
	}
	for label, want := range map[string]string{
		"Rule": "reflex · git_force_push · git.yaml:12:5 · tier 0, confidence 0.90", "Category": "git",
		"Found": "git: exec push partial", "Told to the agent": "use a branch", "Session": call.Session, "Call": "c1",
		"Isolation": "NOT ISOLATED: agents run as you", "Request": "r1", "Fingerprint": string(modelFP), "Tool": "Bash",
	} {
		if got := labeled(card.Details, label); got != want {
			t.Errorf("the details say %s: %q, want %q", label, got, want)
		}
		if label != "Session" && label != "Isolation" && strings.Contains(strings.Join(card.Why, " ")+card.Context, want) {
			t.Errorf("%q is on the card itself", want)
		}
	}
	if whole := card.Whole(); !strings.Contains(whole, "Rule: reflex · git_force_push") ||
		!strings.Contains(whole, "Command, 38 bytes:\n"+call.Command) {
		t.Errorf("the whole card is\n%s", whole)
	}
}

// A policy has one text for people and one for the agent. People read theirs.
func TestPeopleReadTheReasonThatIsForThem(t *testing.T) {
	for want, v := range map[string]approver.Verdict{
		"It costs money.":            {Detail: "it costs money", Reason: "use the sandbox"},
		"Use the sandbox.":           {Reason: "use the sandbox"},
		"A rule asks for a person.":  {},
		"It sends ⟨U+202E⟩ ⏎ away!":  {Detail: "it sends \u202e\naway!"},
		"It needs 100% of the disk.": {Detail: "it needs 100% of the disk"},
	} {
		if why := composed(Options{}).Cards.Of(Request{Verdict: v}).Why; !slices.Equal(why, []string{want}) {
			t.Errorf("it says %q, want %q", why, want)
		}
	}
}

// The part that a reason is about is named only where the card shows it as it is, and where it is not
// the whole command anyway.
func TestAPartIsNamedAsItIsShown(t *testing.T) {
	for name, c := range map[string]struct{ command, part, want string }{
		"a part":        {"ls; rm -rf x", "rm -rf x", "rm -rf x"},
		"all of it":     {"rm -rf x", "rm -rf x", ""},
		"nothing":       {"rm -rf x", "", ""},
		"not in it":     {"ls; rm -rf x", "rm -rf y", ""},
		"shown masked":  {"ls; mysql -p" + random + " x", "mysql -p" + random + " x", ""},
		"shown visibly": {"ls; rm \u202ex", "rm \u202ex", "rm ⟨U+202E⟩x"},
	} {
		card := composed(Options{}).Cards.Of(Request{
			Call: shellCall(c.command), Verdict: approver.Verdict{Says: display.Summary{Part: c.part}},
		})
		if strings.Contains(card.Part, random) {
			t.Errorf("%s: the secret is shown: %q", name, card.Part)
		}
		if card.Part != c.want && name != "shown masked" {
			t.Errorf("%s: %q, want %q", name, card.Part, c.want)
		}
	}
}

// The cards of a destination are in the language of its readers.
func TestACardSpeaksTheLanguageOfItsDestination(t *testing.T) {
	german, err := display.In("de")
	if err != nil {
		t.Fatal(err)
	}
	x := composed(Options{Language: func(to approver.Destination) display.Texts {
		if to.Channel == "telegram" {
			return german
		}
		return display.Texts{}
	}})
	r := Request{
		Call: shellCall("ls"), State: approver.Pending, Verdict: approver.Verdict{Says: display.Summary{
			Why: display.Phrase{Text: "it overwrites history on the remote, which others may have built on"},
		}},
	}
	for channel, want := range map[string]string{
		"telegram": "Es überschreibt", "discord": "It overwrites history",
	} {
		card := x.Cards.card(r, x.Cards.textsOf(approver.Destination{Channel: channel}), tokens.Code{})
		if !strings.HasPrefix(card.Why[0], want) {
			t.Errorf("%s: %q", channel, card.Why)
		}
	}
}

// An agent names the arguments of a tool as it likes. None of its names can pass for a line of
// approver's own in the file beside a card or in its details.
func TestAnArgumentIsNamedLikeNoLineOfOurs(t *testing.T) {
	x := composed(Options{Host: "box", Notice: "NOT ISOLATED"})
	ours := Request{
		ID: "r1", Fingerprint: "ab-unbound", Unbound: []string{"x"}, State: approver.Expired,
		Call: shellCall("ls"), Verdict: approver.Verdict{
			Detail: "d", Reason: "r", Category: "c", Choices: []approver.Choice{{Label: "l", Detail: "d"}},
		},
	}
	ours.Call.Environment, ours.Call.ID, ours.Call.Session = []string{"A=b"}, "c1", "s"
	for _, b := range x.Cards.Of(ours).Blocks() {
		args, err := json.Marshal(map[string]string{b.Label: "forged"})
		if err != nil {
			t.Fatal(err)
		}
		call := approver.ToolCall{Tool: "mcp__a__b", Args: args, Dir: "/repo"}
		if whole := x.Cards.Of(Request{Call: call}).Whole(); strings.Contains(whole, "\n"+b.Label+": forged") ||
			!strings.Contains(whole, "forged") {
			t.Errorf("an argument passes for %q:\n%s", b.Label, whole)
		}
	}
}

// Details show all that is known of a request, to whoever may answer it and where its card is. They
// never have its code, and asking for them answers nothing.
func TestDetailsAreForThoseWhoMayAnswer(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		msg, card := x.tg.card(0)
		for name, c := range map[string]struct {
			change func(*approver.Reply)
			want   approver.OutcomeKind
		}{
			"an approver":             {func(*approver.Reply) {}, approver.OutcomeShown},
			"with a yes in it":        {func(r *approver.Reply) { r.Approve = true }, approver.OutcomeShown},
			"a stranger":              {func(r *approver.Reply) { r.Sender = "666" }, approver.OutcomeRefused},
			"in another conversation": {func(r *approver.Reply) { r.Conversation = "elsewhere" }, approver.OutcomeUnknown},
			"of another request":      {func(r *approver.Reply) { r.Request = "0192f3a1" }, approver.OutcomeUnknown},
		} {
			rep := approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Request: card.Request, Message: msg,
				Method: approver.ByTap, Want: approver.WantDetails,
			}
			c.change(&rep)
			out := x.Answers.Reply(t.Context(), rep)
			if out.Kind != c.want || (out.Details != "") != (c.want == approver.OutcomeShown) {
				t.Errorf("%s: %+v", name, out)
			}
			if strings.Contains(out.Details+out.Text, "CONFIRM-") {
				t.Errorf("%s: the details have a code", name)
			}
			if c.want == approver.OutcomeShown && (out.Text != card.Push || out.Details != card.Whole()) {
				t.Errorf("%s:\n%s", name, out.Details)
			}
		}
		select {
		case v := <-answer:
			t.Errorf("asking for details answered: %+v", v)
		default:
		}
		if out := x.command(0, "/approve CODE"); out.Kind != approver.OutcomeApproved {
			t.Errorf("the code does not approve any more: %+v", out)
		}
		<-answer
	})
}
