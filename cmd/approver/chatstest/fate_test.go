package chatstest

import (
	"fmt"
	"strings"
	"testing"
)

// What an agent got is sorted strictly: an allow that no person gave, or that of another than was tapped, is wrong.
func TestFates(t *testing.T) {
	says := func(decision, why string) string {
		return fmt.Sprintf(`{"hookSpecificOutput":{"permissionDecision":%q,"permissionDecisionReason":%q}}`, decision, why)
	}
	for name, c := range map[string]struct {
		yes  bool
		exit int
		said string
		want fate
	}{
		"yes":                      {true, 0, says("allow", "approved by Alice via Telegram"), answered},
		"no":                       {false, 2, says("deny", "denied by Alice via Slack"), answered},
		"a no that became a yes":   {false, 0, says("allow", "approved by Alice via Telegram"), wrong},
		"a yes that became a no":   {true, 2, says("deny", "denied by Alice via Slack"), wrong},
		"a yes of nobody":          {true, 0, says("allow", "the rules"), wrong},
		"no answer, and exit 0":    {true, 0, "", wrong},
		"nobody answered":          {true, 2, says("deny", "nobody answered within 2 minutes"), lost},
		"no channel":               {false, 2, says("deny", "no approval channel could be reached"), lost},
		"the courier never ran":    {true, -1, "no such file", lost},
		"the disk":                 {true, 2, says("deny", "the decision could not be recorded in the audit"), unrecorded},
		"the disk lets it through": {true, 0, "could not be recorded in the audit", wrong},
	} {
		t.Run(name, func(t *testing.T) {
			r := request{yes: c.yes, exit: c.exit, said: c.said}
			if got := r.fate(); got != c.want {
				t.Errorf("fate %d, want %d", got, c.want)
			}
		})
	}
}

// The table has every row, in the order of the faults, and its sum says what was lost.
func TestTable(t *testing.T) {
	all := &table{asked: 8}
	all.rows = []row{
		{Fault: "one stray 404 on a post", Platform: "slack, our fake", Asked: 8, Answered: 7, Lost: 1},
		{Fault: "none", Platform: "slack, our fake", Asked: 8, Answered: 8, Doubled: 2},
	}
	var out strings.Builder
	all.print(&out)
	text := out.String()
	if !strings.Contains(text, "16 asked, 15 answered, 1 lost, 0 wrong, 2 doubled posts") ||
		strings.Index(text, "none") > strings.Index(text, "one stray") {
		t.Error(text)
	}
	if got := all.markdown(); !strings.Contains(got, "| one stray 404 on a post | 7 of 8, 1 lost; 0.0 s |") {
		t.Error(got)
	}
}
