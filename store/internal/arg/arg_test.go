package arg

import (
	"strings"
	"testing"
	"time"

	"approver.example"
)

func TestKey(t *testing.T) {
	for _, key := range []string{
		approver.Key("req", "0190"), approver.Key("a", "b:c"), approver.Key("strikes", `"p"/"slack"/"C1"`),
		approver.Key("x", "ünï ✓"),
		"ap:{63}:k:" + strings.Repeat("i", MaxKey-10),
	} {
		if err := Key(key); err != nil {
			t.Errorf("%.40q: %v", key, err)
		}
	}
	for _, key := range []string{
		"", "ap:{00}:due", "ap:{00}:k:", "ap:{00}::i", "ap:{64}:k:i", "ap:{00}:k:\x7f", "ap:{00}:k:\u200b", "ap:{00}:k:\xc0",
		"ap:{63}:k:" + strings.Repeat("i", MaxKey-9),
	} {
		if err := Key(key); err == nil {
			t.Errorf("%.40q was not refused", key)
		}
	}
}

func TestPutTimes(t *testing.T) {
	now := time.Now()
	tests := []struct {
		name      string
		due, keep time.Time
		good      bool
	}{
		{"never and for ever", time.Time{}, time.Time{}, true},
		{"due, kept for ever", now, time.Time{}, true},
		{"never due", time.Time{}, now, true},
		{"kept as long as due", now, now, true},
		{"forgotten before due", now, now.Add(-1), false},
		{"due before 1970", time.Unix(-1, 0), time.Time{}, false},
		{"kept until 2250", time.Time{}, latest, false},
		{"kept until just before", time.Time{}, latest.Add(-1), true},
	}
	for _, test := range tests {
		err := Put(approver.Key("k", "i"), nil, "", approver.NewRev(), test.due, test.keep)
		if (err == nil) != test.good {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

func TestDue(t *testing.T) {
	if n, err := Due(63, 5); n != 5 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if n, err := Due(0, MaxDue+1); n != MaxDue || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, c := range [][2]int{{-1, 1}, {64, 1}, {0, 0}} {
		if _, err := Due(c[0], c[1]); err == nil {
			t.Errorf("%v was not refused", c)
		}
	}
}

// FuzzKey makes sure that no key that is taken can reach another name of a
// store, or be two keys.
func FuzzKey(f *testing.F) {
	f.Add("ap:{00}:req:1")
	f.Add("ap:{00}:due")
	f.Add("ap:{00}/clock")
	f.Add("ap:{07}:a:\x00")
	f.Fuzz(func(t *testing.T, key string) {
		if Key(key) != nil {
			return
		}
		shard, err := approver.ShardOfKey(key)
		if err != nil || shard < 0 || shard >= approver.Shards {
			t.Fatalf("%q: shard %d, %v", key, shard, err)
		}
		if len(key) > MaxKey || strings.Count(key, ":") < 3 || strings.ContainsAny(key, "\x00\n\r\t") ||
			!strings.Contains(key[8:], ":") {
			t.Fatalf("%q was taken", key)
		}
	})
}
