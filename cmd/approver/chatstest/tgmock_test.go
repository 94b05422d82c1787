package chatstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
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

// A tgMock is tg-mock (github.com/watzon/tg-mock), which knows every method of the Bot API, checks that required
// parameters are there, and keeps updates until an offset confirms them. It does not hold polls, and so plays the
// servers that ignore timeout. The adapter fills in what it lacks: it reads neither multipart forms nor what a form's
// values mean, and keeps no messages.
type tgMock struct {
	*process
	control string
	addr    string

	mu       sync.Mutex
	last     int
	messages []*tgMessage
}

type tgMessage struct {
	id      int
	text    string
	buttons [][]tgButton
}

type tgButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

const (
	tgToken = "7000000001:AAtgmocktgmocktgmocktgmocktgmocktgm"
	tgAlice = 10042
)

func openTGMock(t *testing.T) platform {
	t.Helper()
	port := freePort(t)
	config := filepath.Join(t.TempDir(), "tg-mock.yaml")
	if err := os.WriteFile(config, []byte(`scenarios:
  - method: getMe
    response_data: {id: 7000000001, is_bot: true, first_name: approver, username: approver_test_bot}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &tgMock{addr: fmt.Sprintf("127.0.0.1:%d", port), last: 100}
	m.control = "http://" + m.addr + "/__control"
	m.process = start(t, nil, filepath.Join(os.Getenv("APPROVER_CHATS"), "tg-mock", "tg-mock"), "--port", fmt.Sprint(port),
		"--config", config, "--faker-seed", "1")
	answers(t, "http://"+m.addr+"/health")
	return m
}

func (m *tgMock) channel() string          { return "telegram" }
func (m *tgMock) target() string           { return m.addr }
func (m *tgMock) names() []string          { return nil }
func (m *tgMock) config(url string) string { return telegramConfig(url, tgToken, fmt.Sprint(tgAlice)) }
func (m *tgMock) close()                   { m.end() }

func (m *tgMock) adapter() network.Adapter {
	return network.Adapter{
		Request: func(r *http.Request, body []byte) []byte {
			raw, _ := json.Marshal(values(r.Header.Get("Content-Type"), body))
			r.Header.Set("Content-Type", "application/json")
			return raw
		},
		Response: func(r *http.Request, sent, body []byte) []byte {
			return m.keep(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], r.Header.Get("Content-Type"), sent, body)
		},
	}
}

// values reads a form. Numbers and objects are no longer texts then, but for the text of a message.
func values(kind string, body []byte) map[string]any {
	form := url.Values{}
	media, params, _ := mime.ParseMediaType(kind)
	if media == "multipart/form-data" {
		parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
		for {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			text, _ := io.ReadAll(part)
			form.Set(part.FormName(), string(text))
		}
	} else {
		form, _ = url.ParseQuery(string(body))
	}
	out := map[string]any{}
	for name := range form {
		var value any
		if text := form.Get(name); name == "text" || json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		out[name] = value
	}
	return out
}

// keep keeps what became of messages, and gives each its number.
func (m *tgMock) keep(method, kind string, sent, body []byte) []byte {
	if method != "sendMessage" && method != "editMessageText" {
		return body
	}
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil || answer["ok"] != true {
		return body
	}
	in := values(kind, sent)
	text, _ := in["text"].(string)
	var markup struct {
		Rows [][]tgButton `json:"inline_keyboard"`
	}
	raw, _ := json.Marshal(in["reply_markup"])
	_ = json.Unmarshal(raw, &markup)
	m.mu.Lock()
	defer m.mu.Unlock()
	var message *tgMessage
	if method == "sendMessage" {
		m.last++
		message = &tgMessage{id: m.last}
		m.messages = append(m.messages, message)
	} else {
		id, _ := in["message_id"].(float64)
		if message = m.find(int(id)); message == nil {
			return body
		}
	}
	message.text, message.buttons = text, markup.Rows
	result, _ := answer["result"].(map[string]any)
	if result == nil {
		result = map[string]any{}
	}
	result["message_id"], result["text"] = message.id, text
	result["chat"], result["date"] = map[string]any{"id": tgAlice, "type": "private"}, time.Now().Unix()
	for name := range result { // made up at random, and in a form that no message of a bot has
		if name != "message_id" && name != "text" && name != "chat" && name != "date" {
			delete(result, name)
		}
	}
	answer["result"] = result
	if raw, err := json.Marshal(answer); err == nil {
		return raw
	}
	return body
}

// find returns a message. The caller holds mu.
func (m *tgMock) find(id int) *tgMessage {
	for _, one := range m.messages {
		if one.id == id {
			return one
		}
	}
	return nil
}

func (m *tgMock) cards(text string) (out []card) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.messages {
		if strings.Contains(one.text, text) {
			out = append(out, card{fmt.Sprint(one.id), len(one.buttons) > 0})
		}
	}
	return out
}

func (m *tgMock) tap(c card, yes bool) error {
	var id int
	_, _ = fmt.Sscan(c.id, &id)
	m.mu.Lock()
	defer m.mu.Unlock()
	message := m.find(id)
	if message == nil {
		return errors.New("there is no such message")
	}
	for _, row := range message.buttons {
		for _, b := range row {
			if !means(b.Text, yes) {
				continue
			}
			return ask(http.MethodPost, m.control+"/updates", map[string]any{"callback_query": map[string]any{
				"id": fmt.Sprint(time.Now().UnixNano()), "data": b.Data, "chat_instance": "1",
				"from": map[string]any{"id": tgAlice, "is_bot": false, "first_name": "Alice"},
				"message": map[string]any{"message_id": id, "date": time.Now().Unix(), "text": message.text,
					"chat":         map[string]any{"id": tgAlice, "type": "private"},
					"from":         map[string]any{"id": 7000000001, "is_bot": true, "first_name": "approver"},
					"reply_markup": map[string]any{"inline_keyboard": message.buttons}},
			}}, nil)
		}
	}
	return errors.New("the message has no such button")
}
