package calls

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/gorilla/websocket"

	"approver.example"
)

// A Kind says what a failed call means for the next try. The zero value is Transient.
type Kind uint8

// The kinds. Each channel has one function that sorts what its platform says into them.
const (
	Transient Kind = iota // trouble on the way or at the platform: it may work in a moment
	Limited               // it came too soon: try again after the wait
	Refused               // the platform refuses this message, and would refuse it again
	Revoked               // the platform does not take the token, now or for good
	Fatal                 // only people can cure it, whatever the message
)

// An Error is a failed call to a platform. Its text is safe to log and to show.
type Error struct {
	Kind  Kind
	Call  string // what failed, for people
	Words string // what the platform said, or what happened on the way
	Cure  string // what people can do about it; empty if nothing
	// Code is the platform's own short word for it, such as "not_in_channel" or "50013"; empty if
	// it gave none.
	Code   string
	Status int           // of HTTP; zero without an answer
	Wait   time.Duration // how long the platform wants to be left alone, if it is Limited
	// Unclear means that the call may have been carried out all the same.
	Unclear bool
	Cause   error // what errors.Is and errors.As find too; nil if there is none
}

// Error returns the call, the platform's words and the cure.
func (e *Error) Error() string {
	text := e.Words
	if e.Call != "" {
		text = e.Call + ": " + text
	}
	if e.Cure != "" {
		text += ": " + e.Cure
	}
	return text
}

// Is reports whether the same card would be refused again: see [approver.ErrFinal]. A token that
// is refused now may be taken in a moment, or be replaced.
func (e *Error) Is(target error) bool {
	return target == approver.ErrFinal && (e.Kind == Refused || e.Kind == Fatal)
}

// Unwrap returns the cause, and an [approver.Patience] if the call is Limited.
func (e *Error) Unwrap() (all []error) {
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	if e.Kind == Limited {
		all = append(all, patience{e})
	}
	return all
}

// patience is apart from Error: an error that is not Limited asks for no patience.
type patience struct{ of *Error }

func (p patience) Error() string             { return p.of.Error() }
func (p patience) RetryAfter() time.Duration { return p.of.Wait }

// Errorf makes an error of a kind, formatted as by [fmt.Errorf].
func Errorf(kind Kind, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Words: err.Error(), Cause: errors.Unwrap(err)}
}

// Final makes an error that would recur with the same card: see [approver.ErrFinal].
func Final(format string, args ...any) error { return Errorf(Refused, format, args...) }

// KindOf is the kind of an error; Transient for any that is no [Error].
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Transient
}

// Stops reports that nothing can be received before people, or another answer about the token,
// change something.
func Stops(err error) bool { k := KindOf(err); return k == Revoked || k == Fatal }

// Coded reports whether an error has the platform's code.
func Coded(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// Unclear reports whether a call that failed may have been carried out all the same.
func Unclear(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return !ok || e.Unclear
}

// Asked is the wait that an error asks for; zero if it asks for none.
func Asked(err error) time.Duration {
	if p, ok := errors.AsType[approver.Patience](err); ok {
		return p.RetryAfter()
	}
	return 0
}

// CauseOf names an error without its variable parts, such as a port or a wait.
func CauseOf(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e.Code != "":
		return e.Code
	case ok && e.Kind == Limited:
		return "rate limit"
	case ok && e.Status != 0:
		return Status(e.Status)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + " " + op.Err.Error()
	}
	return err.Error()
}

// OnTheWay is the error of a call that the platform did not answer: the network, a proxy or the
// end of the context did. It drops the address, which may hold a token.
func OnTheWay(call string, err error) *Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e := &Error{Call: call, Words: err.Error(), Cause: err, Unclear: true}
	if f, ok := errors.AsType[*ForeignError](err); ok {
		e.Status, e.Unclear = f.Status, unclear(f.Status)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		e.Unclear = false
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		e.Cure = "the name cannot be looked up: check this machine's network and DNS"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Unclear = false
		e.Cure = "whoever answered is not known to be the platform: check this machine's clock, and a proxy on the way"
	}
	if errors.Is(err, websocket.ErrBadHandshake) {
		e.Cure = "the answer is no WebSocket: a proxy or a wrong URL?"
	}
	return e
}

// Answered is the error of an HTTP status that the platform gave no reason for.
func Answered(call string, status int) *Error {
	return &Error{Call: call, Words: Status(status), Status: status, Unclear: unclear(status)}
}

// unclear reports whether a call may have been carried out that was answered with a status: a
// server in the middle may have lost the answer.
func unclear(status int) bool { return status < 300 || status >= 500 }
