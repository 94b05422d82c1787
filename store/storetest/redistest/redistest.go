// Package redistest starts private redis-server processes on loopback, for
// tests and demonstrations: single servers, replicas, Sentinels, a Cluster, with
// or without TLS. They can be stopped, killed, frozen and restarted on the same
// port with the same data.
//
// It never touches a Redis that it did not start: each has its own directory
// and a free port, and is ended by its process id. On Linux the servers also
// end with the process that started them.
package redistest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// ErrMissing is returned where there is no redis-server program.
var ErrMissing = errors.New("redis-server not found: apt-get install redis-server")

// errEnded is the only failure that another port can cure.
var errEnded = errors.New("redis-server ended at once")

const (
	startTime = time.Minute      // for a server to answer
	stopTime  = 10 * time.Second // for one to end in order, before it is killed
	tries     = 5                // for a free port
)

// Options say what kind of server to start. The zero value is a single server
// without password that writes every change to its append-only file.
type Options struct {
	// Dir is where the server keeps its data. Empty means a directory of its
	// own that Close removes.
	Dir string
	// Password is that of the default user.
	Password string
	// ACL are further users, such as "hub on >secret ~ap:* &ap:* +@all".
	ACL []string
	// Socket makes the server listen on a unix socket too.
	Socket bool
	// TLS makes the server accept nothing but TLS, with a certificate for
	// 127.0.0.1 and localhost from a new authority, and ask clients for theirs.
	TLS bool
	// Config are further lines of redis.conf, which win over ours.
	Config []string
}

// A Server is one redis-server process, or what is left of it.
type Server struct {
	Addr   string // 127.0.0.1:port
	Socket string // the unix socket's path, or empty
	Dir    string
	Files  Files // with Options.TLS

	options  Options
	args     []string // after the configuration file
	ownDir   bool
	admin    *redis.Client
	mu       sync.Mutex
	process  *os.Process
	ended    chan struct{} // closed when the process has ended
	sentinel bool
}

// quiet keeps the client library from printing each failed dial to standard
// error. A server that is started or killed on purpose cannot be reached for a
// while, which is no news to anybody. The library has one logger for the whole
// process: whoever sets another later, as redisstore does, is not disturbed.
var quiet = sync.OnceFunc(logging.Disable)

// Start starts a single server and returns when it answers. The caller must
// Close it. Dir may be empty only in the first start of its data.
func Start(ctx context.Context, o Options) (*Server, error) {
	return start(ctx, o, nil)
}

// start starts a server with more lines of configuration, on a free port.
func start(ctx context.Context, o Options, lines func(port int) []string, args ...string) (*Server, error) {
	quiet()
	s := &Server{options: o, Dir: o.Dir, args: args, sentinel: len(args) > 0}
	if s.Dir == "" {
		dir, err := os.MkdirTemp("", "redistest")
		if err != nil {
			return nil, err
		}
		s.Dir, s.ownDir = dir, true
	}
	err := s.startSomewhere(ctx, lines)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// startSomewhere takes another port if the one that was free is taken at once.
func (s *Server) startSomewhere(ctx context.Context, lines func(port int) []string) error {
	if s.options.TLS {
		files, err := makeFiles(s.Dir)
		if err != nil {
			return err
		}
		s.Files = files
	}
	var err error
	for range tries {
		var port int
		if port, err = freePort(); err != nil {
			return err
		}
		s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		var more []string
		if lines != nil {
			more = lines(port)
		}
		if err = s.configure(port, more); err != nil {
			return err
		}
		if err = s.Restart(ctx); !errors.Is(err, errEnded) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// configure writes redis.conf.
func (s *Server) configure(port int, more []string) error {
	conf := []string{"bind 127.0.0.1", "daemonize no", "dir " + s.Dir}
	if !s.sentinel {
		conf = append(conf, `save ""`, "appendonly yes", "repl-diskless-sync-delay 0", "repl-ping-replica-period 1",
			"repl-timeout 5", "cluster-node-timeout 1000", "shutdown-timeout 2")
	}
	if s.options.TLS {
		conf = append(conf, "port 0", fmt.Sprintf("tls-port %d", port), "tls-cert-file "+s.Files.ServerCert,
			"tls-key-file "+s.Files.ServerKey, "tls-ca-cert-file "+s.Files.CA, "tls-auth-clients yes")
	} else {
		conf = append(conf, fmt.Sprintf("port %d", port))
	}
	if s.options.Socket {
		s.Socket = filepath.Join(s.Dir, "redis.sock")
		conf = append(conf, "unixsocket "+s.Socket, "unixsocketperm 700")
	}
	if s.options.Password != "" {
		conf = append(conf, "requirepass "+s.options.Password)
		if !s.sentinel {
			conf = append(conf, "masterauth "+s.options.Password)
		}
	}
	for _, user := range s.options.ACL {
		conf = append(conf, "user "+user)
	}
	conf = append(conf, more...)
	conf = append(conf, s.options.Config...)
	return os.WriteFile(s.conf(), []byte(strings.Join(conf, "\n")+"\n"), 0o600)
}

// logTail is the end of what the server said.
func (s *Server) logTail() []byte {
	log, _ := os.ReadFile(s.logFile())
	return log[max(0, len(log)-500):]
}

func (s *Server) conf() string    { return filepath.Join(s.Dir, "redis.conf") }
func (s *Server) logFile() string { return filepath.Join(s.Dir, "redis.log") }

// Restart starts the server again after Stop or Kill, on the same port with the
// same data, and returns when it answers.
func (s *Server) Restart(ctx context.Context) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return ErrMissing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return fmt.Errorf("redis at %s runs already", s.Addr)
	}
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(program, append([]string{s.conf()}, s.args...)...)
	cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = processAttributes(), log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("redis-server: %w", err)
	}
	ended := make(chan struct{})
	s.process, s.ended = cmd.Process, ended
	go func() { // ends with the process, which Stop, Kill and Close wait for
		defer close(ended)
		_ = cmd.Wait()
	}()
	if err := s.answers(ctx); err != nil {
		s.kill()
		return err
	}
	return nil
}

// answers waits until the server takes commands.
func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := s.Admin().Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%w: %s", errEnded, s.logTail())
		case <-ctx.Done():
			return fmt.Errorf("redis at %s does not answer: %w: %w: %s", s.Addr, ctx.Err(), err, s.logTail())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Admin returns a client with all rights, to look behind the store's back. It
// belongs to the server.
func (s *Server) Admin() *redis.Client {
	if s.admin == nil || s.admin.Options().Addr != s.Addr {
		o := &redis.Options{
			Addr: s.Addr, Password: s.options.Password, Protocol: 2, DisableIdentity: true,
			MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		}
		if s.options.TLS {
			o.TLSConfig = &tls.Config{RootCAs: s.Files.pool, Certificates: []tls.Certificate{s.Files.client},
				MinVersion: tls.VersionTLS12}
		}
		if s.admin != nil {
			_ = s.admin.Close()
		}
		s.admin = redis.NewClient(o)
	}
	return s.admin
}

// Stop ends the server in order; its data stay.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	late := time.After(stopTime)
	again := time.NewTicker(stopTime / 20)
	defer again.Stop()
	for {
		// A replica that writes its first append-only file does not heed a signal.
		if err := s.process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		select {
		case <-s.ended:
			s.process = nil
			return nil
		case <-again.C:
		case <-late:
			s.kill()
			return fmt.Errorf("redis at %s did not end within %v and was killed", s.Addr, stopTime)
		}
	}
}

// Kill ends the server at once, as a crash would; what its files hold stays.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

func (s *Server) kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Kill()
	<-s.ended
	s.process = nil
}

// Freeze makes the server hang: connections stand, nothing answers.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig os.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return fmt.Errorf("redis at %s does not run", s.Addr)
	}
	return s.process.Signal(sig)
}

// PID returns the process id, or 0 if the server does not run.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}

// Promote makes a replica a primary of its own.
func (s *Server) Promote(ctx context.Context) error {
	return s.Admin().Do(ctx, "REPLICAOF", "NO", "ONE").Err()
}

// Close kills the server and removes the directory, if it was made by Start.
func (s *Server) Close() error {
	s.Kill()
	var err error
	if s.admin != nil {
		err = s.admin.Close()
		s.admin = nil
	}
	if s.ownDir {
		err = errors.Join(err, os.RemoveAll(s.Dir))
	}
	return err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
