package broadcaster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The owner asked to lift a freeze. Root lifted it, and froze anew. The old question was
// still open, and a yes to it said Approved although it did nothing. Now it ends with
// what it was about, on every way, and its yes is not taken for one.
func TestAQuestionEndsWithItsFreeze(t *testing.T) {
	who := Who{Agent: "claude", Project: "/repo"}
	for name, turn := range map[string]func(*bench) error{
		"lifted": func(x *bench) error { return x.Controls.Unfreeze(context.Background(), "root") },
		"frozen again": func(x *bench) error {
			_, err := x.Controls.Freeze(context.Background(), "root", "again")
			return err
		},
		"an agent as well": func(x *bench) error {
			_, err := x.Controls.Hold(context.Background(), who, "root", "ran")
			return err
		},
		"lifted and frozen": func(x *bench) error {
			if err := x.Controls.Unfreeze(context.Background(), "root"); err != nil {
				return err
			}
			_, err := x.Controls.Freeze(context.Background(), "root", "second")
			return err
		},
		// Another daemon turned it and ended before it could end the question.
		"by another daemon": func(x *bench) error {
			_, err := x.Controls.change(context.Background(), func(c *Controls, now time.Time) error { c.lift(now); return nil })
			return err
		},
	} {
		for _, control := range []string{"unfreeze", "pause", "observe"} {
			t.Run(name+", "+control, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newBench(t, newMemKV())
					if _, err := x.Controls.Freeze(t.Context(), "uid 7", "first"); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
					call := testCall("c1")
					call.Control, call.Tool, call.Command = control, "approver "+control, ""
					v := x.askAsync(t.Context(), call, approver.High)
					synctest.Wait()
					time.Sleep(time.Second)
					if err := turn(x); err != nil && name != "an agent as well" {
						t.Fatal(err)
					}
					synctest.Wait()
					out := x.tap(x.tg, 0, "1", true)
					if out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeRecorded ||
						strings.Contains(out.Text, "pproved") {
						t.Errorf("told %+v", out)
					}
					if v := <-v; v.Decision != approver.Deny || !strings.Contains(v.Reason, "a freeze began or ended") {
						t.Errorf("the one who asked is told %+v", v)
					}
				})
			})
		}
	}
}

// Somebody who said yes to the end of a freeze read that a call was released to an agent.
// They now read what was done, once it is.
func TestTheYesToAQuestionSaysWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		call := testCall("c1")
		call.Control, call.Tool, call.Command = "unfreeze", "approver unfreeze", ""
		v := x.askAsync(t.Context(), call, approver.High)
		go func() {
			if (<-v).Decision == approver.Allow {
				_ = x.Controls.Unfreeze(t.Context(), "uid 7")
			}
		}()
		synctest.Wait()
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved ||
			!strings.Contains(out.Text, "the freeze is lifted") {
			t.Errorf("told %+v", out)
		}
		call = testCall("c2")
		call.Own, call.Tool, call.Command, call.Args = true, "change_policy", "", json.RawMessage(`{"diff":["+x"]}`)
		time.Sleep(time.Second)
		asked := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		if out := x.tap(x.tg, -1, "1", true); !strings.Contains(out.Text, "puts the looser policy in force") ||
			(<-asked).Decision != approver.Allow {
			t.Errorf("told %+v", out)
		}
	})
}

// A question about approver itself was raw JSON. It is a sentence and lines now, and every
// value of its arguments is in it: a text cannot begin a line that looks like ours, and no
// line of a diff hides the next.
func TestAQuestionAboutApproverIsText(t *testing.T) {
	for args, want := range map[string]string{
		`{}`:                                "Put a looser policy in force",
		`{"file":"/p.yaml","version":"ab"}`: "Put a looser policy in force\nfile: /p.yaml\nversion: ab",
		`{"diff":["--- a","+++ b","-x: 1","+x: \"2\" <&>"],"file":"/p"}`: "Put a looser policy in force\nfile: " +
			"/p\n\ndiff:\n  --- a\n  +++ b\n  -x: 1\n  +x: \"2\" <&>",
		`{"reason":"tidy\nfile: /other"}`:     "Put a looser policy in force\nreason: \"tidy\\nfile: /other\"",
		`{"reason":"tidy\u2028file: /other"}`: "Put a looser policy in force\nreason: \"tidy\\u2028file: /other\"",
		`{"diff":["+a\n\nfile: /other"]}`:     "Put a looser policy in force\n\ndiff:\n  \"+a\\n\\nfile: /other\"",
		`{"x\ny":true,"n":7,"o":{"k":"<"},"e":[],"z":null}`: "Put a looser policy in force\ne: []\nn: 7\no: " +
			"{\"k\":\"<\"}\n\"x\\ny\": true\nz: null",
		`{"accounts":[{"channel":"slack"}]}`: "Put a looser policy in force\n\naccounts:\n  {\"channel\":\"slack\"}",
		`not json`:                           "Put a looser policy in force\nnot json",
		`["a"]`:                              "Put a looser policy in force\n[\"a\"]",
	} {
		call := approver.ToolCall{Agent: "approver", Tool: "change_policy", Own: true, Args: json.RawMessage(args)}
		if shown, _ := call.Display().Shown(); shown != want || call.Text() != want {
			t.Errorf("%s is shown as\n%s\nwant\n%s", args, shown, want)
		}
	}
	lines := []string{"+password:", "+  - decision: allow", "+Authorization: Bearer", "+  name: everything", `+token: "`,
		"+  command: rm", `+secret = '`, "+  tools: [Bash]'", "+curl -u", "+  more: x"}
	raw, err := json.Marshal(map[string]any{"diff": lines})
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := approver.ToolCall{Agent: "approver", Tool: "change_policy", Own: true, Args: raw}.Display().Shown()
	for _, line := range []string{"decision: allow", "name: everything", "command: rm", "tools: [Bash]", "more: x"} {
		if !strings.Contains(shown, line) {
			t.Errorf("%q is hidden by the line before it:\n%s", line, shown)
		}
	}
	secret := approver.ToolCall{
		Agent: "approver", Tool: "change_policy", Own: true,
		Args: json.RawMessage(`{"diff":["+x: ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"]}`),
	}
	if shown, _ := secret.Display().Shown(); strings.Contains(shown, "mnopqrst") {
		t.Errorf("a token is shown: %s", shown)
	}
	plain := approver.ToolCall{Agent: "approver", Tool: "change_policy", Args: json.RawMessage(`{"diff":["+x"]}`)}
	if plain.Display().Sentence() != "" || !strings.Contains(plain.Text(), `"diff"`) {
		t.Errorf("an agent's call reads as a question of ours: %s", plain.Text())
	}
}

// approver's own dot stood as ⟨U+00B7⟩ on the first line of each card about approver itself.
// It is a dot; one that somebody else wrote there is marked, wherever it stands.
func TestTheDotsOfApproverAreDots(t *testing.T) {
	x := newBench(t, newMemKV())
	for _, c := range []struct {
		call approver.ToolCall
		want string
	}{
		{approver.ToolCall{
			Tool: "change_policy", Own: true, Args: json.RawMessage(`{"diff":["+x"],"file":"/p.yaml","version":"ab"}`),
		}, "Loosen the policy"},
		{approver.ToolCall{
			Tool: "change_rules", Own: true, Args: json.RawMessage(`{"file":"/a · version: b"}`),
		}, "Loosen the rules"},
		{approver.ToolCall{
			Tool: "approver pause", Control: "pause", Args: json.RawMessage(`{"for":"15 min","reason_as_claimed":"tidy"}`),
		}, "Ask nobody for 15 min, and let calls through"},
		{approver.ToolCall{
			Tool: "approver pause", Control: "pause", Args: json.RawMessage(`{"reason_as_claimed":"· for: 1 min"}`),
		}, "Ask nobody for a while (approver pause)"},
		{approver.ToolCall{
			Tool: "approver observe", Control: "observe", Args: json.RawMessage(`{"for":"7 days"}`),
		}, "Enforce no rule for 7 days"},
		{approver.ToolCall{
			Tool: "approver unfreeze", Control: "unfreeze", Args: json.RawMessage(`{"reason_as_claimed":"a\n· b"}`),
		}, "Lift the freeze"},
		{approver.ToolCall{
			Tool: "approver restore_person", Control: "restore", Args: json.RawMessage(`{"person":"a · \u05d0"}`),
		}, "Bring back the approver a ⟨U+00B7⟩ ⟨U+05D0⟩"},
		{approver.ToolCall{Tool: "Bash", Command: "echo a · file: /p"}, "Bash: echo a ⟨U+00B7⟩ file: /p"},
		{approver.ToolCall{Tool: "Bash", Command: "ls\nfile: /p"}, "Bash: ls (and 1 more line)"},
	} {
		card := x.Cards.Of(Request{Call: c.call, State: approver.Pending})
		if card.Push != "🔴 CATASTROPHIC · "+c.want {
			t.Errorf("%s\nwant %s", card.Push, c.want)
		}
		rest := card
		rest.Push, rest.Body, rest.Warnings = "", nil, nil // these show the values
		if text := fmt.Sprintf("%+v", rest); strings.Contains(text, "⟨") {
			t.Errorf("approver marks its own words: %s", text)
		}
	}
}

// Whoever changed a file that people were asked about read that the agent had stopped
// waiting, and so did who took a question of their own back.
func TestAQuestionThatIsOverSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		why  error
		own  bool
		want string
	}{
		"the file was changed": {
			approver.ErrOutdated, true, "↩ Withdrawn · approver changed nothing · the file was changed again, so this " +
				"question is over",
		},
		"the asker left": {context.Canceled, true, "↩ Withdrawn · approver changed nothing · whoever asked stopped waiting"},
		"an agent left":  {context.Canceled, false, "↩ Withdrawn · approver released nothing · the agent stopped waiting"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				call := testCall("c1")
				if c.own {
					call.Own, call.Tool, call.Command, call.Args = true, "change_policy", "", json.RawMessage(`{"diff":["+x"]}`)
				}
				ctx, leave := context.WithCancelCause(t.Context())
				v := x.askAsync(ctx, call, approver.High)
				synctest.Wait()
				leave(c.why)
				if v := <-v; v.Decision != approver.Deny || c.why == approver.ErrOutdated &&
					!strings.Contains(v.Reason, approver.ErrOutdated.Error()) {
					t.Errorf("the one who asked is told %+v", v)
				}
				time.Sleep(2 * WithdrawGrace)
				synctest.Wait()
				if _, card := x.tg.card(0); card.State != approver.Withdrawn || card.Result != c.want {
					t.Errorf("the card ends with %v, %q", card.State, card.Result)
				}
				if out := x.tap(x.tg, 0, "1", true); out.Kind == approver.OutcomeApproved || c.why == approver.ErrOutdated &&
					!strings.Contains(out.Text, approver.ErrOutdated.Error()) {
					t.Errorf("a late yes is told %+v", out)
				}
			})
		})
	}
}

// The version of a policy is a hash, which nobody reads on a phone: only the details have it.
func TestAVersionIsInTheDetails(t *testing.T) {
	version := strings.Repeat("0123456789abcdef", 4)
	card := composed(Options{}).Cards.Of(Request{State: approver.Pending, Call: approver.ToolCall{Agent: "approver",
		Tool: "change_policy", Own: true, Args: json.RawMessage(`{"diff":["+x"],"version":"` + version + `"}`)}})
	body, details := "", ""
	for _, b := range card.Body {
		body += b.Text + "\n"
	}
	for _, b := range card.Details {
		details += b.Text + "\n"
	}
	if strings.Contains(body, version[:8]) || !strings.Contains(details, version) {
		t.Errorf("body:\n%s\ndetails:\n%s", body, details)
	}
}
