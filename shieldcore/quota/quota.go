package quota

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

// maxMemos bounds the refusals that are remembered.
const maxMemos = 1024

var (
	errZero  = errors.New("the quota was not made by New")
	errSpend = errors.New("the number of evaluations to spend must be at least 1")
)

// A Who is whose evaluations are counted. The zero value is refused.
type Who struct {
	Peer  approver.Peer // who connected, by the kernel's word
	Agent string        // the name that the agent claims; not empty
}

// A Quota counts evaluations. Make one with New. All methods are safe for concurrent
// use. The zero value and nil refuse everything.
type Quota struct {
	c       Config
	store   approver.KV
	log     *slog.Logger
	group   sync.WaitGroup
	overall *cell[buckets]
	daily   *daily
	users   *cells[buckets]

	mu     sync.Mutex
	closed bool
	memos  map[memoKey]memo

	evaluated, spent                 atomic.Int64
	refusedRate, refusedBudget, lost atomic.Int64
}

// A memo is a refusal that holds until tokens come back, so that nobody has to look
// at the store before. Others can only take tokens away meanwhile.
type memo struct {
	until time.Time // by this process's clock
	err   *RefusedError
}

// A memoKey is whom a refusal is about; without a name all of a uid, without a uid
// all.
type memoKey struct {
	known bool
	uid   uint32
	name  string
}

// New returns a quota on a store. Close it after use.
func New(kv approver.KV, c Config, log *slog.Logger) (*Quota, error) {
	if kv == nil || log == nil {
		return nil, errors.New("a quota needs a store and a log")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	q := &Quota{c: c, store: kv, log: log, memos: make(map[memoKey]memo)}
	q.users = newCells(func(uid uint32) *cell[buckets] {
		return &cell[buckets]{store: kv, group: &q.group, book: bucketBook(userKey(uid))}
	})
	q.overall = &cell[buckets]{store: kv, group: &q.group, book: bucketBook(overallKey())}
	q.daily = newDaily(kv, &q.group, c, q.alarm, log)
	return q, nil
}

// Evaluate takes one token for an evaluation, or returns a [RefusedError]: ErrRate at
// once if a bucket is empty, ErrUnknown if the store does not answer, within 4 s for
// each of two records. If the overall bucket refuses, the agent's token is lost.
func (q *Quota) Evaluate(ctx context.Context, who Who) error {
	if q == nil || q.store == nil {
		return unknown(errZero)
	}
	return q.count(q.evaluate(ctx, who), &q.evaluated, 1)
}

func (q *Quota) evaluate(ctx context.Context, who Who) error {
	if !who.Peer.Known || who.Agent == "" {
		return &RefusedError{Kind: ErrUnknown, Text: "who makes this call is not known, so nothing is evaluated: let the agent call through approver's socket, with its name"}
	}
	uid, name := who.Peer.UID, nameOf(who.Agent)
	if err := q.recall(memoKey{}, memoKey{known: true, uid: uid}, memoKey{known: true, uid: uid, name: name}); err != nil {
		return err
	}
	// The own bucket comes first, so that an agent that is refused takes nothing from
	// the others. That the overall one is not known to be empty bounds how many
	// records of new uids there are.
	err := q.users.do(ctx, uid, func(s *buckets, now time.Time) (bool, error) {
		changed, scope, err := q.takeUser(s, now, name)
		return changed, q.remember(memoKey{known: true, uid: uid, name: scope}, now, err)
	})
	if err != nil {
		return err
	}
	return q.overall.do(ctx, func(s *buckets, now time.Time) (bool, error) {
		changed, err := q.takeOverall(s, now)
		return changed, q.remember(memoKey{}, now, err)
	})
}

// Spend takes n Tier 2 evaluations out of the day's budget, all or none, or returns a
// [RefusedError]: ErrBudget if fewer are left, ErrUnknown if n is less than 1 or the
// store does not answer within 4 s. Call it before the evaluations run; what was
// taken does not come back.
func (q *Quota) Spend(ctx context.Context, n int) error {
	switch {
	case q == nil || q.store == nil:
		return unknown(errZero)
	case n < 1:
		return q.count(unknown(errSpend), nil, 0)
	}
	return q.count(q.daily.take(ctx, int64(n)), &q.spent, int64(n))
}

// count counts what became of a call.
func (q *Quota) count(err error, good *atomic.Int64, n int64) error {
	switch {
	case err == nil:
		good.Add(n)
	case errors.Is(err, ErrRate):
		q.refusedRate.Add(1)
	case errors.Is(err, ErrBudget):
		q.refusedBudget.Add(1)
	default:
		q.lost.Add(1)
	}
	return err
}

// recall returns a refusal that still holds.
func (q *Quota) recall(keys ...memoKey) error {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, k := range keys {
		if m, ok := q.memos[k]; ok {
			if now.Before(m.until) {
				return m.err
			}
			delete(q.memos, k)
		}
	}
	return nil
}

// remember keeps a refusal until it may be another; err is returned as it is.
func (q *Quota) remember(k memoKey, now time.Time, err error) error {
	var r *RefusedError
	if !errors.As(err, &r) {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.memos) >= maxMemos {
		clear(q.memos) // the store knows the same
	}
	q.memos[k] = memo{until: time.Now().Add(r.Again.Sub(now)), err: r}
	return err
}

// alarm tells of shares, in their order.
func (q *Quota) alarm(alarms []Alarm) {
	for _, a := range alarms {
		q.log.Warn("a share of the day's Tier 2 evaluations is taken", "day", a.Day, "percent", a.Share, "taken", a.Charged, "budget", a.Budget)
	}
	if q.c.OnAlarm == nil || len(alarms) == 0 {
		return
	}
	q.group.Go(func() {
		for _, a := range alarms {
			q.onAlarm(a)
		}
	})
}

// onAlarm survives a defect of whoever is told.
func (q *Quota) onAlarm(a Alarm) {
	defer func() {
		if p := recover(); p != nil {
			q.log.Error("telling of the budget's alarm failed", "panic", p)
		}
	}()
	q.c.OnAlarm(a)
}

// A Snapshot is the consumption. Charged counts for all replicas and this day; the
// others for this process since its start.
type Snapshot struct {
	Day     string `json:"day"`     // in UTC, as 2006-01-02
	Budget  int64  `json:"budget"`  // Tier 2 evaluations on one day
	Charged int64  `json:"charged"` // Tier 2 evaluations taken, by all, leases included
	Leased  int64  `json:"leased"`  // of them, what this process holds and has not spent

	Evaluated      int64 `json:"evaluated"` // calls of Evaluate that got a token
	Spent          int64 `json:"spent"`     // Tier 2 evaluations that Spend gave
	RefusedRate    int64 `json:"refused_rate"`
	RefusedBudget  int64 `json:"refused_budget"`
	RefusedUnknown int64 `json:"refused_unknown"`
}

// Snapshot reads the consumption of the store's day. With an error, what this process
// counted is there all the same.
func (q *Quota) Snapshot(ctx context.Context) (Snapshot, error) {
	if q == nil || q.store == nil {
		return Snapshot{}, unknown(errZero)
	}
	out := Snapshot{
		Budget: q.c.DailyBudget, Evaluated: q.evaluated.Load(), Spent: q.spent.Load(),
		RefusedRate: q.refusedRate.Load(), RefusedBudget: q.refusedBudget.Load(), RefusedUnknown: q.lost.Load(),
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	now, err := q.store.Now(ctx)
	if err != nil {
		return out, unknown(err)
	}
	out.Day = dayOf(now)
	key := dayKey(out.Day)
	value, _, err := q.store.Get(ctx, key)
	if errors.Is(err, approver.ErrNotFound) {
		return out, nil
	}
	var s day
	if err == nil {
		err = decode(value, &s)
	}
	if err == nil {
		err = checkDay(&s, key)
	}
	if err != nil {
		return out, unknown(err)
	}
	out.Charged = s.Charged
	q.daily.mu.Lock()
	defer q.daily.mu.Unlock()
	if q.daily.lease.day == out.Day {
		out.Leased = q.daily.lease.left
	}
	return out, nil
}

// Close refuses all later calls, waits for those that are under way, at most about
// 4 s, and gives back what this process has leased of the day. A nil quota has
// nothing to close.
func (q *Quota) Close(ctx context.Context) error {
	if q == nil || q.store == nil {
		return nil
	}
	q.mu.Lock()
	closed := q.closed
	q.closed = true
	q.mu.Unlock()
	if closed {
		return nil
	}
	q.users.close()
	q.overall.close()
	q.daily.cell.close()
	q.group.Wait()
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	return q.daily.giveBack(ctx)
}
