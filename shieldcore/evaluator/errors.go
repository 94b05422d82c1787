package evaluator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// ErrUnavailable matches every [UnavailableError] in errors.Is.
var ErrUnavailable = errors.New("the evaluator is unavailable")

// An UnavailableError means that the provider gave no answer. Its text has only our own
// words, because the texts of a server or a connection may repeat the key.
type UnavailableError struct {
	Why    string
	Status int // of HTTP, if there was one
	// RetryAfter is how long the provider wants to be left alone; zero if it does
	// not say.
	RetryAfter time.Duration

	cause error // context.Canceled or context.DeadlineExceeded, or nil
}

// Error says why in one sentence.
func (e *UnavailableError) Error() string {
	s := ErrUnavailable.Error() + ": " + e.Why
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf("; it asks to wait %v", e.RetryAfter)
	}
	return s
}

// Is makes the error an ErrUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// RateLimited reports whether the provider limited the rate. An agent can cause that, so
// it blocks in every fail mode.
func (e *UnavailableError) RateLimited() bool { return e.Status == http.StatusTooManyRequests }

// Unwrap returns the end of the context, if that was the reason.
func (e *UnavailableError) Unwrap() error { return e.cause }

// broken classifies an error of the connection. It keeps nothing of err's text.
func broken(ctx context.Context, err error) *UnavailableError {
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &UnavailableError{Why: "the call was given up while it was being evaluated", cause: context.Canceled}
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return &UnavailableError{Why: "it did not answer within the deadline", cause: context.DeadlineExceeded}
	case errors.Is(err, errNotLoopback):
		return &UnavailableError{Why: "its name does not lead to this machine, so the connection would have to be https"}
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &host):
		return &UnavailableError{Why: "its certificate is not trusted"}
	case errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return &UnavailableError{Why: "TLS with it failed"}
	case errors.As(err, &op) && op.Op == "dial":
		return &UnavailableError{Why: "it cannot be connected to"}
	}
	return &UnavailableError{Why: "the connection to it broke"}
}
