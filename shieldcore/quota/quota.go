package quota

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

var (
	errZero  = errors.New("the quota was not made by New")
	errSpend = errors.New("the number of evaluations to spend must be at least 1")
)

// A Who identifies whose evaluations are counted. The zero value is refused.
type Who struct {
	Peer  approver.Peer // who connected, as the kernel reports it
	Agent string        // the name that the agent claims; not empty
}

// A Quota counts evaluations. Make one with New. All methods are safe for concurrent
// use. The zero value and nil refuse everything.
type Quota struct {
	c       Config
	rates   *updater[buckets]
	budgets *updater[day]
	daily   *daily
	log     *slog.Logger
	telling sync.WaitGroup // goroutines that give alarms

	evaluated, spent                 atomic.Int64
	refusedRate, refusedBudget, lost atomic.Int64
}

// New returns a quota on a store. Close it after use.
func New(kv approver.KV, c Config, log *slog.Logger) (*Quota, error) {
	if kv == nil || log == nil {
		return nil, errors.New("a quota needs a store and a log")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	days := &daily{budget: c.DailyBudget, alarmAt: slices.Clone(c.AlarmAt), log: log}
	return &Quota{c: c, rates: newUpdater[buckets](kv), budgets: newUpdater[day](kv), daily: days, log: log}, nil
}

// Evaluate takes one token for an evaluation, or returns a [RefusedError]: ErrRate at
// once if a bucket is empty, ErrUnknown if the store does not answer, within 2 s
// for each of three steps. If the overall bucket refuses, the agent's token is lost.
func (q *Quota) Evaluate(ctx context.Context, who Who) error {
	if q == nil || q.rates == nil {
		return unknown(errZero)
	}
	return q.count(q.evaluate(ctx, who), &q.evaluated, 1)
}

func (q *Quota) evaluate(ctx context.Context, who Who) error {
	if !who.Peer.Known || who.Agent == "" {
		return &RefusedError{Kind: ErrUnknown,
			Text: "who makes this call is not known, so nothing is evaluated: let the agent call through approver's socket, " +
				"with its name"}
	}
	uid, name := who.Peer.UID, nameOf(who.Agent)
	// Take from the user's bucket first, so that a refused agent takes nothing from the
	// others. Checking the overall bucket before that bounds the records of new uids.
	if err := q.bucket(ctx, overallSchema(), q.lookOverall); err != nil {
		return err
	}
	take := func(s *buckets, now time.Time) (bool, error) { return q.takeUser(s, now, name) }
	if err := q.bucket(ctx, bucketSchema(userKey(uid)), take); err != nil {
		return err
	}
	return q.bucket(ctx, overallSchema(), q.takeOverall)
}

// bucket changes a record of buckets.
func (q *Quota) bucket(ctx context.Context, b schema[buckets],
	step func(s *buckets, now time.Time) (bool, error)) error {
	o, err := q.rates.change(ctx, b, func(s *buckets, now time.Time, _ approver.Rev) (bool, error) {
		return step(s, now)
	})
	if err != nil {
		return unknown(err)
	}
	return o.result
}

// Spend takes n Tier 2 evaluations out of the day's budget, all or none, or returns a
// [RefusedError]: ErrBudget if fewer are left, ErrUnknown if n is less than 1 or the
// store does not answer within 2 s. Call it before the evaluations run; what was
// taken does not come back.
func (q *Quota) Spend(ctx context.Context, n int) error {
	switch {
	case q == nil || q.budgets == nil:
		return unknown(errZero)
	case n < 1:
		return q.count(unknown(errSpend), nil, 0)
	}
	if !q.budgets.open() { // Close waits for the alarms too
		return q.count(unknown(errClosed), nil, 0)
	}
	defer q.budgets.running.Done()
	alarms, err := q.daily.take(ctx, q.budgets, int64(n))
	q.alarm(alarms)
	return q.count(err, &q.spent, int64(n))
}

// count counts the outcome of a call.
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

// alarm logs alarms and calls OnAlarm for them, in their order.
func (q *Quota) alarm(alarms []Alarm) {
	for _, a := range alarms {
		q.log.Warn("a share of the day's Tier 2 evaluations is taken", "day", a.Day, "percent", a.Share, "taken", a.Charged,
			"budget", a.Budget)
	}
	if q.c.OnAlarm == nil || len(alarms) == 0 {
		return
	}
	q.telling.Go(func() {
		for _, a := range alarms {
			q.onAlarm(a)
		}
	})
}

// onAlarm calls OnAlarm, and recovers from its panics.
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
	Charged int64  `json:"charged"` // Tier 2 evaluations taken, by all
	Leased  int64  `json:"leased"`  // always 0: nothing is taken ahead; programs read it

	Evaluated      int64 `json:"evaluated"` // calls of Evaluate that got a token
	Spent          int64 `json:"spent"`     // Tier 2 evaluations that Spend gave
	RefusedRate    int64 `json:"refused_rate"`
	RefusedBudget  int64 `json:"refused_budget"`
	RefusedUnknown int64 `json:"refused_unknown"`
}

// Snapshot reads the consumption of the store's day. Even with an error, it has the
// counts of this process.
func (q *Quota) Snapshot(ctx context.Context) (Snapshot, error) {
	if q == nil || q.budgets == nil {
		return Snapshot{}, unknown(errZero)
	}
	out := Snapshot{
		Budget: q.c.DailyBudget, Evaluated: q.evaluated.Load(), Spent: q.spent.Load(),
		RefusedRate: q.refusedRate.Load(), RefusedBudget: q.refusedBudget.Load(), RefusedUnknown: q.lost.Load(),
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	b := q.daily.schema()
	b.key = func(now time.Time) string { return dayKey(dayOf(now)) } // that of the store, also if it went back
	s, r, err := read(ctx, q.budgets.store, b)
	if !r.now.IsZero() {
		out.Day = dayOf(r.now)
	}
	if err != nil {
		return out, unknown(err)
	}
	out.Charged = s.Charged
	return out, nil
}

// Close refuses all later calls and waits for those that are under way, at most about
// 2 s. A nil quota has nothing to close.
func (q *Quota) Close() {
	if q == nil || q.rates == nil {
		return
	}
	q.rates.close()
	q.budgets.close()
	q.telling.Wait()
}

// The kinds of [RefusedError], for errors.Is.
var (
	ErrRate    = errors.New("the rate limit is reached")
	ErrBudget  = errors.New("the daily budget is spent")
	ErrUnknown = errors.New("what is left cannot be known")
)

// A RefusedError says that a call must not be evaluated. It wraps ErrRate, ErrBudget
// or ErrUnknown.
type RefusedError struct {
	Kind  error     // ErrRate, ErrBudget or ErrUnknown
	Again time.Time // by the store's clock; zero if nobody knows
	Text  string    // one sentence with the cure; it may be shown to the agent
	Cause error     // for logs and people, of ErrUnknown only
}

// Error returns the text, without the cause.
func (e *RefusedError) Error() string { return e.Text }

// Unwrap returns the kind, and the cause if there is one.
func (e *RefusedError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

func unknown(cause error) *RefusedError {
	return &RefusedError{
		Kind: ErrUnknown, Cause: cause,
		Text: "what is left of the evaluations cannot be known, so nothing is evaluated: run the call again when the " +
			"store of approver answers, which `approver doctor` checks",
	}
}

// clockText writes when something will be possible again, rounded up.
func clockText(t time.Time) string {
	return t.Add(100*time.Millisecond - 1).Truncate(100 * time.Millisecond).UTC().Format("2006-01-02 15:04:05.0 UTC")
}

// By is in all verdicts of [Limited].
const By = "quota"

// Limited puts the limits before a stage: a call beyond a rate is blocked, not queued,
// and a call beyond the day's budget is not evaluated. The zero value refuses everything.
type Limited struct {
	Quota *Quota
	Stage approver.Stage
}

// Judge takes a token and one evaluation of the day's budget, and asks the stage. If that
// fails, the error is a [RefusedError]. A spent budget is an [approver.UnavailableError]
// too, so that the fail mode decides. An exceeded rate and a store that does not answer
// block in every mode.
func (l Limited) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	err := l.Quota.Evaluate(ctx, Who{Peer: call.Peer, Agent: call.Agent})
	if err == nil {
		err = l.Quota.Spend(ctx, 1)
	}
	if l.Stage == nil {
		err = errors.Join(err, errors.New("there is no stage to ask"))
	}
	if err != nil {
		return refused(err)
	}
	return l.Stage.Judge(ctx, call)
}

// refused says what becomes of a call that the limits refuse.
func refused(err error) (approver.Verdict, error) {
	v := approver.Verdict{By: By, Tier: approver.TierEvaluation, Reason: reason(err)}
	if errors.Is(err, ErrBudget) && !errors.Is(err, ErrRate) && !errors.Is(err, ErrUnknown) {
		err = &approver.UnavailableError{Err: err}
	}
	return v, err
}

// reason is what the agent is told.
func reason(err error) string {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Text
	}
	return "the security evaluation that this call needs is not available, so it was blocked"
}
