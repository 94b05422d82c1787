package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"approver.example"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// What a zero setting means.
const (
	defaultTimeout = 2 * time.Second // dialing; and one reply
	defaultWait    = time.Second
)

// Config says where Redis is and what is required of it. The zero value is refused.
type Config struct {
	// Addrs are host:port, or one path of a unix socket. One address is a single
	// server; with master_name they are the Sentinels; else, two or more are the
	// seeds of a Cluster.
	Addrs []string `yaml:"addrs"`
	// Cluster says that a single address is the seed of a Cluster.
	Cluster bool `yaml:"cluster,omitempty"`
	// MasterName is the name under which the Sentinels watch the primary.
	MasterName string `yaml:"master_name,omitempty"`

	// Username and Password are the ACL user; a password without a user name is
	// that of the default user. PasswordFile names a file that holds it.
	Username     string      `yaml:"username,omitempty"`
	Password     secret.Text `yaml:"password,omitempty"`
	PasswordFile string      `yaml:"password_file,omitempty"`
	// The same for the Sentinels themselves, if they ask for it.
	SentinelUsername     string      `yaml:"sentinel_username,omitempty"`
	SentinelPassword     secret.Text `yaml:"sentinel_password,omitempty"`
	SentinelPasswordFile string      `yaml:"sentinel_password_file,omitempty"`

	// DB is the database number; a Cluster has only 0.
	DB  int `yaml:"db,omitempty"`
	TLS TLS `yaml:"tls,omitempty"`

	// HubKeyFile holds the key that records are signed with: at least 32 bytes of
	// text, the same on every hub, and nowhere in Redis. Further lines are older
	// keys, whose records still count.
	HubKeyFile string `yaml:"hub_key_file"`

	// Replicas is how many replicas must acknowledge a write before it counts.
	// Zero counts a write when the primary has it: a fail-over may then lose the
	// last writes.
	Replicas int `yaml:"replicas,omitempty"`
	// WaitTimeout is how long replicas have to acknowledge; zero means 1 s.
	WaitTimeout time.Duration `yaml:"wait_timeout,omitempty"`
	// DialTimeout bounds making a connection, and ReadTimeout one reply; zero means 2 s. Every
	// call ends after their sum at the latest (with replicas, plus the wait timeout).
	DialTimeout time.Duration `yaml:"dial_timeout,omitempty"`
	ReadTimeout time.Duration `yaml:"read_timeout,omitempty"`
}

// TLS says how connections are encrypted. The zero value is no encryption.
type TLS struct {
	Enabled bool `yaml:"enabled,omitempty"`
	// CAFile holds the PEM certificates of the authorities that the server's certificate must
	// chain to; empty means those of the system.
	CAFile string `yaml:"ca_file,omitempty"`
	// CertFile and KeyFile are our own certificate, for servers that ask for one.
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// ServerName is the name that the server's certificate must carry; empty
	// means the host of the address.
	ServerName string `yaml:"server_name,omitempty"`
}

// Validate returns every mistake that can be found without looking at files or the network.
func (c Config) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(len(c.Addrs) == 0, "addrs: name at least one server, such as 127.0.0.1:6379 or /run/redis/redis.sock")
	for _, addr := range c.Addrs {
		_, port, err := net.SplitHostPort(addr)
		bad(!isSocket(addr) && (err != nil || port == ""),
			"addrs: %q is neither host:port nor the absolute path of a unix socket", addr)
		bad(isSocket(addr) && c.clustered(), "addrs: %q: a Cluster has no unix sockets", addr)
	}
	bad(c.Cluster && c.MasterName != "", "cluster and master_name are both set: Sentinels do not watch a Cluster")
	bad(c.clustered() && c.DB != 0, "db: a Cluster has only database 0")
	bad(c.DB < 0, "db: must not be negative")
	bad(!c.Password.IsZero() && c.PasswordFile != "", "password and password_file are both set: keep one")
	bad(c.Username != "" && c.Password.IsZero() && c.PasswordFile == "", "username: set password_file too")
	bad(!c.SentinelPassword.IsZero() && c.SentinelPasswordFile != "",
		"sentinel_password and sentinel_password_file are both set: keep one")
	bad(c.MasterName == "" && (c.SentinelUsername != "" || !c.SentinelPassword.IsZero() || c.SentinelPasswordFile != ""),
		"sentinel_username and sentinel_password need master_name")
	bad(c.HubKeyFile == "",
		"hub_key_file: name a file with at least %d bytes of key, the same on every hub: `openssl rand -hex 32`", minHubKey)
	bad(c.Replicas < 0, "replicas: must not be negative")
	bad(c.WaitTimeout < 0 || c.WaitTimeout > time.Minute, "wait_timeout: must be 1ms to 1m")
	bad(c.WaitTimeout > 0 && c.WaitTimeout < time.Millisecond, "wait_timeout: must be 1ms to 1m")
	bad(c.DialTimeout < 0, "dial_timeout: must not be negative")
	bad(c.ReadTimeout < 0, "read_timeout: must not be negative")
	bad(!c.TLS.Enabled && c.TLS != (TLS{}), "tls: set enabled: true, or remove the other settings")
	bad((c.TLS.CertFile == "") != (c.TLS.KeyFile == ""), "tls: cert_file and key_file belong together")
	return errors.Join(errs...)
}

func isSocket(addr string) bool { return strings.HasPrefix(addr, "/") }

func (c Config) clustered() bool {
	return c.Cluster || (c.MasterName == "" && len(c.Addrs) > 1)
}

// withDefaults fills in what zero settings mean.
func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		zero  time.Duration
	}{{&c.DialTimeout, defaultTimeout}, {&c.ReadTimeout, defaultTimeout}, {&c.WaitTimeout, defaultWait}} {
		if *d.field == 0 {
			*d.field = d.zero
		}
	}
	if c.Replicas == 0 {
		c.WaitTimeout = 0
	}
	return c
}

// exposed reports whether records and passwords cross a network unencrypted.
func (c Config) exposed() bool {
	if c.TLS.Enabled {
		return false
	}
	for _, addr := range c.Addrs {
		host, _, _ := net.SplitHostPort(addr)
		ip := net.ParseIP(host)
		if !isSocket(addr) && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return true
		}
	}
	return false
}

// Storage says where the store is.
func (c *Config) Storage() section.Storage {
	return section.Storage{
		Title: "Redis", Part: "redis", Where: "redis " + strings.Join(c.Addrs, ","), Shared: true, KeyFile: c.HubKeyFile,
		Paths: []*string{&c.TLS.CAFile, &c.TLS.CertFile, &c.TLS.KeyFile},
	}
}

// Secrets returns the settings that hold a secret. The hub key has a file only.
func (c *Config) Secrets() []secret.Setting {
	return []secret.Setting{
		{Name: "password", Value: &c.Password, File: &c.PasswordFile},
		{Name: "sentinel_password", Value: &c.SentinelPassword, File: &c.SentinelPasswordFile},
		{Name: "hub_key", Value: new(secret.Text), File: &c.HubKeyFile},
	}
}

// Open connects to Redis, see [Open].
func (c Config) Open(ctx context.Context, log *slog.Logger) (approver.ClosableKV, error) {
	return Open(ctx, c, log)
}

// CheckFiles says why Open would refuse the files that the configuration names. It
// connects to nothing.
func (c Config) CheckFiles() error {
	_, _, err := c.files()
	return err
}

// files reads the keys and certificates.
func (c Config) files() (sealer, *redis.UniversalOptions, error) {
	hubKey, err := secret.From("hub_key", secret.Text{}, c.HubKeyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sealer{}, nil, fmt.Errorf("%w: `openssl rand -hex 32` makes a key; it is the same on every daemon", err)
	case err != nil:
		return sealer{}, nil, err
	}
	seal, err := newSealers(hubKey.Lines())
	if err != nil {
		return sealer{}, nil, err
	}
	options, err := c.options()
	return seal, options, err
}

func (c Config) options() (*redis.UniversalOptions, error) {
	password, err := secret.From("password", c.Password, c.PasswordFile)
	if err != nil {
		return nil, err
	}
	sentinel, err := secret.From("sentinel_password", c.SentinelPassword, c.SentinelPasswordFile)
	if err != nil {
		return nil, err
	}
	encryption, err := c.TLS.client()
	if err != nil {
		return nil, err
	}
	return &redis.UniversalOptions{
		Addrs: c.Addrs, IsClusterMode: c.Cluster, MasterName: c.MasterName, DB: c.DB,
		Username: c.Username, Password: password.Reveal(),
		SentinelUsername: c.SentinelUsername, SentinelPassword: sentinel.Reveal(),
		TLSConfig: encryption,
		// Dialing is not repeated inside a call: a call's time is short, and callers try again.
		DialTimeout: c.DialTimeout, DialerRetries: 1,
		// A pipeline that ends in WAIT is read with this timeout.
		ReadTimeout: c.ReadTimeout + c.WaitTimeout, WriteTimeout: c.ReadTimeout,
		ContextTimeoutEnabled: true,
		// A router that forgot its connections leaves all of them half-open, and each that is tried costs a read
		// timeout. So only one that was just used is taken again: after the first timeout, no other is left.
		ConnMaxIdleTime: c.ReadTimeout / 2,
		// Neither is needed, and an ACL may refuse both.
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}, nil
}

// client returns our side's TLS configuration, or nil for no encryption.
func (t TLS) client() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls: ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: ca_file: %s holds no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls: cert_file and key_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
