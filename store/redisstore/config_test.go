package redisstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/internal/secret"
	"github.com/goccy/go-yaml"
)

func TestValidate(t *testing.T) {
	good := func() Config {
		return Config{Addrs: []string{"127.0.0.1:6379"}, HubKeyFile: "key"}
	}
	tests := map[string]struct {
		change func(*Config)
		want   string // a part of the error, or empty
	}{
		"a server":              {func(*Config) {}, ""},
		"a socket":              {func(c *Config) { c.Addrs = []string{"/run/redis.sock"} }, ""},
		"IPv6":                  {func(c *Config) { c.Addrs = []string{"[::1]:6379"} }, ""},
		"a Cluster":             {func(c *Config) { c.Addrs = []string{"a:1", "b:1"} }, ""},
		"Sentinels":             {func(c *Config) { c.Addrs, c.MasterName, c.DB = []string{"a:1", "b:1"}, "team", 2 }, ""},
		"all of TLS":            {func(c *Config) { c.TLS = TLS{true, "ca", "cert", "key", "name"} }, ""},
		"nothing":               {func(c *Config) { *c = Config{} }, "addrs: name at least one server"},
		"no port":               {func(c *Config) { c.Addrs = []string{"localhost"} }, "neither host:port nor"},
		"an empty port":         {func(c *Config) { c.Addrs = []string{"localhost:"} }, "neither host:port nor"},
		"a relative socket":     {func(c *Config) { c.Addrs = []string{"redis.sock"} }, "neither host:port nor"},
		"a Cluster on a socket": {func(c *Config) { c.Addrs, c.Cluster = []string{"/a"}, true }, "no unix sockets"},
		"a Cluster's database":  {func(c *Config) { c.Cluster, c.DB = true, 1 }, "only database 0"},
		"a Cluster and Sentinels": {func(c *Config) { c.Cluster, c.MasterName = true, "x" },
			"Sentinels do not watch a Cluster"},
		"a negative database": {func(c *Config) { c.DB = -1 }, "db: must not be negative"},
		"two passwords":       {func(c *Config) { c.Password, c.PasswordFile = secret.New("hush"), "f" }, "keep one"},
		"a user, no password": {func(c *Config) { c.Username = "hub" }, "set password_file too"},
		"two Sentinel passwords": {func(c *Config) {
			c.MasterName, c.SentinelPassword, c.SentinelPasswordFile = "x", secret.New("hush"), "f"
		}, "keep one"},
		"a Sentinel password alone": {func(c *Config) { c.SentinelPasswordFile = "f" }, "need master_name"},
		"no hub key":                {func(c *Config) { c.HubKeyFile = "" }, "hub_key_file: name a file"},
		"negative replicas":         {func(c *Config) { c.Replicas = -1 }, "replicas: must not be negative"},
		"a negative wait":           {func(c *Config) { c.WaitTimeout = -1 }, "wait_timeout"},
		"a tiny wait":               {func(c *Config) { c.WaitTimeout = 1 }, "wait_timeout"}, // WAIT 0 waits for ever
		"a long wait":               {func(c *Config) { c.WaitTimeout = time.Hour }, "wait_timeout"},
		"a negative dial timeout":   {func(c *Config) { c.DialTimeout = -1 }, "dial_timeout"},
		"a negative read timeout":   {func(c *Config) { c.ReadTimeout = -1 }, "read_timeout"},
		"TLS that is off":           {func(c *Config) { c.TLS.CAFile = "ca" }, "enabled: true"},
		"half a certificate":        {func(c *Config) { c.TLS.Enabled, c.TLS.CertFile = true, "x" }, "belong together"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := good()
			test.change(&c)
			err := c.Validate()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if strings.Contains(errorText(err), "hush") {
				t.Errorf("a password is shown: %v", err)
			}
		})
	}
}

func TestConfigFromYAML(t *testing.T) {
	const text = `
addrs: ["10.0.0.1:26379", "10.0.0.2:26379"]
master_name: team
username: hub
password_file: /etc/approver/redis
sentinel_username: watch
sentinel_password: hush
db: 2
tls: {enabled: true, ca_file: /ca, cert_file: /cert, key_file: /key, server_name: redis}
hub_key_file: /etc/approver/hub
replicas: 1
wait_timeout: 500ms
dial_timeout: 3s
read_timeout: 4s
`
	var c Config
	if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	want := Config{
		Addrs: c.Addrs, MasterName: "team", Username: "hub", PasswordFile: "/etc/approver/redis",
		SentinelUsername: "watch", SentinelPassword: secret.New("hush"), DB: 2,
		TLS:        TLS{true, "/ca", "/cert", "/key", "redis"},
		HubKeyFile: "/etc/approver/hub", Replicas: 1,
		WaitTimeout: 500 * time.Millisecond, DialTimeout: 3 * time.Second, ReadTimeout: 4 * time.Second,
	}
	if len(c.Addrs) != 2 || c.Addrs[1] != "10.0.0.2:26379" {
		t.Errorf("got addrs %q", c.Addrs)
	}
	got, wanted := c, want
	got.Addrs, wanted.Addrs = nil, nil
	if !sameConfig(got, wanted) {
		t.Errorf("got %+v, want %+v", got, wanted)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// sameConfig compares what a Config without addresses holds.
func sameConfig(a, b Config) bool {
	return a.MasterName == b.MasterName && a.Username == b.Username && a.PasswordFile == b.PasswordFile &&
		a.SentinelUsername == b.SentinelUsername && a.SentinelPassword.Reveal() == b.SentinelPassword.Reveal() &&
		a.DB == b.DB &&
		a.TLS == b.TLS && a.HubKeyFile == b.HubKeyFile && a.Replicas == b.Replicas && a.WaitTimeout == b.WaitTimeout &&
		a.DialTimeout == b.DialTimeout && a.ReadTimeout == b.ReadTimeout
}

func TestExposed(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:1": false, "localhost:1": false, "[::1]:1": false, "/run/redis.sock": false,
		"10.0.0.1:1": true, "redis.example:1": true, ":1": true,
	} {
		c := Config{Addrs: []string{addr}}
		if got := c.exposed(); got != want {
			t.Errorf("%s: got %v, want %v", addr, got, want)
		}
		c.TLS.Enabled = true
		if c.exposed() {
			t.Errorf("%s with TLS is exposed", addr)
		}
	}
}

func TestFilesThatDoNotFit(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	empty := fileWith(t, "\n")
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"no hub key":       {func(c *Config) { c.HubKeyFile = missing }, "hub_key_file"},
		"an empty hub key": {func(c *Config) { c.HubKeyFile = empty }, "hub_key_file"},
		"a short hub key":  {func(c *Config) { c.HubKeyFile = fileWith(t, "short") }, "needs at least 32"},
		"no password":      {func(c *Config) { c.PasswordFile = missing }, "password_file"},
		"no Sentinel password": {func(c *Config) {
			c.MasterName, c.SentinelPasswordFile = "x", missing
		}, "sentinel_password_file"},
		"no authority":       {func(c *Config) { c.TLS = TLS{Enabled: true, CAFile: missing} }, "ca_file"},
		"an empty authority": {func(c *Config) { c.TLS = TLS{Enabled: true, CAFile: empty} }, "holds no PEM certificate"},
		"no certificate": {func(c *Config) { c.TLS = TLS{Enabled: true, CertFile: missing, KeyFile: missing} },
			"cert_file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := Config{Addrs: []string{"127.0.0.1:1"}, HubKeyFile: hubKeyFile(t, "k")}
			test.change(&c)
			s, err := Open(t.Context(), c, quiet())
			if s != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %q", s, err, test.want)
			}
		})
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a missing file was made")
	}
}

func TestMillisRoundsUp(t *testing.T) {
	at := time.UnixMilli(1000)
	for add, want := range map[time.Duration]string{0: "1000", 1: "1001", time.Microsecond: "1001",
		time.Millisecond: "1001"} {
		if got := millis(at.Add(add)); got != want {
			t.Errorf("1 s and %v: got %s, want %s", add, got, want)
		}
	}
	if got := millis(time.Time{}); got != "" {
		t.Errorf("the zero time: got %q", got)
	}
}
