package reporting

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/audit"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/daemon/hooks"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/gate"
	"approver.example/shieldcore"
)

// A recordedCall is a call of the audit, in the form that judge and policy explain take. The
// zero value means that the audit does not have the original call.
type recordedCall struct {
	dir  string
	text string // a command, or a line of JSON
	peer approver.Peer
}

// callAgain rebuilds a call if the audit has the original: printable ASCII only, and nothing
// masked or cut.
func callAgain(l audit.Line) recordedCall {
	text := l.Command
	if l.Agent != facts.Example() || !facts.OwnShell(l.Agent, l.Tool) || text == "" || strings.HasPrefix(text, "{") {
		text = fmt.Sprintf(`{"agent":%q,"tool":%q,"args":%s}`, l.Agent, l.Tool, l.Args)
	}
	plain := func(r rune) bool { return r >= ' ' && r <= '~' }
	if l.Dir == "" || len(text) > maxReportExample || strings.TrimFunc(text+l.Dir, plain) != "" ||
		strings.Contains(text, "****") {
		return recordedCall{}
	}
	c := recordedCall{dir: l.Dir, text: text}
	if l.PeerUID != nil {
		c.peer = approver.Peer{Known: true, UID: *l.PeerUID}
	}
	return c
}

// explain returns the command that explains the verdict on the call. byUID means that a rule
// depends on whose call it is.
func (c recordedCall) explain(by string, byUID bool) string {
	cwd := " --cwd " + words.ShellLine([]string{c.dir})
	if c.peer.Known && (byUID || c.peer != judging.Caller()) {
		cwd = fmt.Sprintf(" --uid %d%s", c.peer.UID, cwd)
	}
	if by == shieldcore.By || strings.HasPrefix(c.text, "{") {
		return "approver policy explain" + cwd + " -- " + words.ShellLine([]string{c.text})
	}
	return "approver judge --explain" + cwd + " --command " + words.ShellLine([]string{c.text})
}

// again judges the listed calls once more, each on its own, exactly as the commands do that the
// report suggests. So no suggested command contradicts the report.
func (r *report) again(ctx context.Context, flags judging.Flags) {
	j, err := flags.Open("", false)
	if err != nil {
		r.Unjudged = display.OneLine(err.Error())
		return
	}
	r.NotInForce = flags.NotInForce(ctx)
	if r.cfg, err = flags.Load(); err == nil {
		r.judge = j
	}
	for _, rule := range r.Rules {
		for _, c := range rule.Commands {
			if c.call == (recordedCall{}) {
				continue
			}
			j.Dir, j.Peer = c.call.dir, c.call.peer
			call, err := j.Call(c.call.text)
			if err != nil {
				continue
			}
			byUID := j.Policy.NamesUIDs()
			switch v, _ := j.Gate.Judge(ctx, call); {
			case !sameFinding(v, c.found):
				c.Now = judging.Decided(v)
			case c.call.peer.Known || !byUID: // no command can judge a call without a user
				c.Explain = c.call.explain(rule.By, byUID)
			}
		}
	}
}

// sameFinding reports whether the verdict on a call is the same as in the audit.
func sameFinding(v approver.Verdict, was audit.LineVerdict) bool {
	severity := ""
	if v.Decision <= approver.Ask {
		severity = v.Severity.String()
	}
	return v.Decision == was.Decision && severity == was.Severity && v.By == was.By && v.Rule == was.Rule
}

// goesOn reports whether a call would go on, without being asked about, if one stage is
// replaced by another.
func (r *report) goesOn(ctx context.Context, c *commandReport, old, next approver.Stage) bool {
	if r.judge == nil {
		return false
	}
	stages := slices.Clone(r.judge.Gate.Stages)
	at := slices.Index(stages, old)
	if at < 0 {
		return false
	}
	stages[at] = next
	gate := &gate.Gate{
		Stages: stages, Rewrite: hooks.Rewrite, Log: slog.New(slog.DiscardHandler),
		Evaluator: r.judge.Gate.Evaluator, Tiers: r.judge.Gate.Tiers, Weak: r.judge.Gate.Weak,
	}
	own := *r.judge
	own.Dir, own.Peer = c.call.dir, c.call.peer
	call, err := own.Call(c.call.text)
	if err != nil {
		return false
	}
	call.At = r.To
	v, _ := gate.Judge(ctx, call)
	return v.Decision > approver.Ask
}
