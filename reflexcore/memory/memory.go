// Package memory is what is known of an agent's earlier calls: the last of them,
// for package loop; the files that they made, so that deleting these is honest;
// and the files into which they put what came from the network, was decoded, or
// is a secret, so that running or sending such a file in a later call is what it
// would have been in the same one.
//
// It lies on a [KV], in three kinds of records. The trace of a session (calls, made
// files) belongs to peer uid, agent, project and session. It only makes verdicts
// milder or adds warnings, so it is written behind the answer: losing it means a
// warning less or a question more. The taint of files belongs to the uid alone,
// because files do not care which agent or session left them; losing it would
// open, so it is durable before the call that adds it is released, and a store
// that fails is an error. What the model of an agent has seen (the labels of package
// flow) and which destinations it used belongs to uid, agent and project, and is
// durable in the same way.
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

// KV is the part of [approver.KV] that is used.
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

// A Key says whose memory it is. All of it but the uid is what the agent claims,
// so it can only narrow.
type Key struct {
	Peer                    approver.Peer
	Agent, Project, Session string
}

// A Memory remembers. Use [New]; it can be shared.
type Memory struct {
	store  KV // nil: only as long as the process lives
	limits loop.Limits
	log    *slog.Logger

	mu     sync.Mutex
	traces map[string]*trace
	taints map[string]*taint
	tolds  map[string]*told
	seen   map[string]*seen
}

// New returns a memory on a store. A nil store is a memory of this process.
func New(store KV, limits loop.Limits, log *slog.Logger) *Memory {
	return &Memory{store: store, limits: limits, log: log, traces: map[string]*trace{}, taints: map[string]*taint{},
		tolds: map[string]*told{}, seen: map[string]*seen{}}
}

// id names a record without saying what it is about.
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

// A Past is what is known for one judgement. It is for one goroutine, and for as
// long as the context that it was opened with.
type Past struct {
	m     *Memory
	ctx   context.Context //nolint:containedctx // of the judgement, which the lookups of an analysis are part of
	at    time.Time
	trace *trace
	taint *taint
	told  *told
	seen  *seen

	asked bool  // the taint was read
	err   error // or could not be
}

// Open returns the past of an agent's session. It does not fail: what cannot be
// read shows in [Past.Err] once it is asked for.
func (m *Memory) Open(ctx context.Context, k Key, at time.Time) *Past {
	p := &Past{m: m, ctx: ctx, at: at}
	who := uid(k.Peer)
	m.mu.Lock()
	p.trace = cell(m.traces, approver.Key("trace", id(who, k.Agent, k.Project, k.Session)), at)
	p.taint = cell(m.taints, approver.Key("taint", id(who)), at)
	p.told = cell(m.tolds, approver.Key("told", id(who)), at)
	p.seen = cell(m.seen, approver.Key("seen", id(who, k.Agent, k.Project)), at)
	m.mu.Unlock()
	p.trace.load(ctx, m, at)
	return p
}

// A record is one of the store, in memory.
type record[T any] interface {
	*T
	named(key string, at time.Time)
	idle() (since time.Time, droppable bool)
}

// cell finds a record or makes room for a new one.
func cell[T any, P record[T]](all map[string]P, key string, at time.Time) P {
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

// dropOldest makes room: of those that are stored the one that was used longest
// ago, or else of all.
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

// Err is why what is known of files could not be read, if it was asked for.
func (p *Past) Err() error { return p.err }

// Taint is what earlier calls left in a file, or in one that a pattern names.
func (p *Past) Taint(path string) effect.Taint {
	if !p.asked {
		p.asked = true
		p.err = errors.Join(p.err, p.taint.load(p.ctx, p.m))
	}
	return p.taint.of(path)
}

// A File is what a call leaves in a file. Tree says that it is a folder of which
// all below it has the taint.
type File struct {
	Path  string
	Taint effect.Taint
	Tree  bool
}

// Leave remembers what a call leaves in files; it returns once that is durable.
// An error means that the call must not run.
func (p *Past) Leave(files []File) error {
	if len(files) == 0 {
		return nil
	}
	return p.taint.leave(p.ctx, p.m, files)
}

// Made reports whether an earlier call of this session made the file.
func (p *Past) Made(path string) bool { return p.trace.made(path) }

// Loop says whether a call goes on with a loop, see [loop.Window.Judge].
func (p *Past) Loop(c loop.Call) loop.Finding { return p.trace.judge(c, p.m.limits) }

// Call remembers a call that is about to run, with the files that it would make.
func (p *Past) Call(c loop.Call, makes []string) { p.trace.add(c, makes, p.m.limits) }

// Moved takes back that files were made, and folders, into which something else is
// moved: it would be lost with them.
func (p *Past) Moved(to []string) {
	if len(to) > 0 {
		p.trace.moved(to)
	}
}

// Ran remembers what became of a call. The files that it made count from now on.
func (p *Past) Ran(hash uint64, out loop.Output) { p.trace.ran(hash, out) }

// Run writes what has changed until ctx ends, and then once more.
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

// flush writes the traces that have changed. What fails stays to be written.
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
