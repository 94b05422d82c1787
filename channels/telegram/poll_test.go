package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/receiving"
	"approver.example/channels/telegram/telegramtest"
)

func TestGreetingOutlivesTrouble(t *testing.T) {
	b := idle(t)
	b.s.FailNext("getMe", telegramtest.APIError{Code: 500, Description: "Internal Server Error"})
	b.s.FailNext("getWebhookInfo", telegramtest.APIError{Code: 502, Description: "Bad Gateway"})
	b.s.FailNext("setMyCommands", telegramtest.APIError{Code: 400, Description: "Bad Request: BOT_COMMAND_INVALID"})
	b.run()
	b.eventually("the first poll", b.s.Polling)
	b.eventually("the log to tell of the commands", func() bool {
		return strings.Contains(b.logs.String(), "the commands of a chat could not be registered")
	})
}

func TestWebhookIsDeleted(t *testing.T) {
	b := idle(t)
	b.s.SetWebhook("https://other.example/hook")
	b.run()
	b.eventually("the first poll", b.s.Polling)
	if b.s.Count(" 409") > 0 {
		t.Error("it polled before it looked for a webhook")
	}
	b.s.SetWebhook("https://other.example/hook") // and once more, under our eyes
	b.eventually("the second deletion", func() bool { return b.s.Calls("deleteWebhook") == 2 && b.s.Polling() })
	b.nothing()
	if !strings.Contains(b.logs.String(), "webhook") || strings.Contains(b.logs.String(), "other.example") {
		t.Errorf("the log is\n%s", b.logs)
	}
}

// A group that removed the bot does not take the others along.
func TestOneLostChatLeavesTheOthers(t *testing.T) {
	b := idle(t)
	b.s.AddChat(telegramtest.Chat{ID: teamChat, Kicked: true})
	b.run()
	to := testConfig(b.s).Destinations()
	if _, err := b.c.Post(t.Context(), to[0], highCard(t)); err == nil ||
		!strings.Contains(err.Error(), "add the bot to the group again") {
		t.Errorf("Post to the lost chat: %v", err)
	}
	card := highCard(t)
	b.tap(ann, b.postTo(to[1], card), fake.ApproveButton)
	if r := b.want(1); r.Request != card.Request || r.Conversation != to[1].Conversation {
		t.Errorf("the tap in the other chat gave %+v", r)
	}
}

func TestAnotherPollerIsOutlived(t *testing.T) {
	b := running(t)
	resp, err := http.PostForm(b.s.URL()+"/bot"+b.s.Token()+"/getUpdates", map[string][]string{"timeout": {"0"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	b.eventually("the alarm", func() bool { return strings.Contains(b.logs.String(), "another process receives") })
	b.nothing()
}

func TestPollRateLimitIsObeyed(t *testing.T) {
	b := running(t)
	before := b.s.Calls("getUpdates")
	b.s.FailNext("getUpdates",
		telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after 1", RetryAfter: 1})
	began := time.Now()
	b.eventually("the next poll", func() bool { return b.s.Calls("getUpdates") > before && b.s.Polling() })
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("the next poll came after %v, want the second that Telegram asked for", took)
	}
}

// An update that comes again counts once: Telegram repeats what is not
// confirmed, and a proxy may repeat anything.
func TestRedeliveryCountsOnce(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	query := map[string]any{"id": b.s.NewQuery(ann), "from": map[string]any{"id": ann, "first_name": "Ann"},
		"message": b.s.Copy(teamChat, ref.Message)}
	query["data"] = b.message(ref).Buttons[0][0].Data
	u := map[string]any{"update_id": int64(5_000_000), "callback_query": query}
	for range 3 {
		b.s.Inject(u)
	}
	b.want(1)
	b.settled()
	b.s.Inject(u)
	b.settled()
	b.nothing()
}

// What a stop interrupts is not confirmed, and comes again in the next Run.
func TestInterruptedAnswerComesAgain(t *testing.T) {
	b := running(t)
	b.judge = func(ctx context.Context, _ approver.Reply) approver.Outcome {
		<-ctx.Done()
		return approver.Outcome{Text: "stopping"}
	}
	ref := b.post(highCard(t))
	if err := b.s.Tap(text(ann), ref.Conversation, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.want(1)
	b.stop()
	if b.s.Pending() == 0 {
		t.Fatal("the interrupted answer was confirmed")
	}
	b.mu.Lock()
	b.judge = func(context.Context, approver.Reply) approver.Outcome { return approver.Outcome{Text: "Denied."} }
	b.mu.Unlock()
	b.run()
	if r := b.want(2); r.Request != b.got()[0].Request || r.Approve || b.event(1) == "" || b.event(1) != b.event(0) {
		t.Errorf("what came again is %+v", r)
	}
	b.settled()
}

// The core knows a repeat by the event of a reply, whatever the reply came with, and no two events are the same.
func TestEachReplyNamesItsEvent(t *testing.T) {
	b := running(t)
	card := highCard(t)
	ref := b.post(card)
	person, chat := text(ann), ref.Conversation
	if err := b.s.Tap(person, chat, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.want(1)
	for n, say := range []string{"/deny " + card.Code.Reveal(), "/freeze", "/pending"} {
		b.s.Type(person, chat, say)
		b.want(n + 2)
	}
	b.s.ReplyTo(person, chat, ref.Message, "no, not now")
	b.want(5)
	seen := map[string]bool{"": true}
	for n, r := range b.got() {
		if seen[b.event(n)] {
			t.Errorf("the event %q of %+v", b.event(n), r)
		}
		seen[b.event(n)] = true
	}
}

// A slow answer is in work while Telegram repeats it; it must neither count
// twice, nor be confirmed, nor make us poll without a pause.
func TestSlowAnswer(t *testing.T) {
	b := running(t)
	release := make(chan struct{})
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		<-release
		return approver.Outcome{Text: "Denied."}
	}
	code := mint(t)
	before := b.s.Calls("getUpdates")
	b.s.Type(text(ann), text(teamChat), "/deny "+code.Reveal())
	b.want(1)
	time.Sleep(1200 * time.Millisecond)
	if n := b.s.Calls("getUpdates") - before; n > 6 {
		t.Errorf("%d polls in 1.2 s", n)
	}
	if b.s.Pending() == 0 {
		t.Error("an answer in work was confirmed")
	}
	close(release)
	b.settled()
	b.want(1)
}

// What the same person says of one request is judged in the order in which it
// was said, also when all of it arrives at once: a no is not overtaken.
func TestOrderOfOnePerson(t *testing.T) {
	b := idle(t)
	ref := b.post(highCard(t))
	for range 5 {
		if err := b.s.Tap(text(ann), ref.Conversation, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
		if err := b.s.Tap(text(ann), ref.Conversation, ref.Message, fake.ApproveButton); err != nil {
			t.Fatal(err)
		}
	}
	b.judge = func(context.Context, approver.Reply) approver.Outcome {
		time.Sleep(time.Duration(time.Now().UnixNano()%3) * time.Millisecond)
		return approver.Outcome{Text: "noted"}
	}
	b.run()
	b.want(10)
	for i, r := range b.got() {
		if r.Approve != (i%2 == 1) {
			t.Fatalf("reply %d approves: %v", i, r.Approve)
		}
	}
}

func TestUnreadableUpdatesHideNothing(t *testing.T) {
	b := running(t)
	b.s.Inject(map[string]any{"message": "a text instead of a message"})
	b.s.Inject(map[string]any{"message": map[string]any{"message_id": 1,
		"forward_origin": map[string]any{"type": "from the future"}}})
	b.s.Inject(map[string]any{"callback_query": map[string]any{"id": "1", "message": []int{1}}})
	b.s.Inject(map[string]any{"from_the_future": map[string]any{}})
	b.s.Inject(map[string]any{})
	b.nothing()
}

func TestPanicInAnEvent(t *testing.T) {
	l := &listener{Channel: newChannel(t, goodConfig())}
	l.safely(func() { panic("a bug") })()
}

// A platform that hangs leaves us deaf no longer than the poll and its margin.
func TestHangingPollIsGivenUp(t *testing.T) {
	b := idle(t)
	b.c.pace.poll, b.c.pace.margin = 0, 50*time.Millisecond
	b.run()
	b.eventually("polls", func() bool { return b.s.Calls("getUpdates") > 2 })
	b.s.Break(fake.Hangs)
	b.eventually("the poll to be given up", func() bool { return strings.Contains(b.logs.String(), "deadline exceeded") })
	b.s.Break(fake.Healthy)
	b.nothing()
}

// The token is part of the path: it must not follow a redirect to another
// server, and must not show in what a server says.
func TestTokenStaysHere(t *testing.T) {
	var stolen atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer other.Close()
	for name, h := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"echo": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "cannot %s %s", r.Method, r.URL) },
		"error": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":"no %s"}`, r.URL)
		},
		"abort": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"flood": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"ok":true,"result":"`)
			for range maxAnswer>>20 + 1 {
				_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(h)
			defer srv.Close()
			cfg := goodConfig()
			cfg.APIURL = srv.URL
			c := newChannel(t, cfg)
			card := highCard(t)
			_, post := c.Post(t.Context(), cfg.Destinations()[0], card)
			update := c.Update(t.Context(), approver.Ref{Destination: cfg.Destinations()[0], Message: "5"}, card)
			_, poll := c.getUpdates(t.Context(), 0, 0)
			for what, err := range map[string]error{"Post": post, "Update": update, "getUpdates": poll} {
				if err == nil {
					t.Errorf("%s succeeded", what)
					continue
				}
				secret := strings.TrimPrefix(goodToken, "123456:")
				if s := fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)); strings.Contains(s, secret) {
					t.Errorf("%s shows the token: %s", what, strings.ReplaceAll(s, secret, "<the token>"))
				}
				if len(err.Error()) > 600 {
					t.Errorf("%s returned an error of %d bytes", what, len(err.Error()))
				}
			}
		})
	}
	if stolen.Load() != 0 {
		t.Errorf("%d requests followed a redirect", stolen.Load())
	}
}

func TestRunLeavesNothing(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	for range 3 {
		_ = b.s.Tap(text(mallory), ref.Conversation, ref.Message, fake.ApproveButton)
		_ = b.s.Tap(text(ann), ref.Conversation, ref.Message, fake.DenyButton)
	}
	b.want(3)
	b.stop()
	b.s.Close()
	b.eventually("all goroutines to end", func() bool {
		buf := make([]byte, 1<<20)
		all := string(buf[:runtime.Stack(buf, true)])
		return !strings.Contains(all, "telegram.(*listener)") && !strings.Contains(all, "go-telegram/bot") &&
			!strings.Contains(all, "persistConn")
	})
}

// Whatever arrives, nobody but a person on the list is heard, and nothing
// panics.
func FuzzTake(f *testing.F) {
	s := newWorld(f)
	c := newChannel(f, testConfig(s))
	for _, seed := range []string{
		`{"update_id":1,"message":{"message_id":5,"date":1,"text":"yes","from":{"id":66666},"chat":{"id":-1001234567890},` +
			`"reply_to_message":{"message_id":4,"from":{"id":7000000001,"is_bot":true},"reply_markup":{"inline_keyboard":[[{` +
			`"text":"x","callback_data":"a1:AYkKXayWd0u8zrMCCZqAVw:o"}]]}}}}`,
		`{"update_id":2,"callback_query":{"id":"9","from":{"id":66666},"data":"a1:AYkKXayWd0u8zrMCCZqAVw:o","message":{` +
			`"message_id":4,"date":1,"from":{"id":7000000001,"is_bot":true},"chat":{"id":-1001234567890}}}}`,
		`{"update_id":3,"edited_message":{"message_id":5,"text":"/approve CONFIRM-7KQ4MX"}}`,
		`{"update_id":-1}`, `[]`, `null`, `{"update_id":"x"}`, `{"update_id":4,"message":null,"callback_query":null}`,
	} {
		f.Add([]byte(seed))
	}
	// The approvers' ids do not occur in an input that is let through here.
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strings.Contains(string(raw), text(ann)) || strings.Contains(string(raw), text(bob)) ||
			strings.Contains(string(raw), `\u`) {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // no call leaves the process
		l := &listener{
			Channel: c, ledger: newLedger(8), noted: receiving.NewSeen[string](8), people: newQueues(2), others: newQueues(2),
			reply: func(_ context.Context, r approver.Reply) approver.Outcome {
				t.Errorf("a stranger was heard: %+v", r)
				return approver.Outcome{}
			},
		}
		l.take(ctx, json.RawMessage(raw))
		l.people.wait()
		l.others.wait()
		if l.ledger.busy() {
			t.Error("an update is in work for ever")
		}
	})
}

func TestStrangersAreNotedOnce(t *testing.T) {
	b := running(t)
	for range 5 {
		b.s.Type(text(mallory), text(teamChat), "/approve CONFIRM-7KQ4MX")
	}
	b.nothing()
	if n := strings.Count(b.logs.String(), "sender="+strconv.FormatInt(mallory, 10)); n != 1 {
		t.Errorf("the stranger is in the log %d times, want once:\n%s", n, b.logs)
	}
}

// A stranger's update is done when it is turned away, whether or not the
// refusal can be shown.
func TestRefusalHoldsNothingUp(t *testing.T) {
	b := running(t)
	ref := b.post(highCard(t))
	b.s.FailNext("answerCallbackQuery",
		telegramtest.APIError{Code: 429, Description: "Too Many Requests: retry after 40", RetryAfter: 40})
	began := time.Now()
	b.s.Press(text(mallory), ref.Conversation, ref.Message, "a1:x")
	b.settled()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the update was confirmed after %v", took)
	}
}

func TestRunWaitsForItsWork(t *testing.T) {
	b := running(t)
	var ended atomic.Bool
	b.judge = func(ctx context.Context, _ approver.Reply) approver.Outcome {
		<-ctx.Done()
		time.Sleep(100 * time.Millisecond)
		ended.Store(true)
		return approver.Outcome{}
	}
	b.s.Type(text(ann), text(teamChat), "/deny CONFIRM-7KQ4MX")
	b.want(1)
	b.stop()
	if !ended.Load() {
		t.Error("Run returned before the answer that it had begun was judged")
	}
}

func TestAnswersAreReadWithinABound(t *testing.T) {
	var sent atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 1<<20); sent.Load() < 4*maxAnswer; {
			n, err := w.Write(block)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := newClient()
	defer client.CloseIdleConnections()
	resp, err := doer{client}.Do(req)
	if err == nil {
		t.Errorf("an answer without an end is taken: %v", resp.Body.Close())
	}
	if n := sent.Load(); n >= 4*maxAnswer {
		t.Errorf("at least %d bytes were read, want %d", n, maxAnswer)
	}
}

// Bug class C18: the first click after a restart was swallowed. What people tapped and sent while nothing
// received is heard once it does, in that order.
func TestWhatWasSentBeforeTheStartIsHeard(t *testing.T) {
	b := idle(t)
	ref := b.post(highCard(t))
	b.tap(ann, ref, fake.DenyButton)
	b.s.ReplyTo(text(ann), ref.Conversation, ref.Message, "yes")
	b.run()
	b.want(2)
	if got := b.got(); got[0].Method != approver.ByTap || got[1].Method != approver.ByPlain {
		t.Errorf("%+v", got)
	}
	b.wantTold(ann, "no. 2 is noted")
}
