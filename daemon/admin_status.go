package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/internal/section"
)

func (d *Admin) status(ctx context.Context) (adminapi.Status, error) {
	head := d.audit.Head()
	doc := adminapi.Status{
		Up: true, Version: adminapi.BuildVersion(), PID: os.Getpid(), Root: os.Getuid() == 0, Started: d.started.UTC(),
		Isolated: d.notice == "", Notice: d.notice,
		Store: d.cfg.Storage().Where, Output: d.output, Audit: &head, AuditSync: d.cfg.Audit.Sync,
		Waiting:    d.authority.waiting(),
		Refused:    OutOfReach(d.authority.cfg, uint32(os.Getuid())),
		OverBudget: d.times.Over(), Took: d.times.Histograms(), Shield: d.shield.Status(ctx),
		Asks: d.asks.Snapshot(), Config: d.cfg.File, Submit: d.authority.cfg.Sockets.Submit,
	}
	doc.StoreChanged = strings.Join(changesOf(d.People.Store), "; ")
	doc.Work, _ = d.work(ctx) // zero where the system does not count
	if d.hooks != nil {
		doc.Hooks = d.hooks.Now()
	}
	for _, l := range d.doors {
		if err := l.Lost(); err != nil {
			doc.Lost = append(doc.Lost, err.Error())
		}
	}
	if d.rules != nil {
		doc.NotInForce, doc.InForce = d.rules.NotInForce(), d.rules.Versions()
	}
	doc.NotInForce = append(doc.NotInForce, d.read.Outdated(d.inUse)...)
	if err := d.audit.Err(); err != nil {
		doc.AuditErr, doc.AuditChanged = err.Error(), errors.Is(err, audit.ErrChanged)
	}
	open, err := d.People.Requests.Open(ctx)
	doc.Open = len(open)
	doc.Nobody = d.nobody(ctx)
	if err == nil {
		var c broadcaster.Controls
		c, doc.Now, err = d.People.Controls.Load(ctx)
		doc.Removed = d.removed(c)
		if doc.Control = c.Notice(doc.Now); c.Frozen() {
			doc.Freeze = &c.Freeze
		} else if c.Paused(approver.High, doc.Now) {
			doc.Pause = &c.Pause
		}
		doc.Held, doc.Observe = c.Held(), d.observer.status(c, doc.Now)
	}
	// A store can still be readable when it is not writable, as with a full disk.
	full, isFull := d.audit.StoreErr(), false
	if file := d.cfg.Storage().File; file != "" && (full == nil || err != nil) {
		if room := RoomFor(file, 1); room != nil {
			full, isFull = room, true
		}
	}
	if full != nil && (err == nil || isFull) {
		err = fmt.Errorf("it takes no writes, so every call that needs people is denied: %w", full)
	}
	if err != nil {
		doc.Trouble = once(err, d.cfg.Storage())
		if c := d.People.Mark.Held(); c.Frozen() && doc.Freeze == nil {
			doc.Freeze, doc.Control = &c.Freeze, c.Notice(time.Now())
		}
	}
	doc.Channels = d.channelStates(doc.Trouble)
	return doc, nil
}

// changesOf says what others have done to a store.
func changesOf(store approver.KV) (lines []string) {
	s, ok := store.(approver.Inspected)
	if !ok {
		return nil
	}
	unfit, lossy := s.Fitness()
	if unfit != nil {
		lines = append(lines, "every new call that needs people is denied: "+display.OneLine(unfit.Error()))
	}
	if lossy != nil {
		lines = append(lines, display.OneLine(lossy.Error()))
	}
	return lines
}

func (d *Admin) pending(ctx context.Context) (adminapi.Pending, error) {
	now, err := d.People.Store.Now(ctx)
	if err != nil {
		return adminapi.Pending{}, err
	}
	open, err := d.People.Requests.Open(ctx)
	doc := adminapi.Pending{Now: now.UTC(), Requests: []adminapi.OpenRequest{}}
	for _, r := range open {
		c := d.People.Cards.Of(r)
		doc.Requests = append(doc.Requests, adminapi.OpenRequest{
			ID: r.ID, Severity: c.Severity, Created: r.Created.UTC(), Due: r.Due.UTC(), Agent: broadcaster.Agent(r.Call),
			Session: display.Safe(display.ShortID(r.Call.Session)), Dir: display.Safe(r.Call.Dir), Push: c.Push,
			Call: beginning(r.Call),
		})
	}
	if errors.Is(err, broadcaster.ErrIncomplete) {
		doc.Trouble, err = incomplete(err, d.cfg.Storage()), nil
	}
	return doc, err
}

// maxListed bounds a call on a list, in bytes.
const maxListed = 200

// beginning is the beginning of a call on one line.
func beginning(call approver.ToolCall) string {
	shown, _ := call.Display().Shown()
	text := display.Squeeze(display.OneLine(shown))
	if len(text) > maxListed {
		text = text[:display.RuneBoundary(text, maxListed)] + "…"
	}
	return text
}

func (d *Admin) show(ctx context.Context, _ approver.Peer, which adminapi.RequestID) (adminapi.Shown, error) {
	r, err := d.People.Requests.Get(ctx, which.Request)
	if errors.Is(err, approver.ErrNotFound) {
		return adminapi.Shown{},
			fmt.Errorf("there is no request %q: approver pending lists those that are open", which.Request)
	} else if err != nil {
		return adminapi.Shown{}, err
	}
	c, upto := d.People.Cards.Shown(r)
	return adminapi.Shown{
		Upto: upto, NotTaken: d.audience().notTaken(r.ID),
		State: c.State, Severity: c.Severity, Headline: c.Push, Blocks: c.Blocks(),
	}, nil
}

// channelStates returns the status of all channels.
func (d *Admin) channelStates(trouble string) (all []adminapi.Channel) {
	for _, c := range d.channels {
		state := d.People.Channels.State(c.Name())
		watchers, others := d.audience().watchers(c)
		s := adminapi.WithStoreTrouble(adminapi.ChannelOf(c.Name(), state, watchers), state, trouble, d.cfg.Storage().Shared)
		s.Others = others
		all = append(all, s)
	}
	return all
}

// fromPort matches the local port of a connection, which differs each time.
var fromPort = lazyregexp.New(`:\d+->`)

// once joins the lines of an error and drops repeated causes: eight parallel lookups fail for
// one reason.
func once(err error, at section.Storage) string {
	var lines, seen []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		plain := fromPort().ReplaceAllString(line, "->")
		// The first line may have a prefix that says what the lookups were for.
		if line == "" || slices.ContainsFunc(seen,
			func(before string) bool { return strings.HasSuffix(before, cause(plain, at)) }) {
			continue
		}
		lines, seen = append(lines, line), append(seen, plain)
	}
	return strings.Join(lines, "; ")
}

// cause removes from an error of a shared store the lookup that met it, such as "redis: get
// KEY: ".
func cause(text string, at section.Storage) string {
	if rest, is := strings.CutPrefix(text, strings.ToLower(at.Title)+": "); is && at.Shared {
		if _, after, cut := strings.Cut(rest, ": "); cut {
			return ": " + after
		}
	}
	return text
}

// incomplete says which records cannot be read, and how to remove them.
func incomplete(err error, at section.Storage) string {
	return display.OneLine(once(err, at)) +
		` (approver grants revoke ID takes away what cannot be read; its call is then asked anew)`
}
