package approver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"approver.example/tokens"
)

// A Paired is who sent a pairing code, and where. The ids are the platform's
// word; the rest is claimed.
type Paired struct {
	ID     string `json:"id"`               // of the person
	Name   string `json:"name,omitempty"`   // what they call themselves
	Chat   string `json:"chat"`             // of the conversation
	Title  string `json:"title,omitempty"`  // what it is called
	Thread int    `json:"thread,omitempty"` // the topic, if there is one
}

// A Pairer is an extra ability of a channel: to find out who somebody is.
type Pairer interface {
	Channel
	// Pair waits, while Run receives, until a person sends code to the bot, and
	// returns who it was and where. They need not be on the approver list, and
	// are not by this. One pairing at a time; an error if another is going on,
	// or if ctx ends first.
	Pair(ctx context.Context, code tokens.Code) (Paired, error)
}

// A Pairing is how a channel waits for a code that works once. The zero value
// waits for none.
type Pairing struct {
	mu    sync.Mutex
	code  tokens.Code
	found chan Paired
	wrong int // other codes that were sent meanwhile
}

// What people are told of a code that they sent to pair.
const (
	PairedText    = "That was the code. Whoever runs approver pair is asked now whether you may approve."
	NotPairedText = "That is not the code that approver pair shows, or it was used, or its time is over. Nothing was changed."
)

// Pair waits for code; see [Pairer].
func (p *Pairing) Pair(ctx context.Context, code tokens.Code) (Paired, error) {
	if code.IsZero() {
		return Paired{}, errors.New("pair: no code to wait for")
	}
	p.mu.Lock()
	if !p.code.IsZero() {
		p.mu.Unlock()
		return Paired{}, errors.New("pair: somebody is being paired on this channel already: wait for its end")
	}
	p.code, p.found, p.wrong = code, make(chan Paired, 1), 0
	found := p.found
	p.mu.Unlock()
	select {
	case who := <-found:
		return who, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.code.IsZero() { // sent at the last moment
		return <-found, nil
	}
	p.code = tokens.Code{}
	if p.wrong > 0 {
		return Paired{}, fmt.Errorf("nobody sent the code, and %d others were sent: %w", p.wrong, context.Cause(ctx))
	}
	return Paired{}, fmt.Errorf("nobody sent the code: %w", context.Cause(ctx))
}

// Matches reports whether a text has the code that is waited for. Before it
// counts, [Pairing.Sent] has to say so.
func (p *Pairing) Matches(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matches(text)
}

func (p *Pairing) matches(text string) bool {
	sent, err := codeIn(text)
	return err == nil && !p.code.IsZero() && sent.Equal(p.code)
}

// codeIn reads a text that is a code, with or without its prefix, or has one.
func codeIn(text string) (tokens.Code, error) {
	if code, err := tokens.Parse(text); err == nil {
		return code, nil
	}
	return tokens.Find(text)
}

// Sent takes a text that who, authenticated by the platform, sent, and reports
// whether it was the code. The code is void from then on.
func (p *Pairing) Sent(text string, who Paired) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.matches(text) {
		if _, err := codeIn(text); err == nil {
			p.wrong++
		}
		return false
	}
	p.code = tokens.Code{}
	p.found <- who
	return true
}
