package courier

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"log/slog"

	"approver.example"
	"approver.example/httpapi"
)

// The courier says that it has the whole answer before it prints any of it: when the
// agent can see a yes, the daemon has been told. It says so only where it is asked.
func TestTheCourierAcknowledges(t *testing.T) {
	for name, ask := range map[string]bool{"a yes of people": true, "any other answer": false} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(tempDir(t), "s")
			l, err := httpapi.Listen(socket, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			acked, called := make(chan string, 1), make(chan string, 1)
			s := &httpapi.Submit{
				Hook: func(_ context.Context, h httpapi.HookRequest) httpapi.HookAnswer {
					called <- h.CallID
					return httpapi.HookAnswer{ExitZero: true, Stdout: []byte("{}\n"), Ack: ask}
				},
				Ack:   func(_ context.Context, _ approver.Peer, id string) error { acked <- id; return nil },
				Admit: httpapi.AdmitUIDs(uint32(os.Geteuid())), Log: slog.New(slog.DiscardHandler),
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(ctx, l) }()
			defer func() { cancel(); <-ended }()
			var c Courier
			c.Stdout = printed(func() {
				if !ask {
					return
				}
				select {
				case id := <-acked:
					if id != <-called {
						t.Error("another call is acknowledged")
					}
				case <-time.After(10 * time.Second):
					t.Error("the answer is printed and not acknowledged")
				}
			})
			if got := run(t, c, "--socket", socket); got.exit != 0 {
				t.Errorf("%+v", got)
			}
			if len(acked) > 0 {
				t.Error("acknowledged unasked")
			}
		})
	}
}

// printed is called when something is printed.
type printed func()

func (p printed) Write(b []byte) (int, error) { p(); return len(b), nil }
