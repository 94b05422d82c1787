package telegram

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

var (
	stray401 = telegramtest.Trouble{Answer: telegramtest.APIError{Code: 401, Description: "Unauthorized"}}
	stray404 = telegramtest.Trouble{Answer: telegramtest.APIError{Code: 404, Description: "Not Found"}}
)

// A proxy answered one poll with 404, and Telegram was dead until somebody restarted
// the daemon; a moment of 401 did the same. Now the token counts as revoked only when
// Telegram says so again and again.
func TestStrayRefusalsOfTheToken(t *testing.T) {
	for _, method := range []string{"getMe", "getWebhookInfo", "setMyCommands", "getUpdates"} {
		for name, trouble := range map[string]telegramtest.Trouble{"401": stray401, "404": stray404} {
			t.Run(name+" at "+method, func(t *testing.T) {
				b := idle(t)
				b.s.Trouble(method, trouble)
				b.run()
				b.eventually("the first poll", b.s.Polling)
				b.s.Trouble("getMe", trouble, trouble) // two more, while it is asked again
				b.s.Trouble("getUpdates", trouble)
				b.nothing()
				b.eventually("reception", func() bool { return b.c.Reception().Up })
			})
		}
	}
}

// A token that stays refused ends Run, with the cure; and a later Run works once the
// token does.
func TestRevokedTokenRecovers(t *testing.T) {
	b := running(t)
	b.s.Break(fake.Revoked)
	err := <-b.done
	b.done <- nil
	if err == nil || !strings.Contains(err.Error(), "@BotFather") ||
		!strings.Contains(err.Error(), "no restart is needed") {
		t.Errorf("Run returned %v", err)
	}
	if errors.Is(err, approver.ErrFinal) {
		t.Error("a revoked token is called final, so cards would not be tried again")
	}
	if r := b.c.Reception(); r.Up || !strings.Contains(r.Problem, "@BotFather") {
		t.Errorf("the reception is %+v", r)
	}
	if n := b.s.Calls("getMe"); n != 1+doubts {
		t.Errorf("the token was asked for %d times, want %d", n, 1+doubts)
	}
	if n := strings.Count(b.logs.String(), "does not know the bot token"); n != 1 {
		t.Errorf("the log tells of it %d times:\n%s", n, b.logs)
	}
	b.s.Break(fake.Healthy)
	b.run()
	b.eventually("reception", func() bool { return b.c.Reception().Up })
	b.nothing()
}

func TestReception(t *testing.T) {
	b := idle(t)
	if r := b.c.Reception(); r != (approver.Reception{}) {
		t.Errorf("before Run it is %+v", r)
	}
	b.s.Break(fake.ServerError)
	b.run()
	down := func(words string) func() bool {
		return func() bool { r := b.c.Reception(); return !r.Up && strings.Contains(r.Problem, words) }
	}
	up := func() bool { return b.c.Reception().Up }
	b.eventually("the first failure", down("no restart is needed"))
	b.s.Break(fake.Healthy)
	b.eventually("reception", up)
	for name, f := range map[string]fake.Fault{"down": fake.Down, "malformed": fake.Malformed} {
		b.s.Break(f)
		b.eventually(name, down("no restart is needed"))
		b.s.Break(fake.Healthy)
		b.eventually("reception after "+name, up)
	}
	b.s.Trouble("getUpdates", telegramtest.Trouble{Page: http.StatusBadGateway},
		telegramtest.Trouble{Cut: telegramtest.Before})
	b.nothing()
	b.eventually("reception after a page and a cut", up)
	b.stop()
	if r := b.c.Reception(); r.Up {
		t.Errorf("after Run, where another process receives, it is %+v", r)
	}
}

// While another program polls the same bot, single polls of ours succeed and most
// answers go there: that is no reception.
func TestReceptionUnderConflict(t *testing.T) {
	b := idle(t)
	b.c.pace.alone = time.Hour
	b.run()
	b.eventually("the first poll", b.s.Polling)
	taken := telegramtest.Trouble{Answer: telegramtest.APIError{Code: 409,
		Description: "Conflict: terminated by other getUpdates request"}}
	b.s.Trouble("getUpdates", taken)
	b.eventually("the conflict", func() bool {
		r := b.c.Reception()
		return !r.Up && strings.Contains(r.Problem, "another program polls this bot")
	})
	b.nothing() // an answer that comes nevertheless counts
	if b.c.Reception().Up {
		t.Error("one poll that succeeded counts as reception")
	}
	for range 3 {
		n := b.s.Calls("getUpdates")
		b.s.Trouble("getUpdates", taken)
		b.eventually("the next poll", func() bool { return b.s.Calls("getUpdates") > n && b.s.Polling() })
	}
	if n := strings.Count(b.logs.String(), "another process receives"); n != 1 {
		t.Errorf("the log tells of it %d times:\n%s", n, b.logs)
	}
}

// A server that does not hold polls was polled 1,200 times a second.
func TestPollsThatAreNotHeld(t *testing.T) {
	b := idle(t)
	b.s.IgnoreTimeout(true)
	began := time.Now()
	b.run()
	b.eventually("some polls", func() bool { return b.s.Calls("getUpdates") >= 4 })
	b.nothing()
	// The first is not held anyway, and each answer brings one more at once.
	if n, most := b.s.Calls("getUpdates"), 6+int(time.Since(began)/b.c.pace.empty); n > most {
		t.Errorf("%d polls in %v, want at most %d", n, time.Since(began), most)
	}
	if n := strings.Count(b.logs.String(), "does not hold polls"); n != 1 {
		t.Errorf("the log tells of it %d times", n)
	}
	if !b.c.Reception().Up {
		t.Error("that is no failure")
	}
}

// The log has one line for a cause and one for its end, not one each 30 s; what comes
// and goes all the time is told of once in ten minutes, and what then stays, too.
func TestComplaints(t *testing.T) {
	var c troubleLog
	now := time.Unix(1e9, 0)
	due := func(cause string, after time.Duration) bool {
		now = now.Add(after)
		return c.due(cause, now, 10*time.Minute, time.Minute)
	}
	over := func() bool { _, said := c.over(now); return said }
	for i, step := range []struct{ got, want bool }{
		{over(), false},
		{due("away", 0), true},
		{due("away", 30*time.Second), false},
		{due(conflict, 0), true},
		{due("away", 9*time.Minute), false},
		{due("away", time.Minute), true},
		{over(), true},
		{over(), false},
		{due("away", 30*time.Second), false}, // it flaps
		{over(), false},
		{due("away", 30*time.Second), false}, // and now it stays
		{due("away", 30*time.Second), false},
		{due("away", 31*time.Second), true},
		{due("away", 31*time.Second), false},
		{over(), true},
	} {
		if step.got != step.want {
			t.Errorf("step %d is %v", i, step.got)
		}
	}
}

// A 429 is remembered: the next call for the chat waits instead of knocking, and other
// chats are not held up by it.
func TestFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f floods
		f.note(0, time.Hour)
		if f.left(0) != 0 || f.left(1) != 0 {
			t.Error("a call for no chat holds up others")
		}
		f.note(1, 20*time.Second)
		f.note(1, time.Second) // does not shorten it
		if f.left(1) != 20*time.Second || f.left(2) != 0 {
			t.Errorf("left %v and %v", f.left(1), f.left(2))
		}
		f.note(2, 30*time.Second) // two at once: it may be the bot that has too much
		if f.left(2) != 30*time.Second || f.left(3) != everybody {
			t.Errorf("left %v and %v", f.left(2), f.left(3))
		}
		time.Sleep(25 * time.Second)
		if f.left(1) != 0 || f.left(2) != 5*time.Second || f.left(3) != 0 {
			t.Errorf("left %v, %v, %v", f.left(1), f.left(2), f.left(3))
		}
		time.Sleep(time.Hour)
		f.note(4, time.Second)
		if f.Len() != 1 {
			t.Errorf("%d chats are remembered for ever", f.Len())
		}
	})
}
