package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// showAll is Show that decodes every line of the log.
func showAll(t *testing.T, dir, what string, format Format) (string, error) {
	t.Helper()
	var out strings.Builder
	p := &showPrinter{Writer: bufio.NewWriter(&out), raw: format != Human, what: what}
	err := export(t.Context(), dir, time.Time{}, time.Time{}, p)
	if err == nil && !p.found {
		err = ErrNoRecord
	}
	return out.String(), err
}

// sameShow compares Show with showAll.
func sameShow(t *testing.T, dir string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		for _, format := range []Format{Human, JSONL} {
			var out strings.Builder
			err := Show(t.Context(), dir, id, &out, format)
			want, wantErr := showAll(t, dir, id, format)
			if out.String() != want || errors.Is(err, ErrNoRecord) != errors.Is(wantErr, ErrNoRecord) ||
				(err == nil) != (wantErr == nil) {
				t.Errorf("%q: %v\n%.300s\nnot %v\n%.300s", id, err, out.String(), wantErr, want)
			}
			var b, wantBreak *BreakError
			if errors.As(wantErr, &wantBreak) && (!errors.As(err, &b) || *b != *wantBreak) {
				t.Errorf("%q: %v, not %v", id, err, wantErr)
			}
		}
	}
}

// manyCalls is a log of many chunks and files. Some requests are of two calls, one call has many requests,
// and ids are hard to find.
func manyCalls(t *testing.T) (o Options, ids []string) {
	t.Helper()
	o, _ = options(t)
	o.MaxSize, o.CheckpointEvery = 3<<20, 100
	l := open(t, o)
	ids = []string{"", "1", "2", "7", "300", "12345", "nothing", "é", "é-10", `a"b\c`, "<&>", "many", "Bash", "test",
		"\x01"}
	for i := range 250 {
		c := shell(fmt.Sprintf("echo %d%s", i, strings.Repeat("x", i%7*9000)))
		c.ID = fmt.Sprintf("call%d", i/2)
		switch i % 10 {
		case 3:
			c.ID = fmt.Sprintf("é-%d", i/20)
		case 4:
			c.ID = []string{`a"b\c`, "<&>", "300", "é"}[i/10%4]
		case 5:
			c.ID = "many"
		}
		r := approver.Record{Event: approver.EventVerdict, Call: c, At: testTime}
		if i%3 == 0 {
			r = event(fmt.Sprintf("request%d", i/9), approver.EventAsked)
			r.Call = c
		}
		record(t, l, r)
		if i%50 == 0 {
			ids = append(ids, c.ID, r.Request, fmt.Sprint(i))
		}
	}
	closeLog(t, l)
	return o, ids
}

func TestShowFindsWhatDecodingEveryLineFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	o, ids := manyCalls(t)
	if full, err := rotated(o.Dir); err != nil || len(full) < 2 {
		t.Fatal(full, err)
	}
	sameShow(t, o.Dir, ids...)
}

// Lines that are none of a log are named as before, wherever they stand.
func TestShowStopsAtABadLine(t *testing.T) {
	for name, bad := range map[string]string{
		"no JSON":       "{\"v\":1,\"event\":\n",
		"nothing":       "\n",
		"half a line":   `{"v":1,"event":"asked","call":"c`,
		"foreign":       "{\"a\":1}\n",
		"a long line":   `{"v":1,"note":"` + strings.Repeat("x", chunkSize+5) + "\"}\n",
		"a longer line": `{"v":1,"note":"` + strings.Repeat("x", MaxLine) + "\"}\n",
		"half of it":    `{"v":1,"note":"` + strings.Repeat("x", MaxLine),
		"spaces":        "{ \"v\" : 1, \"event\":\"asked\", \"timestamp\":\"2026-01-01T00:00:00Z\", \"call\" : \"r1\" }\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, place := range []int{0, 2, 3} {
				o, _ := options(t)
				newLogOf(t, o, event("r1", approver.EventAsked), event("r1", approver.EventApproved))
				all := lines(t, o)
				if place < len(all) && !strings.HasSuffix(bad, "\n") {
					continue
				}
				all = append(all[:place:place], append([][]byte{[]byte(bad)}, all[place:]...)...)
				writeFile(t, filepath.Join(o.Dir, activeName), bytes.Join(all, nil))
				sameShow(t, o.Dir, "r1", shell("").ID, "none")
			}
		})
	}
}
