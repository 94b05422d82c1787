package calls_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/calls/callstest"
)

// The story: a laptop changed its network. Nobody closed the connection to the platform, and
// Go keeps an HTTP/2 connection whose calls time out: polls, cards and edits were sent on the
// dead one until the kernel gave it up, some fifteen minutes later. No fake showed it, because
// they speak HTTP/1.1, where a call that times out takes its connection along. Now a silent
// connection is asked for a sign of life, and the next calls are made on a new one.
func TestADeadConnectionIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		http2, asked bool
		stuck        bool
	}{
		"HTTP/1.1":                  {asked: true},
		"HTTP/2 that is not asked":  {http2: true, stuck: true}, // what the ping is for
		"HTTP/2 that has to answer": {http2: true, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, r.Proto)
			}))
			defer srv.Close()
			front := callstest.NewFront(t, srv.Listener.Addr().String(),
				callstest.NewCertificate(t, "127.0.0.1", time.Now().Add(time.Hour)))
			tr := calls.Transport(time.Minute)
			tr.TLSClientConfig = &tls.Config{RootCAs: front.Roots, MinVersion: tls.VersionTLS12}
			tr.HTTP2.SendPingTimeout, tr.HTTP2.PingTimeout = 300*time.Millisecond, 300*time.Millisecond
			tr.ForceAttemptHTTP2 = c.http2
			if !c.asked {
				tr.HTTP2 = nil
			}
			defer tr.CloseIdleConnections()
			get := func(within time.Duration) (int, error) {
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+front.Addr, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					return 0, err
				}
				defer resp.Body.Close()
				_, err = io.Copy(io.Discard, resp.Body)
				return resp.ProtoMajor, err
			}
			if version, err := get(30 * time.Second); err != nil || (version == 2) != c.http2 {
				t.Fatalf("the first call: HTTP/%d, %v", version, err)
			}
			front.Tunnel.Die()
			within := 3 * time.Second
			if c.stuck {
				within = 200 * time.Millisecond
			}
			failed := 0
			for ; failed < 20; failed++ {
				if _, err := get(within); err == nil {
					break
				}
			}
			if c.stuck {
				if failed < 20 || front.Tunnel.Made() != 1 {
					t.Errorf("%d calls failed on %d connections: the transport leaves a dead one by itself now, and the "+
						"pings are needed no more", failed, front.Tunnel.Made())
				}
				return
			}
			if failed == 20 {
				t.Error("every call was made on the dead connection")
			}
		})
	}
}

// The times hold for what the channels use.
func TestTransportNoticesADeadConnection(t *testing.T) {
	tr := calls.Transport(7 * time.Second)
	if h := tr.HTTP2; h == nil || h.SendPingTimeout != 15*time.Second || h.PingTimeout != 5*time.Second ||
		h.WriteByteTimeout <= 0 {
		t.Errorf("HTTP/2: %+v", h)
	}
	if tr.ResponseHeaderTimeout != 7*time.Second || tr.TLSHandshakeTimeout <= 0 || tr.IdleConnTimeout <= 0 ||
		tr.DialContext == nil || !tr.ForceAttemptHTTP2 || tr.Proxy == nil {
		t.Errorf("%+v", tr)
	}
	if d := calls.Dialer(); d.Timeout <= 0 || !d.KeepAliveConfig.Enable {
		t.Errorf("%+v", d)
	}
}

// Every connection of a channel is made here, so that none is without these times.
func TestChannelsMakeNoConnectionsOfTheirOwn(t *testing.T) {
	for _, channel := range []string{"telegram", "discord", "slack"} {
		files, err := filepath.Glob(filepath.Join("..", "..", channel, "*.go"))
		if err != nil || len(files) < 10 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, own := range []string{"http.Transport{", "http.DefaultTransport", "http.DefaultClient", "net.Dialer{",
				"websocket.DefaultDialer"} {
				if strings.Contains(string(text), own) {
					t.Errorf("%s has %s: use calls.Transport or calls.Dialer", file, own)
				}
			}
			if strings.Contains(string(text), "websocket.Dialer{") && !strings.Contains(string(text), "NetDialContext: ") {
				t.Errorf("%s makes WebSockets in a way of its own", file)
			}
		}
	}
}
