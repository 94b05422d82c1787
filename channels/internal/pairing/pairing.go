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
	wrong int // other codes that were sent in the meantime
}

// The answers to somebody who sent a pairing code.
const (
	PairedText    = "That was the code. Whoever runs approver pair is asked now whether you may approve."
	NotPairedText = "That is not the code that approver pair shows, or it was used, or its time is over. Nothing was " +
		"changed."
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
	p.code, p.found, p.wrong = code, make(chan approver.Paired, 1), 0
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
		return approver.Paired{}, fmt.Errorf("nobody sent the code, and %d others were sent: %w", p.wrong, context.Cause(ctx))
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

// Sent takes a text that who, authenticated by the platform, sent, and reports whether it was
// the code. If it was, the code is void from then on.
func (p *Waiting) Sent(text string, who approver.Paired) bool {
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
