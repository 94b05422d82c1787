package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// judging is what the judgement says of commands; anything else passes.
func judging(_ context.Context, call approver.ToolCall) approver.Verdict {
	v := approver.Verdict{Decision: approver.Pass, Severity: approver.High}
	switch call.Command {
	case "git push --mirror":
		v = approver.Verdict{Decision: approver.Deny, Reason: "mirrors are forbidden."}
	case "rm -rf /":
		v = approver.Verdict{Decision: approver.Ask}
	case "git push origin HEAD:fix":
		v.Decision = approver.Ask
	case "deploy":
		v.Decision, v.Approvers = approver.Ask, []string{"bob"}
	case "change me":
		v.Decision, v.Args = approver.Modify, json.RawMessage(`{"command":"changed"}`)
	case "panic":
		panic("judge")
	}
	return v
}

// editable is a call whose agent runs changed commands.
func editable(id string) approver.ToolCall {
	call := hookCall(id)
	call.Args = []byte(`{"command":"git push --force","timeout":9}`)
	call.Changes = true
	return call
}

func (x *bench) editReply(sender, command string) approver.Reply {
	msg, card := x.tg.card(0)
	return approver.Reply{Channel: "telegram", Conversation: "T", Sender: sender, Want: approver.WantEdit,
		Method: approver.ByTap, Request: card.Request, Message: msg, Command: command}
}

// A judge is what judges changed commands.
type judge func(context.Context, approver.ToolCall) approver.Verdict

// judgedBy has a judge for changed commands from now on. The first is there before anybody is asked.
func (x *bench) judgedBy(by judge) {
	if x.judge.Swap(&by) != nil {
		return
	}
	now := func(ctx context.Context, call approver.ToolCall) approver.Verdict {
		return (*x.judge.Load())(ctx, call)
	}
	x.tune(func(o *Options) { o.Judge = now })
}

// asked puts a call before people who may change it.
func (x *bench) asked(call approver.ToolCall, why approver.Verdict) <-chan approver.Verdict {
	x.judgedBy(judging)
	out := make(chan approver.Verdict, 1)
	ctx := x.t.Context()
	go func() { out <- x.Ask(ctx, call, why) }()
	time.Sleep(time.Second)
	return out
}

// The story: the command was right but for a flag. A no made the agent try three other things. Now a
// person changes the flag, and what runs is that, once, and nothing else.
func TestEditThenApprove(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		var learned int
		x.tune(func(o *Options) { o.OnAnswer = func(context.Context, approver.Record) { learned++ } })
		answer := x.asked(editable("c1"), asking(approver.High))
		if _, card := x.tg.card(0); !card.Edits {
			t.Error("the card does not offer it")
		}
		if out := x.Answers.Reply(t.Context(), x.editReply("1", "")); out.Kind != approver.OutcomeShown ||
			out.Details != "git push --force" {
			t.Fatalf("%+v", out)
		}
		out := x.Answers.Reply(t.Context(), x.editReply("1", " git push origin HEAD:fix\n"))
		if out.Kind != approver.OutcomeApproved || !strings.Contains(out.Text, "the changed command was released") {
			t.Fatalf("%+v", out)
		}
		v := <-answer
		if v.Decision != approver.Allow || string(v.Args) != `{"command":"git push origin HEAD:fix","timeout":9}` ||
			!strings.Contains(v.Reason, `what runs is {"command":"git push origin HEAD:fix"}`) {
			t.Errorf("%+v", v)
		}
		if y := v.Yes(); y.Fingerprint.Equal(mustBind(x, editable("c1"))) {
			t.Error("the yes is to the command that was asked about")
		}
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		if !strings.HasPrefix(card.Result, "✏ Approved with changes by Alice via Telegram · ") ||
			card.Body[0].Text != "git push origin HEAD:fix" ||
			card.Body[1].Text != "-git push --force\n+git push origin HEAD:fix" || len(card.Body) != 3 {
			t.Errorf("%q %+v", card.Result, card.Body)
		}
		if learned != 0 {
			t.Error("the answer was taken for one to the command that was asked about")
		}
		for _, e := range []approver.Event{approver.EventApproved, approver.EventReleased} {
			i := slices.IndexFunc(x.audit.recorded(), func(r approver.Record) bool { return r.Event == e })
			if i < 0 || x.audit.recorded()[i].Resolution.Edit == nil {
				t.Errorf("%s is in the audit without the change", e)
			}
		}
		// The store has it under its seal, and gives the same to another process.
		if r := x.loaded(card.Request); r.Resolution.Edit == nil || r.Resolution.Grant.Lasts() {
			t.Errorf("%+v", r.Resolution)
		}
		if raw, _, _ := x.kv.Get(t.Context(), approver.Key("req", card.Request)); strings.Contains(string(raw), "HEAD:fix") {
			t.Error("the command can be read in the store")
		}
		// The command that was asked about is asked again.
		again := x.askAsync(t.Context(), editable("c2"), approver.High)
		time.Sleep(time.Second)
		select {
		case v := <-again:
			t.Errorf("it runs without asking: %+v", v)
		default:
		}
	})
}

// Where the agent cannot be told to run something else, it is told what to run instead, and the call does
// not run.
func TestRunThisInstead(t *testing.T) {
	for name, prepare := range map[string]func(*approver.ToolCall){
		"an agent that cannot": func(c *approver.ToolCall) { c.Changes = false },
		"a parked request":     func(c *approver.ToolCall) { c.ParkAt = time.Now() },
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				call := editable("c1")
				prepare(&call)
				answer := x.asked(call, asking(approver.Catastrophic))
				if call.Changes {
					<-answer
				}
				out := x.Answers.Reply(t.Context(), x.editReply("1", "cat <<E\n  two  blanks   “”"))
				if out.Kind != approver.OutcomeRefused || x.request().State != approver.Pending {
					t.Fatalf("%+v", out)
				}
				out = x.Answers.Reply(t.Context(), x.editReply("1", "cat <<E\n\ttwo  blanks   E"))
				if out.Kind != approver.OutcomeDenied || !strings.Contains(out.Text, "to run your command instead") {
					t.Fatalf("%+v", out)
				}
				if call.Changes {
					again := call
					again.ID = "c2"
					answer = x.askAsync(t.Context(), again, approver.Catastrophic)
				}
				const told = `denied by Alice via Telegram. A person asks you to run this instead, as a new call, which is ` +
					`judged anew: {"command":"cat <<E\n\ttwo \u0020blanks \u0020 E"}`
				if !call.Changes {
					if v := <-answer; v.Decision != approver.Deny || v.Reason != told || v.Args != nil {
						t.Errorf("%+v", v)
					}
				}
				time.Sleep(time.Second)
				if _, card := x.tg.card(0); !strings.HasPrefix(card.Result, "⛔ Denied by Alice via Telegram") ||
					!strings.HasSuffix(card.Result, "told to run this instead") ||
					card.Body[0].Text != "cat <<E\n\ttwo  blanks   E" {
					t.Errorf("%q %+v", card.Result, card.Body)
				}
			})
		})
	}
}

// request is that of the first card, as it is stored.
func (x *bench) request() Request {
	_, card := x.tg.card(0)
	return x.loaded(card.Request)
}

// The story: somebody changed a force-push to a push of a branch, and the card said for ever that a force-push
// was approved, and what that would lose. The headline is of what ran, and the reasons of the question are gone.
func TestTheCardOfAChangedCommandIsOfWhatRan(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		_, before := x.tg.card(0)
		x.Answers.Reply(t.Context(), x.editReply("1", "git push origin HEAD:fix"))
		<-answer
		time.Sleep(time.Second)
		_, card := x.tg.card(0)
		if len(before.Why) == 0 || card.Push != "🟠 HIGH · git push origin HEAD:fix" || len(card.Why) > 0 {
			t.Errorf("%q %q", card.Push, card.Why)
		}
	})
}

// Whatever does not count leaves the request open, releases nothing, and says why.
func TestEditsThatDoNotCount(t *testing.T) {
	const ok = "git push origin HEAD:fix"
	type change = func(call *approver.ToolCall, why *approver.Verdict, rep *approver.Reply)
	typing := func(text string) change {
		return func(_ *approver.ToolCall, _ *approver.Verdict, r *approver.Reply) { r.Command = text }
	}
	command := func(text string) change {
		return func(c *approver.ToolCall, _ *approver.Verdict, _ *approver.Reply) {
			c.Command = text
			c.Args, _ = json.Marshal(map[string]string{"command": text})
		}
	}
	for name, c := range map[string]struct {
		change
		says string
	}{
		"denied":              {typing("git push --mirror"), "denied: mirrors are forbidden. Nothing was approved"},
		"CATASTROPHIC":        {typing("rm -rf /"), "CATASTROPHIC"},
		"for others":          {typing("deploy"), "This request is for Bob"},
		"changed by a rule":   {typing("change me"), "once more"},
		"a judge that broke":  {typing("panic"), "could not judge"},
		"blanks":              {typing(" \n"), "empty"},
		"a cut line":          {typing("ls a \\\n"), "ends with a backslash"},
		"a cut space":         {typing("ls a\\ "), "ends with a backslash"},
		"too long":            {typing(strings.Repeat("x", approver.MaxCommand+1)), "longer than 3000 bytes"},
		"a control character": {typing("echo \x1b[2J"), "control characters: U+001B"},
		"a carriage return":   {typing("echo a\rb"), "control characters"},
		"unseen":              {typing("echo a\u200bb"), "cannot be seen"},
		"reversed":            {typing("echo \u202eb"), "reverse"},
		"a look-alike":        {typing("git push оrigin"), "looks like an ASCII one"},
		"curly quotes":        {typing("echo “a”"), "a phone's keyboard puts in the place of others: “ (U+201C), ” (U+201D)"},
		"a long dash":         {typing("git push —force"), "—"},
		"an ellipsis":         {typing("git add …"), "…"},
		"a no-break space":    {typing("git\u00a0push"), "U+00A0"},
		"a secret":            {typing("deploy --token ghp_16C7e42F292c6912E7710c838347Ae178B4a"), "secret"},
		"a code":              {typing("echo CONFIRM-ABC234"), "code"},
		"a stranger": {func(_ *approver.ToolCall, _ *approver.Verdict, r *approver.Reply) {
			r.Sender = "9"
		}, "not on the"},
		"not asked": {func(_ *approver.ToolCall, v *approver.Verdict, _ *approver.Reply) {
			v.Approvers = []string{"bob"}
		}, "for Bob"},
		"elsewhere": {func(_ *approver.ToolCall, _ *approver.Verdict, r *approver.Reply) {
			r.Conversation = "X"
		}, "no longer valid"},
		"another message": {func(_ *approver.ToolCall, _ *approver.Verdict, r *approver.Reply) {
			r.Message = "T-9"
		}, "no longer valid"},
		"by id": {func(_ *approver.ToolCall, _ *approver.Verdict, r *approver.Reply) {
			r.Method, r.Message = approver.ByID, ""
		}, "does not show everything"},
		"in no way": {func(_ *approver.ToolCall, _ *approver.Verdict, r *approver.Reply) {
			r.Method = approver.NoMethod
		}, "no form that counts"},
		"an appeal": {func(_ *approver.ToolCall, v *approver.Verdict, _ *approver.Reply) { v.Appeal.Of = "c0" }, "own shell"},
		"an agent's own question": {func(_ *approver.ToolCall, v *approver.Verdict, _ *approver.Reply) {
			v.Prompt = true
		}, "own shell"},
		"a call that a rule changed": {func(_ *approver.ToolCall, v *approver.Verdict, _ *approver.Reply) {
			v.Args = json.RawMessage(`{"command":"git push --force"}`)
		}, "own shell"},
		"approver's own question": {func(c *approver.ToolCall, _ *approver.Verdict, _ *approver.Reply) {
			c.Own = true
		}, "own shell"},
		"another tool": {func(c *approver.ToolCall, _ *approver.Verdict, _ *approver.Reply) {
			c.Tool = "Other"
		}, "own shell"},
		"a call with a path": {func(c *approver.ToolCall, _ *approver.Verdict, _ *approver.Reply) {
			c.Paths = []string{"/a"}
		}, "own shell"},
		"other arguments": {func(c *approver.ToolCall, _ *approver.Verdict, _ *approver.Reply) {
			c.Args = []byte(`{"command":"ls"}`)
		}, "own shell"},
		"a masked one":     {command("deploy --token ghp_16C7e42F292c6912E7710c838347Ae178B4a"), "exactly as it is"},
		"an unseen one":    {command("echo a\u200bb"), "exactly as it is"},
		"a look-alike one": {command("git push оrigin"), "exactly as it is"},
		"a long one":       {command(strings.Repeat("x", approver.MaxCommand+1)), "too long to change"},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				call, why := editable("c1"), asking(approver.High)
				r := approver.Reply{Command: ok, Sender: "1", Conversation: "T", Method: approver.ByTap, Message: "?"}
				c.change(&call, &why, &r)
				answer := x.asked(call, why)
				rep := x.editReply(r.Sender, r.Command)
				rep.Conversation, rep.Method = r.Conversation, r.Method
				if r.Message != "?" {
					rep.Message = r.Message
				}
				x.doesNotCount(t, rep, answer, c.says)
				uneditable := strings.Contains(c.says, "own shell") || strings.Contains(c.says, "exactly") ||
					strings.Contains(c.says, "too long to")
				if _, card := x.tg.card(0); card.Edits == uneditable {
					t.Errorf("the card offers it: %t", card.Edits)
				}
			})
		})
	}
}

// doesNotCount sends a changed command that must not count.
func (x *bench) doesNotCount(t *testing.T, rep approver.Reply, answer <-chan approver.Verdict, says string) {
	t.Helper()
	out := x.Answers.Reply(t.Context(), rep)
	if out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeDenied || out.Kind == approver.OutcomeShown ||
		!strings.Contains(out.Text, says) {
		t.Errorf("%+v", out)
	}
	if r := x.request(); r.State != approver.Pending || r.Resolution.Edit != nil {
		t.Errorf("%v %+v", r.State, r.Resolution)
	}
	select {
	case v := <-answer:
		t.Errorf("the agent hears %+v", v)
	default:
	}
	if n := len(x.audit.recorded()); x.audit.recorded()[n-1].Event != approver.EventRefused {
		t.Error("it is not in the audit")
	}
}

// A command that nobody changed is a yes as any other: CATASTROPHIC needs the code.
func TestAnEditThatChangesNothing(t *testing.T) {
	for sev, want := range map[approver.Severity]approver.OutcomeKind{
		approver.High: approver.OutcomeApproved, approver.Catastrophic: approver.OutcomeNeedCode,
	} {
		story(t, func(t *testing.T, x *bench) {
			answer := x.asked(editable("c1"), asking(sev))
			if out := x.Answers.Reply(t.Context(), x.editReply("1", "git push --force\r\n")); out.Kind != want {
				t.Errorf("%v: %+v", sev, out)
			}
			if sev == approver.High {
				if v := <-answer; v.Decision != approver.Allow || v.Args != nil {
					t.Errorf("%+v", v)
				}
			}
		})
	}
}

// A code without its prefix is one too, if a card shows it.
func TestNoCodeInAnEdit(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		_, card := x.tg.card(0)
		code := strings.TrimPrefix(card.Code.Reveal(), tokens.Prefix)
		x.doesNotCount(t, x.editReply("1", "echo "+code), answer, "a code in it")
	})
}

// A card that was cut, identical calls, and a service that cannot judge: nobody changes anything there.
func TestEditNeedsTheWholeCardAndOneCall(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tg.partial = true
		answer := x.asked(editable("c1"), asking(approver.High))
		x.doesNotCount(t, x.editReply("1", "ls"), answer, "does not show everything")
	})
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		x.asked(editable("c2"), asking(approver.High))
		x.doesNotCount(t, x.editReply("1", "ls"), answer, "Identical calls wait")
	})
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), editable("c1"), approver.High)
		time.Sleep(time.Second)
		x.doesNotCount(t, x.editReply("1", "ls"), answer, "cannot be changed here")
	})
	story(t, func(t *testing.T, x *bench) { // the step itself keeps this, whoever was faster
		x.asked(editable("c1"), asking(approver.High))
		res := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "alice"},
			Edit: &approver.Edit{Command: "ls"}}
		now := time.Now()
		for name, spoil := range map[string]func(*Request, *approver.Resolution){
			"lasting": func(_ *Request, r *approver.Resolution) { r.Grant.Session = true },
			"shared":  func(q *Request, _ *approver.Resolution) { q.Also = Callers{{CallID: "c2", N: 1}} },
			"another": func(q *Request, _ *approver.Resolution) { q.N = 1 },
			"parked":  func(q *Request, _ *approver.Resolution) { q.Parked = true },
			"cannot":  func(q *Request, _ *approver.Resolution) { q.Call.Changes = false },
			"for two": func(_ *Request, r *approver.Resolution) { r.Calls = 1 },
		} {
			q, r := x.request(), res
			spoil(&q, &r)
			if next, err := q.Answer(r, now); !errors.Is(err, errUneditable) || next.State != approver.Pending {
				t.Errorf("%s: %v %v", name, next.State, err)
			}
		}
		if next, err := x.request().Answer(res, now); err != nil || next.State != approver.Approved {
			t.Errorf("%v %v", next.State, err)
		}
	})
}

// The first answer wins. What would run must still be what was judged when it is released.
func TestEditsRace(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		x.tap(x.dc, 0, "d2", false)
		<-answer
		if out := x.Answers.Reply(t.Context(), x.editReply("1", "ls")); out.Kind != approver.OutcomeTooLate {
			t.Errorf("%+v", out)
		}
	})
	story(t, func(t *testing.T, x *bench) { // somebody says no while it is judged
		answer := x.asked(editable("c1"), asking(approver.High))
		x.judgedBy(func(ctx context.Context, call approver.ToolCall) approver.Verdict {
			x.tap(x.dc, 0, "d2", false)
			return judging(ctx, call)
		})
		if out := x.Answers.Reply(t.Context(), x.editReply("1", "ls")); out.Kind != approver.OutcomeTooLate {
			t.Errorf("%+v", out)
		}
		if v := <-answer; v.Decision != approver.Deny || strings.Contains(v.Reason, "instead") {
			t.Errorf("%+v", v)
		}
	})
	story(t, func(t *testing.T, x *bench) { // a script that only the changed command runs is another one now
		bind := x.Fingerprint
		n := 0
		x.tune(func(o *Options) {
			o.Fingerprint = func(ctx context.Context, c approver.ToolCall) (approver.Binding, error) {
				b, err := bind(ctx, c)
				if c.Command == "ls" {
					n++
					b.Fingerprint += approver.Fingerprint(strings.Repeat("x", n))
				}
				return b, err
			}
		})
		answer := x.asked(editable("c1"), asking(approver.High))
		x.Answers.Reply(t.Context(), x.editReply("1", "ls"))
		if v := <-answer; v.Decision != approver.Deny || v.Args != nil {
			t.Errorf("%+v", v)
		}
		time.Sleep(time.Second)
		if _, card := x.tg.card(0); card.Body[0].Text != "git push --force" {
			t.Errorf("%+v", card.Body)
		}
	})
}
