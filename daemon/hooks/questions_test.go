package hooks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
)

// send sends an event about a command. The agent's own question has no id of the call.
func (q *questioned) send(event, command, id string) httpapi.HookAnswer {
	more := ""
	if event != "PermissionRequest" {
		more = fmt.Sprintf(`,"tool_use_id":%q,"tool_response":{}`, id)
	}
	return q.Hook(context.Background(), httpapi.HookRequest{
		Agent: "claude", CallID: event + id, Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Minute, Alone: true,
		Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p","hook_event_name":%q,"tool_name":"Bash",`+
			`"tool_input":{"command":%q}%s}`, event, command, more),
	})
}

// The story: people said no to the agent's own question, and the call ran all the same. The record of it
// was like that of any other call. Now it says so, of that call and of no later one.
func TestACallThatRanAgainstANo(t *testing.T) {
	for name, c := range map[string]struct {
		play string // what happens: call 1 begins, its question is answered, it ran, its turn is over
		want string // for each that ran, whether the record says that it ran against a no
	}{
		"no":                              {"begin1 no ran1", "against"},
		"yes":                             {"begin1 yes ran1", "fine"},
		"never asked":                     {"begin1 ran1", "fine"},
		"no, and not asked the next time": {"begin1 no begin2 ran2", "fine"},
		"no, and yes the next time":       {"begin1 no begin2 yes ran2", "fine"},
		"one of two":                      {"begin1 begin2 yes no ran1 ran2", "fine against"},
		"one of two, the other way":       {"begin1 begin2 no yes ran2 ran1", "fine against"},
		"yes, and no the next time":       {"begin1 yes ran1 begin2 no ran2", "fine against"},
		"no, and its turn is over":        {"begin1 no over1 ran1", "fine"},
	} {
		for _, command := range []string{"touch", "ask"} {
			t.Run(name+", "+command, func(t *testing.T) {
				var says approver.Decision
				q := newQuestioned(configs.PromptsAlways, func(_ context.Context, v approver.Verdict) approver.Verdict {
					v.Decision, v.By = says, approver.ByPeople
					return v
				})
				if command == "ask" { // by a rule, which the call itself was not
					q.Gate.Stages = []approver.Stage{yes{}}
				}
				var got []string
				for step := range strings.FieldsSeq(c.play) {
					what, id := strings.TrimRight(step, "12"), step[len(step)-1:]
					switch what {
					case "begin":
						q.send("PreToolUse", command, id)
					case "yes", "no":
						says = map[string]approver.Decision{"yes": approver.Allow, "no": approver.Deny}[what]
						q.send("PermissionRequest", command, "")
					case "over":
						q.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "o", Peer: approver.Peer{Known: true, UID: 7},
							Payload: []byte(`{"session_id":"s","cwd":"/p","hook_event_name":"PostToolBatch","tool_calls":[` +
								`{"tool_use_id":"` + id + `"}]}`)})
					case "ran":
						q.send("PostToolUse", command, id)
						last := q.Audit.(*daemontest.Ledger).Last()
						if last.Event != approver.EventRan {
							t.Errorf("recorded as %s: %s", last.Event, last.Note)
						}
						got = append(got, map[bool]string{true: "against", false: "fine"}[strings.Contains(last.Note,
							"answered with no")])
					}
				}
				if got := strings.Join(got, " "); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		}
	}
}

// The story: the agent asked about two calls that are the same. People said yes to the first, and when it
// had run, the card of the second said that it was answered at the desk, and nobody could answer it.
func TestAReportEndsNoOtherQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan approver.Decision)
		q := newQuestioned(configs.PromptsAlways, func(ctx context.Context, v approver.Verdict) approver.Verdict {
			v.By = approver.ByPeople
			select {
			case v.Decision = <-answers:
			case <-ctx.Done():
				v.Decision = approver.Deny
			}
			return v
		})
		got := make(chan string, 2)
		for _, id := range []string{"1", "2"} {
			q.send("PreToolUse", "touch", id)
		}
		for range 2 {
			go func() { got <- word(q.send("PermissionRequest", "touch", "")) }()
		}
		synctest.Wait()
		answers <- approver.Allow
		if first := <-got; first != "allow" {
			t.Fatalf("the first is answered with %s", first)
		}
		q.send("PostToolUse", "touch", "1")
		synctest.Wait()
		select {
		case second := <-got:
			t.Errorf("the second is answered with %s", second)
		case answers <- approver.Allow:
			if second := <-got; second != "allow" {
				t.Errorf("the second is answered with %s", second)
			}
		}
	})
}

// The story: Claude Code had approver's hooks twice, from its settings and from the plugin, so there were two
// cards about one call. After a yes to one and the call itself, the other stayed open. It ends with the turn, as
// nobody can say before whether it is about another call that is the same.
func TestASecondQuestionEndsWithTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, got := make(chan approver.Decision), make(chan string, 2)
		q := newQuestioned(configs.PromptsAlways, func(ctx context.Context, v approver.Verdict) approver.Verdict {
			v.By = approver.ByPeople
			select {
			case v.Decision = <-answers:
			case <-ctx.Done():
				v.Decision = approver.Deny
			}
			return v
		})
		over := func(id string) {
			q.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "o", Peer: approver.Peer{Known: true, UID: 7},
				Payload: []byte(`{"session_id":"s","cwd":"/p","hook_event_name":"PostToolBatch","tool_calls":[` +
					`{"tool_use_id":"` + id + `"}]}`)})
			synctest.Wait()
		}
		asks := func() {
			go func() { got <- word(q.send("PermissionRequest", "touch", "")) }()
			synctest.Wait()
		}
		q.send("PreToolUse", "touch", "1")
		asks()
		asks()
		answers <- approver.Allow
		if first := <-got; first != "allow" {
			t.Fatalf("the first is answered with %s", first)
		}
		q.send("PostToolUse", "touch", "1")
		asks() // it comes late
		over("2")
		if len(got) > 0 {
			t.Errorf("answered with %s before the turn was over", <-got)
		}
		over("1")
		if len(got) != 2 {
			t.Fatalf("%d of 2 have ended", len(got))
		}
		for range 2 {
			if other := <-got; other != "silence" {
				t.Errorf("another is answered with %s", other)
			}
		}
		asks()
		over("1")
		if len(got) > 0 {
			t.Error("the turn ended twice")
		}
		answers <- approver.Allow
		<-got
	})
}

// The story: two sub-agents asked about calls that are the same. The user said yes to one of them in the
// agent's dialog, and the cards of both said that they were answered there, while the other still waited.
func TestAReportEndsNoQuestionOfAnotherSubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{}, 2)
		q := newQuestioned(configs.PromptsAlways, func(ctx context.Context, v approver.Verdict) approver.Verdict {
			<-ctx.Done()
			ended <- struct{}{}
			return v.Blocked("nobody", "nobody")
		})
		ctx, leave := context.WithCancel(t.Context())
		send := func(event, subagent, more string) {
			q.Hook(ctx, httpapi.HookRequest{
				Agent: "claude", CallID: event + subagent, Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Hour,
				Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p","hook_event_name":%q,"agent_id":%q,"tool_name":"Bash",`+
					`"tool_input":{"command":"touch"}%s}`, event, subagent, more),
			})
		}
		for _, one := range []string{"a", "b"} {
			send("PreToolUse", one, `,"tool_use_id":"`+one+`"`)
			go send("PermissionRequest", one, "")
		}
		synctest.Wait()
		send("PostToolUse", "a", `,"tool_use_id":"a","tool_response":{}`)
		synctest.Wait()
		if len(ended) != 1 {
			t.Errorf("the report of one ended %d questions", len(ended))
		}
		leave()
		synctest.Wait()
	})
}

// The story: people said yes to a call once, and it ran. The rules let the next one that is the same go,
// because questions are paused, and the agent asked about it: the old yes answered that.
func TestAYesIsForOneCall(t *testing.T) {
	q := newQuestioned(configs.PromptsAlways, people(approver.Allow))
	q.send("PreToolUse", "ask", "1")
	if got := word(q.send("PermissionRequest", "ask", "")); got != "allow" || len(q.asked) != 1 {
		t.Fatalf("the first call: %s, asked %d times", got, len(q.asked))
	}
	q.send("PostToolUse", "ask", "1")
	q.Gate.Stages, q.Prompts.Stages = []approver.Stage{yes{}}, []approver.Stage{yes{}, PromptStage{}}
	q.send("PreToolUse", "ask", "2")
	if got := word(q.send("PermissionRequest", "ask", "")); got != "allow" || len(q.asked) != 2 {
		t.Errorf("the second call: %s, asked %d times", got, len(q.asked))
	}
}

// A report whose result cannot be read ends the question about its call, too.
func TestAnOddReportEndsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQuestioned(configs.PromptsAlways, func(ctx context.Context, v approver.Verdict) approver.Verdict {
			<-ctx.Done()
			return v.Blocked("nobody", "nobody")
		})
		q.send("PreToolUse", "touch", "1")
		got := make(chan string)
		go func() { got <- word(q.question(t.Context(), "touch", false)) }()
		synctest.Wait()
		q.Hook(t.Context(), httpapi.HookRequest{Agent: "claude", CallID: "r", Event: "PostToolUse", Cut: true,
			Peer: approver.Peer{Known: true, UID: 7},
			Payload: []byte(`{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUse","tool_name":"Bash",` +
				`"tool_input":{"command":"touch"},"tool_use_id":"1","tool_response":null}`)})
		if answer := <-got; answer != "silence" {
			t.Errorf("answered with %s", answer)
		}
	})
}

// A report of the audit counts calls: what is recorded at the agent's own question, or at another hook of a
// call, is no call more.
func TestACallHasOneVerdict(t *testing.T) {
	q := newQuestioned(configs.PromptsAlways, people(approver.Allow))
	ledger := q.Audit.(*daemontest.Ledger)
	q.send("PreToolUse", "allow", "1")
	if last := ledger.Last(); last.Call.Prompt != nil || last.Again {
		t.Errorf("the verdict on a call: %+v", last)
	}
	for _, command := range []string{"allow", "deny"} {
		q.send("PermissionRequest", command, "")
		if last := ledger.Last(); last.Event != approver.EventVerdict || last.Call.Prompt == nil {
			t.Errorf("the verdict on a question: %+v", last)
		}
	}
	q.send("PreToolUse", "ask", "2")
	q.send("PermissionRequest", "ask", "")
	if last := ledger.Last(); last.Verdict.By != approver.ByPeople || last.Call.Prompt == nil {
		t.Errorf("what people had said before: %+v", last)
	}
	s := newTurn(t)
	saysCopilot(s, "preToolUse", "a", "043")
	saysCopilot(s, "PreToolUse", "a", "043")
	if last := s.d.Audit.(*daemontest.Ledger).Last(); !last.Again {
		t.Errorf("another hook of a call: %+v", last)
	}
}
