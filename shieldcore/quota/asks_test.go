package quota

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

func asksOn(t testing.TB, kv approver.KV, c AskLimits) *Asks {
	t.Helper()
	a, err := NewAsks(kv, c)
	must(t, err)
	t.Cleanup(a.Close)
	return a
}

func asker(uid uint32, name, project string) Asker { return Asker{agent(uid, name), project} }

// storm takes n questions at once, each of another call, and says how many were
// counted. Every refusal must be one for too many.
func storm(t testing.TB, n int, name string, take func(call string) error) (counted int) {
	t.Helper()
	var good atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			err := take(fmt.Sprintf("%s%d", name, i))
			var many *approver.TooManyError
			if err == nil {
				good.Add(1)
			} else if !errors.As(err, &many) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return int(good.Load())
}

// An agent in a loop asks forty times at once. Thirty questions reach people, ten are
// refused with the time at which the next is possible, and at that time it is.
func TestFortyQuestionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asksOn(t, newMemKV(), DefaultAskLimits())
		who := asker(1000, "claude", "/repo")
		if n := storm(t, 40, "c", func(call string) error { return a.Take(t.Context(), who, call) }); n != 30 {
			t.Errorf("%d of 40 questions, want 30", n)
		}
		err := a.Take(t.Context(), who, "next")
		var many *approver.TooManyError
		if !errors.As(err, &many) || many.Limit != "agent" || many.Most != 30 || many.Wait <= 59*time.Second ||
			many.Wait > time.Minute ||
			!strings.Contains(err.Error(),
				"30 were put within a minute about claude in /repo of uid 1000, also those that reached nobody "+
					"(asks_per_minute.agent)") {
			t.Fatalf("%+v", err)
		}
		time.Sleep(many.Wait - time.Millisecond)
		if err := a.Take(t.Context(), who, "next"); err == nil {
			t.Error("a moment too soon it was counted")
		}
		time.Sleep(time.Millisecond)
		if err := a.Take(t.Context(), who, "next"); err != nil {
			t.Errorf("at the time that was named: %v", err)
		}
		if s := a.Snapshot(); s != (AsksSnapshot{Counted: 31, Refused: 12}) {
			t.Errorf("%+v", s)
		}
	})
}

// A bucket that fills up while it is used lets twice its size through in a minute. This
// count does not: whichever minute one looks at, it has at most the limit.
func TestNoMinuteHasMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asksOn(t, newMemKV(), AskLimits{User: 120, Agent: 30})
		var at []time.Time
		for i := range 600 { // one each half second, for five minutes
			if a.Take(t.Context(), asker(1, "a", "/p"), fmt.Sprint(i)) == nil {
				at = append(at, time.Now())
			}
			time.Sleep(500 * time.Millisecond)
		}
		if len(at) != 150 {
			t.Errorf("%d questions in five minutes, want 150", len(at))
		}
		for i := 30; i < len(at); i++ {
			if d := at[i].Sub(at[i-30]); d < time.Minute {
				t.Fatalf("31 questions within %v", d)
			}
		}
	})
}

// A liar gives each call another agent's name, or another project: the uid is the
// kernel's word, and its limit holds. Another user is not touched by it.
func TestNewNamesBringNoMoreQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asksOn(t, newMemKV(), DefaultAskLimits())
		n := storm(t, 200, "c",
			func(call string) error { return a.Take(t.Context(), asker(1000, "claude"+call, "/repo"), call) })
		m := storm(t, 200, "d",
			func(call string) error { return a.Take(t.Context(), asker(1000, "claude", "/repo/"+call), call) })
		if n != 120 || m != 0 {
			t.Errorf("%d and %d questions, want 120 and 0", n, m)
		}
		err := a.Take(t.Context(), asker(1000, "x", "/y"), "z")
		if err == nil || !strings.Contains(err.Error(),
			"120 were put within a minute about the agents of uid 1000, also those that reached nobody (asks_per_minute.user)") {
			t.Error(err)
		}
		if err := a.Take(t.Context(), asker(1001, "claude", "/repo"), "z"); err != nil {
			t.Errorf("another user: %v", err)
		}
	})
}

// One agent that has asked too often does not keep another agent of the user, or another
// project, from asking: the 31st of the one is refused, the 31st and 61st of all are not.
func TestAgentsAndProjectsAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asksOn(t, newMemKV(), DefaultAskLimits())
		for _, who := range []Asker{asker(1, "claude", "/a"), asker(1, "claude", "/b"), asker(1, "codex", "/a"),
			asker(1, "codex", "/b")} {
			n := storm(t, 31, who.Agent+who.Project, func(call string) error { return a.Take(t.Context(), who, call) })
			if n != 30 {
				t.Errorf("%v: %d, want 30", who, n)
			}
		}
		if err := a.Take(t.Context(), asker(1, "other", "/c"), "121st"); err == nil {
			t.Error("the 121st of all was counted")
		}
	})
}

// A call whose write had to be sent again, or whose courier came back, is one question,
// also after the limit is reached. Another agent's call with its id is another one.
func TestACallIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asksOn(t, newMemKV(), AskLimits{User: 3, Agent: 2})
		who := asker(1, "claude", "/a")
		for _, call := range []string{"1", "1", "1", "2", "1", "2"} {
			if err := a.Take(t.Context(), who, call); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		}
		if err := a.Take(t.Context(), who, "3"); err == nil {
			t.Error("a third call of two")
		}
		if err := a.Take(t.Context(), asker(1, "codex", "/a"), "1"); err != nil {
			t.Error(err)
		}
		if err := a.Take(t.Context(), asker(1, "amp", "/a"), "1"); err == nil {
			t.Error("a fourth of three, by an id that was there")
		}
	})
}

// Whatever is not known refuses, and is no TooManyError, which would name a time.
func TestAsksFailClosed(t *testing.T) {
	kv := newMemKV()
	broken := newMemKV()
	broken.fail = func(string, string) error { return errors.New("the line went dead") }
	damaged := func(value string) approver.KV {
		kv := newMemKV()
		if err := kv.PutBefore(t.Context(), time.Time{}, askedKey("uid", 1), []byte(value), "", approver.NewRev(),
			time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		return kv
	}
	entry := func(at int) askedOnce {
		return askedOnce{At: int64(at), Of: strings.Repeat("0", 16), Name: strings.Repeat("1", 16)}
	}
	text := func(s askedRecord) string { b, _ := json.Marshal(s); return string(b) }
	good := asker(1, "a", "/p")
	closed := asksOn(t, kv, DefaultAskLimits())
	closed.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		a    *Asks
		ctx  context.Context
		who  Asker
		call string
	}{
		"nil":              {nil, t.Context(), good, "c"},
		"the zero value":   {&Asks{}, t.Context(), good, "c"},
		"closed":           {closed, t.Context(), good, "c"},
		"no peer":          {asksOn(t, kv, DefaultAskLimits()), t.Context(), Asker{Who{Agent: "a"}, "/p"}, "c"},
		"no agent":         {asksOn(t, kv, DefaultAskLimits()), t.Context(), asker(1, "", "/p"), "c"},
		"no call":          {asksOn(t, kv, DefaultAskLimits()), t.Context(), good, ""},
		"nobody waits":     {asksOn(t, kv, DefaultAskLimits()), ended, good, "c"},
		"no store":         {asksOn(t, broken, DefaultAskLimits()), t.Context(), good, "c"},
		"no record":        {asksOn(t, damaged("x"), DefaultAskLimits()), t.Context(), good, "c"},
		"an empty record":  {asksOn(t, damaged("{}"), DefaultAskLimits()), t.Context(), good, "c"},
		"another version":  {asksOn(t, damaged(text(askedRecord{Version: 2})), DefaultAskLimits()), t.Context(), good, "c"},
		"an unknown field": {asksOn(t, damaged(`{"v":1,"last":[],"more":1}`), DefaultAskLimits()), t.Context(), good, "c"},
		"out of order": {asksOn(t, damaged(text(askedRecord{1, []askedOnce{entry(2), entry(1)}})), DefaultAskLimits()),
			t.Context(), good, "c"},
		"no time": {asksOn(t, damaged(text(askedRecord{1, []askedOnce{entry(0)}})), DefaultAskLimits()), t.Context(),
			good, "c"},
		"a short name": {asksOn(t, damaged(text(askedRecord{1, []askedOnce{{At: 1, Of: "0", Name: "1"}}})),
			DefaultAskLimits()), t.Context(), good, "c"},
		"too many of them": {asksOn(t, damaged(text(askedRecord{1, make([]askedOnce, MaxAsks+1)})), DefaultAskLimits()),
			t.Context(), good, "c"},
		"something behind":  {asksOn(t, damaged(`{"v":1,"last":[]} {}`), DefaultAskLimits()), t.Context(), good, "c"},
		"a list, no record": {asksOn(t, damaged(`[]`), DefaultAskLimits()), t.Context(), good, "c"},
	} {
		var many *approver.TooManyError
		if err := c.a.Take(c.ctx, c.who, c.call); err == nil || errors.As(err, &many) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A clock that was ahead and came back, as after a fail-over, closes nobody out for longer
// than a minute.
func TestAClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		a := asksOn(t, kv, AskLimits{User: 2, Agent: 2})
		kv.set(func() { kv.ahead = time.Hour })
		for i := range 2 {
			must(t, a.Take(t.Context(), asker(1, "a", "/p"), fmt.Sprint(i)))
		}
		kv.set(func() { kv.ahead = 0 })
		err := a.Take(t.Context(), asker(1, "a", "/p"), "2")
		var many *approver.TooManyError
		if !errors.As(err, &many) || many.Wait > time.Minute {
			t.Fatalf("%+v", err)
		}
		time.Sleep(time.Minute)
		if err := a.Take(t.Context(), asker(1, "a", "/p"), "2"); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestAskLimitsBounds(t *testing.T) {
	for l, ok := range map[AskLimits]bool{
		{}: false, {User: 1, Agent: 1}: true, {User: MaxAsks, Agent: MaxAsks}: true, {User: MaxAsks + 1, Agent: 1}: false,
		{User: 1, Agent: -1}: false, {User: 1}: false,
		DefaultAskLimits(): true,
	} {
		if err := l.Validate(); (err == nil) != ok {
			t.Errorf("%+v: %v", l, err)
		}
		if _, err := NewAsks(newMemKV(), l); (err == nil) != ok {
			t.Errorf("%+v: %v", l, err)
		}
	}
	if _, err := NewAsks(nil, DefaultAskLimits()); err == nil {
		t.Error("without a store")
	}
}

// Two daemons on one Redis share the count, and one on the embedded store counts the same.
func TestAsksOverStores(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			one := p.open(t)
			two := one
			if p.shared {
				two = p.open(t)
			}
			who := asker(1000, "claude", "/repo")
			replicas := []*Asks{asksOn(t, one, DefaultAskLimits()), asksOn(t, two, DefaultAskLimits())}
			var next atomic.Int64
			n := storm(t, 80, "c", func(call string) error { return replicas[next.Add(1)%2].Take(t.Context(), who, call) })
			if n != 30 {
				t.Errorf("%d questions of 80, want 30", n)
			}
		})
	}
}

// The story: Redis hung, and of the calls that need people one waited for the store and the others
// for that one. Each gave up by itself, and the agents read that their hooks had stopped waiting. That
// the store does not answer is in the error of each; a caller who leaves early has another.
func TestAStoreThatHangsIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asksOn(t, hanging{newMemKV()}, DefaultAskLimits())
		early, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				ctx, leaves := t.Context(), i == 3
				if leaves {
					ctx = early
				}
				err := a.Take(ctx, asker(1, "a", "/p"), fmt.Sprint("c", i))
				if err == nil || errors.Is(err, approver.ErrAway) == leaves {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
		a.Close()
	})
}
