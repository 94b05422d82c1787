package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
)

// channel is a channel that is not running: Post and Update need no Run.
func channel(t *testing.T, server *slacktest.Server) *slack.Channel {
	t.Helper()
	c, err := slack.New(config(server), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var hereDest = approver.Destination{Channel: "slack", Conversation: here}

func blockID(t *testing.T, m slacktest.Message) string {
	t.Helper()
	var list []struct {
		Type string `json:"type"`
		ID   string `json:"block_id"`
	}
	if err := json.Unmarshal(m.Blocks, &list); err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		if b.Type == "actions" {
			return b.ID
		}
	}
	return ""
}

func TestPostAndUpdateOnTheWire(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	c := channel(t, server)
	card := (&bench{t: t}).card()
	card.Body = channeltest.Command("curl https://example.org/<!channel>")
	card.Push = "🟠 HIGH · curl https://example.org/<!channel> @here & more"
	ctx := t.Context()
	ref, err := c.Post(ctx, hereDest, card)
	if err != nil {
		t.Fatal(err)
	}
	m := server.Messages(here)[0]
	first := blockID(t, m)
	if m.Text != card.Push || m.Previews || !strings.HasPrefix(first, "ap:"+card.Request+":") || m.Thread != "" {
		t.Errorf("posted %+v with the buttons %q", m, first)
	}
	if err := c.Update(ctx, ref, card); err != nil {
		t.Fatal(err)
	}
	m = server.Messages(here)[0]
	if second := blockID(t, m); second == first || !strings.HasPrefix(second, "ap:"+card.Request+":") || m.Edits != 1 ||
		m.Text != card.Push {
		t.Errorf("the update has the block id %q after %q: Slack's clients would keep the old state", second, first)
	}
	if err := c.Update(ctx, ref, card); err != nil {
		t.Fatal(err)
	}
	if third := blockID(t, server.Messages(here)[0]); third == blockID(t, m) {
		t.Errorf("the next update has the same block id %q", third)
	}
	card.State, card.Result = approver.Denied, "⛔ Denied by Ann"
	if err := c.Update(ctx, ref, card); err != nil {
		t.Fatal(err)
	}
	if m = server.Messages(here)[0]; blockID(t, m) != "" || m.Text != "⛔ "+card.Push ||
		strings.Contains(string(m.Blocks), "CONFIRM-") {
		t.Errorf("settled: %+v", m)
	}
	if pings := server.Pinged(); len(pings) != 0 {
		t.Errorf("the card alerted %q", pings)
	}
	if got := len(server.Messages(here)); got != 1 {
		t.Errorf("%d messages", got)
	}
}

func TestPostIntoThread(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	c := channel(t, server)
	server.MessagePayload(ann, here, "", "the session's thread")
	root := server.Messages(here)[0].TS
	to := approver.Destination{Channel: "slack", Conversation: here, Thread: root}
	card := (&bench{t: t}).card()
	card.Body = channeltest.Command(strings.Repeat("make all; ", 5000))
	ref, err := c.Post(t.Context(), to, card)
	if err != nil {
		t.Fatal(err)
	}
	if ref.Destination != to || !ref.Partial {
		t.Errorf("the ref is %+v", ref)
	}
	m := server.Messages(here)[1]
	if m.Thread != root || len(m.Files) != 1 || m.Files[0] != card.Body[0].Text {
		t.Errorf("the card stands in the thread %q with %d files", m.Thread, len(m.Files))
	}
}

func TestRefusedPosts(t *testing.T) {
	for _, c := range []struct {
		name    string
		to      approver.Destination
		card    func(*approver.Card)
		arrange func(*slacktest.Server)
		want    string
	}{
		{"another conversation", approver.Destination{Channel: "slack", Conversation: "C0OTHER123"}, nil, nil,
			"not a configured conversation"},
		{"another channel", approver.Destination{Channel: "telegram", Conversation: here}, nil, nil,
			"not a configured conversation"},
		{"no request", hereDest, func(c *approver.Card) { c.Request = "" }, nil, "request id"},
		{"endless request", hereDest, func(c *approver.Card) { c.Request = strings.Repeat("r", 300) }, nil, "request id"},
		{"shared conversation", hereDest, nil, func(f *slacktest.Server) {
			f.AddConversation(slacktest.Conversation{ID: here, ExtShared: true})
		}, "shared with another organization"},
		{"about to be shared", hereDest, nil, func(f *slacktest.Server) {
			f.AddConversation(slacktest.Conversation{ID: here, Pending: true})
		}, "shared with another organization"},
		{"archived", hereDest, nil, func(f *slacktest.Server) {
			f.AddConversation(slacktest.Conversation{ID: here, Archived: true})
		}, "archived"},
		{"the bot is not a member", hereDest, nil, func(f *slacktest.Server) {
			f.AddConversation(slacktest.Conversation{ID: here, NotMember: true})
		}, "/invite"},
		{"cannot be checked", hereDest, nil, func(f *slacktest.Server) { f.Refuse("conversations.info", "missing_scope") },
			"add it under OAuth"},
		{"refused by Slack", hereDest, nil, func(f *slacktest.Server) { f.Refuse("chat.postMessage", "restricted_action") },
			"restricted_action"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := workspace(t, slacktest.Options{})
			if c.arrange != nil {
				c.arrange(server)
			}
			card := (&bench{t: t}).card()
			if c.card != nil {
				c.card(&card)
			}
			ref, err := channel(t, server).Post(t.Context(), c.to, card)
			if !errors.Is(err, approver.ErrFinal) || !strings.Contains(err.Error(), c.want) || ref != (approver.Ref{}) {
				t.Errorf("Post gives %+v and %v, want ErrFinal and %q", ref, err, c.want)
			}
			if n := len(server.Messages(here)); n != 0 {
				t.Errorf("%d messages were posted", n)
			}
		})
	}
}

func TestUpdateErrors(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	c := channel(t, server)
	card := (&bench{t: t}).card()
	server.MessagePayload(ann, here, "", "a person's message")
	for name, ref := range map[string]approver.Ref{
		"not posted":     {Destination: hereDest},
		"deleted":        {Destination: hereDest, Message: "1.000001"},
		"not ours":       {Destination: hereDest, Message: server.Messages(here)[0].TS},
		"other platform": {Destination: approver.Destination{Channel: "discord", Conversation: here}, Message: "1.000001"},
	} {
		if err := c.Update(t.Context(), ref, card); !errors.Is(err, approver.ErrFinal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The answer to chat.postMessage may be lost after Slack has posted. The card
// is found by its buttons, and the post has succeeded.
func TestLostAnswerToPost(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	var lost atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, strings.TrimSuffix(server.URL(), "/api/")+r.URL.Path,
			r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = r.Header
		resp, err := http.DefaultClient.Do(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if strings.HasSuffix(r.URL.Path, "chat.postMessage") {
			lost.Add(1)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		var v any
		if json.NewDecoder(resp.Body).Decode(&v) == nil {
			_ = json.NewEncoder(w).Encode(v)
		}
	}))
	defer proxy.Close()
	cfg := config(server)
	cfg.APIURL = proxy.URL + "/api"
	c, err := slack.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range []bool{false, true} {
		to := hereDest
		if thread {
			server.MessagePayload(ann, here, "", "root")
			list := server.Messages(here)
			to.Thread = list[len(list)-1].TS
		}
		ref, err := c.Post(t.Context(), to, (&bench{t: t}).card())
		if err != nil {
			t.Fatalf("Post: %v", err)
		}
		list := server.Messages(here)
		if last := list[len(list)-1]; ref.Message != last.TS || last.Thread != to.Thread {
			t.Errorf("the ref is %+v, the message %+v", ref, last)
		}
	}
	if lost.Load() != 2 {
		t.Errorf("chat.postMessage was sent %d times, want no repeat", lost.Load())
	}
}

// A redirect would carry the token to another host.
func TestRedirectIsNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	cfg := good()
	cfg.APIURL = srv.URL
	c, err := slack.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Post(t.Context(), hereDest, (&bench{t: t}).card()); err == nil || elsewhere.Load() != 0 {
		t.Errorf("Post gives %v, the other host was called %d times", err, elsewhere.Load())
	}
}

func TestHugeAnswerIsRefused(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"ok":true,"x":"`))
		chunk := []byte(strings.Repeat("a", 1<<20))
		for range 64 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	cfg := good()
	cfg.APIURL = srv.URL
	c, err := slack.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Post(t.Context(), hereDest, (&bench{t: t}).card()); err == nil ||
		!strings.Contains(err.Error(), "too large") {
		t.Errorf("Post gives %v", err)
	}
}

// Ten posts into one conversation with room for three wait for their turn; one
// whose context is shorter than the wait fails at once.
func TestRateLimitOfPosts(t *testing.T) {
	server := workspace(t, slacktest.Options{Burst: 3})
	c := channel(t, server)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	began := time.Now()
	for range 4 {
		if _, err := c.Post(ctx, hereDest, (&bench{t: t}).card()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("four posts took %v: the limit was not met", took)
	}
	if n := server.Count("chat.postMessage"); n != 5 {
		t.Errorf("chat.postMessage was called %d times, want one refusal only", n)
	}
	short, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	server.Break(fake.RateLimited)
	began = time.Now()
	_, err := c.Post(short, hereDest, (&bench{t: t}).card())
	if err == nil || short.Err() != nil {
		t.Errorf("Post gives %v after %v: there is no time for the wait, so it need not be waited", err, time.Since(began))
	}
}

// A channel that becomes shared while we run is noticed.
func TestCheckOfConversationsExpires(t *testing.T) {
	server := workspace(t, slacktest.Options{})
	c := channel(t, server)
	for range 3 {
		if _, err := c.Post(t.Context(), hereDest, (&bench{t: t}).card()); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Count("conversations.info"); n != 1 {
		t.Errorf("the conversation was checked %d times in a row", n)
	}
}
