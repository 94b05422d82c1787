package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"approver.example"
	"approver.example/broadcaster/sealing"
	"approver.example/display"
	"github.com/google/uuid"
)

// A Broadcaster puts calls before people; see the package comment. Several Broadcasters may
// share one store.
type Broadcaster struct {
	Options
	sealer    *sealing.Sealer
	handovers *handovers

	Requests     *Requests
	Cards        *Cards
	Answers      *Answers
	Grants       *Grants
	Controls     *Controller
	Removals     *Removals
	Reports      *Reports
	Approvers    *Approvers
	Channels     *Channels
	Environments *Environments

	tasks     *tasks
	records   *records
	codes     *codes
	history   *history
	editor    *editor
	poster    *poster
	senders   *senders
	digests   *digests
	escalator *escalator
	backlog   *backlog
	uptime    *uptime
	releases  *releases
	sweeper   *sweeper
	opener    *opener
	lockout   *lockout
	outages   *outages
	deeds     *deeds
	waiting   *waitingCalls
	receivers *receivers
}

// NewBroadcaster checks the options and composes the parts. It refuses a destination without a
// channel. Without people or destinations, every call is denied.
func NewBroadcaster(o Options) (*Broadcaster, error) {
	b := &Broadcaster{Options: o.withDefaults(), handovers: &handovers{}}
	b.process = uuid.NewString()
	var err error
	if b.sealer, err = sealing.New(o.CodeKey, o.OldCodeKeys...); err != nil {
		err = fmt.Errorf("the code key: %w", err)
	}
	b.compose()
	b.introduce()
	b.Approvers.Set(o.People)
	return b, errors.Join(b.check(), err)
}

// compose makes the parts and connects them. Parts may use those that are made before them.
func (b *Broadcaster) compose() {
	o := &b.Options
	b.tasks = &tasks{Options: o, ready: make(chan struct{}), single: map[any]bool{}}
	b.records = &records{Options: o}
	b.uptime = &uptime{Options: o}
	b.senders = &senders{Options: o, tasks: b.tasks, uptime: b.uptime, wake: make(chan struct{}, 1)}
	b.Channels = &Channels{
		Options: o, byName: map[string]approver.Channel{}, wakes: map[string]chan struct{}{},
		outbox: newOutbox(o, b.senders.replicas, b.senders.sends),
	}
	b.senders.outbox = b.Channels.outbox
	for _, c := range o.Channels {
		b.Channels.byName[c.Name()], b.Channels.wakes[c.Name()] = c, make(chan struct{}, 1)
	}
	b.Approvers = &Approvers{Options: o, channels: b.Channels}
	b.Cards = &Cards{Options: o, approvers: b.Approvers}
	b.codes = &codes{Options: o, cards: b.Cards, channels: b.Channels, records: b.records}
	b.Requests = &Requests{Options: o, codes: b.codes, records: b.records, sealer: b.sealer}
	b.history = &history{
		Options: o, requests: b.Requests, records: b.records, tasks: b.tasks, handovers: b.handovers,
		of: map[string]*chapter{},
	}
	b.senders.requests = b.Requests
	b.Requests.ended = func(ctx context.Context, r Request) {
		b.Channels.outbox.drop(r.ID)
		b.history.ended(ctx, r)
	}
	b.editor = &editor{
		Options: o, cards: b.Cards, channels: b.Channels, requests: b.Requests, history: b.history, tasks: b.tasks,
		handovers: b.handovers,
	}
	b.backlog = &backlog{Options: o, records: b.records}
	b.Controls = &Controller{
		Options: o, requests: b.Requests, backlog: b.backlog, editor: b.editor, records: b.records,
	}
	b.poster = &poster{
		Options: o, cards: b.Cards, channels: b.Channels, requests: b.Requests, codes: b.codes, editor: b.editor,
		history: b.history, tasks: b.tasks, uptime: b.uptime, senders: b.senders,
	}
	b.escalator = &escalator{
		Options: o, approvers: b.Approvers, channels: b.Channels, requests: b.Requests, codes: b.codes, editor: b.editor,
		poster: b.poster, tasks: b.tasks,
	}
	b.Grants = &Grants{
		Options: o, approvers: b.Approvers, cards: b.Cards, controls: b.Controls, requests: b.Requests, editor: b.editor,
		records: b.records,
	}
	b.Reports = &Reports{Options: o, requests: b.Requests, editor: b.editor, tasks: b.tasks, uptime: b.uptime}
	b.history.noted = b.Reports.pending.has
	b.releases = &releases{
		Options: o, channels: b.Channels, grants: b.Grants, reports: b.Reports, requests: b.Requests, editor: b.editor,
		history: b.history, records: b.records, uptime: b.uptime, handovers: b.handovers,
	}
	alerts := &alerts{Options: o, cards: b.Cards, channels: b.Channels, requests: b.Requests, tasks: b.tasks}
	b.outages = &outages{Options: o, alerts: alerts, cards: b.Cards, channels: b.Channels}
	b.digests = &digests{
		Options: o, alerts: alerts, cards: b.Cards, channels: b.Channels, senders: b.senders, tasks: b.tasks,
	}
	b.senders.digests = b.digests
	b.deeds = &deeds{
		Options: o, controls: b.Controls, requests: b.Requests, begun: map[string]progress{}, alerts: alerts,
	}
	b.sweeper = &sweeper{
		Options: o, deeds: b.deeds, grants: b.Grants, reports: b.Reports, requests: b.Requests, editor: b.editor,
		history: b.history, poster: b.poster, escalator: b.escalator, records: b.records, senders: b.senders,
		tasks: b.tasks, uptime: b.uptime,
	}
	b.Environments = &Environments{Options: o, requests: b.Requests, records: b.records, tasks: b.tasks}
	b.opener = &opener{
		Options: o, approvers: b.Approvers, controls: b.Controls, environments: b.Environments, requests: b.Requests,
		codes: b.codes, editor: b.editor, history: b.history, poster: b.poster, escalator: b.escalator, records: b.records,
		tasks: b.tasks,
	}
	b.lockout = &lockout{Options: o, controls: b.Controls, records: b.records}
	b.waiting = &waitingCalls{calls: map[string]waitingCall{}}
	b.Answers = &Answers{
		Options: o, waiting: b.waiting, approvers: b.Approvers, cards: b.Cards, channels: b.Channels,
		controls: b.Controls, grants: b.Grants, requests: b.Requests, editor: b.editor, deeds: b.deeds,
		handovers: b.handovers, history: b.history, lockout: b.lockout, poster: b.poster,
		releases: b.releases, tasks: b.tasks,
	}
	b.Removals = &Removals{
		Options: o, approvers: b.Approvers, controls: b.Controls, grants: b.Grants, requests: b.Requests,
		backlog: b.backlog, editor: b.editor, records: b.records,
	}
	b.receivers = &receivers{Options: o, answers: b.Answers, approvers: b.Approvers, channels: b.Channels}
}

// introduce tells the channels what they need of the parts.
func (b *Broadcaster) introduce() {
	for _, c := range b.Options.Channels {
		if s, is := c.(approver.Speaker); is {
			s.Speak(func(sender, conversation string) display.Texts { return b.textsFor(c.Name(), sender, conversation) })
		}
		if h, is := c.(approver.Overhearer); is {
			h.Overhear(b.Answers.overhear)
		}
		if r, is := c.(rememberer); is {
			r.Remember(newMemory(r.LeaseName(), b.Store, b.sealer))
		}
		if p, is := c.(approver.Pager); is {
			p.Where(b.whereShown)
		}
	}
}

// Run runs the channels and the background work until ctx ends, then waits for all work that
// was started. Open requests stay open for the next process.
//
// A channel that ends by itself, because its token was revoked for example, does not stop the
// others. Its error is logged once. It is run again after Options.RunAgain, and then less and
// less often, up to every two minutes, and at once for a request that reaches nobody else. Until it
// is back it gets no cards, because nobody would receive their buttons. Run returns the errors of
// the channels that are not back at the end.
func (b *Broadcaster) Run(ctx context.Context) error {
	if err := b.tasks.begin(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { b.sweeper.sweep(ctx) })
	all.Go(func() { b.Controls.guard(ctx) })
	all.Go(func() { b.outages.watch(ctx) })
	all.Go(func() { b.senders.run(ctx, b.poster.noteLost) })
	all.Go(func() { b.digests.run(ctx) })
	b.tasks.start(b.Removals.voidTakenOff)
	b.tasks.start(b.releases.resumeGrants)
	for _, c := range b.Options.Channels {
		all.Go(func() { b.receivers.supervise(ctx, c) })
		if screen, is := c.(approver.Presence); is {
			all.Go(func() { b.poster.watchScreens(ctx, screen) })
		}
	}
	<-ctx.Done()
	all.Wait()
	b.tasks.wait()
	var errs []error
	for _, c := range b.Options.Channels {
		if err := b.Channels.states.of(c.Name()).Ended; err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", c.Name(), err))
		}
	}
	return errors.Join(errs...)
}
