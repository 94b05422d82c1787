package channeltest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"approver.example/internal/webhooks"
)

// ServeHook opens the daemon's own listener for the webhook of a channel, until the test ends. It returns the
// address where the platform is to bring answers.
func ServeHook(t testing.TB, name string, hook webhooks.Hook) string {
	t.Helper()
	l, err := webhooks.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	door := webhooks.NewDoor(map[string]webhooks.Hook{name: hook}, slog.New(slog.DiscardHandler))
	go func() { ended <- door.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the listener ended: %v", err)
		}
	})
	return "http://" + l.Addr().String() + "/" + name
}

// Balance opens a proxy in front of several listeners, until the test ends: each request goes to the next one. It
// returns the address in the place of theirs.
func Balance(t testing.TB, to ...string) string {
	t.Helper()
	var turn atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			u, err := url.Parse(to[int(turn.Add(1))%len(to)])
			if err != nil {
				panic(err)
			}
			r.Out.URL, r.Out.Host = u, ""
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}
