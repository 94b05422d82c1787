// Package terminaltest is the terminal channel's platform without a socket:
// people who watch in memory, what stands on their screens, and ways for it all
// to fail.
package terminaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/terminal"
)

// retryTime is how long a rate-limited screen takes.
const retryTime = time.Second

// Server is a set of people at terminals. It implements fake.Platform; users
// are uids, and messages are seen by everyone whom the channel lets watch.
type Server struct {
	channel *terminal.Channel
	now     func() time.Time
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	users   []string
	order   []string // messages in the order in which they came
	screen  map[string]terminal.Event
	told    map[string][]string
	refused map[string]error // why a user's Watch ended
	log     []string
	fault   fake.Fault
	until   time.Time // RateLimited ends
	changed chan struct{}
	watches context.CancelFunc // ends the connections of now
}

var _ fake.Platform = (*Server)(nil)

// New connects each user, a uid, to the channel, and returns when each watches
// or was refused.
func New(channel *terminal.Channel, users ...string) *Server {
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		channel: channel, now: time.Now, ctx: ctx, stop: stop, users: users,
		screen: map[string]terminal.Event{}, told: map[string][]string{}, refused: map[string]error{},
		changed: make(chan struct{}),
	}
	var ready sync.WaitGroup
	ready.Add(len(users))
	s.mu.Lock()
	s.connect(ready.Done)
	s.mu.Unlock()
	ready.Wait()
	return s
}

// Close disconnects everyone and waits for that.
func (s *Server) Close() {
	s.stop()
	s.work.Wait()
}

// Log returns what happened, one line each.
func (s *Server) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...)
}

// Refused returns why the channel ended a user's Watch, nil while it lasts.
func (s *Server) Refused(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused[user]
}

func (s *Server) note(format string, args ...any) {
	s.log = append(s.log, s.now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// connect starts a Watch for every user and calls settled once for each. It
// needs s.mu.
func (s *Server) connect(settled func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.watches = cancel
	for _, user := range s.users {
		delete(s.refused, user)
		s.note("%s connects", user)
		s.work.Go(func() {
			once := sync.OnceFunc(settled)
			err := s.channel.Watch(ctx, peer(user), func(raw json.RawMessage) error {
				once()
				return s.emit(ctx, user, raw)
			})
			once()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.note("%s is disconnected: %v", user, err)
			if ctx.Err() == nil {
				s.refused[user] = err
			}
		})
	}
}

func peer(user string) approver.Peer {
	uid, err := strconv.ParseUint(user, 10, 32)
	return approver.Peer{Known: err == nil, UID: uint32(uid)}
}

// emit is one event on its way to a screen.
func (s *Server) emit(ctx context.Context, user string, raw json.RawMessage) error {
	var e terminal.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	for {
		s.mu.Lock()
		wait := time.Duration(0)
		switch s.fault {
		case fake.Healthy, fake.Revoked:
		case fake.RateLimited:
			wait = s.until.Sub(s.now())
		case fake.Hangs:
			wait = time.Hour
		case fake.Down, fake.ServerError, fake.Malformed:
			s.mu.Unlock()
			return errors.New("broken pipe")
		}
		if wait <= 0 {
			s.show(user, e)
			s.mu.Unlock()
			return nil
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// show puts an event on the screens. It needs s.mu.
func (s *Server) show(user string, e terminal.Event) {
	s.note("%s is shown %s %s, revision %d", user, e.Type, e.Message, e.Rev)
	old, known := s.screen[e.Message]
	switch {
	case e.Type == terminal.EventHello:
	case e.Type == terminal.EventGone:
		delete(s.screen, e.Message)
	case !known:
		s.order = append(s.order, e.Message)
		s.screen[e.Message] = e
	case e.Rev >= old.Rev:
		s.screen[e.Message] = e
	}
}

// Cards implements fake.Platform.
func (s *Server) Cards(conversation string) []fake.Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	if conversation != terminal.Conversation {
		return nil
	}
	var out []fake.Shown
	for _, message := range s.order {
		e, ok := s.screen[message]
		if !ok {
			continue
		}
		o := terminal.Options{Number: 1, Now: s.now(), Offer: e.Offer}
		text := terminal.Render(e.Card, o)
		push, _, _ := strings.Cut(text, "\n")
		shown := fake.Shown{Message: message, Push: push, Text: text}
		o.Full = true
		if full := terminal.Render(e.Card, o); full != text {
			shown.Files = []string{full} // what "show N" shows
		}
		for _, b := range []struct {
			offered bool
			button  fake.Button
			typed   string // a terminal's button is a line that a person types
		}{{e.Offer.Tap, fake.ApproveButton, "y 1"}, {e.Offer.Deny, fake.DenyButton, "n 1"},
			{e.Offer.Code, fake.CodeButton, "1 CODE"}} {
			if b.offered {
				shown.Buttons, shown.Labels = append(shown.Buttons, b.button), append(shown.Labels, b.typed)
			}
		}
		for n := 1; e.Offer.Tap && n <= len(e.Card.Choices); n++ {
			shown.Buttons = append(shown.Buttons, fake.ChoiceButton(n))
			shown.Labels = append(shown.Labels, fmt.Sprintf("y 1 %d", n))
		}
		out = append(out, shown)
	}
	return out
}

// Tap implements fake.Platform: "y N" and "n N", and "y N C" for a choice.
func (s *Server) Tap(user, conversation, message string, button fake.Button) error {
	s.mu.Lock()
	e, ok := s.screen[message]
	s.mu.Unlock()
	switch {
	case !ok || conversation != terminal.Conversation:
		return fmt.Errorf("no message %s in %s", message, conversation)
	case button == fake.ApproveButton && e.Offer.Tap, button == fake.DenyButton && e.Offer.Deny:
		s.Answer(user, terminal.Answer{Request: e.Card.Request, Message: message, Approve: button == fake.ApproveButton,
			Shown: e.Card.Upto})
		return nil
	}
	for n := 1; ok && e.Offer.Tap && n <= len(e.Card.Choices); n++ {
		if button == fake.ChoiceButton(n) {
			in, err := terminal.ParseInput(fmt.Sprintf("y 1 %d", n))
			s.Answer(user, terminal.Answer{Request: e.Card.Request, Message: message, Approve: in.Approve, Choice: in.Choice,
				Shown: e.Card.Upto})
			return err
		}
	}
	return fmt.Errorf("message %s has no such button", message)
}

// Forge implements fake.Platform: anyone can write any JSON to the socket.
func (s *Server) Forge(user, conversation, message, request string, button fake.Button) bool {
	if conversation != terminal.Conversation {
		return false
	}
	s.Answer(user, terminal.Answer{Request: request, Message: message, Approve: button == fake.ApproveButton})
	return true
}

// Type implements fake.Platform: what `approver watch` makes of a line that
// names a code. Other lines do not leave the terminal.
func (s *Server) Type(user, conversation, text string) {
	if conversation != terminal.Conversation {
		return
	}
	in, err := terminal.ParseInput(text)
	if err != nil {
		if strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "/help") {
			s.tell(user, err.Error())
		}
		return
	}
	if in.Verb == terminal.VerbAnswer && in.Number == 0 {
		s.Answer(user, terminal.Answer{Approve: in.Approve, Code: in.Code.Reveal(), Command: in.Command})
	}
}

// ReplyTo implements fake.Platform: a terminal has no replies to a message.
func (*Server) ReplyTo(_, _, _, _ string) bool { return false }

// EnterCode implements fake.Platform: "N CODE".
func (s *Server) EnterCode(user, conversation, message, text string) error {
	s.mu.Lock()
	e, ok := s.screen[message]
	s.mu.Unlock()
	if !ok || conversation != terminal.Conversation {
		return fmt.Errorf("no message %s in %s", message, conversation)
	}
	s.Answer(user, terminal.Answer{Request: e.Card.Request, Message: message, Approve: true, Code: text,
		Shown: e.Card.Upto})
	return nil
}

// Answer writes an answer to the socket as user. What comes back is told to
// that user.
func (s *Server) Answer(user string, a terminal.Answer) {
	s.mu.Lock()
	broken := s.fault != fake.Healthy && s.fault != fake.Revoked && s.fault != fake.RateLimited
	s.note("%s answers, approve %v", user, a.Approve)
	s.mu.Unlock()
	if broken || s.ctx.Err() != nil {
		return
	}
	s.work.Go(func() {
		body, err := json.Marshal(a)
		if err != nil {
			s.tell(user, err.Error())
			return
		}
		raw, err := s.channel.Answer(s.ctx, peer(user), body)
		if err != nil {
			s.mu.Lock()
			s.note("%s got no outcome: %v", user, err)
			s.mu.Unlock()
			return
		}
		var out terminal.Answered
		if err := json.Unmarshal(raw, &out); err != nil {
			s.tell(user, err.Error())
			return
		}
		s.tell(user, out.Text)
	})
}

func (s *Server) tell(user, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[user] = append(s.told[user], text)
}

// Told implements fake.Platform.
func (s *Server) Told(user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.told[user]...)
}

// Break implements fake.Platform. Down, ServerError and Malformed end the
// connections, and Healthy makes them anew.
func (s *Server) Break(f fake.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.until = f, s.now().Add(retryTime)
	close(s.changed)
	s.changed = make(chan struct{})
	switch f {
	case fake.Down:
		s.watches()
	case fake.Healthy:
		s.watches()
		s.connect(func() {})
	default:
	}
}
