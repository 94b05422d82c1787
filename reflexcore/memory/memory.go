// Package memory stores what matters of an agent's earlier calls. The last calls are for loop
// detection (package loop). The files that they made may be deleted without a question. The files
// into which they wrote secrets, decoded texts or data from the network keep that taint, so that
// running or sending them in a later call is judged as in the same call.
//
// There are three kinds of records in a [KV]. The trace of a session (calls, made files) belongs to
// peer uid, agent, project and session. Losing it costs a warning or adds a question, so it is
// written after the answer. The taint of files belongs to the uid alone, because files do not care
// which agent or session wrote them. Losing it would let calls pass, so it is durable before the
// call is released, and a failing store is an error. What the model has read (the labels of package
// flow) and which destinations it used belongs to uid, agent and project, and is durable in the same
// way.
package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"approver.example"
	"approver.example/reflexcore/effect"
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
	traces  map[string]*trace
	taints  map[string]*taintedFiles
	demands map[string]*demands
	seen    map[string]*exposure
}

// New returns a memory in a store. Without a store it is lost when the process ends.
func New(store KV, limits loop.Limits, log *slog.Logger) *Memory {
	return &Memory{store: store, limits: limits, log: log, traces: map[string]*trace{},
		taints: map[string]*taintedFiles{}, demands: map[string]*demands{}, seen: map[string]*exposure{}}
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
	trace   *trace
	taint   *taintedFiles
	demands *demands
	seen    *exposure

	asked bool  // the taint was read
	err   error // or could not be
}

// Open returns the memory of an agent's session. It does not fail: [Past.Err] returns errors of
// later reads.
func (m *Memory) Open(ctx context.Context, k Key, at time.Time) *Past {
	p := &Past{m: m, ctx: ctx, at: at}
	who := uid(k.Peer)
	m.mu.Lock()
	p.trace = recordOf(m.traces, approver.Key("trace", id(who, k.Agent, k.Project, k.Session)), at)
	p.taint = recordOf(m.taints, approver.Key("taint", id(who)), at)
	p.demands = recordOf(m.demands, approver.Key("told", id(who)), at)
	p.seen = recordOf(m.seen, approver.Key("seen", id(who, k.Agent, k.Project)), at)
	m.mu.Unlock()
	p.trace.load(ctx, m, at)
	return p
}

// A record is the in-memory copy of a stored record.
type record[T any] interface {
	*T
	named(key string, at time.Time)
	idle() (since time.Time, droppable bool)
}

// recordOf returns the copy of a record, or makes one. If there are too many, it makes room.
func recordOf[T any, P record[T]](all map[string]P, key string, at time.Time) P {
	c, ok := all[key]
	if !ok {
		if len(all) >= maxCells {
			dropOldest(all)
		}
		c = P(new(T))
		all[key] = c
	}
	c.named(key, at)
	return c
}

// dropOldest removes the record that was used longest ago; it prefers those without unsaved changes.
func dropOldest[T any, P record[T]](all map[string]P) {
	oldest, found, stored := "", false, false
	var since time.Time
	for key, c := range all {
		at, ok := c.idle()
		if better := ok && !stored || ok == stored && at.Before(since); !found || better {
			oldest, since, found, stored = key, at, true, ok
		}
	}
	delete(all, oldest)
}

// Err returns the error of reading what is known about files.
func (p *Past) Err() error { return p.err }

// Taint returns the taint that earlier calls left in a file, or in the files that a pattern matches.
func (p *Past) Taint(path string) effect.Taint {
	if !p.asked {
		p.asked = true
		p.err = errors.Join(p.err, p.taint.load(p.ctx, p.m))
	}
	return p.taint.of(path)
}

// A File is a file that a call leaves with a taint. Tree means a folder whose whole content has the
// taint.
type File struct {
	Path  string
	Taint effect.Taint
	Tree  bool
}

// Leave stores the taint of files and returns when it is durable. After an error the call must not
// run.
func (p *Past) Leave(files []File) error {
	if len(files) == 0 {
		return nil
	}
	return p.taint.leave(p.ctx, p.m, files)
}

// Made reports whether an earlier call of this session made the file.
func (p *Past) Made(path string) bool { return p.trace.made(path) }

// Loop checks whether a call continues a loop, see [loop.Window.Judge].
func (p *Past) Loop(c loop.Call) loop.Finding { return p.trace.judge(c, p.m.limits) }

// Call records a call that is about to run, and the files that it would make.
func (p *Past) Call(c loop.Call, makes []string) { p.trace.add(c, makes, p.m.limits) }

// Moved forgets that the session made a file or folder if something else is moved into it: deleting
// it would delete that, too.
func (p *Past) Moved(to []string) {
	if len(to) > 0 {
		p.trace.moved(to)
	}
}

// Ran records the result of a call. The files that it made count from now on.
func (p *Past) Ran(hash uint64, out loop.Output) { p.trace.ran(hash, out) }

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
	var changed []*trace
	for _, t := range m.traces {
		if _, clean := t.idle(); !clean {
			changed = append(changed, t)
		}
	}
	m.mu.Unlock()
	var errs []error
	for _, t := range changed {
		errs = append(errs, t.save(ctx, m.store))
	}
	if err := errors.Join(errs...); err != nil {
		m.log.Warn("what was remembered of calls could not be stored: after a restart there are fewer warnings and more "+
			"questions", "records", len(changed), "error", err)
	}
}
