package channeltest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/intent"
	"approver.example/tokens"
)

// platform is a chat in memory, and channel the channel for it: the smallest
// pair that keeps every promise. With a defect it breaks exactly one.
type platform struct {
	defect string
	events chan event

	mu      sync.Mutex
	msgs    map[string][]*message
	made    int
	told    map[string][]string
	fault   fake.Fault
	until   time.Time
	changed chan struct{}
}

type message struct {
	fake.Shown
	request string
	upto    int
}

type event struct {
	user, conversation, message, request string
	button                               fake.Button
	text                                 string
	dialog                               bool
	upto                                 int
	at                                   time.Time
}

func newPlatform(defect string) *platform {
	return &platform{
		defect: defect, events: make(chan event, 1000), msgs: map[string][]*message{"here": nil, "there": nil},
		told: map[string][]string{}, changed: make(chan struct{}),
	}
}

func (p *platform) has(defect string) bool { return p.defect == defect }

func (p *platform) find(conversation, id string) *message {
	for _, m := range p.msgs[conversation] {
		if m.Message == id {
			return m
		}
	}
	return nil
}

func (p *platform) Cards(conversation string) []fake.Shown {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []fake.Shown
	for _, m := range p.msgs[conversation] {
		out = append(out, m.Shown)
	}
	return out
}

func (p *platform) Tap(user, conversation, id string, button fake.Button) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.find(conversation, id)
	if m == nil || !slices.Contains(m.Buttons, button) {
		return errors.New("no such button")
	}
	p.events <- event{user: user, conversation: conversation, message: id, request: m.request, button: button,
		upto: m.upto}
	return nil
}

func (p *platform) Forge(user, conversation, id, request string, button fake.Button) bool {
	p.events <- event{user: user, conversation: conversation, message: id, request: request, button: button}
	return true
}

func (p *platform) Type(user, conversation, text string) {
	p.events <- event{user: user, conversation: conversation, text: text, at: time.Now()}
}

func (p *platform) ReplyTo(user, conversation, id, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.find(conversation, id)
	if m == nil {
		return false
	}
	p.events <- event{user: user, conversation: conversation, message: id, request: m.request, text: text, at: time.Now()}
	return true
}

func (p *platform) EnterCode(user, conversation, id, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.find(conversation, id)
	if m == nil {
		return errors.New("no such message")
	}
	p.events <- event{user: user, conversation: conversation, message: id, request: m.request, text: text, dialog: true,
		upto: m.upto}
	return nil
}

func (p *platform) Told(user string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told[user])
}

func (p *platform) Break(f fake.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.until = f, time.Now().Add(time.Second)
	close(p.changed)
	p.changed = make(chan struct{})
}

// A limited is the answer of a platform that wants to be left alone.
type limited struct{ wait time.Duration }

func (limited) Error() string               { return "429" }
func (l limited) RetryAfter() time.Duration { return l.wait }

// call is one request to the platform.
func (p *platform) call(ctx context.Context) error {
	for {
		p.mu.Lock()
		fault, until, changed := p.fault, p.until, p.changed
		p.mu.Unlock()
		wait := time.Hour
		switch fault {
		case fake.Healthy:
			return ctx.Err()
		case fake.RateLimited:
			if wait = time.Until(until); wait <= 0 {
				return nil
			}
			if p.has("gives up at a rate limit") {
				return errors.New("429")
			}
			if until, ok := ctx.Deadline(); ok && time.Until(until) < wait && !p.has("knows no patience") {
				return limited{wait}
			}
		case fake.Revoked:
			return errors.New("the token secret-token is revoked")
		case fake.Hangs:
		default:
			if p.has("gives up for good") {
				return fmt.Errorf("the platform is broken: %w", approver.ErrFinal)
			}
			if p.has("asks for patience") {
				return limited{time.Second}
			}
			return errors.New("the platform is broken")
		}
		if p.has("waits longer than its context") {
			time.Sleep(5 * time.Second)
			return errors.New("no answer")
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refusal is an error that the same message would meet again.
func (p *platform) refusal(text string) error {
	if p.has("tries a refusal again") {
		return errors.New(text)
	}
	return fmt.Errorf("%s: %w", text, approver.ErrFinal)
}

// gone removes a conversation, and remove a message.
func (p *platform) gone(conversation string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.msgs, conversation)
}

func (p *platform) remove(conversation, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.msgs[conversation] = slices.DeleteFunc(p.msgs[conversation], func(m *message) bool { return m.Message == id })
}

func (p *platform) tell(user, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told[user] = append(p.told[user], text)
	if p.has("tells everyone") {
		p.told["second"] = append(p.told["second"], text)
	}
}

// channel is the channel for a platform.
type channel struct {
	p *platform
	m *approver.ReceptionMeter
}

// Reception is what the channel says of itself.
func (c channel) Reception() approver.Reception {
	now := c.m.Reception()
	switch {
	case c.p.has("always receives"):
		now.Up = true
	case c.p.has("never receives"):
		now.Up = false
	case c.p.has("says nothing of failures"):
		now.Bad, now.Problem = time.Time{}, ""
	}
	return now
}

func (channel) Name() string { return "memory" }

func (c channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if err := c.p.call(ctx); err != nil {
		if c.p.has("posts are reception") {
			c.m.Failed(err)
		}
		if !c.p.has("shows its token") && strings.Contains(err.Error(), "secret-token") {
			err = errors.New(strings.ReplaceAll(err.Error(), "secret-token", "<secret>"))
		}
		return approver.Ref{}, err
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if _, ok := c.p.msgs[to.Conversation]; !ok && !c.p.has("posts anywhere") {
		if c.p.has("posts are reception") {
			c.m.Failed(errors.New("no such conversation"))
		}
		return approver.Ref{}, c.p.refusal("no such conversation")
	}
	c.p.made++
	m := &message{request: card.Request, upto: card.Upto}
	m.Message = fmt.Sprint("m", c.p.made)
	partial := c.p.render(m, card)
	c.p.msgs[to.Conversation] = append(c.p.msgs[to.Conversation], m)
	return approver.Ref{Destination: to, Message: m.Message, Partial: partial && !c.p.has("never partial")}, nil
}

func (c channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	if err := c.p.call(ctx); err != nil {
		return err
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	m := c.p.find(ref.Conversation, ref.Message)
	if m == nil {
		return c.p.refusal("no such message")
	}
	if c.p.has("posts updates anew") {
		m = &message{request: card.Request, Shown: fake.Shown{Message: m.Message + "b"}}
		c.p.msgs[ref.Conversation] = append(c.p.msgs[ref.Conversation], m)
	}
	if c.p.has("refuses the same update") && m.Text != "" && !card.State.Settled() {
		return errors.New("message is not modified")
	}
	if !c.Fits(card) && !ref.Partial && !card.State.Settled() && !c.p.has("an edit hides") {
		return approver.ErrShowsLess
	}
	c.p.render(m, card)
	if !c.p.has("a tap is for the first version") {
		m.upto = card.Upto
	}
	return nil
}

func (c channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := ctx.Done()
	if c.p.has("runs on") {
		late := make(chan struct{})
		context.AfterFunc(ctx, func() { time.AfterFunc(8*time.Second, func() { close(late) }) })
		stop = late
	}
	ended := make(chan struct{})
	var once sync.Once
	for {
		c.p.mu.Lock()
		fault, changed := c.p.fault, c.p.changed
		c.p.mu.Unlock()
		if fault == fake.Revoked && !c.p.has("outlives its token") {
			c.m.Failed(errors.New("the token is revoked"))
			return errors.New("the token is revoked")
		}
		switch fault {
		case fake.Healthy, fake.RateLimited:
			c.m.Succeeded()
		case fake.Hangs:
		default:
			c.m.Failed(errors.New("the platform is broken"))
		}
		if fault == fake.Down && c.p.has("ends at a fault") {
			return errors.New("the platform is down")
		}
		select {
		case <-stop:
			return ctx.Err()
		case <-ended:
			return errors.New("a handler panicked")
		case <-changed:
		case ev := <-c.p.events:
			handle := func() {
				defer func() {
					if v := recover(); v != nil && c.p.has("ends at a panic") {
						once.Do(func() { close(ended) })
					}
				}()
				c.handle(ctx, reply, ev)
			}
			if c.p.has("one at a time") {
				handle()
			} else {
				wg.Go(handle)
			}
		}
	}
}

func (c channel) handle(ctx context.Context, reply approver.ReplyFunc, ev event) {
	p := c.p
	tap := ev.button != fake.NoButton
	admitted := ev.user == "approver" || ev.user == "second" ||
		tap && p.has("a stranger may tap") || !tap && p.has("a stranger may type")
	if !admitted {
		if tap || p.has("answers strangers' talk") {
			p.tell(ev.user, "You are not on the list.")
		}
		if p.has("nags strangers") && tap {
			p.tell(ev.user, "Really not.")
		}
		return
	}
	r := approver.Reply{Channel: "memory", Conversation: ev.conversation, Sender: ev.user, Request: ev.request,
		Message: ev.message, Shown: ev.upto, Sent: ev.at}
	if tap {
		r.Approve, r.Method = ev.button == fake.ApproveButton, approver.ByTap
		for n := range approver.MaxChoices {
			if ev.button == fake.ChoiceButton(n+1) {
				r.Approve, r.Choice = true, n+1
			}
		}
		if p.has("forgets the choice") {
			r.Choice = 0
		}
	} else {
		meant, err := p.intent(ev.text)
		switch {
		case errors.Is(err, intent.ErrNotAnAnswer) && p.has("answers talk"):
			p.tell(ev.user, "Pardon?")
			return
		case errors.Is(err, intent.ErrNotAnAnswer), ev.dialog && meant.Method != approver.ByCode:
			return
		case err != nil:
			if !p.has("silent about forms") {
				p.tell(ev.user, err.Error())
			}
			return
		case meant.Method == approver.ByPlain && ev.request == "" && !p.has("plain yes anywhere"):
			return
		}
		r.Approve, r.Method, r.Code = meant.Approve, meant.Method, meant.Code
		if p.has("yes to every code") && !r.Code.IsZero() && r.Method == approver.ByCode {
			r.Approve = true
		}
	}
	if reply == nil && p.has("approves without a reply function") {
		panic("nil")
	}
	p.spoil(&r)
	if reply == nil {
		p.tell(ev.user, "Refused.")
		return
	}
	began := time.Now()
	text := reply(ctx, r).Text
	if p.has("counts twice") && tap {
		reply(ctx, r)
	}
	if p.has("loses slow answers") && time.Since(began) > 3*time.Second {
		return
	}
	p.tell(ev.user, text)
	if p.has("outcome for all") && tap {
		p.mu.Lock()
		p.msgs["here"] = append(p.msgs["here"], &message{Shown: fake.Shown{Message: "x", Text: text}})
		p.mu.Unlock()
	}
}

func (p *platform) intent(text string) (intent.Intent, error) {
	in, err := intent.Parse(text)
	if errors.Is(err, intent.ErrUnclear) && p.has("deaf to the words beside a code") {
		in.Approve = true
		in.Code, err = tokens.Find(text)
	}
	return in, err
}

// spoil puts the defects of replies into one.
func (p *platform) spoil(r *approver.Reply) {
	switch {
	case p.has("always here"):
		r.Conversation = "here"
	case p.has("sender is a name"):
		r.Sender = "Ann"
	case p.has("forgets the version"), p.has("a dialog is for now") && r.Method == approver.ByCode:
		r.Shown = 0
	case p.has("knows no time"):
		r.Sent = time.Time{}
	case p.has("no message"):
		r.Message = ""
	case p.has("first request for all") && r.Request != "":
		p.mu.Lock()
		r.Request = p.msgs["here"][0].request
		p.mu.Unlock()
	case p.has("a tap is a command") && r.Method == approver.ByTap:
		r.Method = approver.ByCommand
	case p.has("a deny is an approve") && r.Method == approver.ByTap:
		r.Approve = true
	case p.has("a plain answer is a tap") && r.Method == approver.ByPlain:
		r.Method = approver.ByTap
	case p.has("a command is a code") && r.Method == approver.ByCommand:
		r.Method = approver.ByCode
	}
}
