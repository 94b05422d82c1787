package logging

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
)

func TestStory(t *testing.T) {
	ada := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: approver.Person{ID: "ada"},
		Identity: approver.Identity{Channel: "telegram"}, Method: approver.ByTap}
	call := approver.ToolCall{
		ID: "c1", Agent: "claude", Tool: "Bash", Command: "deploy --token ghp_0123456789abcdefghijklmnopqrstuvwxyz\nnow",
		Dir: "/srv/shop", Peer: approver.Peer{Known: true, UID: 7},
	}
	high := approver.Verdict{Decision: approver.Ask, Severity: approver.High, By: "reflex", Rule: "deploys"}
	for _, c := range []struct {
		r    approver.Record
		want string // all of it but time and part; empty is no line
	}{
		{approver.Record{Event: approver.EventAsked, Request: "r1", Verdict: high},
			`level=INFO msg=asked request=r1 call=c1 agent=claude uid=7 dir=/srv/shop tool=Bash severity=HIGH`},
		{approver.Record{Event: approver.EventReleased, Request: "r1", Resolution: ada, Took: time.Second},
			`msg=approved request=r1`},
		{approver.Record{Event: approver.EventReleased, Request: "r1", Resolution: ada, Took: time.Second},
			`by=ada via=telegram how=tap took_ms=1000`},
		{approver.Record{Event: approver.EventExpired, Request: "r1",
			Resolution: approver.Resolution{Cause: approver.TimedOut}}, `msg=expired request=r1`},
		{approver.Record{Event: approver.EventDenied, Request: "r1",
			Resolution: approver.Resolution{Cause: approver.Unreachable}}, `why=` + approver.Unreachable.String()},
		{approver.Record{Event: approver.EventRefused, Reply: approver.Reply{Channel: "slack", Sender: "U1"},
			Note: "no such code"}, `via=slack sender=U1 why="no such code"`},
		{approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: approver.Deny, Reason: "no"}},
			`msg="denied without asking" call=c1 agent=claude uid=7 dir=/srv/shop tool=Bash what=`},
		{approver.Record{Event: approver.EventVerdict, Request: "r1",
			Verdict: approver.Verdict{Decision: approver.Deny, Reason: "no"}},
			`msg="denied, although people were asked" request=r1 call=c1`},
		{approver.Record{Event: approver.EventVerdict, Request: "r1",
			Verdict: approver.Verdict{Decision: approver.Deny, By: approver.ByPeople, Reason: "no"}},
			`msg="denied by the answer to another call" request=r1 call=c1`},
		{approver.Record{Event: approver.EventVerdict, Verdict: approver.Verdict{Decision: approver.Pass}}, ""},
		{approver.Record{Event: approver.EventPosted}, ""},
		{approver.Record{Event: approver.EventFrozen}, ""},
	} {
		var out bytes.Buffer
		c.r.Call = call
		s := Calls{&daemontest.Ledger{}, New(&out, configs.Log{})}
		if _, err := s.Record(context.Background(), c.r); err != nil {
			t.Fatal(err)
		}
		if c.want == "" && out.Len() > 0 || !strings.Contains(out.String(), c.want) || strings.Count(out.String(), "\n") > 1 {
			t.Errorf("%s: %s, want %s", c.r.Event, out.String(), c.want)
		}
		if strings.Contains(out.String(), "ghp_0123") {
			t.Errorf("%s: a secret is in the log: %s", c.r.Event, out.String())
		}
	}
}

type fullAudit struct{}

func (fullAudit) Record(context.Context, approver.Record) (string, error) {
	return "", errors.New("disk full")
}

// What is not in the audit is not told as if it had happened.
func TestStoryTellsWhatIsDurable(t *testing.T) {
	var out bytes.Buffer
	if _, err := (Calls{fullAudit{}, New(&out, configs.Log{})}).Record(context.Background(),
		approver.Record{Event: approver.EventReleased}); err == nil || out.Len() > 0 {
		t.Errorf("%v: %s", err, &out)
	}
}

// A store that is away fails every call that waits, several times a second. The log
// tells of it once a minute, and how often it was.
func TestOneTroubleIsToldOnce(t *testing.T) {
	var out bytes.Buffer
	log := New(&out, configs.Log{Format: configs.LogJSON}).With("part", "people")
	start := time.Now()
	say := func(after time.Duration, level slog.Level, msg string, args ...any) string {
		t.Helper()
		out.Reset()
		r := slog.NewRecord(start.Add(after), level, msg, 0)
		r.Add(args...)
		if err := log.Handler().Handle(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	refused := errors.New("dial tcp 127.0.0.1:41234->127.0.0.1:6379: refused")
	again := errors.New("dial tcp 127.0.0.1:50001->127.0.0.1:6379: refused")
	if say(0, slog.LevelWarn, "the store failed", "request", "a", "error", refused) == "" {
		t.Error("the first line is missing")
	}
	for i, same := range []string{"a", "b"} {
		if got := say(time.Duration(i+1)*time.Second, slog.LevelWarn, "the store failed", "request", same, "error",
			again); got != "" {
			t.Errorf("the same trouble of call %s was told twice: %s", same, got)
		}
	}
	for _, other := range []string{
		say(3*time.Second, slog.LevelError, "the store failed", "error", refused),
		say(3*time.Second, slog.LevelWarn, "the audit failed", "error", refused),
		say(3*time.Second, slog.LevelWarn, "the store failed", "error", errors.New("timeout")),
		say(3*time.Second, slog.LevelWarn, "the store failed", "channel", "slack", "error", refused),
	} {
		if other == "" {
			t.Error("another trouble was held back")
		}
	}
	for range 2 {
		if say(4*time.Second, slog.LevelInfo, "asked", "error", refused) == "" ||
			say(4*time.Second, slog.LevelWarn, "FROZEN") == "" {
			t.Error("a line that is no trouble was held back")
		}
	}
	if got := say(time.Minute, slog.LevelWarn, "the store failed", "request", "c", "error",
		refused); !strings.Contains(got, `"held_back":2`) {
		t.Errorf("after a minute: %s", got)
	}
}
