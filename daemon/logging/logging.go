// Package logging makes the daemon's log: one line for each question and each answer, no
// line without a bound, and no trouble told again and again.
//
// Read logging.go first, then causes.go, which holds back what was told, and bounds.go,
// which cuts what is long. calls.go tells what the audit recorded; library.go takes what
// libraries write.
package logging

import (
	"context"
	"io"
	"log/slog"

	"approver.example/configs"
)

// New is the daemon's own log.
func New(w io.Writer, cfg configs.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.Level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if cfg.Format == configs.LogJSON {
		o.ReplaceAttr = inMilliseconds
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(onceEach{h, newCauses(), "", maxLogLine})
}

// inMilliseconds gives every duration of the JSON log one unit, which its name says.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Int64(a.Key+"_ms", a.Value.Duration().Milliseconds())
	}
	return a
}

// onceEach is a handler that tells of one trouble once a minute, however many calls
// meet it, and then says how often it was. Lines without an error are no trouble, nor are
// those that say what was noticed ("what") or who did something ("by"): each alarm, each
// freeze and each line of a request's story is told. Other lines about the calls of one
// user are told at a pace that the journal takes; the audit has each call. That the audit
// fails is one trouble, whoever meets it. No line is
// longer than the log takes, and none has a character that is not seen as what it is,
// whoever says what in it.
type onceEach struct {
	slog.Handler
	causes *causes
	with   string   // what With added
	room   lineRoom // what that leaves of a line
}

// Handle passes a line on unless it is held back.
func (h onceEach) Handle(ctx context.Context, r slog.Record) error {
	t := h.topic(r)
	held, how := 0, tellIt
	if t.often() {
		held, how = h.causes.pace(t.uid, r.Time)
	}
	if how == tellIt && t.trouble {
		held, how = h.causes.tell(t, r.Time)
	}
	switch how {
	case untold:
		return nil
	case tellMore:
		r = slog.NewRecord(r.Time, slog.LevelWarn,
			"MANY LINES like the last ones: for a minute, others are not told; the audit has each call, or an alarm says how "+
				"many it lacks", r.PC)
		if t.uid != "" {
			r.AddAttrs(slog.String("uid", t.uid))
		}
	case tellIt:
	}
	room := h.room
	r = room.record(r)
	if held > 0 {
		r.AddAttrs(slog.Int("held_back", held))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is With of slog.
func (h onceEach) WithAttrs(attrs []slog.Attr) slog.Handler {
	cut := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		cut[i] = h.room.attr(a, maxLogPanic)
		h.with += cut[i].String() + " "
	}
	h.Handler = h.Handler.WithAttrs(cut)
	return h
}

// WithGroup is WithGroup of slog.
func (h onceEach) WithGroup(name string) slog.Handler {
	name = h.room.text(name, minLogValue)
	h.Handler = h.Handler.WithGroup(name)
	h.with += name + "."
	return h
}
