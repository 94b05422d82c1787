// Package logging is the daemon's log: one line for each question and each answer, no
// line of unbounded length, and no trouble repeated over and over.
//
// Read logging.go first, then causes.go, which holds back repeated lines, and bounds.go,
// which cuts long values. calls.go logs what the audit recorded; library.go takes what
// libraries print.
package logging

import (
	"context"
	"io"
	"log/slog"

	"approver.example/configs"
)

// New returns the daemon's log, which writes to w.
func New(w io.Writer, cfg configs.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.Level}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if cfg.Format == configs.LogJSON {
		o.ReplaceAttr = inMilliseconds
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(onceEach{h, newCauses(), "", maxLogLine})
}

// inMilliseconds gives every duration in the JSON log the same unit, and adds it to the key.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Int64(a.Key+"_ms", a.Value.Duration().Milliseconds())
	}
	return a
}

// onceEach is a handler that logs the same trouble once a minute, however many calls meet it,
// and then says how many lines it held back. A line is a trouble if it has an error, unless it
// says what was noticed ("what") or who did something ("by"): each alarm, each freeze and each
// step of a request is logged. Other lines about the calls of one user are logged at a rate
// that the journal accepts; the audit has each call. A failing audit is one trouble, whoever
// meets it. No line is longer than the journal accepts, and none contains hidden or misleading
// characters, whoever supplied the text.
type onceEach struct {
	slog.Handler
	causes *causes
	with   string   // the attributes that With added
	room   lineRoom // what they leave of a line
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

// WithAttrs implements [slog.Handler].
func (h onceEach) WithAttrs(attrs []slog.Attr) slog.Handler {
	cut := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		cut[i] = h.room.attr(a, maxLogPanic)
		h.with += cut[i].String() + " "
	}
	h.Handler = h.Handler.WithAttrs(cut)
	return h
}

// WithGroup implements [slog.Handler].
func (h onceEach) WithGroup(name string) slog.Handler {
	name = h.room.text(name, minLogValue)
	h.Handler = h.Handler.WithGroup(name)
	h.with += name + "."
	return h
}
