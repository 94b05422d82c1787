package network_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"approver.example/channels/channeltest/network"
)

// A platform counts what is carried out, says its own address, and speaks over WebSockets.
type platform struct {
	*httptest.Server
	done  atomic.Int32
	heard chan string // what a program said over a WebSocket, and how that ended
	says  chan string
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{heard: make(chan string, 100), says: make(chan string)}
	up := websocket.Upgrader{}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.done.Add(1)
		_, _ = io.WriteString(w, `{"url":"ws://`+r.Host+`/socket","was":"`+string(body)+`"}`)
	})
	mux.HandleFunc("/socket", func(w http.ResponseWriter, r *http.Request) {
		conn, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		over := make(chan struct{})
		defer close(over)
		go func() {
			for {
				select {
				case text := <-p.says:
					_ = conn.WriteMessage(websocket.TextMessage, []byte(text))
				case <-over:
					return
				}
			}
		}()
		for {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				p.heard <- err.Error()
				return
			}
			p.heard <- string(raw)
		}
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *platform) addr() string { return strings.TrimPrefix(p.URL, "http://") }

// open makes a proxy before p, and a client that trusts it.
func open(t *testing.T, p *platform, secure bool, adapter network.Adapter) (*network.Proxy, *http.Client) {
	t.Helper()
	opts := network.Options{Target: p.addr(), Adapter: adapter}
	tr := &http.Transport{ResponseHeaderTimeout: 20 * time.Second, ForceAttemptHTTP2: true}
	if secure {
		var err error
		if opts.Authority, err = network.NewAuthority(); err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(opts.Authority.PEM)
		tr.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	way, err := network.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(way.Close)
	t.Cleanup(tr.CloseIdleConnections)
	return way, &http.Client{Transport: tr}
}

// call makes one call, and returns what came of it.
func call(t *testing.T, c *http.Client, way *network.Proxy) (status int, body string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, way.URL()+"/api/send", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

func TestADeedBefallsACall(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for name, c := range map[string]struct {
			rule   network.Rule
			status int
			done   int32
			fails  bool // the program gets no whole answer
			slow   time.Duration
		}{
			"none":     {network.Rule{Call: "/other"}, 200, 1, false, 0},
			"delay":    {network.Rule{Delay: 300 * time.Millisecond}, 200, 1, false, 300 * time.Millisecond},
			"instead":  {network.Rule{Deed: network.Instead, Answer: network.Page(503)}, 503, 0, false, 0},
			"cut":      {network.Rule{Deed: network.Cut, Call: "POST /api/"}, 0, 0, true, 0},
			"lose":     {network.Rule{Deed: network.Lose}, 0, 1, true, 0},
			"truncate": {network.Rule{Deed: network.Truncate}, 200, 1, true, 0},
			"trickle": {network.Rule{Deed: network.Trickle, Over: 300 * time.Millisecond}, 200, 1, false,
				200 * time.Millisecond},
		} {
			t.Run(name+map[bool]string{true: ", TLS"}[secure], func(t *testing.T) {
				p := newPlatform(t)
				way, client := open(t, p, secure, network.Adapter{})
				c.rule.Times = 1
				way.Add(c.rule)
				began := time.Now()
				status, body, err := call(t, client, way)
				if status != c.status || p.done.Load() != c.done || (err != nil) != c.fails || time.Since(began) < c.slow {
					t.Errorf("status %d, done %d, %v, after %v", status, p.done.Load(), err, time.Since(began))
				}
				if c.status == 200 && !c.fails && !strings.Contains(body, "://"+way.Addr+`/socket","was":"hello"`) {
					t.Errorf("the answer is %s", body)
				}
				struck := map[bool]int{false: 1, true: 0}[name == "none"]
				if way.Struck() != struck || way.Left() != 1-struck {
					t.Errorf("%d struck, %d left", way.Struck(), way.Left())
				}
				if status, _, err = call(t, client, way); status != 200 || err != nil {
					t.Errorf("the next call: %d, %v", status, err)
				}
			})
		}
	}
}

// A rule that skips, one that counts for two calls, and one that counts until it is taken away.
func TestRulesCount(t *testing.T) {
	p := newPlatform(t)
	way, client := open(t, p, false, network.Adapter{})
	says := func(status int, skip, times int) network.Rule {
		return network.Rule{Deed: network.Instead, Skip: skip, Times: times, Answer: network.Page(status)}
	}
	way.Add(says(501, 1, 2), says(503, 0, 0))
	for i, want := range []int{200, 501, 501, 503, 503} {
		if status, _, err := call(t, client, way); status != want || err != nil {
			t.Errorf("call %d: %d, %v, want %d", i, status, err, want)
		}
	}
	way.Clear()
	if status, _, err := call(t, client, way); status != 200 || err != nil {
		t.Errorf("%d, %v", status, err)
	}
}

func TestALineFailsAndWorksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		line network.Line
		says error
	}{
		"refuses": {network.Refuses, syscall.ECONNREFUSED},
		"resets":  {network.Resets, nil}, // a reset, or an end, as the kernel has it
		"silent":  {network.Silent, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			way, client := open(t, p, true, network.Adapter{})
			if _, _, err := call(t, client, way); err != nil {
				t.Fatal(err)
			}
			if err := way.SetLine(c.line); err != nil {
				t.Fatal(err)
			}
			client.Timeout = 500 * time.Millisecond
			client.CloseIdleConnections()
			if _, _, err := call(t, client, way); err == nil || c.says != nil && !errors.Is(err, c.says) {
				t.Errorf("the call on a bad line: %v", err)
			}
			if p.done.Load() != 1 {
				t.Errorf("%d calls were carried out", p.done.Load())
			}
			if err := way.SetLine(network.Works); err != nil {
				t.Fatal(err)
			}
			client.Timeout = 20 * time.Second
			client.CloseIdleConnections()
			if status, _, err := call(t, client, way); status != 200 || err != nil {
				t.Errorf("the call on a good line: %d, %v", status, err)
			}
		})
	}
}

// A connection that was made before the line fell silent is told nothing, not even an end, and stays dead
// when the line works again.
func TestASilentConnectionStaysSilent(t *testing.T) {
	p := newPlatform(t)
	way, client := open(t, p, false, network.Adapter{})
	client.Transport.(*http.Transport).MaxConnsPerHost = 1
	if _, _, err := call(t, client, way); err != nil {
		t.Fatal(err)
	}
	for _, line := range []network.Line{network.Silent, network.Works} {
		if err := way.SetLine(line); err != nil {
			t.Fatal(err)
		}
	}
	client.Timeout = 500 * time.Millisecond
	if _, _, err := call(t, client, way); err == nil {
		t.Error("the old connection lives again")
	}
	client.Timeout = 20 * time.Second
	if status, _, err := call(t, client, way); status != 200 || err != nil {
		t.Errorf("a new connection: %d, %v", status, err)
	}
}

// A dead connection is no secret from the platform for ever: it gives it up when the line works again.
func TestThePlatformGivesUpWhatIsSilent(t *testing.T) {
	p := newPlatform(t)
	way, _ := open(t, p, false, network.Adapter{})
	conn := dial(t, way)
	if err := conn.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	<-p.heard
	for _, line := range []network.Line{network.Silent, network.Works} {
		if err := way.SetLine(line); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-p.heard: // how its end is called differs
	case <-time.After(20 * time.Second):
		t.Error("the platform still believes in the connection")
	}
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if got := read(conn); !strings.Contains(got, "timeout") {
		t.Errorf("the program heard %q", got)
	}
}

func TestHandshakesFail(t *testing.T) {
	p := newPlatform(t)
	way, client := open(t, p, true, network.Adapter{})
	for _, c := range []struct {
		handshake network.Handshake
		says      string
	}{
		{network.Known, ""},
		{network.Unknown, "unknown authority"},
		{network.Outdated, "expired"},
		{network.Aborted, "tls:"},
		{network.Known, ""},
	} {
		way.SetHandshake(c.handshake)
		client.CloseIdleConnections()
		var err error
		for range 3 { // a connection that was just reset may be found only by using it
			if _, _, err = call(t, client, way); c.says != "" || err == nil {
				break
			}
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("handshake %d: %v", c.handshake, err)
		}
	}
}

func dial(t *testing.T, way *network.Proxy) *websocket.Conn {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+way.Addr+"/socket?v=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	return conn
}

func read(conn *websocket.Conn) string {
	_, raw, err := conn.ReadMessage()
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func TestSocketsAreCarried(t *testing.T) {
	p := newPlatform(t)
	way, _ := open(t, p, false, network.Adapter{
		Down: func(m []byte) []byte { return append(m, '!') },
		Up: func(m []byte, answer func([]byte)) []byte {
			if string(m) == "dropped" {
				answer([]byte("by the adapter"))
				return nil
			}
			return m
		},
	})
	conn := dial(t, way)
	for _, text := range []string{"dropped", "hello"} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-p.heard; got != "hello" {
		t.Errorf("the platform heard %q", got)
	}
	if got := read(conn); got != "by the adapter" {
		t.Errorf("the program heard %q", got)
	}
	p.says <- "at http://" + p.addr()
	if got := read(conn); got != "at http://"+way.Addr+"!" {
		t.Errorf("the program heard %q", got)
	}
	way.Say("op 7")
	if got := read(conn); got != "op 7" {
		t.Errorf("the program heard %q", got)
	}
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
	if got := <-p.heard; !strings.Contains(got, "close 1000") {
		t.Errorf("the goodbye of the program arrives as %q", got)
	}
}

func TestSocketsGoWrong(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(way *network.Proxy)
		says  string
	}{
		"closed":  {func(way *network.Proxy) { way.CloseSockets(4014) }, "close 4014"},
		"cut":     {func(way *network.Proxy) { way.CutSockets() }, ""}, // a reset, or an end, as the kernel has it
		"refused": {func(way *network.Proxy) { way.RefuseSockets(4004) }, "close 4004"},
		"reset":   {func(way *network.Proxy) { way.Reset() }, ""}, // the same
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			way, _ := open(t, p, false, network.Adapter{})
			conn := dial(t, way)
			if err := conn.WriteMessage(websocket.TextMessage, []byte("first")); err != nil {
				t.Fatal(err)
			}
			<-p.heard
			c.fault(way)
			_ = conn.WriteMessage(websocket.TextMessage, []byte("second"))
			if got := read(conn); !strings.Contains(got, c.says) || got == "second" || strings.Contains(got, "close 1000") {
				t.Errorf("the program heard %q", got)
			}
			got := <-p.heard
			if got == "second" || strings.Contains(got, "close 1000") {
				t.Errorf("the platform heard %q", got)
			}
			way.RefuseSockets(0)
			again := dial(t, way)
			p.says <- "back"
			if got := read(again); got != "back" {
				t.Errorf("the next socket brings %q", got)
			}
		})
	}
}

// A hushed socket brings nothing, and takes everything.
func TestAHushedSocket(t *testing.T) {
	p := newPlatform(t)
	way, _ := open(t, p, false, network.Adapter{})
	conn := dial(t, way)
	way.Hush(true)
	p.says <- "lost"
	if err := conn.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got := <-p.heard; got != "hello" {
		t.Errorf("the platform heard %q", got)
	}
	time.Sleep(100 * time.Millisecond) // what is lost has come by then
	way.Hush(false)
	p.says <- "heard"
	if got := read(conn); got != "heard" {
		t.Errorf("the program heard %q", got)
	}
	if open, ever := way.Sockets(); open != 1 || ever != 1 {
		t.Errorf("%d sockets of %d", open, ever)
	}
}

// An adapter answers what an emulator does not know, and changes what it says otherwise.
func TestAnAdapterFillsIn(t *testing.T) {
	p := newPlatform(t)
	way, client := open(t, p, false, network.Adapter{
		Answer: func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if r.Header.Get("X-Unknown") != "" {
				_, _ = io.WriteString(w, "answered "+string(body))
				return true
			}
			return false
		},
		Request:  func(_ *http.Request, body []byte) []byte { return append(body, " and more"...) },
		Response: func(_ *http.Request, _, body []byte) []byte { return append(body, '.') },
	})
	if _, body, err := call(t, client, way); err != nil || !strings.HasSuffix(body, `"hello and more"}.`) {
		t.Errorf("%q, %v", body, err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, way.URL()+"/api/x", strings.NewReader("b"))
	req.Header.Set("X-Unknown", "yes")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if raw, _ := io.ReadAll(resp.Body); string(raw) != "answered b" || p.done.Load() != 1 {
		t.Errorf("%q, %d carried out", raw, p.done.Load())
	}
}
