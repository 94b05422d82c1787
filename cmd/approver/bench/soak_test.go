package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/cmd/approver/internal/child"
)

// A short soak of the real program makes its calls and measures what it says.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("the programs that it runs are built without the race detector, which runs the short tests")
	}
	program := built(t)
	t.Setenv("TMPDIR", shortDir(t))
	stores := []string{Embedded}
	if HaveRedis() {
		stores = append(stores, Redis)
	}
	for _, store := range stores {
		soak := exec.CommandContext(t.Context(), program, "bench", "--soak", "3s", "--store", store, "--json")
		var said strings.Builder
		soak.Stderr = &said
		out, err := soak.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", store, err, said.String())
		}
		var r SoakReport
		d := json.NewDecoder(bytes.NewReader(out))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || len(r.Soaks) != 1 {
			t.Fatalf("%s: %v: %s", store, err, out)
		}
		f := r.Soaks[0]
		for _, of := range []struct {
			laps SoakLaps
			want int
		}{{f.Verdicts, 3 * verdictsPerS}, {f.Approvals, 3 * approvalsPerS}} {
			if l := of.laps; l.Calls != of.want || l.Failed != 0 || l.P50MS <= 0 || l.P99MS < l.P50MS || l.MaxMS < l.P99MS {
				t.Errorf("%s: not %d calls and their times: %+v", store, of.want, l)
			}
		}
		first, last := f.Samples[0], f.Samples[len(f.Samples)-1]
		if len(f.Samples) != 31 || first.Calls >= last.Calls || last.Calls > 3*(verdictsPerS+approvalsPerS) {
			t.Errorf("%s: %d samples, from %+v to %+v", store, len(f.Samples), first, last)
		}
		if f.CPUPercent <= 0 || last.RSSMiB < 5 || last.LiveMiB <= 0 || last.Goroutines < 5 || last.Files < 1 ||
			last.AuditFiles < 1 || last.AuditKiB < first.AuditKiB+100 {
			t.Errorf("%s: %.1f %%, from %+v to %+v", store, f.CPUPercent, first, last)
		}
		if inFile, inRedis := last.StoreKiB > 0 && last.LogKiB > 0, last.RedisKeys > first.RedisKeys &&
			last.RedisMemoryKiB > 0 && last.RedisAOFKiB > first.RedisAOFKiB; inFile == inRedis || inFile != (store == Embedded) {
			t.Errorf("%s: from %+v to %+v", store, first, last)
		}
		if n := strings.Count(said.String(), " of 3s: "); n != len(f.Samples) {
			t.Errorf("%s: %d lines of progress:\n%s", store, n, said.String())
		}
	}
	nothingLeft(t)
}

// Calls are due at even distances, and one that takes long is seen in those behind it.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream{start: time.Now(), until: time.Now().Add(time.Second), every: 100 * time.Millisecond}
		n := 0
		s.run(t.Context(), func() error {
			if n++; n == 4 {
				time.Sleep(250 * time.Millisecond)
				return errors.New("too late")
			}
			return nil
		})
		got := s.laps()
		want := SoakLaps{Calls: 10, PerS: 10, Failed: 1, FirstError: "too late", P50MS: 0, P99MS: 250, MaxMS: 250}
		if got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
		if s.took[7] != 50*time.Millisecond || s.took[8] != 150*time.Millisecond || s.took[6] != 0 { // sorted by now
			t.Errorf("the two behind it: %v", s.took)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &stream{start: time.Now().Add(time.Hour), until: time.Now().Add(2 * time.Hour), every: time.Second}
	s.run(ctx, func() error { t.Error("a call after the end"); return nil })
}

func TestGrowth(t *testing.T) {
	const n = 60
	for name, c := range map[string]struct {
		of    func(i float64) float64 // i from 0 to 60
		grows bool                    // what is to stay
		adds  bool                    // what may add for each call
	}{
		"flat":              {func(float64) float64 { return 100 }, false, false},
		"warms up":          {func(i float64) float64 { return 100 + min(i, 20) }, false, false},
		"waves":             {func(i float64) float64 { return 100 + 5*float64(int(i)%2) }, false, false},
		"a line":            {func(i float64) float64 { return 100 + i }, true, false},
		"more and more":     {func(i float64) float64 { return 100 + i*i/10 }, true, true},
		"from the half on":  {func(i float64) float64 { return 100 + max(0, i-30) }, true, true},
		"less and less":     {func(i float64) float64 { return 100 - i }, false, false},
		"a few descriptors": {func(i float64) float64 { return 30 + i/20 }, false, false},
	} {
		var samples []Sample
		for i := range n + 1 {
			v := c.of(float64(i))
			samples = append(samples, Sample{AtS: float64(i) * 60, Calls: int64(i) * 3120, Descriptors: v, AuditKiB: v})
		}
		got := growthOf(samples)
		if len(got) != 2 || got[0].Of != "descriptors" || got[0].Grows != c.grows || !got[1].Adds ||
			got[1].Grows != c.adds {
			t.Errorf("%s: %+v", name, got)
		}
		if got := growthOf(samples[:9]); !got[0].TooShort || got[0].verdict() != "too short to say" {
			t.Errorf("%s: eight minutes: %+v", name, got)
		}
	}
}

// What the daemon logged when calls failed is kept.
func TestLoggedErrors(t *testing.T) {
	d := &daemon{child.Daemon{Dir: t.TempDir()}}
	log := "time=1 level=WARN msg=\"one level=ERROR\"\n" + strings.Repeat("time=2 level=ERROR msg=two\n", 30)
	if err := os.WriteFile(filepath.Join(d.Dir, "daemon.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.loggedErrors(); len(got) != 20 || got[0] != "time=2 level=ERROR msg=two\n" {
		t.Errorf("%d: %q", len(got), got)
	}
}

// A soak in which calls failed is a failure, and its table still has all figures.
func TestSoakFailure(t *testing.T) {
	r := SoakReport{Soaks: []SoakFigures{{Store: Embedded, Verdicts: SoakLaps{Calls: 5},
		Approvals: SoakLaps{Calls: 4, Failed: 2, FirstError: "no card"},
		Growth: []Growth{{Of: "descriptors", First: 30, Last: 31}, {Of: "audit, KiB", Adds: true, Last: 10},
			{Of: "goroutines", Grows: true}}}}}
	if err := r.failure(); err == nil || err.Error() != "store embedded: 2 of 4 calls failed, at first: no card" {
		t.Error(err)
	}
	var out strings.Builder
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"descriptors  30.0      31.0", "flat for each call\n", "grows\n", "flat\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if err := new(SoakReport).failure(); err != nil {
		t.Error(err)
	}
}
