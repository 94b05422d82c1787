package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/httpapi/wire"
)

// This file has what the two ways to a courier's answer share: net/http and [plainDoor].

// An exchange is a courier's request, whoever has read its head.
type exchange struct {
	peer   approver.Peer
	header http.Header
	length int64                  // of the body; negative if it is not known
	body   func() ([]byte, error) // reads the body; called once at most, after its length was checked
	// within returns a context that ends after the time that is left, or as Submit.Hook says. It is called
	// once at most, when the body was read.
	within func(left time.Duration) (context.Context, func())
}

// A said is what a courier is told: an answer, or the text of an error with another status than 200.
type said struct {
	status int
	text   string
	answer HookAnswer
}

// admitted is respond for a peer that was not checked since it connected.
func (s *Submit) admitted(x exchange) said {
	if err := s.Admit.check(x.peer); err != nil {
		s.refusals.refuse(s.Log, x.peer, "submit", err)
		return said{status: http.StatusForbidden, text: err.Error()}
	}
	return s.respond(x)
}

// respond answers a courier. If its connection has ended by then, the answer must not be sent.
func (s *Submit) respond(x exchange) said {
	place, report := s.hold, facts.IsReport(x.header.Get(wire.Agent), x.header.Get(wire.Event))
	heard := !report
	defer func() {
		if !heard {
			s.missed()
		}
	}()
	if report {
		place = s.tell
	}
	free, err := place(x.peer.UID, max(x.length, 0)) // an unknown length is refused below
	if err != nil {
		if report {
			s.Log.Error("THE REPORT OF A CALL WAS REFUSED A PLACE: what ran is not compared unless it comes again", "uid",
				x.peer.UID, "pid", x.peer.PID, "err", err)
		} else {
			s.refusals.tell(s.Log, x.peer, "a call was refused a place", err)
		}
		return said{status: http.StatusServiceUnavailable, text: err.Error()}
	}
	defer free()
	h, status, err := s.read(x)
	if err != nil {
		s.refusals.tell(s.Log, x.peer, "a courier's request was refused", err)
		return said{status: status, text: err.Error()}
	}
	h.Peer = x.peer
	ctx, done := x.within(h.Deadline)
	defer done()
	answer, err := s.decide(ctx, h)
	heard = heard || err == nil
	if err != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, ErrCourierGone) && !errors.Is(cause, ErrShuttingDown) {
			s.Log.Error("no answer for a call", "call", h.CallID, "agent", h.Agent, "err", err)
		}
		return said{status: http.StatusInternalServerError, text: "approver could not decide"}
	}
	return said{status: http.StatusOK, answer: answer}
}

// exit is the exit code of the hook.
func (a HookAnswer) exit() string {
	if a.ExitZero {
		return "0"
	}
	return "2"
}

// asksAck reports whether the courier must acknowledge the answer.
func (a HookAnswer) asksAck() bool { return a.Ack && a.ExitZero }

func writeAnswer(w http.ResponseWriter, a HookAnswer) {
	head := w.Header()
	head.Set("Content-Type", "application/octet-stream")
	head.Set("Content-Length", strconv.Itoa(len(a.Stderr)+len(a.Stdout)))
	head.Set(wire.Exit, a.exit())
	head.Set(wire.StderrBytes, strconv.Itoa(len(a.Stderr)))
	if a.asksAck() {
		head.Set(wire.Ack, "1")
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(bodyTime))
	// An error means that the courier has disconnected, and it knows that itself.
	_, _ = w.Write(append(a.Stderr[:len(a.Stderr):len(a.Stderr)], a.Stdout...))
}
