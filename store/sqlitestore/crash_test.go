package sqlitestore

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// A process that writes is killed, again and again. Whatever it said was on
// disk is there, or what it wrote after that and could not say any more.
func TestKilledProcessLosesNothing(t *testing.T) {
	path := newPath(t)
	var latest int64
	for round := range 4 {
		said := crash(t, path, time.Duration(80+60*round)*time.Millisecond)
		if said.lines < 10 {
			t.Fatalf("round %d: only %d writes before the kill", round, said.lines)
		}
		latest = max(latest, said.clock)
		s := openFor(t, path)
		for w := range 4 {
			key := approver.Key("test", fmt.Sprint(w))
			value, rev, err := s.Get(t.Context(), key)
			if err != nil || !strings.HasSuffix(string(value), string(rev)) {
				t.Fatalf("writer %d: got revision %s with a value of another, %v", w, rev, err)
			}
			if rev != said.revs[w] && said.all[rev] {
				t.Errorf("writer %d: %s is on disk, but %s was acknowledged later", w, rev, said.revs[w])
			}
			if keys, err := s.Due(t.Context(), approver.ShardOf(fmt.Sprint(w)), 10); err != nil || len(keys) != 1 ||
				keys[0] != key {
				t.Errorf("writer %d: due %q, %v", w, keys, err)
			}
		}
		now, err := s.Now(t.Context())
		if err != nil || now.UnixNano() < latest {
			t.Errorf("the clock went back from %d to %d, %v", latest, now.UnixNano(), err)
		}
		checkFile(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What a killed process said of itself.
type lastWords struct {
	revs  map[int]approver.Rev  // the last of each writer
	all   map[approver.Rev]bool // all of them
	clock int64                 // the highest reading
	lines int
}

// crash runs a writing process for a while and kills it.
func crash(t *testing.T, path string, after time.Duration) lastWords {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashVariable+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := lastWords{revs: make(map[int]approver.Rev), all: make(map[approver.Rev]bool)}
	var timer *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if timer == nil && said.lines >= 10 { // a slow machine has written little by any time
			timer = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		var writer int
		var rev approver.Rev
		var clock int64
		if _, err := fmt.Sscan(lines.Text(), &writer, &rev, &clock); err != nil {
			t.Fatalf("the process said %q", lines.Text())
		}
		said.revs[writer], said.all[rev] = rev, true
		said.clock, said.lines = max(said.clock, clock), said.lines+1
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the process ended by itself")
	}
	return said
}

// column returns the first column of a query, as the last commit has it.
func column(t *testing.T, s *Store, query string) (all []string) {
	t.Helper()
	if err := s.view(t.Context(), nil, func(c *conn) (err error) { all, err = texts(c, query); return err }); err != nil {
		t.Fatal(err)
	}
	return all
}

// checkFile looks for a damage of the file, and for entries without a record or the
// other way round.
func checkFile(t *testing.T, s *Store) {
	t.Helper()
	if found := column(t, s, `PRAGMA integrity_check`); !slices.Equal(found, []string{"ok"}) {
		t.Error(found)
	}
	err := s.view(t.Context(), nil, func(c *conn) error {
		lost, err := complete(c)
		if len(lost) > 0 {
			t.Error(lost)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
