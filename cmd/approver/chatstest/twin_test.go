package chatstest

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example/channels/channeltest/network"
)

// A twin is discord-digital-twin, of npm: REST, gateway and interactions, with messages in a database. It cannot
// resume a session and does not say so: the adapter does. It keeps no events for a bot that is away, so that people
// have to tap again, limits no rate, takes no attachments, and knows neither nonces nor the time within which an
// interaction must be answered.
type twin struct {
	*process
	Target, Control, Token, Channel, Alice string

	mu    sync.Mutex
	as    time.Time // when known was asked for
	known []twinCard
}

type twinCard struct {
	ID, Text string
	Buttons  []struct {
		Label string
		ID    string `json:"custom_id"`
	}
}

func openTwin(t *testing.T) platform {
	t.Helper()
	script, err := filepath.Abs("testdata/twin.mjs")
	if err != nil {
		t.Fatal(err)
	}
	w := &twin{process: start(t, nil, "node", script, filepath.Join(os.Getenv("APPROVER_CHATS"), "twin"))}
	w.said(t, w)
	return w
}

func (w *twin) channel() string { return "discord" }
func (w *twin) target() string  { return w.Target }
func (w *twin) names() []string {
	return []string{strings.Replace(w.Target, "127.0.0.1", "localhost", 1)}
}
func (w *twin) close() { w.end() }

// adapter says that no session can be taken up again, as Discord does after a while.
func (w *twin) adapter() network.Adapter {
	return network.Adapter{Up: func(message []byte, answer func([]byte)) []byte {
		var f struct {
			Op int `json:"op"`
		}
		if json.Unmarshal(message, &f) == nil && f.Op == 6 {
			answer([]byte(`{"op":9,"d":false,"s":null,"t":null}`))
			return nil
		}
		return message
	}}
}

func (w *twin) config(url string) string { return discordConfig(url, w.Token, w.Channel, w.Alice) }

// list returns the bot's messages. Many ask at once, and the emulator shares this machine's processors.
func (w *twin) list() []twinCard {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.as) > 100*time.Millisecond {
		var now []twinCard
		if ask(http.MethodGet, w.Control+"/cards", nil, &now) == nil {
			w.known = now
		}
		w.as = time.Now()
	}
	return w.known
}

func (w *twin) cards(text string) (out []card) {
	for _, c := range w.list() {
		if strings.Contains(c.Text, text) {
			out = append(out, card{c.ID, len(c.Buttons) > 0})
		}
	}
	return out
}

func (w *twin) tap(c card, yes bool) error {
	for _, one := range w.list() {
		for _, b := range one.Buttons {
			if one.ID == c.id && means(b.Label, yes) {
				return ask(http.MethodPost, w.Control+"/tap", map[string]string{"message": c.id, "button": b.ID}, nil)
			}
		}
	}
	return errors.New("the message has no such button")
}
