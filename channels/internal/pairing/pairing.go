// Package pairing is how a channel finds out who somebody is: it waits for a code that
// approver pair shows, and that a person sends to the bot.
package pairing

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"approver.example"
	"approver.example/tokens"
)

// A Waiting waits for a code that works once. The zero value waits for none.
type Waiting struct {
	mu    sync.Mutex
	code  tokens.Code
	found chan approver.Paired
	past  approver.Passed
}

// What a bot tells people before they are paired.
//
//approver:texts
const (
	PairedText    = "That was the code. Whoever runs approver pair is asked now whether you may approve."
	NotPairedText = "That is not the code that approver pair shows, or it was used, or its time is over. Nothing was " +
		"changed."
	// WhoText begins what the bot says of itself. How to pair follows it.
	WhoText = "I am the bot of approver: I ask people before an AI agent does what is hard to take back: a " +
		"force-push, deleting files, sending a secret, for example. You are not one of these people yet."
)

// Pair waits for code; see [approver.Pairer].
func (p *Waiting) Pair(ctx context.Context, code tokens.Code) (approver.Paired, error) {
	if code.IsZero() {
		return approver.Paired{}, errors.New("pair: no code to wait for")
	}
	p.mu.Lock()
	if !p.code.IsZero() {
		p.mu.Unlock()
		return approver.Paired{}, errors.New("pair: somebody is being paired on this channel already: wait for its end")
	}
	p.code, p.found, p.past = code, make(chan approver.Paired, 1), approver.Passed{}
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
	if n := p.past.Codes; n > 0 {
		return approver.Paired{}, fmt.Errorf("nobody sent the code, and %d others were sent: %w", n, context.Cause(ctx))
	}
	return approver.Paired{}, fmt.Errorf("nobody sent the code: %w", context.Cause(ctx))
}

// Matches reports whether a text has the code that is waited for. It counts only once
// [Waiting.Sent] confirms it.
func (p *Waiting) Matches(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matches(text)
}

func (p *Waiting) matches(text string) bool {
	sent, err := codeIn(text)
	return err == nil && !p.code.IsZero() && sent.Equal(p.code)
}

// codeIn reads a text that is a code, with or without its prefix, or that contains one.
func codeIn(text string) (tokens.Code, error) {
	if code, err := tokens.Parse(text); err == nil {
		return code, nil
	}
	return tokens.Find(text)
}

// Other counts a text that is not the code.
func (p *Waiting) Other(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass(text)
}

func (p *Waiting) pass(text string) {
	if HasCode(text) {
		p.past.Codes++
	} else {
		p.past.Messages++
	}
}

// HasCode reports whether a text has a code, of pairing or of a card.
func HasCode(text string) bool {
	_, err := codeIn(text)
	return err == nil
}

// Passed counts what was sent that was not the code, since the last [Waiting.Pair] began.
func (p *Waiting) Passed() approver.Passed {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.past
}

// Sent takes a text that who, authenticated by the platform, sent, and reports whether it was
// the code. If it was, the code is void from then on, and the wait ends when told is called: after
// the person was told, because the connection may end with the wait.
func (p *Waiting) Sent(text string, who approver.Paired) (told func(), sent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.matches(text) {
		p.pass(text)
		return func() {}, false
	}
	p.code = tokens.Code{}
	found := p.found
	return sync.OnceFunc(func() { found <- who }), true
}
