package daemontest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
	"approver.example/tokens"
)

// A Room is a chat in which one person answers.
type Room struct {
	Ready chan struct{}
	Reply approver.ReplyFunc
	Mu    sync.Mutex
	Codes map[string]tokens.Code   // by request
	Cards []approver.Card          // as they were shown, and shown again
	Edits map[string]approver.Card // what each message was edited to last
	// Took, if it is set, names the message of a card that is shown, before anybody else hears of it.
	Took func(c approver.Card) string
}

// Name implements [approver.Channel].
func (*Room) Name() string { return "room" }

// Run implements [approver.Channel].
func (r *Room) Run(ctx context.Context, reply approver.ReplyFunc) error {
	r.Reply = reply
	close(r.Ready)
	<-ctx.Done()
	return nil
}

// Post implements [approver.Channel].
func (r *Room) Post(_ context.Context, to approver.Destination, c approver.Card) (approver.Ref, error) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Codes[c.Request] = c.Code
	r.Cards = append(r.Cards, c)
	message := c.Request
	if r.Took != nil {
		message = r.Took(c)
	}
	return approver.Ref{Destination: to, Message: message}, nil
}

// Fits implements [approver.Fitter]: a room shows everything.
func (*Room) Fits(approver.Card) bool { return true }

// Update implements [approver.Channel].
func (r *Room) Update(_ context.Context, ref approver.Ref, c approver.Card) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Cards = append(r.Cards, c)
	if r.Edits == nil {
		r.Edits = map[string]approver.Card{}
	}
	r.Edits[ref.Message] = c
	return nil
}

// A PlaceStore is a store that can be closed.
type PlaceStore interface {
	approver.KV
	Close() error
}

// A Place is a real store whose whole content can be copied and put back.
type Place struct {
	Open func(t *testing.T, dir string) PlaceStore
	Snap func(t *testing.T, dir string) any
	Put  func(t *testing.T, dir string, was any)
}

// EmbeddedPlace is an embedded store. Its content is a file and, while it is open, its log.
func EmbeddedPlace() Place {
	db := func(dir string) string { return filepath.Join(dir, "approver.db") }
	return Place{
		Open: func(t *testing.T, dir string) PlaceStore {
			s, err := sqlitestore.Open(sqlitestore.Config{Path: db(dir)}, slog.New(slog.DiscardHandler))
			must(t, err)
			return s
		},
		Snap: func(t *testing.T, dir string) any {
			file, err := os.ReadFile(db(dir))
			must(t, err)
			log, _ := os.ReadFile(db(dir) + "-wal") // or there is none
			return [2][]byte{file, log}
		},
		Put: func(t *testing.T, dir string, was any) {
			is := was.([2][]byte)
			must(t, os.WriteFile(db(dir), is[0], 0o600))
			must(t, os.WriteFile(db(dir)+"-wal", is[1], 0o600))
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// RedisPlace is a Redis of its own.
func RedisPlace(t *testing.T) Place {
	p, _ := RedisPlaceOn(t)
	return p
}

// RedisPlaceOn is RedisPlace with lines of configuration, and the server.
func RedisPlaceOn(t *testing.T, config ...string) (Place, *redistest.Server) {
	server, err := redistest.Start(t.Context(), redistest.Options{Config: config})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return Place{
		Open: RedisPlaceAt(t, server.Addr).Open,
		Snap: func(t *testing.T, _ string) any {
			keys, err := server.Admin().Keys(t.Context(), "*").Result()
			must(t, err)
			all := map[string]string{}
			for _, key := range keys {
				if dump, err := server.Admin().Dump(t.Context(), key).Result(); err == nil { // else its time is over
					all[key] = dump
				}
			}
			return all
		},
		Put: func(t *testing.T, _ string, was any) {
			// At once: a daemon that runs beside the test writes at any moment.
			_, err := server.Admin().TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
				tx.FlushAll(t.Context())
				for key, dump := range was.(map[string]string) {
					tx.Restore(t.Context(), key, 0, dump)
				}
				return nil
			})
			must(t, err)
		},
	}, server
}

// RedisPlaceAt is a Redis that somebody else started, or a proxy before one. It can only be opened.
func RedisPlaceAt(t *testing.T, addr string) Place {
	hub := filepath.Join(t.TempDir(), "hub.key")
	must(t, os.WriteFile(hub, []byte(strings.Repeat("h", 40)), 0o600))
	return Place{Open: func(t *testing.T, _ string) PlaceStore {
		s, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{addr}, HubKeyFile: hub},
			slog.New(slog.DiscardHandler))
		must(t, err)
		return s
	}}
}
