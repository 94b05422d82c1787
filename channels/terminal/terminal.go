// Package terminal is the terminal as a channel: `approver watch` shows every
// card on this machine and, where the configuration allows it, takes answers.
//
// The package has two halves. [Channel] lives in the service: the local socket
// hands it each connection with the peer that the kernel named, as
// [Channel.Watch] for the stream of events and [Channel.Answer] for one answer.
// [UI] lives in the command: it draws the events and reads what a person types.
// Between them travels JSON: an [Event] one way, an [Answer] and an [Answered] the other.
//
// Who somebody is comes from the kernel alone: a uid on the approver list. What
// a terminal may do depends on the installation. Unless it is isolated, agents
// may share that uid, so the codes of CATASTROPHIC cards are not shown and
// their approval is refused, whatever is typed.
//
// Cards live in memory and are shown to whoever connects while they are
// pending; see [approver.Presence] for what becomes of them at a restart.
//
// Of the service's half, read config.go, terminal.go, watch.go, answer.go and identity.go; of the
// command's, ui.go, input.go, render.go, fold.go and width.go. wire.go is what goes between them.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
	"approver.example/display"
	"github.com/google/uuid"

	"approver.example"
)

// Limits of the cards in memory.
const (
	maxCards = 1024
	// forgetAfter is how long after its deadline a card that was never settled
	// is kept.
	forgetAfter = time.Hour
	// maxCommand and maxText bound the command and each other text of a card in bytes. JSON
	// makes at most six bytes of one, so an event has at most 6*(maxCommand+10*maxText), under
	// 14 MiB. An event larger than the socket's reader accepts would disconnect every watcher.
	maxCommand = 1 << 20
	maxText    = 128 << 10
	maxLines   = 16 // of a list of sentences, which share maxText
)

// Errors of Watch and Post.
var (
	ErrNobody   = errors.New("nobody watches in a terminal: start `approver watch`")
	ErrStopped  = errors.New("the terminal channel has stopped: is the service shutting down?")
	ErrSlow     = errors.New("this terminal fell too far behind: reconnect to see the pending cards")
	ErrStranger = errors.New("you are not on the terminal's approver list: ask whoever runs approver to add your uid")
)

// Channel is the terminal's end in the service. It implements approver.Channel
// and approver.Presence.
type Channel struct {
	receiving.Speech
	cfg    Config
	people map[string]approver.Approver
	log    *slog.Logger

	mu       sync.Mutex
	cards    map[string]*card // by message, until they are settled and that state was shown
	made     int              // cards so far
	watchers map[*watcher]struct{}
	joined   int           // watchers so far
	changed  chan struct{} // closed and renewed at every change that Post or Update waits for
	session  *session      // nil while Run does not run
}

// A session is one Run.
type session struct {
	ctx     context.Context
	reply   approver.ReplyFunc
	answers sync.WaitGroup
}

// A card is one message. Its fields are guarded by Channel.mu.
type card struct {
	message string
	seq     int // the order in which cards were made
	card    approver.Card
	rev     int  // grows with every change
	seen    int  // the newest revision that any watcher was shown
	gone    bool // posting failed: it must not stay on a screen
	partial bool // not all of the card is visible at once
}

// New checks the configuration and returns a channel.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	c := &Channel{
		cfg: cfg, log: log, people: map[string]approver.Approver{},
		cards: map[string]*card{}, watchers: map[*watcher]struct{}{}, changed: make(chan struct{}),
	}
	for _, a := range cfg.Approvers {
		c.people[a.ID] = a
	}
	return c, nil
}

// Name returns "terminal".
func (c *Channel) Name() string { return Name }

// Run takes answers until ctx ends. Then it ends every Watch and waits for the
// answers that are under way. Only one Run may run at a time.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	s := &session{ctx: ctx, reply: receiving.Replies(reply, c.log, "judging an answer panicked", &c.Speech)}
	c.mu.Lock()
	if c.session != nil {
		c.mu.Unlock()
		return errors.New("terminal: Run runs already")
	}
	c.session = s
	c.mu.Unlock()

	<-ctx.Done()

	c.mu.Lock()
	c.session = nil
	for w := range c.watchers {
		c.end(w, ErrStopped)
	}
	c.mu.Unlock()
	s.answers.Wait()
	return ctx.Err()
}

// Post shows a card to everyone who watches and returns when the first of them has it. If
// nobody watches, it fails at once with ErrNobody, which is final. When it fails, the card is
// removed from the screens that it may have reached. A command of more than 1 MiB is cut, and
// what the agent says beside it is folded beyond some hundred bytes; then the card is Partial
// and takes no one-tap approval.
func (c *Channel) Post(ctx context.Context, to approver.Destination, content approver.Card) (approver.Ref, error) {
	if err := ctx.Err(); err != nil {
		return approver.Ref{}, fmt.Errorf("terminal: post: %w", err)
	}
	if to != (approver.Destination{Channel: Name, Conversation: Conversation}) {
		return approver.Ref{},
			calls.Final("terminal: post: there is no conversation %q here, only %q", to.Conversation, Conversation)
	}
	c.mu.Lock()
	c.forget(time.Now())
	if len(c.cards) >= maxCards {
		c.mu.Unlock()
		return approver.Ref{}, fmt.Errorf("terminal: post: %d cards are pending already: answer some first", maxCards)
	}
	c.made++
	k := &card{message: uuid.NewString(), seq: c.made, rev: 1}
	k.set(content)
	partial := k.partial
	c.cards[k.message] = k
	c.spread(k)
	c.mu.Unlock()

	if err := c.awaitSeen(ctx, k, 1); errors.Is(err, ErrNobody) {
		return approver.Ref{}, calls.Final("terminal: post: %w", err) // an agent is not kept waiting for nobody
	} else if err != nil {
		return approver.Ref{}, fmt.Errorf("terminal: post: %w", err)
	}
	return approver.Ref{Destination: to, Message: k.message, Partial: partial}, nil
}

// Update changes a card on every screen and returns when the first of them was sent it, or at
// once if nobody watches. For a waiting card that is ErrNobody, and whoever connects later sees
// the card's latest state. A settled card is forgotten after that.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, content approver.Card) error {
	c.mu.Lock()
	k, ok := c.cards[ref.Message]
	if !ok {
		c.mu.Unlock()
		if content.State.Settled() {
			return nil // it is on no screen any more, so no screen is out of date
		}
		return calls.Final("terminal: update: the message is gone: post the card anew")
	}
	next := *k
	if next.set(content); next.partial && !k.partial && !content.State.Settled() {
		c.mu.Unlock()
		return fmt.Errorf("terminal: update: %w", approver.ErrShowsLess)
	}
	k.card, k.partial = next.card, next.partial
	k.rev++
	rev := k.rev
	c.spread(k)
	c.mu.Unlock()

	switch err := c.awaitSeen(ctx, k, rev); {
	case err == nil, errors.Is(err, ErrNobody) && content.State.Settled():
	case errors.Is(err, ErrNobody):
		return calls.Final("terminal: update: %w", err)
	default:
		return fmt.Errorf("terminal: update: %w", err)
	}
	if content.State.Settled() {
		c.mu.Lock()
		delete(c.cards, k.message)
		c.mu.Unlock()
	}
	return nil
}

// set stores what to show, cut to what fits into an event. A card that was partial once stays
// so, because people have read only part of it.
func (k *card) set(content approver.Card) {
	cut := func(text string, limit int) string {
		shown, hidden := display.Cut(text, limit)
		k.partial = k.partial || hidden > 0
		return shown
	}
	k.partial = k.partial || folded(content)
	all := func(texts []string) []string {
		k.partial = k.partial || len(texts) > maxLines
		texts = slices.Clone(texts[:min(len(texts), maxLines)])
		for i := range texts {
			texts[i] = cut(texts[i], maxText/maxLines)
		}
		return texts
	}
	content.Why, content.Warnings = all(content.Why), all(content.Warnings)
	var whole bool
	if content.Body, whole = cutBlocks(content.Body, maxCommand); !whole {
		k.partial = true
		content.Warnings = append([]string{content.Texts.Text(
			"Not all of the call is shown here: a line in its midst marks the place.")}, content.Warnings...)
	}
	content.Details, _ = cutBlocks(content.Details, maxText)
	for _, text := range []*string{&content.Push, &content.Claimed, &content.Context, &content.Part, &content.Result} {
		*text = cut(*text, maxText)
	}
	content.OneTap = content.OneTap && !k.partial
	k.card = content
}

// blockSize is more than what an event needs for a block, besides its texts.
const blockSize = 64

// cutBlocks returns the blocks that fit into limit bytes, the last of them cut, and whether that is all.
func cutBlocks(blocks []display.Block, limit int) (fit []display.Block, whole bool) {
	for _, b := range blocks {
		limit -= blockSize
		if limit <= 0 {
			return fit, false
		}
		var hidden, more int
		b.Label, hidden = display.Cut(b.Label, limit/2)
		limit -= len(b.Label)
		b.Text, more = display.Cut(b.Text, limit)
		limit -= len(b.Text)
		if fit = append(fit, b); hidden+more > 0 {
			return fit, false
		}
	}
	return fit, true
}

// Shows reports whether the message is shown to whoever watches now or connects
// later.
func (c *Channel) Shows(ref approver.Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.cards[ref.Message]
	return ok && ref.Channel == Name && ref.Conversation == Conversation
}

// awaitSeen waits until some watcher was shown revision rev of k, or no watcher is left. A card
// whose first revision nobody has seen is withdrawn.
func (c *Channel) awaitSeen(ctx context.Context, k *card, rev int) error {
	for {
		c.mu.Lock()
		var err error
		switch {
		case k.seen >= rev:
			c.mu.Unlock()
			return nil
		case len(c.watchers) == 0:
			err = ErrNobody
		case ctx.Err() != nil:
			err = ctx.Err()
		}
		if err != nil {
			if rev == 1 && !k.gone {
				k.gone = true
				k.rev++
				delete(c.cards, k.message)
				c.spread(k)
			}
			c.mu.Unlock()
			return err
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// forget drops cards that are long past their deadline and were never settled. The caller must
// hold c.mu.
func (c *Channel) forget(now time.Time) {
	for message, k := range c.cards {
		if !k.card.Due.IsZero() && now.Sub(k.card.Due) > forgetAfter {
			delete(c.cards, message)
			for w := range c.watchers {
				delete(w.knows, k)
			}
		}
	}
}
