package logging

import (
	"context"
	"log/slog"
	"strings"

	"approver.example"
	"approver.example/display"
)

// A Calls is an audit that also writes to the daemon's log what it recorded: one line for each
// question, for each answer, and for each call that was denied without asking. It logs only
// after recording, so that log and audit agree.
type Calls struct {
	approver.Recorder
	Log *slog.Logger
}

// Record writes to the audit and then to the log.
func (s Calls) Record(ctx context.Context, r approver.Record) (string, error) {
	hash, err := s.Recorder.Record(ctx, r)
	switch {
	case err == nil:
		s.tell(ctx, r, "")
	case r.Event == approver.EventVerdict && r.Verdict.Decision == approver.Deny:
		// The call was denied anyway, and only the log has it.
		s.tell(ctx, r, "; the audit lacks it")
	}
	return hash, err
}

// Passing returns record, which then also writes to the log.
func (s Calls) Passing(
	record func(context.Context, approver.Record) error,
) func(context.Context, approver.Record) error {
	return func(ctx context.Context, r approver.Record) error {
		err := record(ctx, r)
		if err == nil {
			s.tell(ctx, r, "")
		}
		return err
	}
}

// Ready is that of the audit.
func (s Calls) Ready() error { return approver.Ready(s.Recorder) }

// Follow hands a record to the audit, and then writes to the log.
func (s Calls) Follow(r approver.Record) (approver.Written, error) {
	written, err := approver.Follow(context.Background(), s.Recorder, r)
	if err == nil {
		s.tell(context.Background(), r, "")
	}
	return written, err
}

func (s Calls) tell(ctx context.Context, r approver.Record, but string) {
	level, what := lineOf(r)
	if what == "" || !s.Log.Enabled(ctx, level) {
		return
	}
	s.Log.LogAttrs(ctx, level, what+but, append(subject(r), ending(r)...)...)
}

// lineOf returns the level and message for a record; the message is empty for a record without
// a line. Rare events and operators' actions are logged where they happen.
func lineOf(r approver.Record) (slog.Level, string) {
	if r.Event == approver.EventVerdict {
		switch {
		case r.Verdict.Decision != approver.Deny:
			return slog.LevelDebug, "goes on"
		case r.Request != "" && r.Verdict.By == approver.ByPeople:
			return slog.LevelInfo, "denied by the answer to another call"
		case r.Request != "":
			return slog.LevelInfo, "denied, although people were asked"
		}
		return slog.LevelInfo, "denied without asking"
	}
	for event, line := range map[approver.Event]string{
		approver.EventAsked:     "asked",
		approver.EventReleased:  "approved",
		approver.EventGranted:   "approved, and waits for the agent",
		approver.EventGrantUsed: "approved earlier",
		approver.EventDenied:    "denied",
		approver.EventExpired:   "expired",
		approver.EventWithdrawn: "withdrawn",
		approver.EventRefused:   "an answer did not count",
	} {
		if r.Event == event {
			return slog.LevelInfo, line
		}
	}
	if r.Event == approver.EventPosted || r.Event == approver.EventParked || r.Event == approver.EventRan {
		return slog.LevelDebug, string(r.Event)
	}
	return 0, ""
}

// subject returns the attributes of the call that a record is about. They contain no secret:
// the call is masked as on a card.
func subject(r approver.Record) []slog.Attr {
	var out []slog.Attr
	if r.Request != "" {
		out = append(out, slog.String("request", r.Request))
	}
	if r.Call.ID != "" {
		out = append(out, slog.String("call", r.Call.ID)) // several may share a request
	}
	text := func(name, value string) {
		if value != "" {
			out = append(out, slog.String(name, display.OneLine(display.Mask(value))))
		}
	}
	text("agent", r.Call.Agent)
	if r.Call.Peer.Known {
		out = append(out, slog.Uint64("uid", uint64(r.Call.Peer.UID)))
	}
	text("dir", r.Call.Dir)
	text("session", r.Call.Session)
	text("tool", r.Call.Tool)
	if r.Call.Tool != "" {
		if r.Event != approver.EventVerdict || r.Verdict.Decision != approver.Deny { // a denial has no severity
			out = append(out, slog.String("severity", r.Verdict.Severity.String()))
		}
		shown, _ := r.Call.Display().Shown()
		out = append(out, slog.String("what", cutLine(shown)))
	}
	if r.Verdict.Rule != "" {
		text("rule", strings.Trim(r.Verdict.By+"/"+r.Verdict.Rule, "/"))
	}
	return out
}

// cutLine returns a text on one line of at most display.PushLength characters.
func cutLine(s string) string {
	line := []rune(display.OneLine(s))
	if len(line) > display.PushLength {
		return string(line[:display.PushLength-1]) + "…"
	}
	return string(line)
}

// ending returns the attributes that say who decided, or why nobody did.
func ending(r approver.Record) []slog.Attr {
	var out []slog.Attr
	if res := r.Resolution; res.Cause == approver.ByPerson {
		by := res.Person.Name
		if by == "" {
			by = res.Person.ID
		}
		out = append(out, slog.String("by", display.OneLine(by)), slog.String("via", res.Identity.Channel),
			slog.String("how", res.Method.String()))
	} else if r.Event != approver.EventVerdict && res.Cause != approver.NoCause {
		out = append(out, slog.String("why", res.Cause.String()))
	}
	if r.Event == approver.EventRefused {
		out = append(out, slog.String("via", r.Reply.Channel), slog.String("sender", display.OneLine(r.Reply.Sender)),
			slog.String("why", r.Note))
	}
	if r.Event == approver.EventVerdict {
		out = append(out, slog.String("verdict", r.Verdict.Decision.String()),
			slog.String("why", display.OneLine(display.Mask(r.Verdict.Reason))))
	}
	if r.Took > 0 {
		out = append(out, slog.Int64("took_ms", r.Took.Milliseconds()))
	}
	return out
}
