package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/display"
	"approver.example/tokens"
)

// maxAnswer bounds the JSON of one answer in bytes.
const maxAnswer = 16 << 10

// Texts of refusals that the channel makes itself.
//
//approver:texts
const (
	textStranger = "You are not on the terminal's approver list. Your answer does not count."
	textNotTaken = "Answers are not taken in this terminal: %s"
	textNotHere  = "A CATASTROPHIC request is not approved in this terminal, because an agent could type here too: %s"
	textMismatch = "That message shows another request. Nothing was done."
	textNothing  = "The answer names no card: give its number or its code."
	textTerm     = "How long a yes lasts is session, or 1m to 60m, behind /approve and the code. Nothing was approved."
)

// Answer takes one answer, the JSON of an [Answer], from the process that the kernel names. It
// returns the JSON of an [Answered], which is for that person alone. A refusal is an Answered;
// an error means that the body is not an answer or that the channel does not run.
func (c *Channel) Answer(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	person, ok := c.identify(peer)
	if !ok {
		c.log.Warn("refused an answer of somebody who is not on the approver list", "uid", nameOf(peer))
		return answered(c.refused(nameOf(peer), display.Msg(textStranger)))
	}
	if !c.cfg.AllowAnswers {
		return answered(c.refused(person.ID, display.Msg(textNotTaken, c.hello().Offer.instead(""))))
	}
	a, err := readAnswer(body)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	r, refusal := c.replyOf(person, a)
	if refusal.Text != "" {
		return answered(refusal)
	}
	out, err := c.ask(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	return answered(out)
}

// NotTaken says why answers to a request are not taken here, and what to do instead; it is
// empty where answers are taken.
func (c *Channel) NotTaken(request string) string {
	offer := c.hello().Offer
	if offer.Deny {
		return ""
	}
	return display.Texts{}.Text(textNotTaken, offer.instead(request))
}

// instead says what to do where a terminal takes no answers.
func (o Offer) instead(request string) display.Message {
	switch {
	case o.Waits && o.Owner:
		return display.Msg("allow_answers stands in the configuration and waits until people approve it. Where nobody can, "+
			"root lets it count: %s, and restart the daemon.", display.AsRoot("people recover"))
	case o.Waits:
		return display.Msg("allow_answers stands in the configuration and waits until people approve it (docs/nobody.md).")
	case o.Alone && o.Owner:
		return display.Msg("set allow_answers for the terminal, %s, or as root: %s.", display.Msg(pairWay), ownerWay(request))
	case o.Alone:
		return display.Msg("set allow_answers for the terminal, or %s.", display.Msg(pairWay))
	}
	return display.Msg("answer in a chat, or set allow_answers for the terminal.")
}

// notHere says what to do about a CATASTROPHIC request.
func (c *Channel) notHere(request string) display.Message {
	switch {
	case c.cfg.Alone && c.cfg.Owner:
		return display.Msg("no chat is configured, so root may: %s. Or %s.", ownerWay(request), display.Msg(pairWay))
	case c.cfg.Alone:
		return display.Msg("no chat is configured: %s.", display.Msg(pairWay))
	}
	return display.Msg("answer in a chat.")
}

// refused is the outcome of what the channel refuses by itself, for somebody.
func (c *Channel) refused(sender string, why display.Message) approver.Outcome {
	return approver.Outcome{Text: c.To(sender, Conversation).Message(why)}
}

func answered(o approver.Outcome) (json.RawMessage, error) {
	return json.Marshal(Answered{Kind: kindName(o.Kind), Text: o.Text})
}

func readAnswer(body json.RawMessage) (Answer, error) {
	if len(body) > maxAnswer {
		return Answer{}, fmt.Errorf("the answer has %d bytes, at most %d are read", len(body), maxAnswer)
	}
	var a Answer
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return Answer{}, fmt.Errorf("the answer is not the JSON that is expected here: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Answer{}, errors.New("the answer has something behind its JSON")
	}
	return a, nil
}

// replyOf turns an answer into a reply or a refusal. The core decides whether the reply counts;
// only what must never be approved in a terminal is refused here. A code that is on no card
// here goes on to the core, which counts wrong codes.
func (c *Channel) replyOf(person approver.Approver, a Answer) (approver.Reply, approver.Outcome) {
	r := approver.Reply{
		Channel: Name, Conversation: Conversation, Sender: person.ID, Name: person.Name,
		Approve: a.Approve, Method: approver.ByTyped, Request: a.Request, Message: a.Message, Shown: a.Shown,
		Choice: a.Choice, Reason: a.Reason,
	}
	if a.Code != "" {
		code, err := tokens.Parse(a.Code)
		if err != nil {
			return approver.Reply{}, c.refused(person.ID, intent.Problem(err, "/approve", "/deny"))
		}
		r.Code, r.Method = code, approver.ByCode
		if a.Command {
			r.Method = approver.ByCommand
		}
	}
	if a.Term != "" {
		term, ok := approver.ParseTerm(a.Term)
		if !ok || !a.Approve || r.Code.IsZero() {
			return approver.Reply{}, c.refused(person.ID, display.Msg(textTerm))
		}
		r.Grant = term
	}
	if r.Request == "" && r.Message == "" && r.Code.IsZero() {
		return approver.Reply{}, c.refused(person.ID, display.Msg(textNothing))
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.cards {
		named := r.Message == k.message || r.Request != "" && r.Request == k.card.Request
		if named && (r.Message != "" && r.Message != k.message || r.Request != "" && r.Request != k.card.Request) {
			out := c.refused(person.ID, display.Msg(textMismatch))
			out.Kind = approver.OutcomeUnknown
			return approver.Reply{}, out
		}
		if !named && !r.Code.Equal(k.card.Code) {
			continue
		}
		if r.Approve && k.card.Severity != approver.High && !c.cfg.Isolated {
			return approver.Reply{}, c.refused(person.ID, display.Msg(textNotHere, c.notHere(k.card.Request)))
		}
		if named {
			r.Request = k.card.Request
			if a.Message != "" || !r.Code.IsZero() {
				r.Message = k.message
			}
		}
	}
	if r.Message == "" && r.Code.IsZero() {
		// Whoever names only the request has not read a card that a watcher has.
		r.Method = approver.ByID
	}
	return r, approver.Outcome{}
}

// ask passes a reply to the core, for as long as both the caller and Run last.
func (c *Channel) ask(ctx context.Context, r approver.Reply) (approver.Outcome, error) {
	c.mu.Lock()
	s := c.session
	if s == nil {
		c.mu.Unlock()
		return approver.Outcome{}, ErrStopped
	}
	s.answers.Add(1)
	c.mu.Unlock()
	defer s.answers.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	return s.reply(ctx, r), nil
}
