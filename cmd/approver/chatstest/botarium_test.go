package chatstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example/channels/channeltest/network"
)

// A botarium is the Slack emulator of github.com/tyom/botarium, the only one that we know of with Socket Mode. It
// brings each event to every connection at once and never again, whether it is acknowledged or not, so that people
// have to tap again; it limits no rate. The adapter fills in what it lacks: tokens in forms, conversations.info, the
// workspace of a person, the bot of a message, and an app's id as Slack makes it.
type botarium struct {
	*process
	port int

	mu    sync.Mutex
	as    time.Time // when known was asked for
	known []slackMessage
}

type slackMessage struct {
	TS, Text string
	Blocks   json.RawMessage
}

const (
	botUser, botID, slackHome  = "U0BOT0001", "B0BOT0001", "T0HOME1234"
	slackAlice, slackApprovals = "U0ALICE42", "C0APPROVAL"
)

func openBotarium(t *testing.T) platform {
	t.Helper()
	script, err := filepath.Abs("testdata/botarium.ts")
	if err != nil {
		t.Fatal(err)
	}
	folder := os.Getenv("APPROVER_CHATS")
	b := &botarium{port: freePort(t)}
	b.process = start(t, []string{"LOG_LEVEL=silent"}, filepath.Join(folder, "botarium", "node_modules", ".bin", "bun"),
		script, filepath.Join(folder, "botarium"), fmt.Sprint(b.port))
	answers(t, "http://"+b.target()+"/health")
	return b
}

func (b *botarium) channel() string { return "slack" }
func (b *botarium) target() string  { return fmt.Sprintf("127.0.0.1:%d", b.port) }
func (b *botarium) names() []string { return []string{fmt.Sprintf("localhost:%d", b.port)} }
func (b *botarium) close()          { b.end() }

func (b *botarium) config(url string) string {
	return slackConfig(url, "xoxb-1111-2222-botarium", "xapp-1-A0SIMULATOR-3333-botarium", slackApprovals, slackAlice)
}

func (b *botarium) adapter() network.Adapter {
	full := func(text []byte) []byte {
		for _, n := range [][2]string{
			{`A_SIMULATOR`, `A0SIMULATOR`},
			{`"user":"` + botUser + `"`, `"user":"` + botUser + `","bot_id":"` + botID + `"`},
			{`"username":"simulator_user"`, `"username":"alice","team_id":"` + slackHome + `"`},
		} {
			text = bytes.ReplaceAll(text, []byte(n[0]), []byte(n[1]))
		}
		return text
	}
	return network.Adapter{
		Answer: func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if !strings.HasSuffix(r.URL.Path, "/conversations.info") {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":true,"channel":{"id":"`+slackApprovals+`","name":"approvals","is_member":true,`+
				`"is_channel":true,"context_team_id":"`+slackHome+`"}}`)
			return true
		},
		Request: func(r *http.Request, body []byte) []byte {
			if form, err := url.ParseQuery(string(body)); err == nil && form.Get("token") != "" {
				r.Header.Set("Authorization", "Bearer "+form.Get("token"))
			}
			return body
		},
		Response: func(_ *http.Request, _, body []byte) []byte { return full(body) },
		Down:     full,
	}
}

func (b *botarium) list() []slackMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.as) > 100*time.Millisecond {
		var now []slackMessage
		if ask(http.MethodGet, "http://"+b.target()+"/api/simulator/messages", nil, &now) == nil {
			b.known = now
		}
		b.as = time.Now()
	}
	return b.known
}

// A slackButton is one button of a message.
type slackButton struct {
	block, action, value, label string
}

func (m slackMessage) buttons() (all []slackButton) {
	var blocks []struct {
		Type     string `json:"type"`
		ID       string `json:"block_id"`
		Elements []struct {
			Action string `json:"action_id"`
			Value  string `json:"value"`
			Text   struct {
				Text string `json:"text"`
			} `json:"text"`
		} `json:"elements"`
	}
	_ = json.Unmarshal(m.Blocks, &blocks) // rich text does not fit; the buttons' block does
	for _, block := range blocks {
		if block.Type != "actions" {
			continue
		}
		for _, e := range block.Elements {
			all = append(all, slackButton{block.ID, e.Action, e.Value, e.Text.Text})
		}
	}
	return all
}

func (b *botarium) cards(text string) (out []card) {
	for _, m := range b.list() {
		if strings.Contains(m.Text, text) || bytes.Contains(m.Blocks, []byte(text)) {
			out = append(out, card{m.TS, len(m.buttons()) > 0})
		}
	}
	return out
}

func (b *botarium) tap(c card, yes bool) error {
	for _, m := range b.list() {
		for _, one := range m.buttons() {
			if m.TS == c.id && means(one.label, yes) {
				return ask(http.MethodPost, "http://"+b.target()+"/api/simulator/block-action", map[string]string{
					"message_ts": c.id, "channel_id": slackApprovals, "action_id": one.action, "block_id": one.block,
					"element_type": "button", "value": one.value, "user": slackAlice}, nil)
			}
		}
	}
	return errors.New("the message has no such button")
}
