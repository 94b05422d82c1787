package channeltest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
)

// The columns of a table, in characters.
const nameWidth, cellWidth = 34, 14

func fileOf(name string) string { return filepath.Join("testdata", "who-gets-through-"+name+".txt") }

// compare compares a table with its golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	t.Log("\n" + got)
	file := fileOf(name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o750), os.WriteFile(file, []byte(got), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || got != string(want) {
		t.Errorf("it is not the table in %s (-update writes it, read it then): %v", file, err)
	}
}

// golden are the cells of a golden file for a state, by way and kind. They say only how long to wait for a word.
func golden(name string, s state) map[string]string {
	cells := map[string]string{}
	table, err := os.ReadFile(fileOf(name))
	if err != nil || *update {
		return cells
	}
	in := false
	for line := range strings.Lines(string(table)) {
		row := []rune(fmt.Sprintf("%-*s", nameWidth+len(kinds)*cellWidth, strings.TrimRight(line, "\n")))
		if line[0] != ' ' {
			in = strings.TrimSpace(string(row[:nameWidth])) == s.name
		}
		for k, kind := range kinds {
			if at := nameWidth + k*cellWidth; in {
				cells[strings.TrimSpace(string(row[:nameWidth]))+kind] = strings.TrimSpace(string(row[at : at+cellWidth]))
			}
		}
	}
	return cells
}

// mustHear reports whether somebody is told something in any case: people whom the platform shows the bot
// to, unless they talk among themselves.
func mustHear(kind string, w way) bool {
	return kind == "approver" && !w.unseen || (kind == "member" || kind == "ex-approver") && !w.quiet
}

// became says what became of a try, in a word.
func (m *matrix) became(one try, was broadcaster.Request, w way, kind string) (cell string) {
	patience, want := time.Second, m.want[w.name+kind]
	switch silent := strings.HasSuffix(want, "-"); {
	case mustHear(kind, w), want != "" && !silent:
		patience = 20 * time.Second
	case silent:
		patience = 50 * time.Millisecond // row looks once more
	}
	told, asked := false, false
	for end := time.Now().Add(patience); !told && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		told = len(m.Told(one.user)) > 0
		if asked = m.asks(one.user); asked && !w.never { // and told soon, if there is something to tell
			end = time.Now().Add(min(time.Until(end), time.Second))
		}
	}
	now := m.request(one.request)
	switch {
	case now.Disowned != was.Disowned:
		cell = "disowns"
	case now.More > was.More:
		cell = "+10 min"
	case now.State == was.State && told:
		return "told"
	case now.State == was.State && asked:
		return "is asked"
	case now.State == was.State:
		return "-"
	case now.Resolution.Edit != nil:
		cell = "RUNS changed"
	case now.Resolution.Approve && now.Resolution.Grant.Lasts():
		cell = "RUNS " + now.Resolution.Grant.String()
	case now.Resolution.Approve:
		cell = "RUNS"
	case now.Resolution.Reason != "":
		cell = "no, because"
	default:
		cell = "no"
	}
	if now.Resolution.Edit != nil && !now.Resolution.Approve {
		cell = "no, run this"
	}
	if !told {
		cell += " -"
	}
	return cell
}

// check is what must hold in every cell, whatever the table says.
func (m *matrix) check(s state, w way, kind string, was broadcaster.Request, cell string) {
	nothing := cell == "told" || cell == "is asked" || cell == "-"
	name := m.to.Channel + ": " + s.name + ": " + w.name + " of the " + kind
	switch {
	case (kind != "approver" || w.never) && !nothing:
		m.t.Errorf("%s: %s", name, cell)
	case strings.Contains(cell, "RUNS") && was.State != approver.Pending:
		m.t.Errorf("%s: what was %v runs", name, was.State)
	case strings.HasPrefix(cell, "RUNS") && cell != "RUNS changed" && s.sev != approver.High &&
		!strings.Contains(w.name, "CODE") && w.name != "Enter code…":
		m.t.Errorf("%s: a CATASTROPHIC call runs without its code", name)
	case strings.HasSuffix(cell, "-") && mustHear(kind, w):
		m.t.Errorf("%s: silence", name)
	}
}
