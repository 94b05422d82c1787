package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"approver.example/store/storetest/redistest"
)

// The story: an agent waits for a typed code when the operator replaces the key
// as docs/keys.md says, and restarts the daemon. The hook comes back, the request
// can be opened, and the code on the old card still counts.
func TestKeysRotateWhileAHookWaits(t *testing.T) {
	t.Parallel() // it waits most of the time
	app := chatApps(t)[0]
	for _, kind := range []string{"embedded", "redis"} {
		t.Run(kind, func(t *testing.T) {
			m := newPairMachine(t, app.section)
			key := filepath.Join(m.dir, "data", "code.key")
			if kind == "redis" {
				server, err := redistest.Start(t.Context(), redistest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = server.Close() })
				key = filepath.Join(m.dir, "hub.key")
				newKey(t, key)
				m.before += fmt.Sprintf("store:\n  redis: {addrs: [%q], hub_key_file: %s}\n", server.Addr, key)
				if err := os.WriteFile(m.config, []byte(m.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			stop := m.serve()
			before := len(app.fake.Cards(app.room))
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			hook := m.command(ctx, "hook", "--agent", "claude", "--deadline", "120s", "--socket",
				filepath.Join(m.dir, "run/s.sock"))
			var out, errs bytes.Buffer
			hook.Stdin, hook.Stdout, hook.Stderr = strings.NewReader(bashPayload("terraform destroy")), &out, &errs
			if err := hook.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- hook.Wait() }()
			code := ""
			for range 1200 {
				if cards := app.fake.Cards(app.room); len(cards) > before {
					if code = regexp.MustCompile(`CONFIRM-[A-Z0-9]{6,8}\b`).FindString(cards[len(cards)-1].Text); code != "" {
						break
					}
				}
				time.Sleep(25 * time.Millisecond)
			}
			stop()
			newKey(t, key)
			m.serve()
			for {
				app.fake.Type(app.ada, app.room, "/approve "+code)
				select {
				case err := <-ended:
					if err != nil || !strings.Contains(out.String(), `"permissionDecision":"allow"`) {
						t.Errorf("%v\n%s\n%s\ncode %q; told %q", err, out.String(), errs.String(), code, app.fake.Told(app.ada))
					}
					return
				case <-time.After(2 * time.Second):
				}
			}
		})
	}
}

// newKey puts a new key before those that a file has.
func newKey(t *testing.T, path string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	fresh := make([]byte, 32)
	if _, err := rand.Read(fresh); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte(base64.StdEncoding.EncodeToString(fresh)+"\n"), old...),
		0o600); err != nil {
		t.Fatal(err)
	}
}
