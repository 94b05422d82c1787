package chatstest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// A row is what came of the requests of one cell.
type row struct {
	Fault    string `json:"fault"`
	Platform string `json:"platform"` // who played it, and the channel
	Channel  string `json:"channel"`
	Own      bool   `json:"our_own_fake"`

	Asked     int `json:"asked"`
	Delivered int `json:"delivered"` // a card was seen
	Answered  int `json:"answered"`  // the agent got what the person answered
	Lost      int `json:"lost"`      // the agent got no answer of the person
	Wrong     int `json:"wrong"`     // the agent got another answer than the person's
	// Disk counts calls that were denied before anybody was asked, because this machine's disk did not keep up with
	// the audit. The fault has no part in it.
	Disk    int `json:"disk"`
	Doubled int `json:"doubled"` // cards beyond the first of a request
	Open    int `json:"open"`    // cards that still offer buttons although the request is over
	Again   int `json:"again"`   // taps that a person had to repeat, because the card did not change
	Struck  int `json:"struck"`  // calls that the fault befell; 0 for faults of connections

	Status string `json:"status"` // what approver status said of the channel just before the fault's end

	// First is from the end of the fault until the next agent had its answer, and All until every agent had that asked
	// before that end. In seconds.
	First float64 `json:"first_answer_after_s"`
	All   float64 `json:"all_answered_after_s"`
	Took  float64 `json:"took_s"` // the whole cell
}

// A table has the rows of a run.
type table struct {
	asked int
	began time.Time

	mu   sync.Mutex
	rows []row
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
	fmt.Printf("%6.0fs  %s\n", time.Since(t.began).Seconds(), r)
}

func (r row) String() string {
	return fmt.Sprintf("%-22s %-44s delivered %d, answered %d of %d, lost %d, wrong %d, disk %d, doubled %d, open %d, "+
		"again %d; first answer after %.1f s, all after %.1f s; status: %.60s", r.Platform, r.Fault, r.Delivered,
		r.Answered, r.Asked, r.Lost, r.Wrong, r.Disk, r.Doubled, r.Open, r.Again, r.First, r.All, r.Status)
}

// sorted has the rows by fault, in the order in which they are listed.
func (t *table) sorted() []row {
	t.mu.Lock()
	defer t.mu.Unlock()
	place := map[string]int{}
	for i, f := range faults {
		place[f.name] = i
	}
	out := slices.Clone(t.rows)
	slices.SortStableFunc(out, func(a, b row) int {
		if d := place[a.Fault] - place[b.Fault]; d != 0 {
			return d
		}
		return strings.Compare(a.Channel+a.Platform, b.Channel+b.Platform)
	})
	return out
}

func (t *table) print(w io.Writer) {
	const line = "%-44s %-22s %5s %9s %8s %4s %5s %4s %7s %4s %5s %7s %6s\n"
	fmt.Fprintf(w, "\n%s, commit %s, %d requests for each fault, %.0f s\n\n", time.Now().UTC().Format(time.DateOnly),
		commit(), t.asked, time.Since(t.began).Seconds())
	fmt.Fprintf(w, line, "fault", "platform", "asked", "delivered", "answered", "lost", "wrong", "disk", "doubled", "open",
		"again", "first s", "all s")
	var sum row
	last := ""
	for _, r := range t.sorted() {
		fault := r.Fault
		if fault == last {
			fault = ""
		}
		last = r.Fault
		n := func(n int) string { return fmt.Sprint(n) }
		s := func(s float64) string { return fmt.Sprintf("%.1f", s) }
		fmt.Fprintf(w, line, fault, r.Platform, n(r.Asked), n(r.Delivered), n(r.Answered), n(r.Lost), n(r.Wrong), n(r.Disk),
			n(r.Doubled), n(r.Open), n(r.Again), s(r.First), s(r.All))
		sum.Asked, sum.Answered, sum.Lost = sum.Asked+r.Asked, sum.Answered+r.Answered, sum.Lost+r.Lost
		sum.Wrong, sum.Doubled, sum.Open = sum.Wrong+r.Wrong, sum.Doubled+r.Doubled, sum.Open+r.Open
	}
	fmt.Fprintf(w, "\n%d asked, %d answered, %d lost, %d wrong, %d doubled posts, %d cards left open\n", sum.Asked,
		sum.Answered, sum.Lost, sum.Wrong, sum.Doubled, sum.Open)
}

// write writes the table into a file: as Markdown for docs/delivery.md if its name ends in .md, else as JSON.
func (t *table) write(file string) error {
	if strings.HasSuffix(file, ".md") {
		return os.WriteFile(file, []byte(t.markdown()), 0o644)
	}
	raw, err := json.MarshalIndent(map[string]any{"date": time.Now().UTC().Format(time.DateOnly), "commit": commit(),
		"requests": t.asked, "rows": t.sorted()}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

// markdown has a line for each fault, and a column for each platform.
func (t *table) markdown() string {
	var platforms, lines []string
	cells := map[string]string{}
	for _, r := range t.sorted() {
		if !slices.Contains(platforms, r.Platform) {
			platforms = append(platforms, r.Platform)
		}
		if !slices.Contains(lines, r.Fault) {
			lines = append(lines, r.Fault)
		}
		text := fmt.Sprintf("%d of %d", r.Answered, r.Asked)
		for _, more := range []struct {
			n    int
			what string
		}{{r.Lost, "lost"}, {r.Wrong, "WRONG"}, {r.Disk, "denied by the disk"}, {r.Doubled, "doubled"},
			{r.Open, "left open"}, {r.Again, "tapped again"}} {
			if more.n > 0 {
				text += fmt.Sprintf(", %d %s", more.n, more.what)
			}
		}
		cells[r.Fault+r.Platform] = text + fmt.Sprintf("; %.1f s", r.First)
	}
	slices.Sort(platforms)
	var b strings.Builder
	fmt.Fprintf(&b, "| fault | %s |\n|%s\n", strings.Join(platforms, " | "), strings.Repeat("---|", len(platforms)+1))
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s ", l)
		for _, p := range platforms {
			fmt.Fprintf(&b, "| %s ", cells[l+p])
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// commit names the source that is tested.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
