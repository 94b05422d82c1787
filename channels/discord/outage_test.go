package discord

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"approver.example"
	"approver.example/channels/internal/calls/callstest"
)

// The story: Discord was away for half an hour. It must not be called without pause, status has
// the reason all the time, and when it is back, so are the answers, without anybody's help.
func TestLongOutages(t *testing.T) {
	for _, o := range callstest.Outages() {
		t.Run(o.Name, func(t *testing.T) {
			callstest.Outlives(t, o, http.HandlerFunc(smallDiscord), func(t *testing.T, dial callstest.Dial) approver.Channel {
				cfg := valid()
				cfg.APIURL = "http://127.0.0.1:1/api"
				c, err := New(cfg, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				c.wire.next.DialContext = dial
				return c
			})
		})
	}
}

// smallDiscord is a Discord that has nothing to tell, and knows no session of before.
func smallDiscord(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "gateway/bot"):
		_, _ = io.WriteString(w, `{"url":"ws://127.0.0.1:1/gateway"}`)
		return
	case !strings.HasPrefix(r.URL.Path, "/gateway/"):
		_, _ = io.WriteString(w, `{"id":"`+someChannel+`"}`)
		return
	}
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	say := func(text string) { _ = ws.WriteMessage(websocket.TextMessage, []byte(text)) }
	say(`{"op":10,"d":{"heartbeat_interval":41250}}`)
	for {
		var f frame
		_, raw, err := ws.ReadMessage()
		if err != nil || json.Unmarshal(raw, &f) != nil {
			return
		}
		switch f.Op {
		case opHeartbeat:
			say(`{"op":11}`)
		case opResume:
			say(`{"op":9,"d":false}`)
		case opIdentify:
			say(`{"op":0,"t":"READY","s":1,"d":{"v":10,"session_id":"s","user":{"id":"1098765432109876000","bot":true},` +
				`"application":{"id":"1098765432109876001"},"guilds":[]}}`)
		}
	}
}
