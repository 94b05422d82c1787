package broadcaster

import (
	"context"
	"slices"
	"sync"
	"time"

	"approver.example/tokens"
)

// A delivery is the posting of some cards of a request, each until it is there or given up. One that waits for its
// turn is a few hundred bytes, and no goroutine: thousands may wait.
type delivery struct {
	poster   *poster
	id       string // of the request
	replaces bool   // the cards replace others: see note
	began    time.Time

	mu     sync.Mutex
	under  []int // the postings that are under way
	shown  bool  // one of them is there
	batch  []report
	noting bool      // somebody stores reports
	noteAt time.Time // when the record is to say again that this process posts them: see senders
}

// A carried card is one of a delivery.
type carried struct {
	*delivery
	send

	i     int // of the posting
	code  tokens.Code
	tried time.Time // since when it is tried, without the time in which it waited for its turn
}

// post posts the cards with these codes, all at once as far as their chats have room, so that a dead channel delays
// nobody, and the others when their turn comes. If none could be shown, the request is denied. replaces says that
// the cards replace others: see note. It returns when those are done that had room at once.
func (d *poster) post(ctx context.Context, r Request, codes map[int]tokens.Code, replaces bool) {
	if !d.ensureQuestionRecorded(ctx, r) {
		return
	}
	v := &delivery{poster: d, id: r.ID, replaces: replaces, began: time.Now()}
	for i := range codes {
		v.under = append(v.under, i)
	}
	slices.Sort(v.under)
	d.senders.begin(v)
	var now sync.WaitGroup
	for _, i := range slices.Clone(v.under) {
		c := &carried{delivery: v, i: i, code: codes[i], send: sendOf(r, i, v.began)}
		if r.Postings[i].Page {
			c.code = tokens.Code{} // nobody can answer there
		}
		c.waits = c
		if end := d.channels.outbox.add(&c.send); end != nil {
			now.Go(func() { c.tell(ctx, d.postUntil(ctx, r, c, PostTimeout, end)) })
		}
	}
	now.Wait()
}

// sendOf is how urgent a new card is, by the clock of this process.
func sendOf(r Request, i int, now time.Time) send {
	p := r.Postings[i]
	minted := p.Until.Add(-sendingFor)
	left := r.Due.Sub(minted)
	due := now.Add(left)
	return send{
		to: p.To, severity: r.Verdict.Severity, due: due, hasty: due.Add(-min(answerTime, left/4)), since: now,
		request: r.ID,
	}
}

// begin posts a card whose turn has come, unless it is not needed any more.
func (c *carried) begin(end turn) {
	c.poster.tasks.start(func(ctx context.Context) {
		r, left := c.poster.waitWhileWanted(ctx, c.id, c.i, 0, 0)
		if left <= 0 {
			end(errUnused)
			if ctx.Err() == nil {
				c.drop()
			}
			return
		}
		c.tell(ctx, c.poster.postUntil(ctx, r, c, min(left, PostTimeout), end))
	})
}

// drop forgets a card that is not needed any more.
func (c *carried) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done(c.i)
	if len(c.under) == 0 {
		c.poster.senders.end(c.delivery)
	}
}

// done notes that the end of a posting is known. The caller holds mu.
func (v *delivery) done(i int) {
	v.under = slices.DeleteFunc(v.under, func(other int) bool { return other == i })
}

// tell stores a report, together with those that come meanwhile. After the last one of a delivery that showed
// nothing, the request may have to be denied.
func (v *delivery) tell(ctx context.Context, rep report) {
	rep.replaces = v.replaces
	v.mu.Lock()
	defer v.mu.Unlock()
	v.batch = append(v.batch, rep)
	if v.noting {
		return
	}
	v.noting = true
	for len(v.batch) > 0 {
		batch := v.batch
		v.batch = nil
		v.mu.Unlock()
		v.poster.noteBatch(ctx, v.id, batch)
		v.mu.Lock()
		for _, rep := range batch {
			if !rep.again {
				v.done(rep.i)
			}
			v.shown = v.shown || rep.err == nil && !rep.page
		}
	}
	v.noting = false
	if len(v.under) > 0 {
		return
	}
	v.poster.senders.end(v)
	if ctx.Err() == nil && !v.shown {
		v.mu.Unlock()
		v.poster.noteUnreachable(ctx, v.id)
		v.mu.Lock()
	}
}

// again waits until a card may be tried again, after a pause and in its turn. It returns for how long the request then
// still needs it; zero if it does not.
func (c *carried) again(ctx context.Context, pause, more time.Duration) (left time.Duration, end turn) {
	d := c.poster
	for {
		if _, left = d.waitWhileWanted(ctx, c.id, c.i, pause, more); left <= 0 {
			return 0, nil
		}
		began := time.Now()
		s := &send{to: c.to, severity: c.severity, due: c.due, hasty: c.hasty, since: c.since, request: c.request}
		end, err := d.channels.outbox.waitFor(ctx, s, left)
		c.tried = c.tried.Add(time.Since(began))
		if pause, more = 0, 0; err != nil { // it may have got more time
			continue
		}
		if time.Since(began) < retryEvery {
			return left, end
		}
		if _, left = d.waitWhileWanted(ctx, c.id, c.i, 0, 0); left <= 0 {
			end(errUnused)
			return 0, nil
		}
		return left, end
	}
}
