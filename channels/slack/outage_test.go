package slack

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"approver.example"
	"approver.example/channels/internal/calls/callstest"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
)

// The story: Slack was away for half an hour. It must not be called without pause, status has the
// reason all the time, and when it is back, so are the answers, without anybody's help.
func TestLongOutages(t *testing.T) {
	for _, o := range callstest.Outages() {
		o.Most *= defaultConnections // each looks for itself
		t.Run(o.Name, func(t *testing.T) {
			callstest.Outlives(t, o, http.HandlerFunc(smallSlack), func(t *testing.T, dial callstest.Dial) approver.Channel {
				c, err := New(Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
					Channels: []string{"C0HERE1234"}, Approvers: []approver.Approver{{ID: "U0ANN12345"}},
					APIURL: "http://127.0.0.1:1/api/"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				c.http.Transport.(bounded).DialContext = dial
				return c
			})
		})
	}
}

// smallSlack is a Slack that has nothing to tell.
func smallSlack(w http.ResponseWriter, r *http.Request) {
	answer := `{"ok":true}`
	switch r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
	case "auth.test":
		answer = `{"ok":true,"user_id":"U0APPROVBOT","bot_id":"B0APPROVER","team_id":"T0HOME1234"}`
	case "conversations.info":
		answer = `{"ok":true,"channel":{"id":"C0HERE1234","is_channel":true,"is_member":true}}`
	case "apps.connections.open":
		answer = `{"ok":true,"url":"ws://127.0.0.1:1/link"}`
	case "link":
		smallLink(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer)
}

func smallLink(w http.ResponseWriter, r *http.Request) {
	ws, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for err == nil {
			_, _, err = ws.ReadMessage()
		}
	}()
	_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","num_connections":1,`+
		`"connection_info":{"app_id":"A0APPROVER"}}`))
	for {
		if ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
			return
		}
		select {
		case <-time.After(5 * time.Second):
		case <-gone:
			return
		}
	}
}
