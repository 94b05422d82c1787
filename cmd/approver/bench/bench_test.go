package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/httpapi"
	"approver.example/shieldcore/quota"
)

// built is the real program, as installed.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir+"/", "approver.example/cmd/approver",
		"approver.example/cmd/approver-hook").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "approver")
}

// The daemon takes 1000 questions a minute. A whole run puts more: it had ended at its second
// level with "no card came within 30 s".
func TestQuestionsAMinute(t *testing.T) {
	s := Options{}.size()
	const warm = 20
	if first := warm + s.maxHeld + s.sequential + s.maxCycles; first > quota.MaxAsks ||
		s.maxHeld+s.workers > httpapi.DefaultHeldEach {
		t.Errorf("%d questions before the first wait, %d callers", first, s.maxHeld+s.workers)
	}
	for _, c := range []struct {
		asked int // half a minute ago
		wait  time.Duration
	}{{0, 0}, {700, 0}, {701, 32 * time.Second}, {1000, 32 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			l := &level{v: &driver{}}
			for range c.asked {
				l.v.asked = append(l.v.asked, time.Now())
			}
			time.Sleep(30 * time.Second)
			start := time.Now()
			err := new(bench).waitForRoom(t.Context(), l, 300)
			if took := time.Since(start); err != nil || took != c.wait {
				t.Errorf("%d asked: waited %v, not %v: %v", c.asked, took, c.wait, err)
			}
		})
	}
}

// zeros lists the figures that are zero.
func zeros(name string, v reflect.Value) (out []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, zeros(name+"."+v.Type().Field(i).Name, v.Field(i))...)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{name}
		}
		for i := range v.Len() {
			out = append(out, zeros(fmt.Sprintf("%s[%d]", name, i), v.Index(i))...)
		}
	default:
		if v.IsZero() {
			return []string{name}
		}
	}
	return out
}

// mayBeZero are figures that have nothing to say of some levels, or of some
// machines.
func mayBeZero(name string) bool {
	level1 := strings.Contains(name, ".Levels[0].") &&
		(strings.HasSuffix(name, ".Held") || strings.HasSuffix(name, ".HeldKiB"))
	notParked := (strings.Contains(name, ".Levels[0].") || strings.Contains(name, ".Levels[1].")) &&
		(strings.HasSuffix(name, ".Parked") || strings.HasSuffix(name, ".StoredBytes"))
	noTrips := strings.HasPrefix(name, "report.Stores[0].") && strings.HasSuffix(name, ".Trips")
	return level1 || notParked || noTrips
}

func TestShortHasEveryFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("the programs that it runs are built without the race detector, which runs the short tests")
	}
	if !HaveRedis() {
		t.Skip("no redis-server")
	}
	program := built(t)
	t.Setenv("TMPDIR", shortDir(t))
	var out bytes.Buffer
	var said strings.Builder
	bench := exec.CommandContext(t.Context(), program, "bench", "--short", "--json") // the command, as people run it
	bench.Stdout, bench.Stderr = &out, &said
	start := time.Now()
	if err := bench.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	t.Logf("took %v", time.Since(start))
	var r Report
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	for _, name := range zeros("report", reflect.ValueOf(r)) {
		if !mayBeZero(name) {
			t.Errorf("%s is zero", name)
		}
	}
	if len(r.Stores) != 2 || len(r.Stores[0].Levels) != 3 || r.Stores[1].Levels[2].Pending != 10_000 {
		t.Errorf("stores and levels: %+v", r.Stores)
	}
	var table bytes.Buffer
	if err := r.print(&table); err != nil || !strings.Contains(table.String(), "reply to release") {
		t.Errorf("the table (%v):\n%s", err, table.String())
	}
	nothingLeft(t)
}

// shortDir is a folder whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "apb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// nothingLeft checks that a run took its folders away.
func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "approver-bench-") || strings.HasPrefix(e.Name(), "redistest") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// A run that is ended early ends its daemons too.
func TestEndedEarly(t *testing.T) {
	if testing.Short() {
		t.Skip("the programs that it runs are built without the race detector, which runs the short tests")
	}
	program := built(t)
	t.Setenv("TMPDIR", shortDir(t))
	ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer cancel()
	if err := Run(ctx, Options{Stores: []string{Embedded}, Short: true, Out: &bytes.Buffer{},
		Program: program}); err == nil {
		t.Error("no error")
	}
	nothingLeft(t)
	if out, err := exec.Command("pgrep", "-f", program+" serve").Output(); err == nil {
		t.Errorf("a daemon still runs: %s", out)
	}
}

func TestQuantile(t *testing.T) {
	took := []time.Duration{4, 1, 3, 2}
	if got := quantile(took, 0.5); got != 3 {
		t.Errorf("the median of 1 to 4 is %v", got)
	}
	if got := quantile(took, 1); got != 4 {
		t.Errorf("the greatest is %v", got)
	}
	if quantile(nil, 0.5) != 0 || over(1, 0) != 0 {
		t.Error("nothing measured is zero")
	}
}
