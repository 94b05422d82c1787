package slack

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"approver.example"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
)

// piped is a listener whose connections are pipes, so that a bubble of synctest has its own time.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p piped) Close() error   { return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{} }

// The story: a firewall forgot the connections of Slack's sockets. Nobody closed them, and the library looks only every
// half minute whether a ping came within half a minute: for a minute, taps were told to nobody, while status said
// that answers arrive. A socket on which nothing arrives for half a minute is dead then, and not a tick later.
func TestASilentSocketIsLeftInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var opened []time.Time
		var last time.Time // ping on the first socket
		conns := make(piped)
		srv := &http.Server{ReadHeaderTimeout: time.Minute,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/link") {
					smallSlack(w, r)
					return
				}
				mu.Lock()
				opened = append(opened, time.Now())
				first := len(opened) == 1
				mu.Unlock()
				if !first {
					smallLink(w, r)
					return
				}
				ws, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
				if err != nil {
					return
				}
				defer ws.Close()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					for err := error(nil); err == nil; {
						_, _, err = ws.ReadMessage()
					}
				}()
				_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","num_connections":1,`+
					`"connection_info":{"app_id":"A0APPROVER"}}`))
				for range 7 { // the last one comes as the library has just looked
					_ = ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
					mu.Lock()
					last = time.Now()
					mu.Unlock()
					time.Sleep(5 * time.Second)
				}
				<-gone
			})}
		go func() { _ = srv.Serve(conns) }()
		c, err := New(Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
			Channels: []string{"C0HERE1234"}, Approvers: []approver.Approver{{ID: "U0ANN12345"}}, Connections: 1,
			APIURL: "http://127.0.0.1:1/api/"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ends []net.Conn
		c.http.Transport.(bounded).DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			mu.Lock()
			ends = append(ends, there)
			mu.Unlock()
			conns <- there
			return here, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx, nil) }()
		time.Sleep(5 * time.Minute)
		mu.Lock()
		if len(opened) != 2 || opened[1].Sub(last) < 30*time.Second || opened[1].Sub(last) > 33*time.Second {
			t.Errorf("sockets were opened at %v, and the last ping of the first came at %v", opened, last)
		}
		mu.Unlock()
		if r := c.Reception(); !r.Up {
			t.Errorf("in the end: %+v", r)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, conn := range ends {
			_ = conn.Close()
		}
		mu.Unlock()
		close(conns)
		_ = srv.Close()
	})
}
