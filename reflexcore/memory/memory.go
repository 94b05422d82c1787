// Package memory stores what matters of an agent's earlier calls. The last calls are for loop
// detection (package loop). The files that they made may be deleted without a question. The files
// into which they wrote secrets, decoded texts or data from the network keep that taint, so that
// running or sending them in a later call is judged as in the same call.
//
// There are four kinds of records in a [KV]. The trace of a session (calls, made files) belongs to
// peer uid, agent, project and session. Losing it costs a warning or adds a question, so it is
// written after the answer. The taint of files belongs to the uid alone, because files do not care
// which agent or session wrote them. Losing it would let calls pass, so it is durable before the
// call is released, and a failing store is an error. What the model has read (the labels of package
// flow) and which destinations it used belongs to uid, agent and project, and is durable in the same
// way. So are the names in texts that tools returned and that speak to the model, which belong to the
// uid.
//
// Read memory.go first, then stored.go, and then trace.go, taint.go with sieve.go, seen.go and
// demands.go, one for each kind of record.
package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"approver.example"
	"approver.example/reflexcore/loop"
)

// KV is the part of [approver.KV] that the memory needs.
type KV interface {
	Get(ctx context.Context, key string) (value []byte, rev approver.Rev, err error)
	Put(ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time) error
}

const (
	keepTrace = 2 * 24 * time.Hour // after the last change
	keepTaint = 30 * 24 * time.Hour

	maxRecord   = 64 << 10 // bytes of a record
	maxMade     = 300      // files that a session made
	maxFiles    = 500      // files with a taint of one uid that are known by name
	maxPath     = 1024     // bytes of a path
	maxCells    = 512      // records of each kind in memory
	refresh     = 5 * time.Second
	flushEvery  = 2 * time.Second
	flushAtMost = 5 * time.Second
	attempts    = 5
)

// A Key says whose memory it is. Everything but the uid is claimed by the agent, so it can only
// narrow the memory.
type Key struct {
	Peer                    approver.Peer
	Agent, Project, Session string
}

// A Memory stores what matters of earlier calls. Create it with [New]. It is safe for concurrent
// use.
type Memory struct {
	store  KV // nil: only as long as the process lives
	limits loop.Limits
	log    *slog.Logger

	mu      sync.Mutex
	traces  map[string]*record[trace]
	taints  map[string]*record[taintedFiles]
	demands map[string]*record[[]Demand]
	seen    map[string]*record[seenRecord]
	names   map[owner]names // at most maxCells
}

// An owner is whose memory it is, as far as the names of the records tell.
type owner struct{ who, agent, project, session string }

// names are the names of the records of an owner.
type names struct{ trace, taint, demands, seen string }

// namesOf returns the names of an owner's records. The caller holds the lock.
func (m *Memory) namesOf(o owner) names {
	if n, ok := m.names[o]; ok {
		return n
	}
	if len(m.names) >= maxCells {
		clear(m.names)
	}
	n := names{
		trace:   approver.Key("trace", id(o.who, o.agent, o.project, o.session)),
		taint:   approver.Key("taint", id(o.who)),
		demands: approver.Key("told", id(o.who)),
		seen:    approver.Key("seen", id(o.who, o.agent, o.project)),
	}
	m.names[o] = n
	return n
}

// New returns a memory in a store. Without a store it is lost when the process ends.
func New(store KV, limits loop.Limits, log *slog.Logger) *Memory {
	return &Memory{store: store, limits: limits, log: log, traces: map[string]*record[trace]{},
		taints: map[string]*record[taintedFiles]{}, demands: map[string]*record[[]Demand]{},
		seen: map[string]*record[seenRecord]{}, names: map[owner]names{}}
}

// id returns the hashed name of a record, which does not show what the record is about.
func id(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func uid(p approver.Peer) string {
	if !p.Known {
		return "unknown"
	}
	return strconv.FormatUint(uint64(p.UID), 10)
}

// A Past is the memory as one judgment sees it. It is for one goroutine, and for the lifetime of the
// context that opened it.
type Past struct {
	m       *Memory
	ctx     context.Context //nolint:containedctx // of the judgment, which the lookups of an analysis are part of
	at      time.Time
	trace   *record[trace]
	taint   *record[taintedFiles]
	demands *record[[]Demand]
	seen    *record[seenRecord]

	asked bool         // the taint was read
	files taintedFiles // as this judgment has read them: another one may read older ones ahead
	saw   seenRecord   // the same
	err   error        // or could not be
}

// Open returns the memory of an agent's session. It does not fail: [Past.Err] returns errors of
// later reads.
func (m *Memory) Open(ctx context.Context, k Key, at time.Time) *Past {
	p := &Past{m: m, ctx: ctx, at: at}
	m.mu.Lock()
	n := m.namesOf(owner{uid(k.Peer), k.Agent, k.Project, k.Session})
	p.trace = recordOf(m.traces, readTrace, n.trace, at)
	p.taint = recordOf(m.taints, readTaint, n.taint, at)
	p.demands = recordOf(m.demands, decodeDemands, n.demands, at)
	p.seen = recordOf(m.seen, decodeSeen, n.seen, at)
	m.mu.Unlock()
	if r, ok := m.store.(approver.AheadReader); ok {
		if keys := slices.Concat(p.demands.keyAhead(), p.taint.keyAhead(), p.seen.keyAhead()); len(keys) > 0 {
			p.ctx = r.ReadAhead(ctx, keys...)
		}
	}
	p.refreshTrace()
	return p
}

// Err returns the error of reading what is known about files.
func (p *Past) Err() error { return p.err }

// Run saves changed records until ctx ends, and then once more.
func (m *Memory) Run(ctx context.Context) error {
	if m.store == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.flush(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushAtMost)
			defer cancel()
			m.flush(last)
			return nil
		}
	}
}

// flush saves the traces that have changed. Those that fail are tried again.
func (m *Memory) flush(ctx context.Context) {
	m.mu.Lock()
	var changed []*record[trace]
	for _, t := range m.traces {
		if _, unsaved := t.state(); unsaved {
			changed = append(changed, t)
		}
	}
	m.mu.Unlock()
	var errs []error
	for _, t := range changed {
		errs = append(errs, saveTrace(ctx, m.store, t))
	}
	if err := errors.Join(errs...); err != nil {
		m.log.Warn("what was remembered of calls could not be stored: after a restart there are fewer warnings and more "+
			"questions", "records", len(changed), "error", err)
	}
}
