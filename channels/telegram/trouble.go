package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// This file decides what follows a failed call for updates, and what the operator is told.

// doubts is how often Telegram is asked again before a token counts as revoked: a proxy, or
// Telegram itself for a moment, may answer 401 or 404 to a good token.
const doubts = 3

// Reception says whether answers reach this process now.
func (c *Channel) Reception() approver.Reception { return c.meter.Reception() }

// errTaken ends a pairing on a connection of its own.
var errTaken = &calls.Error{Code: conflict, Words: "telegram: another program receives for this bot, probably the " +
	"daemon of approver on another machine or of another user: run approver pair there, or stop it for as long as this " +
	"takes"}

// outlive handles a polling error and waits before the next try. It returns an error only if
// the token has not been valid for some time, or if ctx ends.
func (l *listener) outlive(ctx context.Context, err error, tries int) error {
	wait := l.pace.retry.After(tries, err)
	switch kind := calls.KindOf(err); {
	case kind == calls.Revoked:
		l.meter.Failed(err)
		l.complain(slog.LevelWarn, "token", "telegram does not know the bot token; asking again", err)
		if err := l.confirm(ctx, err); err != nil {
			l.meter.Failed(err)
			return err
		}
	case calls.Coded(err, webhook):
		l.meter.Failed(err)
		if err := l.deleteWebhook(ctx); err == nil {
			wait = 0
		}
	case calls.Coded(err, conflict):
		l.meter.Failed(err)
		if l.pairsOnly {
			return errTaken // every poll of ours would take answers from the other program
		}
		l.taken = time.Now()
		l.complain(slog.LevelError, conflict, "another process receives this bot's updates: answers may go to it and be "+
			"lost. Give each approver its own bot, or stop the other program", err)
		wait = calls.Jitter(l.pace.conflict)
	case kind == calls.Limited:
		l.meter.Failed(fmt.Errorf("%w. It is tried again then: no restart is needed", err))
		l.complain(slog.LevelWarn, "limit", "telegram asks for patience", err)
	default:
		l.meter.Failed(fmt.Errorf("%w. It is tried again all the time: no restart is needed", err))
		l.complain(slog.LevelWarn, "away", "telegram cannot be reached; trying again", err)
	}
	return calls.Sleep(ctx, wait)
}

// confirm asks Telegram whether the token is really invalid. It returns nil at the first answer
// that does not say so, and the error if every answer does.
func (l *listener) confirm(ctx context.Context, err error) error {
	for range doubts {
		if err := calls.Sleep(ctx, l.pace.doubt); err != nil {
			return err
		}
		again := l.whoami(ctx)
		if calls.KindOf(again) != calls.Revoked {
			return nil
		}
		err = again
	}
	return err
}

// arrived notes that Telegram answered a poll. While another program takes polls from us, a
// single success proves nothing.
func (l *listener) arrived() {
	if !l.taken.IsZero() && time.Since(l.taken) < l.pace.alone {
		return
	}
	l.taken = time.Time{}
	l.meter.Succeeded()
	if lasted, said := l.told.over(time.Now()); said {
		l.log.Info("telegram answers again", "after", lasted.Round(time.Second))
	}
}

// complain logs a problem, once in a while for each cause.
func (l *listener) complain(level slog.Level, cause, what string, err error) {
	if !l.told.due(cause, time.Now(), l.pace.repeat, l.pace.lasting) {
		return
	}
	var with []any
	if err != nil {
		with = []any{"error", err}
	}
	l.log.Log(context.Background(), level, what, with...)
}

// troubleLog keeps one cause from filling the log. Only the goroutine of Run uses it. It
// outlives Run, which is called again after a failure. The zero value is ready.
type troubleLog struct {
	last  map[string]time.Time // when each cause was last logged
	since time.Time            // when the present trouble began; zero if there is none
	said  bool                 // whether the present trouble was logged
}

// due reports whether a trouble is to be logged: if none of its cause was logged within repeat,
// or if it has lasted for lasting and only an earlier trouble was logged.
func (c *troubleLog) due(cause string, now time.Time, repeat, lasting time.Duration) bool {
	if c.since.IsZero() {
		c.since, c.said = now, false
	}
	last, before := c.last[cause]
	if before && now.Sub(last) < repeat && (c.said || now.Sub(c.since) < lasting) {
		return false
	}
	if c.last == nil {
		c.last = map[string]time.Time{}
	}
	c.last[cause], c.said = now, true
	return true
}

// over notes that the trouble has ended. It returns how long it lasted, and whether it was
// logged.
func (c *troubleLog) over(now time.Time) (lasted time.Duration, said bool) {
	if c.since.IsZero() {
		return 0, false
	}
	lasted, said = now.Sub(c.since), c.said
	c.since = time.Time{}
	return lasted, said
}
