package audit

import (
	"fmt"
	"strings"

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
