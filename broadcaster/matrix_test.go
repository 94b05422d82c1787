package broadcaster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/tokens"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A way is one way in: an answer, or something else that somebody sends. card is what the Telegram chat
// shows.
type way struct {
	name  string
	reply func(card approver.Card, message string) approver.Reply
}

var ways = []way{
	{"tap yes", func(c approver.Card, m string) approver.Reply { return onCard(approver.ByTap, true, c, m) }},
	{"tap yes, 15 min", func(c approver.Card, m string) approver.Reply {
		r := onCard(approver.ByTap, true, c, m)
		r.Grant = approver.Term{For: approver.TapTerm}
		return r
	}},
	{"tap yes, 60 min (forged)", func(c approver.Card, m string) approver.Reply {
		r := onCard(approver.ByTap, true, c, m)
		r.Grant = approver.Term{For: time.Hour}
		return r
	}},
	{"/approve CODE", func(c approver.Card, _ string) approver.Reply {
		return approver.Reply{Approve: true, Method: approver.ByCommand, Code: c.Code}
	}},
	{"/approve CODE 60m", func(c approver.Card, _ string) approver.Reply {
		return approver.Reply{Approve: true, Method: approver.ByCommand, Code: c.Code, Grant: approver.Term{For: time.Hour}}
	}},
	{"CODE", func(c approver.Card, _ string) approver.Reply {
		return approver.Reply{Approve: true, Method: approver.ByCode, Code: c.Code}
	}},
	{"CODE in a reply", func(c approver.Card, m string) approver.Reply {
		return approver.Reply{Approve: true, Method: approver.ByCode, Code: c.Code, Request: c.Request, Message: m}
	}},
	{"wrong CODE", func(approver.Card, string) approver.Reply {
		code, _ := tokens.Mint(tokens.MinLength)
		return approver.Reply{Approve: true, Method: approver.ByCode, Code: code}
	}},
	{"reply yes", func(c approver.Card, m string) approver.Reply { return onCard(approver.ByPlain, true, c, m) }},
	{"reply no", func(c approver.Card, m string) approver.Reply { return onCard(approver.ByPlain, false, c, m) }},
	{"reply no, why", func(c approver.Card, m string) approver.Reply {
		r := onCard(approver.ByPlain, false, c, m)
		r.Reason = "use a branch instead"
		return r
	}},
	{"yes by id", func(c approver.Card, _ string) approver.Reply {
		return approver.Reply{Approve: true, Method: approver.ByID, Request: c.Request}
	}},
	{"yes in no known way", func(c approver.Card, m string) approver.Reply {
		return onCard(approver.NoMethod, true, c, m)
	}},
	{"details", func(c approver.Card, m string) approver.Reply { return wanting(approver.WantDetails, c, m) }},
	{"+10 min", func(c approver.Card, m string) approver.Reply { return wanting(approver.WantTime, c, m) }},
	{"not mine", func(c approver.Card, m string) approver.Reply { return wanting(approver.WantDisown, c, m) }},
	{"edit", func(c approver.Card, m string) approver.Reply {
		r := wanting(approver.WantEdit, c, m)
		r.Command = "git push origin HEAD:fix"
		return r
	}},
	{"edit to CATASTROPHIC", func(c approver.Card, m string) approver.Reply {
		r := wanting(approver.WantEdit, c, m)
		r.Command = "rm -rf /"
		return r
	}},
	{"edit in a reply", func(c approver.Card, m string) approver.Reply {
		r := wanting(approver.WantEdit, c, m)
		r.Method, r.Command = approver.ByPlain, "git push origin HEAD:fix"
		return r
	}},
	{"edit of nothing", func(c approver.Card, m string) approver.Reply {
		r := wanting(approver.WantEdit, c, m)
		r.Command = "git push --force"
		return r
	}},
	{"edit, to see it", func(c approver.Card, m string) approver.Reply { return wanting(approver.WantEdit, c, m) }},
	{"/pending", func(approver.Card, string) approver.Reply { return approver.Reply{Want: approver.WantPending} }},
	{"/freeze", func(approver.Card, string) approver.Reply { return approver.Reply{Want: approver.WantFreeze} }},
}

func onCard(m approver.Method, yes bool, c approver.Card, message string) approver.Reply {
	return approver.Reply{Approve: yes, Method: m, Request: c.Request, Message: message}
}

func wanting(w approver.Want, c approver.Card, message string) approver.Reply {
	r := onCard(approver.ByTap, true, c, message) // the yes must count for nothing
	r.Want = w
	return r
}

// kinds are the kinds of people, with what they call themselves and where they are. The request of the
// matrix is for Alice and Carol.
var kinds = []struct {
	name string
	may  bool // be told anything, and answer
	as   func(*approver.Reply)
}{
	{"approver", true, func(r *approver.Reply) { r.Sender = "1" }},
	{"other approver", true, func(r *approver.Reply) { r.Sender = "2" }},
	{"member", false, func(r *approver.Reply) { r.Sender, r.Name = "7", "Alice" }},
	{"stranger", false, func(r *approver.Reply) { r.Sender, r.Conversation = "8", "X" }},
	{"ex-approver", false, func(r *approver.Reply) { r.Sender = "5" }},
	{"bot", false, func(r *approver.Reply) { r.Sender = "" }},
}

// stands are how the request stands when the answer comes. Each returns after it stands so.
var stands = []struct {
	name  string
	sev   approver.Severity
	begin func(x *bench, leave func(), answer <-chan approver.Verdict)
}{
	{"pending", approver.High, nil},
	{"pending, CATASTROPHIC", approver.Catastrophic, nil},
	{"parked", approver.High, func(_ *bench, _ func(), answer <-chan approver.Verdict) { <-answer }},
	{"approved, not taken", approver.High, func(x *bench, _ func(), answer <-chan approver.Verdict) {
		<-answer
		x.tap(x.dc, 0, "d3", true)
	}},
	{"consumed", approver.High, func(x *bench, _ func(), answer <-chan approver.Verdict) {
		x.tap(x.dc, 0, "d3", true)
		<-answer
	}},
	{"denied", approver.High, func(x *bench, _ func(), answer <-chan approver.Verdict) {
		x.tap(x.dc, 0, "d3", false)
		<-answer
	}},
	{"expired", approver.High, func(_ *bench, _ func(), answer <-chan approver.Verdict) { <-answer }},
	{"withdrawn", approver.High, func(_ *bench, leave func(), _ <-chan approver.Verdict) {
		leave()
		time.Sleep(WithdrawGrace + time.Second)
	}},
	{"frozen", approver.High, func(x *bench, _ func(), answer <-chan approver.Verdict) {
		_, _ = x.Controls.Freeze(x.t.Context(), "root", "")
		<-answer
	}},
	{"unknown", approver.High, nil},
}

// TestWhoGetsThrough sends every way in, as every kind of person, to a request in every state, and
// compares what happened with a table that people have read. It is printed with -v.
func TestWhoGetsThrough(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	for _, state := range stands {
		fmt.Fprintf(&table, "%s\n%-28s", state.name, "")
		for _, k := range kinds {
			fmt.Fprintf(&table, "%-18s", k.name)
		}
		table.WriteByte('\n')
		for _, w := range ways {
			fmt.Fprintf(&table, "  %-26s", w.name)
			for k := range kinds {
				fmt.Fprintf(&table, "%-18s", cellOf(t, state.name, state.sev, state.begin, w, k))
			}
			table.WriteByte('\n')
		}
		table.WriteByte('\n')
	}
	got := strings.TrimSpace(table.String()) + "\n"
	for strings.Contains(got, " \n") {
		got = strings.ReplaceAll(got, " \n", "\n")
	}
	t.Log("\n" + got)
	const file = "testdata/whogetsthrough.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("it is not the table in %s (-update writes it, read it then), %v", file, err)
	}
}

// cellOf is what happened, in a word.
func cellOf(
	t *testing.T, state string, sev approver.Severity, begin func(*bench, func(), <-chan approver.Verdict), w way, k int,
) (cell string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		x.enlist(t)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		if state == "expired" {
			ctx, leave = context.WithTimeout(t.Context(), 10*time.Minute)
			defer leave()
		}
		x.tune(func(o *Options) { o.Judge = judging })
		call := hookCall("c1")
		call.Changes = true
		if state == "parked" || state == "approved, not taken" {
			call.ParkAt = time.Now().Add(10 * time.Second)
		}
		answer := x.askCarolToo(ctx, call, sev)
		time.Sleep(time.Second)
		message, card := x.tg.card(0)
		if begin != nil {
			begin(x, leave, answer)
		}
		id := card.Request
		if state == "unknown" {
			card.Request, card.Code, message = "0190a8a0-0000-7000-8000-000000000000", tokens.Code{}, "T-99"
			if card.Code, _ = tokens.Mint(tokens.MinLength); w.name == "wrong CODE" {
				card.Code = tokens.Code{}
			}
		}
		rep := w.reply(card, message)
		rep.Channel, rep.Conversation = "telegram", "T"
		kinds[k].as(&rep)
		was, before := x.loaded(id), x.frozenNow()
		out := x.Answers.Reply(t.Context(), rep)
		now, after := x.loaded(id), x.frozenNow()
		cell = effect(was, now, before, after, out)
		x.checkCell(t, state+" / "+w.name+" / "+kinds[k].name, kinds[k].may, was, cell, out, card)
		x.stop()
	})
	return cell
}

// checkCell is what must hold in every cell, whatever the table says.
func (x *bench) checkCell(
	t *testing.T, name string, may bool, was Request, cell string, out approver.Outcome, card approver.Card,
) {
	t.Helper()
	through := !strings.HasPrefix(cell, "- ")
	bare := strings.TrimPrefix(card.Code.Reveal(), tokens.Prefix)
	switch {
	case out.Text == "":
		t.Errorf("%s: silence", name)
	case bare != "" && strings.Contains(out.Text+out.Details, bare):
		t.Errorf("%s: it tells a code", name)
	case through && !may:
		t.Errorf("%s: %s", name, cell)
	case strings.Contains(cell, "RUNS") && was.State != approver.Pending:
		t.Errorf("%s: a request that was %v runs", name, was.State)
	case strings.Contains(cell, "RUNS") && was.Verdict.Severity != approver.High && !strings.Contains(name, "CODE") &&
		cell != "RUNS changed":
		t.Errorf("%s: a CATASTROPHIC call runs without its code", name)
	case strings.Contains(cell, "RUNS") && strings.Contains(name, "other approver"):
		t.Errorf("%s: it runs by somebody whom the request is not for", name)
	case strings.Contains(cell, "RUNS") && strings.Contains(name, "forged"):
		t.Errorf("%s: a forged button counts", name)
	}
}

// effect says what an answer did; what begins with a hyphen did nothing.
func effect(was, now Request, before, after string, out approver.Outcome) string {
	term := ""
	if now.Resolution.Grant.Lasts() {
		term = " " + now.Resolution.Grant.String()
	}
	if now.Resolution.Edit != nil {
		term = " changed"
	}
	switch {
	case before != after && strings.HasPrefix(after, "everything") && before == "":
		return "FREEZES ALL"
	case before != after:
		return "FREEZES AGENT"
	case now.State != was.State && now.State == approver.Consumed:
		return "RUNS" + term
	case now.State != was.State && now.State == approver.Approved:
		return "RUNS later" + term
	case now.State != was.State && now.Resolution.Edit != nil && !now.Resolution.Approve:
		return "no, run this"
	case now.State != was.State && now.Resolution.Cause == approver.ByPerson && now.Resolution.Reason != "":
		return "no, with why"
	case now.State != was.State:
		return "no"
	case now.More > was.More:
		return "+10 min"
	case out.Kind == approver.OutcomeShown && out.Details != "":
		return "sees"
	case out.Kind == approver.OutcomeShown:
		return "- nothing to see"
	}
	return "- " + kindNames[out.Kind]
}

var kindNames = [...]string{
	"refused", "approved", "denied", "too late", "expired", "unknown", "used", "locked", "need code", "recorded", "shown",
}

// frozenNow says what is frozen.
func (x *bench) frozenNow() string {
	c, _, err := x.Controls.Load(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	return c.FrozenText()
}

// enlist adds Carol, and Dave who was removed.
func (x *bench) enlist(t *testing.T) {
	t.Helper()
	people := approver.People{}
	people.Add("telegram", []approver.Approver{
		{ID: "1", Name: "Alice", Person: "alice"}, {ID: "2", Name: "Bob", Person: "bob"},
		{ID: "5", Name: "Dave", Person: "dave"},
	})
	people.Add("discord", []approver.Approver{{ID: "d3", Name: "Carol", Person: "carol"}})
	x.Approvers.Set(people)
	if _, err := x.Removals.Remove(t.Context(), Removal{Person: "dave", By: "uid 0"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
}

// askCarolToo asks Alice and Carol.
func (x *bench) askCarolToo(
	ctx context.Context, call approver.ToolCall, sev approver.Severity,
) <-chan approver.Verdict {
	out := make(chan approver.Verdict, 1)
	go func() {
		out <- x.Ask(ctx, call, approver.Verdict{
			Decision: approver.Ask, By: "policy", Rule: "r", Severity: sev, Approvers: []string{"alice", "carol"},
		})
	}()
	return out
}
