package broadcaster

import (
	"testing"
	"testing/synctest"

	"approver.example"
	"approver.example/display"
)

// saying is the question of a rule whose card says what the call does.
func saying(does display.Summary) approver.Verdict {
	v := asking(approver.High)
	v.Says = does
	return v
}

// The story: a person said yes, for the session, to "Overwrites build/x". Then the agent made a link of build, or
// read a secret: the very same words do something else now, which is as HIGH as the first. The yes was to what the
// card said, so people are asked again, about what it says now.
func TestAYesThatLastsIsToWhatItsCardSays(t *testing.T) {
	title := func(text string, args ...string) display.Phrase { return display.Phrase{Text: text, Args: args} }
	first := display.Summary{
		Title: title("Overwrite %s", "build/x"), Does: []display.Phrase{title("Writes %s", "build/x")},
		Project: "acme/shop", Branch: "develop", Why: title("it overwrites a file"),
	}
	for name, change := range map[string]func(*display.Summary){
		"nothing else":   func(*display.Summary) {},
		"another reason": func(s *display.Summary) { s.Why = title("the policy asks about it") },
		"another thing":  func(s *display.Summary) { s.Title = title("Overwrite %s", "/etc/x") },
		"one more thing": func(s *display.Summary) { s.More = 1 },
		"another deed":   func(s *display.Summary) { s.Does = []display.Phrase{title("Sends a secret to %s", "x.example")} },
		"a deed more":    func(s *display.Summary) { s.Does = append(s.Does[:1:1], title("Deletes %s", "a")) },
		"another place":  func(s *display.Summary) { s.Project = "acme/billing" },
		"another branch": func(s *display.Summary) { s.Branch = "main" },
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			out := make(chan approver.Verdict, 1)
			ask := func(id string, says display.Summary) {
				go func() { out <- x.Ask(t.Context(), testCall(id), saying(says)) }()
				synctest.Wait()
			}
			ask("c1", first)
			x.command(0, "/approve CODE session")
			if v := <-out; v.Decision != approver.Allow {
				t.Fatalf("%+v", v)
			}
			now, cards := first, x.tg.count()
			change(&now)
			ask("c2", now)
			asked := x.tg.count() > cards
			if asked {
				x.tap(x.tg, -1, "1", false)
			}
			if v := <-out; asked != (v.Decision == approver.Deny) || asked == (name == "nothing else" ||
				name == "another reason") {
				t.Errorf("%s: asked again: %v, %v", name, asked, v.Decision)
			}
		})
	}
}

// The same goes for a call that waits beside another one, and for one that comes back for its yes.
func TestAYesIsToWhatItsCardSays(t *testing.T) {
	first := saying(display.Summary{Title: display.Phrase{Text: "Delete %s", Args: []string{"a"}}})
	second := saying(display.Summary{Title: display.Phrase{Text: "Delete %s", Args: []string{"b"}}})
	story(t, func(t *testing.T, x *bench) {
		calls := []approver.ToolCall{testCall("c1"), testCall("c2")}
		for i, why := range []approver.Verdict{first, second} {
			calls[i].Peer = approver.Peer{Known: true, UID: 7}
			go x.Ask(t.Context(), calls[i], why)
			synctest.Wait()
		}
		if n := x.tg.count(); n != 2 {
			t.Errorf("%d cards for two calls that do different things", n)
		}
	})
	if coversOther(first, second) || !coversOther(first, first) || coversOther(saying(display.Summary{}), first) {
		t.Error("a yes that waits is given to a call that does something else")
	}
}
