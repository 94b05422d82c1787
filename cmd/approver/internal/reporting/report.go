// Package reporting has the command report, which shows asked and denied calls from the audit
// by rule and session. report.go selects the calls, tally.go counts, again.go judges the calls
// again, and print.go prints.
package reporting

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"approver.example/audit"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/auditlog"
	"approver.example/cmd/approver/internal/flags"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/words"
	"approver.example/display"
)

// Cmd is the command report.
type Cmd struct {
	auditlog.Folder
	Also    []string   `help:"Folders with the logs of other replicas, to count with this one." placeholder:"DIR"`
	Since   flags.Span `help:"How far back, such as 7d or 36h." default:"7d" placeholder:"7d"`
	Session string     `help:"Only this session; its beginning is enough." placeholder:"ID"`
	Rule    string     `help:"Only what this rule found, by its name in this report." placeholder:"NAME"`
	JSON    bool       `help:"Print one JSON object."`

	observed bool // only what was observed but not enforced
}

// Run reports.
func (c Cmd) Run(ctx context.Context) error {
	_, dir, err := c.Resolve()
	if err != nil {
		return err
	}
	now := time.Now()
	r, err := c.read(ctx, dir, now.Add(-time.Duration(c.Since)), now)
	if err != nil {
		return auditlog.WithCure(err, dir)
	}
	r.about = c.about()
	told := new(adminclient.Told) // shared, because the daemon is asked twice
	r.again(ctx, judging.Flags{Config: c.Config, Told: told})
	mode := ""
	if c.Dir == "" {
		mode = adminclient.Cmd{At: adminclient.At{Config: c.Config, Told: told}}.Mode(ctx)
	}
	if c.JSON {
		return term.PrintJSON(r)
	}
	return term.FoldInto(0, func(w io.Writer) error { return r.print(ctx, w, mode) })
}

// about says what the report is narrowed to. It is empty if the report is about everything.
func (c Cmd) about() string {
	var parts []string
	if c.Rule != "" {
		parts = append(parts, "rule "+c.Rule)
	}
	if c.Session != "" {
		parts = append(parts, "session "+c.Session)
	}
	return display.OneLine(strings.Join(parts, ", "))
}

// read reads the audit once, record by record.
func (c Cmd) read(ctx context.Context, dir string, from, to time.Time) (*report, error) {
	r := &report{From: from.UTC(), To: to.UTC(), rules: map[string]*ruleReport{},
		sessions: map[string]*sessionReport{}, hour: -1}
	q := audit.Query{Dirs: append([]string{dir}, c.Also...), From: from, To: to, Events: Judged(), Brief: true}
	for l, err := range q.Records(ctx) {
		if err != nil {
			return nil, err
		}
		if c.isCall(l) {
			if r.note(foundIn(l)); c.counts(l) {
				r.add(l)
			}
		}
	}
	r.Repeats, r.Differing = q.Repeats, q.Differing
	r.finish()
	return r, nil
}

// isCall reports whether a line is a call that belongs in the report. Requests to approver
// itself and the call of the hook test do not.
func (c Cmd) isCall(l audit.Line) bool {
	return IsAgents(l) && (!c.observed || l.Observed != nil)
}

// counts reports whether the report is about a call. c.Rule may be the name that the report
// prints, or that name without its prefix, such as reflex/, which matches rules of any prefix.
func (c Cmd) counts(l audit.Line) bool {
	v := foundIn(l)
	return strings.HasPrefix(l.Session, c.Session) &&
		(c.Rule == "" || c.Rule == v.Rule || c.Rule == ruleName(v.By, v.Rule) || c.Rule == v.By+"/"+v.Rule)
}

// ObservedInALine says what enforcing will mean, given what was observed since then.
func ObservedInALine(ctx context.Context, config string, since time.Time) (string, error) {
	_, dir, err := auditlog.Folder{Config: config}.Resolve()
	if err != nil {
		return "", err
	}
	r, err := Cmd{observed: true}.read(ctx, dir, since, time.Now())
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("since %s %s would have been asked about and %d denied; from now on they are", words.Minute(since),
		words.Count(uint64(r.Asks), "call"), r.Denies)
	if len(r.Rules) > 0 {
		line += ". Most by " + r.Rules[0].name()
	}
	return line, nil
}
