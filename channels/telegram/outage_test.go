package telegram

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/calls/callstest"
)

// The story: Telegram was away for half an hour. It must not be called without pause, status has
// the reason all the time, and when it is back, so are the answers, without anybody's help.
func TestLongOutages(t *testing.T) {
	for _, o := range callstest.Outages() {
		t.Run(o.Name, func(t *testing.T) {
			callstest.Outlives(t, o, http.HandlerFunc(smallTelegram), func(t *testing.T, dial callstest.Dial) approver.Channel {
				cfg := goodConfig()
				cfg.APIURL = "http://127.0.0.1:1"
				c, err := New(cfg, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				c.client.Transport.(calls.Presenter).DialContext = dial
				return c
			})
		})
	}
}

// smallTelegram is a Bot API that has nothing to tell.
func smallTelegram(w http.ResponseWriter, r *http.Request) {
	result := "true"
	switch _, method, _ := strings.Cut(r.URL.Path[1:], "/"); method {
	case "getMe":
		result = `{"id":123456,"is_bot":true,"first_name":"b","username":"b"}`
	case "getWebhookInfo":
		result = `{"url":""}`
	case "getUpdates":
		hold, _ := strconv.Atoi(r.FormValue("timeout"))
		select {
		case <-time.After(time.Duration(hold) * time.Second):
		case <-r.Context().Done():
		}
		result = "[]"
	}
	_, _ = io.WriteString(w, `{"ok":true,"result":`+result+`}`)
}
