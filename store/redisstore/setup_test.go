package redisstore

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example/store/storetest/redistest"
)

// The story: somebody tuned a shared Redis while approver ran: it was to evict, to keep no file, or to
// sync less often. Only the next start of approver said so. Now the running one says it once, and once
// that it is mended. A Redis that is away, or that was like this from the start, is no news.
func TestASetupThatBecomesWorseIsNoticed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, set, back [2]string
		unfit, lossy      string
	}{
		"it evicts": {
			set: [2]string{"maxmemory-policy", "allkeys-lru"}, back: [2]string{"maxmemory-policy", "noeviction"},
			unfit: "set maxmemory-policy noeviction",
		},
		"no file": {
			set: [2]string{"appendonly", "no"}, back: [2]string{"appendonly", "yes"}, lossy: "set appendonly yes",
		},
		"no sync": {
			set: [2]string{"appendfsync", "no"}, back: [2]string{"appendfsync", "everysec"}, lossy: "set appendfsync everysec",
		},
		"fewer syncs": {
			before: [2]string{"appendfsync", "always"}, set: [2]string{"appendfsync", "everysec"},
			back: [2]string{"appendfsync", "always"}, lossy: "set appendfsync always",
		},
		"as at the start": {
			before: [2]string{"appendonly", "no"}, set: [2]string{"appendfsync", "no"},
			back: [2]string{"appendfsync", "always"},
		},
		"better than at the start": {
			before: [2]string{"appendfsync", "everysec"}, set: [2]string{"appendfsync", "always"},
			back: [2]string{"appendfsync", "always"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startFor(t, redistest.Options{})
			admin := server.Admin()
			put := func(to [2]string) {
				t.Helper()
				if to[0] == "" {
					return
				}
				if err := admin.ConfigSet(t.Context(), to[0], to[1]).Err(); err != nil {
					t.Fatal(err)
				}
			}
			put(tt.before)
			var book logbook
			s, err := open(t.Context(), Config{Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k")},
				slog.New(slog.NewTextHandler(&book, nil)), time.Hour, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			told := func(level string) int { return strings.Count(book.String(), "level="+level+" msg=\"redis: ") }
			says := func(err error, want string) bool {
				return (err == nil) == (want == "") && strings.Contains(errorText(err), want)
			}
			is := func(wantUnfit, wantLossy string) {
				t.Helper()
				if unfit, lossy := s.Fitness(); !says(unfit, wantUnfit) || !says(lossy, wantLossy) {
					t.Errorf("got %v, %v, want %q, %q", unfit, lossy, wantUnfit, wantLossy)
				}
			}
			is("", "")
			put(tt.set)
			s.lookAgain(t.Context())
			s.lookAgain(t.Context())
			is(tt.unfit, tt.lossy)
			if err := server.Freeze(); err != nil {
				t.Fatal(err)
			}
			s.lookAgain(t.Context())
			is(tt.unfit, tt.lossy) // away is not mended
			if err := server.Thaw(); err != nil {
				t.Fatal(err)
			}
			news := 0
			if tt.unfit+tt.lossy != "" {
				news = 1
			}
			if told("ERROR") != news || told("INFO") != 0 {
				t.Errorf("the log: %s", &book)
			}
			put(tt.back)
			s.lookAgain(t.Context())
			s.lookAgain(t.Context())
			is("", "")
			if told("ERROR") != news || told("INFO") != news {
				t.Errorf("the log: %s", &book)
			}
		})
	}
}

// What is better than at the start is the measure from then on.
func TestABetterSetupIsTheMeasure(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{Config: []string{"appendonly no"}})
	s, err := open(t.Context(), Config{Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k")}, quiet(), time.Hour,
		time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, step := range []struct{ aof, fsync, lossy string }{
		{"yes", "no", ""}, {"yes", "everysec", ""}, {"yes", "no", "set appendfsync everysec"}, {"yes", "always", ""},
		{"no", "always", "set appendonly yes"}, {"yes", "everysec", "set appendfsync always"},
	} {
		for name, value := range map[string]string{"appendonly": step.aof, "appendfsync": step.fsync} {
			if err := server.Admin().ConfigSet(t.Context(), name, value).Err(); err != nil {
				t.Fatal(err)
			}
		}
		s.lookAgain(t.Context())
		if _, lossy := s.Fitness(); (lossy == nil) != (step.lossy == "") || !strings.Contains(errorText(lossy), step.lossy) {
			t.Errorf("%+v: %v", step, lossy)
		}
	}
}

// The settings are looked at by themselves, within a minute, and by nothing that a call does.
func TestTheSetupIsLookedAtByItself(t *testing.T) {
	t.Parallel()
	if lookEvery > time.Minute/2 {
		t.Errorf("it is looked at every %v", lookEvery)
	}
	server := startFor(t, redistest.Options{})
	s, err := open(t.Context(), Config{Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k")}, quiet(), time.Hour,
		50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := server.Admin().ConfigSet(t.Context(), "maxmemory-policy", "volatile-ttl").Err(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if unfit, _ := s.Fitness(); unfit != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it is not noticed")
		}
	}
}
