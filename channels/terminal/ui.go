package terminal

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

const helpText = `y N          approve card N             n N          deny card N
N CODE       approve card N with its code, as CATASTROPHIC cards need
y N C        approve card N with its choice C
/approve CODE, /deny CODE why           as in the chats; why is told to
                                        the agent
/approve CODE session                   the very same call again, unasked, in
/approve CODE 15m                       this session, or for that long
list         what is pending            show N       card N whole
help         this                       quit         stop watching; what is
                                                     open stays open until
                                                     its time ends
`

// UI is the whole of `approver watch`: it draws events and turns typed lines
// into answers. The zero value needs In, Out and Now.
type UI struct {
	In  io.Reader
	Out io.Writer
	// Color allows colors, and a bell at each new card.
	Color bool
	// Width, if set, returns the screen's current width in columns, since people resize it. If
	// it returns 0 or is not set, the width is 80.
	Width func() int
	Now   func() time.Time
}

// Run shows events and takes what is typed until ctx ends, events is closed, or the person
// quits or closes In; it waits for answers under way. It returns nil when the person or the
// service ends it; otherwise it returns ctx's error or the error of Out. An event that cannot
// be read is reported on the screen and does not end Run. events may come from several
// connections in turn; each begins with a hello.
//
// One goroutine reads In. A read cannot be interrupted, so after Run that
// goroutine lasts until In gives one more line or ends.
func (u UI) Run(ctx context.Context, events <-chan json.RawMessage,
	answer func(context.Context, json.RawMessage) (json.RawMessage, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &screen{UI: u, answer: answer, numbers: map[string]int{}, results: make(chan string)}
	defer s.answers.Wait()
	defer cancel()
	lines := make(chan typed)
	go readLines(ctx, u.In, &s.drawn, lines)
	for s.err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case raw, ok := <-events:
			if !ok {
				s.say("The service has ended the connection.")
				return s.drain(ctx)
			}
			s.event(raw)
		case l, ok := <-lines:
			if !ok || s.typed(ctx, l) {
				return s.drain(ctx)
			}
		case text := <-s.results:
			s.waiting--
			s.say(text)
		}
	}
	return s.err
}

// typed is one line of input, or why there is none.
type typed struct {
	text string
	err  error
	// drawn is how many cards had been drawn when the line was read. The person knew nothing of
	// later ones, for example on a screen that was stopped and continues.
	drawn int64
}

var errLong = fmt.Errorf("the line has more than %d bytes and was not read", maxLine)

// readLines sends lines until In or ctx ends. It drops all of a line that is too long: the rest
// of the line must not be taken for another answer.
func readLines(ctx context.Context, in io.Reader, drawn *atomic.Int64, lines chan<- typed) {
	defer close(lines)
	r := bufio.NewReaderSize(in, maxLine+2)
	send := func(l typed) bool {
		select {
		case lines <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	long := false
	for {
		part, more, err := r.ReadLine()
		switch {
		case err != nil:
			if !errors.Is(err, io.EOF) {
				send(typed{err: fmt.Errorf("what you type cannot be read any more: %w", err)})
			}
			return
		case more:
			long = true
		case long:
			long = false
			if !send(typed{err: errLong}) {
				return
			}
		default:
			if !send(typed{text: string(part), drawn: drawn.Load()}) {
				return
			}
		}
	}
}

// A screen is a running UI. Only Run's goroutine touches it; answers report
// through results.
type screen struct {
	UI
	answer  func(context.Context, json.RawMessage) (json.RawMessage, error)
	cards   []*entry       // by number, from 1
	numbers map[string]int // by message
	answers sync.WaitGroup
	waiting int // answers whose result has not been shown yet
	results chan string
	drawn   atomic.Int64 // how often a card was drawn
	err     error        // of Out
	folded  strings.Builder
}

// An entry is a card on the screen. Numbers are never reused, so a line that was typed for one
// card cannot reach another.
type entry struct {
	Event
	gone  bool
	drawn int64 // screen.drawn when its newest state was drawn: see typed
}

// drain shows the results of the answers that are under way.
func (s *screen) drain(ctx context.Context) error {
	for ; s.waiting > 0 && s.err == nil; s.waiting-- {
		select {
		case text := <-s.results:
			s.say(text)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.err
}

func (s *screen) write(text string) {
	if s.err == nil {
		if _, s.err = io.WriteString(s.Out, text); s.err != nil {
			s.err = fmt.Errorf("write to the screen: %w", s.err)
		}
	}
}

// say writes lines of prose, broken at the screen's width if it has one.
func (s *screen) say(text string) {
	to := Folder{W: &s.folded}
	if s.Width != nil {
		to.Width = s.Width()
	}
	_, _ = to.Write([]byte(harmless(text) + "\n")) // a builder takes all
	s.write(s.folded.String())
	s.folded.Reset()
}

// columns is the width at which cards are drawn now.
func (s *screen) columns() int {
	if s.Width == nil {
		return 80
	}
	return cmp.Or(s.Width(), 80)
}

func (s *screen) event(raw json.RawMessage) {
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		s.say(oneLine("An event of the service could not be read: " + err.Error()))
		return
	}
	if e.Type == EventHello {
		s.hello(e.Offer)
		return
	}
	n, known := s.numbers[e.Message]
	switch {
	case e.Type == EventGone && known:
		s.cards[n-1].gone = true
		s.say(fmt.Sprintf("Card %d was taken back.", n))
	case e.Type == EventGone:
	case !known:
		s.cards = append(s.cards, &entry{Event: e})
		n = len(s.cards)
		s.numbers[e.Message] = n
		if s.Color {
			s.write("\a")
		}
		s.draw(n, false)
	default:
		k := s.cards[n-1]
		if e.Rev < k.Rev {
			return
		}
		same := e.Rev == k.Rev
		k.Event, k.gone = e, false
		if same {
			return // shown again only because the connection is new
		}
		if e.Card.State.Settled() {
			s.say(fmt.Sprintf("Card %d: %s", n, result(e.Card)))
		} else {
			s.draw(n, false)
		}
	}
	if known && s.cards[n-1].closed() {
		s.cards[n-1].shrink()
	}
}

// hello begins a connection. A card that was pending on an earlier connection is pending only
// if it is shown again.
func (s *screen) hello(o Offer) {
	for _, k := range s.cards {
		k.gone = true
	}
	if !o.Deny {
		s.say("Watching. " + display.Texts{}.Text(textNotTaken, o.instead("")))
		return
	}
	s.say("Watching. Type help to see what can be typed.")
}

// result is the one line that says what became of a card.
func result(card approver.Card) string {
	text := cmp.Or(oneLine(card.Result), card.State.String())
	if mark := cards.Mark(card.State); !strings.HasPrefix(text, mark) {
		text = mark + " " + text
	}
	return text
}

func (k *entry) closed() bool { return k.gone || k.Card.State.Settled() }

// shrink drops what a closed card no longer needs, so that memory does not grow by whole
// commands on a screen that stays open for weeks.
func (k *entry) shrink() {
	c := k.Card
	k.Card = approver.Card{Request: c.Request, State: c.State, Push: c.Push, Result: c.Result}
}

func (s *screen) draw(n int, full bool) {
	k := s.cards[n-1]
	s.write("\n" + Render(k.Card, Options{
		Number: n, Width: s.columns(), Color: s.Color, Full: full, Now: s.Now(), Offer: k.Offer,
	}))
	if at := s.drawn.Add(1); !full {
		k.drawn = at
	}
}

// shownBefore is the number of the last identical call that a card had shown before a line was
// typed. If the card was redrawn since, only the first call is certain.
func (k *entry) shownBefore(l typed) int {
	if k == nil || l.drawn < k.drawn {
		return 0
	}
	return k.Card.Upto
}

// withCode is the pending card with a code, or nil.
func (s *screen) withCode(code tokens.Code) *entry {
	for _, k := range s.cards {
		if !k.closed() && !code.IsZero() && k.Card.Code.Equal(code) {
			return k
		}
	}
	return nil
}

// typed acts on one line and reports whether the person wants to quit.
func (s *screen) typed(ctx context.Context, l typed) (quit bool) {
	if l.err != nil {
		s.say(l.err.Error())
		return false
	}
	in, err := ParseInput(l.text)
	if err != nil {
		s.say(oneLine(err.Error()))
		return false
	}
	switch in.Verb {
	case VerbQuit:
		return true
	case VerbHelp:
		s.write(helpText)
	case VerbList:
		s.list()
	case VerbShow:
		if s.find(in.Number) != nil {
			s.draw(in.Number, true)
		}
	case VerbAnswer:
		s.send(ctx, in, l)
	case VerbNone:
	}
	return false
}

func (s *screen) list() {
	n := 0
	for i, k := range s.cards {
		if !k.closed() {
			n++
			s.say(fmt.Sprintf("%d  %s  until %s", i+1, oneLine(k.Card.Push), expiry(display.Texts{}, k.Card.Due, s.Now())))
		}
	}
	if n == 0 {
		s.say("Nothing is pending.")
	}
}

// find returns the pending card with a number, or says why there is none.
func (s *screen) find(n int) *entry {
	if n < 1 || n > len(s.cards) {
		s.say(fmt.Sprintf("There is no card %d. Type list to see what is pending.", n))
		return nil
	}
	k := s.cards[n-1]
	switch {
	case k.Card.State.Settled():
		s.say(fmt.Sprintf("Card %d is closed: %s", n, result(k.Card)))
	case k.gone:
		s.say(fmt.Sprintf("Card %d is no longer pending here.", n))
	default:
		return k
	}
	return nil
}

// send sends an answer to the service, in a goroutine that Run waits for.
func (s *screen) send(ctx context.Context, in Input, l typed) {
	a := Answer{Approve: in.Approve, Code: in.Code.Reveal(), Command: in.Command, Choice: in.Choice,
		Shown: s.withCode(in.Code).shownBefore(l), Reason: in.Reason}
	if in.Grant != (approver.Term{}) {
		a.Term = in.Grant.String()
	}
	about := "Your answer"
	if in.Number != 0 {
		k := s.find(in.Number)
		if k == nil {
			return
		}
		a.Request, a.Message, a.Shown = k.Card.Request, k.Message, k.shownBefore(l)
		about = fmt.Sprintf("Card %d", in.Number)
		if in.Approve && in.Code.IsZero() && !k.Offer.Tap && k.Offer.Code {
			s.say(fmt.Sprintf("Card %d takes its code only: type %[1]d CODE.", in.Number))
			return
		}
	}
	body, err := json.Marshal(a)
	if err != nil {
		s.say(oneLine(err.Error()))
		return
	}
	s.waiting++
	s.answers.Go(func() {
		text := about + ": " + s.ask(ctx, body)
		select {
		case s.results <- text:
		case <-ctx.Done():
		}
	})
}

// ask returns the service's response to an answer. It runs outside Run's goroutine and uses
// nothing of the screen but answer.
func (s *screen) ask(ctx context.Context, body json.RawMessage) string {
	raw, err := s.answer(ctx, body)
	if err != nil {
		return "not delivered: " + oneLine(err.Error())
	}
	var out Answered
	if err := json.Unmarshal(raw, &out); err != nil {
		return "the service's answer could not be read: " + oneLine(err.Error())
	}
	if out.Text == "" {
		return oneLine(out.Kind)
	}
	return oneLine(out.Text)
}
