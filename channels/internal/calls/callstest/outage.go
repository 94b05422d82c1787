package callstest

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A Dial makes a connection, as [net.Dialer.DialContext] does.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// A network has one server, and no time of its own: in a bubble of synctest, half an hour is over
// at once.
type network struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	open  []net.Conn
}

func (n *network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case n.conns <- there:
	case <-n.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = append(n.open, there)
	return here, nil
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.conns:
		return conn, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

// cut ends every connection, those of WebSockets too.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.open {
		_ = conn.Close()
	}
	n.open = nil
}

// An Outage is how a platform is away, and what is to be seen of it.
type Outage struct {
	Name    string
	Answer  http.HandlerFunc // what each call gets
	Reason  string           // in the reception, and so in status
	Min     int              // how often it is called in half an hour: at least,
	Most    int              // and at most
	OverFor time.Duration    // after how long answers must arrive again when it is over
}

// Outages are what every channel has to outlive, and leave in peace, for half an hour.
func Outages() []Outage {
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>nginx</html>")
		}
	}
	// The clock of a server that is three hours off must neither stretch a wait nor end it: how
	// long to wait is said in seconds.
	skewed := func(off time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			h, now := w.Header(), time.Now().Add(off)
			h.Set("Date", now.UTC().Format(http.TimeFormat))
			h.Set("Content-Type", "application/json")
			h.Set("Retry-After", "40")
			h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(40*time.Second).Unix(), 10))
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 40",`+
				`"parameters":{"retry_after":40},"message":"slow down","retry_after":40}`)
		}
	}
	return []Outage{
		{"500", page(500), "500", 30, 200, 90 * time.Second},
		{"502", page(502), "502", 30, 200, 90 * time.Second},
		{"503", page(503), "503", 30, 200, 90 * time.Second},
		{"429, the server's clock is ahead", skewed(3 * time.Hour), "", 20, 100, 3 * time.Minute},
		{"429, the server's clock is behind", skewed(-3 * time.Hour), "", 20, 100, 3 * time.Minute},
	}
}

// Outlives runs a channel through an outage of half an hour. healthy is the platform as it is
// else; open makes the channel, whose connections are to be made with dial. Any address will do.
func Outlives(t *testing.T, o Outage, healthy http.Handler, open func(t *testing.T, dial Dial) approver.Channel) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &network{conns: make(chan net.Conn), done: make(chan struct{})}
		var mu sync.Mutex
		away, called := false, 0
		srv := &http.Server{ReadHeaderTimeout: time.Minute,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				now := away
				called++
				mu.Unlock()
				if now {
					o.Answer(w, r)
					return
				}
				healthy.ServeHTTP(w, r)
			})}
		go func() { _ = srv.Serve(n) }()
		set := func(to bool) (before int) {
			mu.Lock()
			defer mu.Unlock()
			before, away, called = called, to, 0
			return before
		}
		ch := open(t, n.Dial)
		look := ch.(approver.Receiver).Reception
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- ch.Run(ctx, nil) }()

		time.Sleep(10 * time.Minute)
		if r := look(); !r.Up {
			t.Fatalf("before the outage: %+v", r)
		}
		set(true)
		began := time.Now()
		n.cut()
		time.Sleep(15 * time.Minute)
		if r := look(); r.Up || !strings.Contains(r.Problem, o.Reason) || r.Since.Sub(began) > time.Minute {
			t.Errorf("in the middle of the outage: %+v", r)
		}
		time.Sleep(15 * time.Minute)
		if calls := set(false); calls < o.Min || calls > o.Most {
			t.Errorf("the platform was called %d times in half an hour, want %d to %d", calls, o.Min, o.Most)
		}
		time.Sleep(o.OverFor)
		if r := look(); !r.Up {
			t.Errorf("%v after the outage: %+v", o.OverFor, r)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run gives %v", err)
		}
		n.cut()
		_ = srv.Close()
	})
}
