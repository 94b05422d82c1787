package redisstore

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example/store/storetest/redistest"
)

// A logbook is where a test reads what was logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestOpenChecksTheServer(t *testing.T) {
	t.Parallel()
	const noConfig = "hub on >user-secret ~ap:* &ap:* +@all -config"
	const noInfo = "hub on >user-secret ~ap:* &ap:* +@all -info"
	const neither = "hub on >user-secret ~ap:* &ap:* +@all -config -info"
	const noPublish = "hub on >user-secret ~ap:* &ap:* +@all -publish"
	const noChannels = "hub on >user-secret ~ap:* resetchannels +@all"
	const noWrites = "hub on >user-secret ~ap:* &ap:* +@all -set"
	tests := []struct {
		name    string
		options redistest.Options
		refused string // a part of the error; empty if Open succeeds
		warned  string
	}{
		{"as it should be", redistest.Options{}, "", ""},
		{"allkeys-lru", redistest.Options{Config: []string{"maxmemory-policy allkeys-lru"}},
			"set maxmemory-policy noeviction", ""},
		{"volatile-ttl", redistest.Options{Config: []string{"maxmemory-policy volatile-ttl"}},
			"set maxmemory-policy noeviction", ""},
		{"evicts, CONFIG denied",
			redistest.Options{ACL: []string{noConfig}, Config: []string{"maxmemory-policy allkeys-lru"}},
			"set maxmemory-policy noeviction", ""},
		{"evicts, INFO denied", redistest.Options{ACL: []string{noInfo}, Config: []string{"maxmemory-policy allkeys-lru"}},
			"set maxmemory-policy noeviction", ""},
		{"CONFIG and INFO denied", redistest.Options{ACL: []string{neither}}, "", "cannot read maxmemory-policy"},
		{"INFO denied", redistest.Options{ACL: []string{noInfo}}, "", "may not run INFO"},
		{"no append-only file", redistest.Options{Config: []string{"appendonly no"}}, "", "no append-only file"},
		{"may not publish", redistest.Options{ACL: []string{noPublish}}, "the package comment of redisstore lists it", ""},
		{"may not use channels", redistest.Options{ACL: []string{noChannels}}, "the package comment of redisstore lists it",
			""},
		{"may not write", redistest.Options{ACL: []string{noWrites}}, "the package comment of redisstore lists it", ""},
		{"a node of a Cluster", redistest.Options{Config: []string{"cluster-enabled yes"}}, "set cluster: true", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := startFor(t, test.options)
			c := Config{Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k")}
			if len(test.options.ACL) > 0 {
				c.Username, c.PasswordFile = "hub", fileWith(t, "user-secret")
			}
			var book logbook
			s, err := Open(t.Context(), c, slog.New(slog.NewTextHandler(&book, nil)))
			if err == nil {
				defer s.Close()
			}
			if test.refused == "" && err != nil ||
				test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("got error %v, want %q", err, test.refused)
			}
			if !strings.Contains(book.String(), test.warned) || test.warned == "" && test.refused == "" && book.String() != "" {
				t.Errorf("logged %q, want %q", book.String(), test.warned)
			}
			if text := book.String() + errorText(err); strings.Contains(text, "secret") {
				t.Errorf("a password is shown: %s", text)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOpenRefusesWhatIsNoPrimary(t *testing.T) {
	t.Parallel()
	primary := startFor(t, redistest.Options{})
	replica, err := redistest.StartReplica(t.Context(), primary, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = replica.Close() })
	sentinel, err := redistest.StartSentinel(t.Context(), primary, "team")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sentinel.Close() })
	locked := startFor(t, redistest.Options{Password: "right"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	tests := map[string]struct {
		config Config
		want   string
	}{
		"a replica":       {Config{Addrs: []string{replica.Addr}}, "is a replica"},
		"a Sentinel":      {Config{Addrs: []string{sentinel.Addr}}, "set master_name"},
		"no Cluster":      {Config{Addrs: []string{primary.Addr, replica.Addr}}, "several addrs mean a Cluster"},
		"no Sentinel":     {Config{Addrs: []string{primary.Addr}, MasterName: "team"}, "redis"},
		"an unknown name": {Config{Addrs: []string{sentinel.Addr}, MasterName: "others"}, "redis"},
		"a wrong password": {Config{Addrs: []string{locked.Addr}, PasswordFile: fileWith(t, "wrong")},
			"WRONGPASS"},
		"no password": {Config{Addrs: []string{locked.Addr}}, "NOAUTH"},
		"nobody":      {Config{Addrs: []string{nobody}}, "refused"},
		"no TLS there": {Config{Addrs: []string{primary.Addr}, TLS: TLS{Enabled: true}, ReadTimeout: 300 * time.Millisecond},
			"redis at"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.config.HubKeyFile = hubKeyFile(t, "k")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			s, err := Open(ctx, test.config, quiet())
			if err == nil {
				_ = s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if d := time.Since(began); d > 10*time.Second {
				t.Errorf("it took %v to find out", d)
			}
		})
	}
}

// Someone between us and Redis, or a certificate for another host, must not get
// the password.
func TestTLSRefusesAStranger(t *testing.T) {
	t.Parallel()
	server, stranger := startFor(t, redistest.Options{TLS: true}), startFor(t, redistest.Options{TLS: true})
	good := TLS{Enabled: true, CAFile: server.Files.CA, CertFile: server.Files.Cert, KeyFile: server.Files.Key}
	tests := map[string]struct {
		change func(*TLS)
		want   string
	}{
		"another authority":  {func(c *TLS) { c.CAFile = stranger.Files.CA }, "certificate"},
		"the system's":       {func(c *TLS) { c.CAFile = "" }, "certificate"},
		"another host":       {func(c *TLS) { c.ServerName = "redis.example" }, "redis.example"},
		"no own certificate": {func(c *TLS) { c.CertFile, c.KeyFile = "", "" }, "tls"},
		"a foreign one":      {func(c *TLS) { c.CertFile, c.KeyFile = stranger.Files.Cert, stranger.Files.Key }, "tls"},
		"no encryption":      {func(c *TLS) { *c = TLS{} }, "redis at"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := Config{Addrs: []string{server.Addr}, TLS: good, HubKeyFile: hubKeyFile(t, "k")}
			test.change(&c.TLS)
			s, err := Open(t.Context(), c, quiet())
			if err == nil {
				_ = s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestJudgeVersions(t *testing.T) {
	s := &Store{log: quiet()}
	for version, good := range map[string]bool{
		"6.2.14": false, "5.0": false, "": false, "x": false, "-7.0": false,
		"7.0.0": true, "7.2.4": true, "8.0.1": true, "10.0": true,
	} {
		err := s.judge("here", map[string]string{"redis_version": version})
		if (err == nil) != good {
			t.Errorf("version %q: got %v", version, err)
		}
	}
}
