package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/httpapi/wire"
)

// The story: the submit socket of an isolated machine can be reached by every user. Ten
// that are not admitted each held 600 silent connections, which took all places, and the
// calls of the admitted agent were blocked. Who is not admitted is turned away before it
// takes a place, and the log says so once, not for each of the connections. A later user ran
// approver doctor as root, and the log said WARN "refused on the submit socket": of root and
// the daemon's own user it says nothing.
func TestStrangersTakeNoPlace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs a second user, so it runs as root")
	}
	var log bytes.Buffer
	s := &Submit{
		Admit: AdmitUIDs(65534), Log: slog.New(slog.NewTextHandler(&log, nil)), MaxConns: 5,
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} },
	}
	dir := tempDir(t)
	socket := openTo(t, dir, s)
	for range 40 { // the test's own user is the stranger
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 Forbidden\r\n") {
			t.Fatalf("a stranger: %q, %v", answer, err)
		}
	}
	if n := s.open(); n != 0 {
		t.Errorf("strangers hold %d places", n)
	}
	if got := asOther(t, dir, socket); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("the agent: %q", got)
	}
	awaitConns(t, s, 0)
	s.Admit = AdmitUIDs(4711)
	_ = asOther(t, dir, socket)
	_ = asOther(t, dir, socket)
	awaitConns(t, s, 0)
	if own, other := strings.Count(log.String(), "uid 0 "),
		strings.Count(log.String(), "uid 65534 may not use this socket"); own != 0 || other != 1 {
		t.Errorf("the log tells of root %d times, and of a stranger %d times: %s", own, other, &log)
	}
}

// Users that are many, as those of one agent's range of uids, do not fill the log.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	var a refusalLog
	now := time.Now()
	count := func() (told int) {
		for range 3 {
			for uid := range uint32(5000) {
				if a.first(refusalKey{uid, "refused"}, now) {
					told++
				}
			}
		}
		return told
	}
	if told := count(); told != refusalUIDs+1 || len(a.told) != refusalUIDs {
		t.Errorf("%d lines, %d remembered", told, len(a.told))
	}
	if now = now.Add(refusalQuiet); count() != refusalUIDs+1 {
		t.Error("a minute later nothing is told")
	}
	a = refusalLog{}
	if !a.first(refusalKey{7, "refused"}, now) || !a.first(refusalKey{7, "too many"}, now) ||
		!a.first(refusalKey{8, "refused"}, now) || a.first(refusalKey{7, "refused"}, now) {
		t.Error("of one user, each trouble is told once")
	}
}

// The story: an agent held all the calls that it may, and all the connections that ask
// nothing beside them. Then a call ran that was changed behind the gate, and its report
// was refused a place: no alarm, no freeze. Reports and acknowledgments have places of
// their own, which calls do not take.
func TestHeldCallsKeepNoReportOut(t *testing.T) {
	causes, entered := make(chan error, 8), make(chan struct{}, 8)
	hold := holding(causes, entered)
	var reports, acked atomic.Int64
	s := &Submit{
		Admit: me(), Log: quiet(), MaxHeldEach: 3, MaxConnsEach: 8,
		Ack: func(context.Context, approver.Peer, string) error { acked.Add(1); return nil },
		Hook: func(ctx context.Context, h HookRequest) HookAnswer {
			if !facts.IsReport(h.Agent, h.Event) {
				return hold(ctx, h)
			}
			reports.Add(1)
			return HookAnswer{ExitZero: true}
		},
	}
	socket, _ := run(t, s.Serve)
	for range 3 {
		post(t, socket, headers("{}", ""), "{}")
		<-entered
	}
	for range 20 {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if res, _, err := response(t, post(t, socket, headers("{}", ""), "{}")); err != nil || res.StatusCode != 503 {
		t.Errorf("one more call: %+v, %v", res, err)
	}
	for _, event := range []string{"PostToolUse", "PostToolUseFailure"} {
		h := headers("{}", "")
		h[wire.Event] = event
		if res, body, err := response(t, post(t, socket, h, "{}")); err != nil || res.StatusCode != 200 {
			t.Errorf("a report: %+v %s, %v", res, body, err)
		}
	}
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST "+wire.AckPath+" HTTP/1.1\r\nHost: approver\r\nContent-Length: 0\r\n"+wire.Call+": "+
		testCall+"\r\n\r\n")
	if res, _, err := response(t, c); err != nil || res.StatusCode != 200 {
		t.Errorf("an acknowledgment: %+v, %v", res, err)
	}
	if reports.Load() != 2 || acked.Load() != 1 || s.told.places.inUse() != 0 || s.told.bytes.inUse() != 0 {
		t.Errorf("%d reports, %d acknowledgments, %d places left taken", reports.Load(), acked.Load(), s.told.places.inUse())
	}
}

// The places of reports are bounded as well, in number and in bytes, and one that is
// refused is an error in the log.
func TestReportsAreBounded(t *testing.T) {
	var log bytes.Buffer
	s := &Submit{Admit: me(), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true} }}
	socket, stop := run(t, s.Serve)
	uid := uint32(os.Geteuid())
	large, err := s.tell(uid, maxBytesEach)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.tell(uid, 1); err == nil || s.told.places.inUse() != 1 {
		t.Errorf("too many bytes: %v, %d places", err, s.told.places.inUse())
	}
	large()
	for range maxToldPlacesEach {
		if _, err := s.tell(uid, 0); err != nil {
			t.Fatal(err)
		}
	}
	h := headers("{}", "")
	h[wire.Event] = "PostToolUse"
	res, _, err := response(t, post(t, socket, h, "{}"))
	if err != nil || res.StatusCode != 503 {
		t.Errorf("a report too many: %+v, %v", res, err)
	}
	if free, err := s.tell(uid+1, 0); err != nil {
		t.Error("another user's report: ", err)
	} else {
		free()
	}
	_ = stop()
	if !strings.Contains(log.String(), "level=ERROR msg=\"THE REPORT OF A CALL WAS REFUSED A PLACE") {
		t.Errorf("the log: %s", &log)
	}
}

// Nobody but root and the daemon's own user, by the kernel's word, is turned away in silence.
func TestOnlyOwnKnocksAreSilent(t *testing.T) {
	own := uint32(os.Geteuid())
	for name, test := range map[string]struct {
		peer approver.Peer
		told bool
	}{
		"root":            {approver.Peer{Known: true}, false},
		"the daemon":      {approver.Peer{Known: true, UID: own}, false},
		"another":         {approver.Peer{Known: true, UID: own + 1}, true},
		"the last":        {approver.Peer{Known: true, UID: 1<<32 - 1}, true},
		"nobody knows":    {approver.Peer{UID: own}, true},
		"the zero value":  {approver.Peer{}, true},
		"root, not known": {approver.Peer{UID: 0}, true},
	} {
		var log bytes.Buffer
		new(refusalLog).refuse(slog.New(slog.NewTextHandler(&log, nil)), test.peer, "submit", io.EOF)
		if told := strings.Contains(log.String(), "level=WARN msg=\"refused on the submit socket\""); told != test.told {
			t.Errorf("%s: %t: %s", name, told, &log)
		}
	}
}
