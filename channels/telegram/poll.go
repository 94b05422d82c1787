package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

const (
	// workers bounds how many answers are handled at the same time, and
	// refusers how many strangers are turned away.
	workers  = 64
	refusers = 4
	// remembered is how many finished updates are remembered. Telegram repeats at most 100 that
	// are not confirmed.
	remembered = 1024
	// Between polls, the work of the last poll gets quickWork to end, so that the next poll
	// confirms it; slowWork if all that came is still being handled.
	quickWork = 100 * time.Millisecond
	slowWork  = 500 * time.Millisecond
)

// A listener is one Run of the channel.
type listener struct {
	*Channel
	reply    approver.ReplyFunc
	username string // the bot's own, for commands that name it
	ledger   *ledger
	people   *queues
	freezing *queues // of the same people
	others   *queues
	noted    *receiving.Seen[string]
	hinted   calls.Pauses[int64] // strangers who were told lately that they do not count
	hints    receiving.Hints[attempt]
	tried    calls.Pauses[int64] // people who were told lately that a code is not the one of pairing
	taken    time.Time           // when another process last took the poll; zero if it no longer does
}

func newListener(c *Channel, reply approver.ReplyFunc) *listener {
	return &listener{
		Channel: c, reply: receiving.Replies(reply, c.log, "panic while an answer was handled", &c.Speech),
		ledger: newLedger(remembered), noted: receiving.NewSeen[string](remembered),
		people: newQueues(workers), freezing: newQueues(workers), others: newQueues(refusers),
	}
}

// Run receives until ctx ends, and then returns nil. It returns an error early only if Telegram
// has said several times over some time that the token is not valid. Run may then be called
// again, and works once the token does. Network trouble, a webhook that is set, and a second
// process that receives for the same bot are logged, and Run goes on.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	l := newListener(c, reply)
	defer c.client.CloseIdleConnections()
	defer l.others.wait()
	defer l.people.wait()
	defer l.freezing.wait()
	defer cancel()
	defer c.meter.Stopped()
	greet, listen := l.greet, l.listen
	if c.hook != nil {
		greet, listen = l.meet, l.attend
	}
	err := greet(ctx)
	if err == nil {
		var registering sync.WaitGroup
		defer registering.Wait()
		defer cancel()
		registering.Go(func() { l.register(ctx) })
		err = listen(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// whoami learns the bot's name.
func (l *listener) whoami(ctx context.Context) error {
	name, err := l.me(ctx)
	if err == nil {
		l.username = name
	}
	return err
}

// greet learns the bot's name and takes away a webhook.
func (l *listener) greet(ctx context.Context) error {
	err := l.persist(ctx, func() error { return l.whoami(ctx) })
	if err != nil {
		return err
	}
	var hook string
	err = l.persist(ctx, func() error {
		return l.call(ctx, 0, "getWebhookInfo", func(ctx context.Context) error {
			info, err := l.api.GetWebhookInfo(ctx)
			if err == nil {
				hook = info.URL
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if hook != "" {
		if err := l.persist(ctx, func() error { return l.deleteWebhook(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// deleteWebhook removes a webhook that somebody set, because it excludes polling. Updates that
// it has not fetched yet are kept for us.
func (l *listener) deleteWebhook(ctx context.Context) error {
	l.complain(slog.LevelWarn, webhook, "a webhook is set for this bot, which keeps answers from us: deleting it. "+
		"If it comes back, another program uses the same bot", nil)
	return l.call(ctx, 0, "deleteWebhook", func(ctx context.Context) error {
		_, err := l.api.DeleteWebhook(ctx, &bot.DeleteWebhookParams{})
		return err
	})
}

// persist repeats f until it succeeds, ctx ends, or no retry can help.
func (l *listener) persist(ctx context.Context, f func() error) error {
	for tries := 0; ; tries++ {
		err := f()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if err := l.outlive(ctx, err, tries); err != nil {
			return err
		}
	}
}

// listen polls until ctx ends or the token turns out not to be valid. Telegram does not hold
// the first poll, nor the first one after a failure: its answer says at once whether answers
// arrive.
func (l *listener) listen(ctx context.Context) error {
	failures, hold := 0, time.Duration(0)
	for ctx.Err() == nil {
		began := time.Now()
		batch, err := l.getUpdates(ctx, l.ledger.offset(), hold)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if err := l.outlive(ctx, err, failures); err != nil {
				return err
			}
			failures++
			if hold = 0; calls.Coded(err, conflict) {
				hold = l.pace.poll // a short poll would win without showing who wins the long ones
			}
			continue
		}
		failures = 0
		l.arrived()
		if len(batch) > 0 {
			l.takeAll(ctx, batch)
		} else {
			l.ledger.confirmed()
			l.unhurried(ctx, hold, time.Since(began))
		}
		hold = l.pace.poll
	}
	return nil
}

// unhurried pauses where a server answers polls at once that it should hold.
func (l *listener) unhurried(ctx context.Context, hold, took time.Duration) {
	if hold == 0 || took >= l.pace.empty {
		return
	}
	if l.noted.First("unheld") {
		l.log.Warn("the Bot API server does not hold polls (it ignores timeout): answers are asked for once in a while "+
			"instead", "every", l.pace.empty)
	}
	_ = calls.Sleep(ctx, l.pace.empty-took)
}

// takeAll begins to handle what a poll brought.
func (l *listener) takeAll(ctx context.Context, batch []json.RawMessage) {
	fresh := false
	for _, raw := range batch {
		fresh = l.take(ctx, raw) || fresh
	}
	if fresh {
		l.ledger.idle(ctx, quickWork)
		return
	}
	// Updates that come again are still being handled (or cannot be read at all): polling at
	// once would only bring them again.
	if !l.ledger.busy() {
		_ = calls.Sleep(ctx, slowWork)
	}
	l.ledger.idle(ctx, slowWork)
}

// take begins to handle one update and reports whether it is new.
func (l *listener) take(ctx context.Context, raw json.RawMessage) bool {
	var head struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.ID <= 0 {
		l.log.Warn("an update without an id is ignored")
		return false
	}
	if !l.ledger.begin(head.ID) {
		return false
	}
	var u models.Update
	if err := json.Unmarshal(raw, &u); err != nil {
		l.log.Warn("an update that cannot be read is ignored", "update", head.ID, "error", l.scrub(err.Error()))
		l.ledger.end(head.ID)
		return true
	}
	done := func() { l.ledger.end(head.ID) }
	if u.CallbackQuery != nil {
		l.takeTap(ctx, u.CallbackQuery, eventOf(head.ID), done)
		return true
	}
	l.takeMessage(ctx, raw, &u, eventOf(head.ID), done)
	return true
}

// eventOf names an update.
func eventOf(id int64) string { return strconv.FormatInt(id, 10) }

func (l *listener) takeTap(ctx context.Context, q *models.CallbackQuery, event string, done func()) {
	who, err := l.guard.tap(q)
	who.event = event
	if err != nil {
		l.note(err, q.From.ID, chatOf(q.Message))
		done() // a refusal may be lost in a crash
		asked := sender{id: q.From.ID, query: q.ID}
		if q.Message.Message != nil {
			asked.place = whereIs(q.Message.Message)
		}
		l.others.try(strconv.FormatInt(q.From.ID, 10), l.safely(func() { l.refuse(ctx, asked, err) }))
		return
	}
	who.query = q.ID
	id, _, _, _ := parseButton(q.Data)
	l.people.do(queueOf(who, id.String()), l.safely(func() { defer done(); l.tap(ctx, who, q) }))
}

func (l *listener) takeMessage(
	ctx context.Context, raw json.RawMessage, u *models.Update, event string, done func(),
) {
	m := u.Message
	who, err := l.guard.message(m)
	if m == nil && u.EditedMessage != nil {
		m, err = u.EditedMessage, errSecondHand
	} else if l.pairs(ctx, m, err) {
		done()
		return
	}
	if who, asks, ok := l.stops(m, err); ok {
		who.aside, who.event = asideOf(raw), event
		l.freezing.do(queueOf(who, ""), l.safely(func() { defer done(); l.look(ctx, who, m, asks) }))
		return
	}
	if err != nil {
		if m != nil && m.From != nil {
			l.note(err, m.From.ID, m.Chat.ID)
			l.others.try(strconv.FormatInt(m.From.ID, 10), l.safely(func() {
				l.unheard(ctx, m, err)
				if errors.Is(err, errStranger) || errors.Is(err, errElsewhere) {
					l.Note(ctx, m.Text+" "+m.Caption, from(sender{place: whereIs(m), id: m.From.ID, name: displayName(m.From)},
						approver.Reply{}))
				}
			}))
		}
		done()
		return
	}
	who.aside, who.event = asideOf(raw), event
	request, _, _ := l.guard.cardOf(m)
	if why, ok := l.asked.find(who.place, m); ok {
		request = why.request
	}
	queues := l.people
	if _, ok := l.freezes(m.Text); ok { // it waits for no yes, which may wait for the store
		queues = l.freezing
	}
	queues.do(queueOf(who, request), l.safely(func() { defer done(); l.text(ctx, who, m) }))
}

// queueOf names the queue in which an answer is handled: in order with the same person's other
// answers to the same request, and in parallel to the rest, because an approval may wait for
// the agent to take it.
func queueOf(who sender, request string) string { return strconv.FormatInt(who.id, 10) + " " + request }

// safely keeps a bug in one event from ending the daemon.
func (l *listener) safely(f func()) func() {
	return func() {
		defer receiving.Recovered(l.log, "panic while an event was handled")
		f()
	}
}

// chatOf is the chat of a card that was tapped, even if Telegram no longer shows the message;
// zero if there is none.
func chatOf(m models.MaybeInaccessibleMessage) int64 {
	switch {
	case m.Message != nil:
		return m.Message.Chat.ID
	case m.InaccessibleMessage != nil:
		return m.InaccessibleMessage.Chat.ID
	}
	return 0
}

// note logs, once per person and reason, who was refused: it tells the operator which id is
// missing from the configuration.
func (l *listener) note(err error, from, chat int64) {
	if l.noted.First(fmt.Sprint(from, chat, err)) {
		l.log.Info("not listening", "reason", err, "sender", from, "chat", chat)
	}
}
