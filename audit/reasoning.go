package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"approver.example/display"
)

// chainText is the whole chain in one cell.
func (l Line) chainText() string {
	v := l.firstVerdict()
	if v == nil {
		return ""
	}
	parts := make([]string, len(v.Chain))
	for i, f := range v.Chain {
		parts[i] = f.Text()
	}
	return strings.Join(parts, " | ")
}

// ErrNoRecord means that no record matches.
var ErrNoRecord = errors.New("no record")

// Show writes the records of one call, each with its reasoning chain. what is a seq, a
// call id, or a request's id. Those of a call go on with its request, whose yes may have been
// released to another call that is the same. A format other than Human writes the lines as they are.
// ErrNoRecord means that nothing matches.
func Show(ctx context.Context, dir, what string, w io.Writer, format Format) error {
	p := &showPrinter{Writer: bufio.NewWriter(w), raw: format != Human, what: what}
	if err := export(ctx, dir, time.Time{}, time.Time{}, p); err != nil {
		return err
	}
	if !p.found {
		return fmt.Errorf("%w has the seq, call or request %q", ErrNoRecord, what)
	}
	return nil
}

type showPrinter struct {
	*bufio.Writer
	raw   bool
	what  string
	asked []string // the requests of the call
	found bool
	last  string // the last body that was written in full
}

func (p *showPrinter) print(line []byte) error {
	l, ok, err := recordOf(line)
	if !ok {
		return err
	}
	if p.what == "" || p.what != strconv.FormatUint(l.Seq, 10) && p.what != l.Call && p.what != l.Request &&
		!slices.Contains(p.asked, l.Request) {
		return nil
	}
	if p.found = true; p.what == l.Call && l.Request != "" && !slices.Contains(p.asked, l.Request) {
		p.asked = append(p.asked, l.Request)
	}
	if p.raw {
		return rawPrinter{p.Writer}.print(line)
	}
	head, body := l.headAndBody()
	if body != "" && body == p.last {
		body = "    as the record before says\n"
	} else {
		p.last = body
	}
	_, err = p.WriteString(head + body)
	return err
}

// Whole is the record on several lines for people: Human, the details of the call, and
// the reasoning chain. No text in it can move the cursor or imitate another line.
func (l Line) Whole() string {
	head, body := l.headAndBody()
	return head + body
}

func (l Line) headAndBody() (head, body string) {
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
	if v := l.firstVerdict(); v != nil {
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
