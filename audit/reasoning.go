package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// A LineFinding is an approver.Finding in a Line.
type LineFinding struct {
	By         string            `json:"by"`
	Tier       *uint8            `json:"tier,omitempty"` // nil in records of before tiers were kept
	Rule       string            `json:"rule,omitempty"`
	Decision   approver.Decision `json:"decision"`
	Severity   string            `json:"severity,omitempty"` // of what stops the call
	Confidence float64           `json:"confidence,omitempty"`
	Score      uint8             `json:"score,omitempty"` // irreversibility
	Shadow     bool              `json:"shadow,omitempty"`
	US         int64             `json:"us,omitempty"`
	Note       string            `json:"note,omitempty"`
}

// findingLimit bounds each text of a finding, so that a whole chain stays far
// below MaxLine.
const findingLimit = 160

func (r *redactor) chain(chain []approver.Finding) []LineFinding {
	if len(chain) > approver.MaxChain {
		chain = chain[:approver.MaxChain]
	}
	var out []LineFinding
	for _, f := range chain {
		l := LineFinding{
			By: r.text(f.By, findingLimit), Tier: new(f.Tier), Rule: r.text(f.Rule, findingLimit), Decision: f.Decision, Score: f.Score, Shadow: f.Shadow,
			US: f.Took.Microseconds(), Note: r.text(f.Note, findingLimit),
		}
		if !math.IsNaN(f.Confidence) && !math.IsInf(f.Confidence, 0) { // JSON has neither
			l.Confidence = f.Confidence
		}
		if f.Decision <= approver.Ask || f.Decision > approver.Allow {
			l.Severity = f.Severity.String()
		}
		out = append(out, l)
	}
	return out
}

// Text is the finding on one line for people.
func (f LineFinding) Text() string {
	sev := approver.High
	if f.Severity != "" {
		_ = sev.UnmarshalText([]byte(f.Severity)) // anything else is the stricter one
	}
	whole := approver.Finding{
		By: f.By, Rule: f.Rule, Decision: f.Decision, Severity: sev, Confidence: f.Confidence, Score: f.Score, Shadow: f.Shadow,
		Took: time.Duration(f.US) * time.Microsecond, Note: f.Note,
	}
	if f.Tier == nil { // what is not known is not claimed
		return display.OneLine(whole.Text())
	}
	whole.Tier = *f.Tier
	return display.OneLine(whole.String())
}

// chainText is the whole chain in one cell.
func (l Line) chainText() string {
	v := l.found()
	if v == nil {
		return ""
	}
	parts := make([]string, len(v.Chain))
	for i, f := range v.Chain {
		parts[i] = f.Text()
	}
	return strings.Join(parts, " | ")
}

// ErrNoRecord means that no record has what was looked for.
var ErrNoRecord = errors.New("no record")

// Show writes the records of one call for people, or as they are: each with its
// reasoning chain. what is a seq, a call id, or a request's id. ErrNoRecord means
// that there is none.
func Show(ctx context.Context, dir, what string, w io.Writer, format Format) error {
	p := &showPrinter{w: bufio.NewWriter(w), raw: format != Human, what: what}
	if err := export(ctx, dir, time.Time{}, time.Time{}, p); err != nil {
		return err
	}
	if !p.found {
		return fmt.Errorf("%w has the seq, call or request %q", ErrNoRecord, what)
	}
	return nil
}

type showPrinter struct {
	w     *bufio.Writer
	raw   bool
	what  string
	found bool
	last  string // what was said below the last record that said something new
}

func (p *showPrinter) print(line []byte) error {
	if isCheckpoint(line) {
		return nil
	}
	l, err := ParseLine(line)
	if err != nil {
		return err
	}
	if p.what == "" || p.what != strconv.FormatUint(l.Seq, 10) && p.what != l.Call && p.what != l.Request {
		return nil
	}
	p.found = true
	if p.raw {
		return rawPrinter{p.w}.print(line)
	}
	head, body := l.whole()
	if body != "" && body == p.last {
		body = "    as the record before says\n"
	} else {
		p.last = body
	}
	_, err = p.w.WriteString(head + body)
	return err
}

func (p *showPrinter) flush() error { return p.w.Flush() }

// Whole is the record on several lines for people: Human, what was judged, and the
// reasoning chain. Nothing in it can move the cursor or imitate another line.
func (l Line) Whole() string {
	head, body := l.whole()
	return head + body
}

func (l Line) whole() (head, body string) {
	var b strings.Builder
	line := func(name, shown string) { fmt.Fprintf(&b, "    %-11s %s\n", name, shown) }
	row := func(name, text string) {
		if text != "" {
			line(name, display.OneLine(text))
		}
	}
	row("call", l.Call)
	row("request", l.Request)
	row("directory", l.Dir)
	if v := l.found(); v != nil {
		row("reason", v.Reason)
		row("detail", v.Detail)
		if v.Irreversible != nil {
			row("loss", v.Irreversible.String())
		}
		if v.Appeal != "" {
			row("appeal of", v.Appeal)
		}
		for i, f := range v.Chain {
			name := ""
			if i == 0 {
				name = "chain"
			}
			line(name, f.Text())
		}
	}
	return fmt.Sprintf("%d  %s\n", l.Seq, l.Human()), b.String()
}

// loss is a verdict's irreversibility, for JSON that leaves nothing in place of 0.
func (r *redactor) loss(i approver.Irreversibility) *approver.Irreversibility {
	if i.Score == 0 {
		return nil
	}
	return &approver.Irreversibility{Score: i.Score, Why: r.text(i.Why, wordLimit)}
}
