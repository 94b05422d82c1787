package redisstore

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/storetest"
	"approver.example/store/storetest/redistest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// startFor starts a Redis for one test.
func startFor(t testing.TB, o redistest.Options) *redistest.Server {
	t.Helper()
	s, err := redistest.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// hubKeyFile writes a hub key.
func hubKeyFile(t testing.TB, char string) string {
	t.Helper()
	return fileWith(t, strings.Repeat(char, 64)+"\n")
}

func fileWith(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// openFor opens a store for one test.
func openFor(t testing.TB, c Config) *Store {
	t.Helper()
	if c.HubKeyFile == "" {
		c.HubKeyFile = hubKeyFile(t, "k")
	}
	s, err := Open(t.Context(), c, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// conform puts one arrangement of servers through the suite. What a slow
// machine does to the timeouts is not its subject.
func conform(t *testing.T, c Config, primaries ...*redistest.Server) {
	c.HubKeyFile = hubKeyFile(t, "k")
	c.DialTimeout, c.ReadTimeout, c.WaitTimeout = 20*time.Second, 20*time.Second, 20*time.Second
	storetest.Run(t, func(t *testing.T) storetest.Place {
		for _, s := range primaries {
			if err := s.Admin().FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return storetest.Place{Shared: true, Open: func() (storetest.Store, error) {
			return Open(context.Background(), c, quiet())
		}}
	})
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := startFor(t, redistest.Options{})
	conform(t, Config{Addrs: []string{s.Addr}}, s)
}

// aclUser is the user that the package comment recommends.
const aclUser = "hub on >user-secret resetkeys ~ap:* resetchannels &ap:* -@all" +
	" +get +eval +evalsha +getrange +setrange +set +zscore +zadd +zrem +zrange" +
	" +exists +pexpire +time +publish +subscribe +unsubscribe +wait +info" +
	" +config|get +hello +auth +ping +select +cluster|slots +cluster|shards +command +readonly"

// inMemory spares a disk that other tests use.
var inMemory = []string{"appendonly no"}

func TestConformanceOverASocketWithAnACL(t *testing.T) {
	t.Parallel()
	s := startFor(t, redistest.Options{Password: "admin-secret", Socket: true, ACL: []string{aclUser}, Config: inMemory})
	conform(t, Config{
		Addrs: []string{s.Socket}, Username: "hub", PasswordFile: fileWith(t, "user-secret\n"), DB: 3,
	}, s)
}

func TestConformanceOverTLS(t *testing.T) {
	t.Parallel()
	s := startFor(t, redistest.Options{TLS: true, Password: "secret", Config: inMemory})
	conform(t, Config{
		Addrs: []string{s.Addr}, PasswordFile: fileWith(t, "secret"),
		TLS: TLS{Enabled: true, CAFile: s.Files.CA, CertFile: s.Files.Cert, KeyFile: s.Files.Key, ServerName: "localhost"},
	}, s)
}

func TestConformanceOnACluster(t *testing.T) {
	t.Parallel()
	c, err := redistest.StartCluster(t.Context(), 3,
		redistest.Options{Password: "admin-secret", ACL: []string{aclUser}, Config: inMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	conform(t, Config{Addrs: c.Addrs(), Username: "hub", PasswordFile: fileWith(t, "user-secret")}, c.Nodes...)
}

func TestConformanceWithAReplica(t *testing.T) {
	t.Parallel()
	primary := startFor(t, redistest.Options{Config: inMemory})
	replica, err := redistest.StartReplica(t.Context(), primary, redistest.Options{Config: inMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	conform(t, Config{Addrs: []string{primary.Addr}, Replicas: 1}, primary)
}

func BenchmarkStore(b *testing.B) {
	s := startFor(b, redistest.Options{Socket: true})
	for _, arrangement := range []struct{ name, addr string }{{"TCP", s.Addr}, {"Socket", s.Socket}} {
		b.Run(arrangement.name, func(b *testing.B) {
			storetest.Bench(b, func(b *testing.B) storetest.Store {
				return openFor(b, Config{Addrs: []string{arrangement.addr}})
			})
		})
	}
}

// A server that has lost its scripts, as after a fail-over, gets the clock's
// again.
func TestRecordAndClockWithoutScripts(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	s := openFor(t, Config{Addrs: []string{server.Addr}})
	key := approver.Key("test", "k")
	write(t, s, key, "v", "")
	var last time.Time
	for range 3 {
		if err := server.Admin().ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(clockFor + time.Millisecond) // so that the server is asked for the time
		before := s.Work().Trips
		value, _, now, err := s.GetNow(t.Context(), key)
		if n := s.Work().Trips - before; n < 2 || n > 6 { // the script is sent anew, and a ping may come between
			t.Errorf("it took %d trips", n)
		}
		if err != nil || string(value) != "v" || !now.After(last) {
			t.Fatalf("got %q at %v after %v, %v", value, now, last, err)
		}
		last = now
	}
}
