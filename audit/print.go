package audit

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// A Format is how Tail and Export write records. The zero value is Human.
type Format uint8

// The formats.
const (
	Human Format = iota // one line for people
	JSONL               // the lines as they are in the log
	CSV                 // a table with a header
)

// ParseFormat reads "human", "jsonl" (or "json") or "csv".
func ParseFormat(s string) (Format, error) {
	switch s {
	case "human":
		return Human, nil
	case "jsonl", "json":
		return JSONL, nil
	case "csv":
		return CSV, nil
	}
	return Human, fmt.Errorf("unknown format %q: one of human, jsonl, csv", s)
}

// A printer writes lines of the log.
type printer interface {
	print(line []byte) error // a record or a checkpoint, without newline
	Flush() error
}

func newPrinter(format Format, w io.Writer) (printer, error) {
	switch format {
	case Human:
		return humanPrinter{bufio.NewWriter(w)}, nil
	case JSONL:
		return rawPrinter{bufio.NewWriter(w)}, nil
	case CSV:
		p := csvPrinter{csv.NewWriter(w), firsts{}}
		return p, p.w.Write(csvHeader)
	}
	return nil, fmt.Errorf("unknown format %d", format)
}

type rawPrinter struct{ *bufio.Writer }

func (p rawPrinter) print(line []byte) error {
	if _, err := p.Write(line); err != nil {
		return err
	}
	return p.WriteByte('\n')
}

type humanPrinter struct{ *bufio.Writer }

func (p humanPrinter) print(line []byte) error {
	l, ok, err := recordOf(line)
	if ok {
		_, err = p.WriteString(l.Human() + "\n")
	}
	return err
}

// recordOf reads a record. ok is false for a checkpoint, and with an error.
func recordOf(line []byte) (l Line, ok bool, err error) {
	if isCheckpoint(line) {
		return l, false, nil
	}
	l, err = ParseLine(line)
	return l, err == nil, err
}

var marks = map[string]string{
	Allowed: "✓", Approved: "✓", Rejected: "✗", Blocked: "✗", Passed: "·", Warned: "!", Pending: "…",
}

// Human is the record on one line for people: time (UTC), decision, call, who
// decided where and how, duration, and rule. No text in it can move the cursor or
// imitate another line.
func (l Line) Human() string {
	var b strings.Builder
	word, mark := l.Decision, marks[l.Decision]
	switch {
	case word != "":
	case l.Event == approver.EventAcked:
		word = "USED UP" // the approval; Note says how
	default:
		word = strings.ToUpper(string(l.Event))
	}
	switch {
	case l.Event == approver.EventAlarm:
		mark = "‼"
	case mark == "":
		mark = "-"
	}
	fmt.Fprintf(&b, "%s %s %-8s", l.Timestamp.UTC().Format("2006-01-02 15:04:05"), mark, display.OneLine(word))
	part := func(format, text string) {
		if text != "" {
			b.WriteString(" · ")
			fmt.Fprintf(&b, format, display.OneLine(text))
		}
	}
	if l.Decision != "" && l.Event != approver.EventVerdict && !strings.EqualFold(l.Decision, string(l.Event)) {
		b.WriteString(" (" + display.OneLine(string(l.Event)) + ")")
	}
	switch {
	case l.Summary == "":
		part("%s", l.Reason)
	case l.Severity == "" || !l.graded():
		b.WriteString(" · " + Summary(l.Summary))
	default:
		b.WriteString(" " + l.pushLine())
	}
	part("%s", l.Agent)
	part("by %s", l.who())
	part("%s", l.Outcome)
	if l.Resolution != nil && l.Resolution.Cause != approver.ByPerson && l.Resolution.Cause != approver.NoCause {
		part("%s", l.Resolution.Cause.String())
	}
	if l.TookMS > 0 {
		took, to := time.Duration(l.TookMS*float64(time.Millisecond)), time.Microsecond
		if took >= time.Second {
			to = 100 * time.Millisecond
		}
		part("after %s", took.Round(to).String())
	}
	if l.Observed != nil {
		part("observed only: %s", l.Observed.Decision.String())
	}
	if v := l.firstVerdict(); v != nil {
		part("%s", ruleName(v))
	}
	part("%s", l.Note)
	return b.String()
}

// graded reports whether the verdict has a real severity. A denial without a rule (by a
// freeze, a failure, or a model that gives no severity) has the zero value, which is the
// worst one. Nobody found that, so it is not shown.
func (l Line) graded() bool {
	v := l.firstVerdict()
	return v == nil || v.Decision != approver.Deny || v.Rule != "" && v.By != "freeze" && v.By != "evaluator"
}

// pushLine is severity and summary, not longer than a push line.
func (l Line) pushLine() string {
	var sev approver.Severity
	_ = sev.UnmarshalText([]byte(l.Severity)) // unknown words become the strictest severity
	return display.PushLine(sev.String(), Summary(l.Summary), "")
}

// who is the person, with identity, place and method; empty if nobody.
func (l Line) who() string {
	var words []string
	add := func(before, s string) {
		if s != "" {
			words = append(words, before+s)
		}
	}
	if r := l.Resolution; r != nil && r.Person != nil {
		add("", cmp.Or(r.Person.Name, r.Person.ID))
		if r.Identity != nil {
			add("", "("+r.Identity.Channel+" "+r.Identity.ID+")")
		}
		add("in ", r.Conversation)
		add("by ", r.Method)
		add("with the choice: ", r.Choice)
		add(map[bool]string{true: "who changed it to: ", false: "who said to run instead: "}[r.Approve], r.Edited)
	} else if p := l.Reply; p != nil {
		add("", p.Name)
		add("", "("+strings.TrimSpace(p.Channel+" "+p.Sender)+")")
		add("in ", p.Conversation)
	}
	return strings.Join(words, " ")
}

type csvPrinter struct {
	w      *csv.Writer
	firsts firsts
}

// firsts has the seq of the first record of each event, by 128 bits of the SHA-256 of its once: nobody can
// make two events collide.
type firsts map[[16]byte]uint64

// repeated returns the seq of the record that a record repeats; empty if none.
func (f firsts) repeated(l Line) string {
	if l.Once == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(l.Once))
	key := [16]byte(sum[:16])
	first, again := f[key]
	if !again {
		f[key] = l.Seq
		return ""
	}
	return strconv.FormatUint(first, 10)
}

var csvHeader = []string{
	"seq", "timestamp", "event", "decision", "severity", "agent", "tool", "command", "rule", "reason",
	"person", "channel", "identity", "conversation", "method", "cause", "took_ms",
	"request", "call", "user", "hostname", "dir", "fingerprint", "note", "hash", "observed", "irreversible", "chain",
	"repeats",
}

func (p csvPrinter) print(line []byte) error {
	l, ok, err := recordOf(line)
	if !ok {
		return err
	}
	var rule, person, channel, identity, conversation, method, cause, observed, score string
	if v := l.firstVerdict(); v != nil {
		rule = ruleName(v)
		if v.Irreversible != nil {
			score = strconv.Itoa(int(v.Irreversible.Score))
		}
	}
	if l.Observed != nil {
		observed = l.Observed.Decision.String()
	}
	if r := l.Resolution; r != nil {
		conversation, method, cause = r.Conversation, r.Method, r.Cause.String()
		if r.Person != nil {
			person = cmp.Or(r.Person.Name, r.Person.ID)
		}
		if r.Identity != nil {
			channel, identity = r.Identity.Channel, r.Identity.ID
		}
	} else if r := l.Reply; r != nil {
		person, channel, identity, conversation, method = r.Name, r.Channel, r.Sender, r.Conversation, r.Method
	}
	call := display.Visible(l.Command)
	if call == "" {
		call = Summary(l.Summary)
	}
	made := map[string]string{"command": call, "chain": l.chainText()} // made visible already
	row := []string{
		strconv.FormatUint(l.Seq, 10), l.Timestamp.UTC().Format(time.RFC3339Nano), string(l.Event), l.Decision, l.Severity,
		l.Agent, l.Tool, "", rule, l.Reason, person, channel, identity, conversation, method, cause,
		strconv.FormatFloat(l.TookMS, 'f', -1, 64), l.Request, l.Call, l.User, l.Hostname, l.Dir,
		string(l.Fingerprint), l.Note, l.Hash, observed, score, "", p.firsts.repeated(l),
	}
	for i, name := range csvHeader {
		text, ok := made[name]
		if !ok {
			text = display.Visible(row[i])
		}
		row[i] = cell(text)
	}
	return p.w.Write(row)
}

func (p csvPrinter) Flush() error {
	p.w.Flush()
	return p.w.Error()
}

// cell keeps a spreadsheet from taking a text for a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\n", rune(s[0])) {
		return "'" + s
	}
	return s
}
