package sidecar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"approver.example/display"
)

// ErrUnavailable matches every error of [Sidecar.Score] in errors.Is.
var ErrUnavailable = errors.New("the classifier program is unavailable")

func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnavailable, fmt.Sprintf(format, args...))
}

// A State is the state of the program.
type State string

// The states.
const (
	Stopped    State = "stopped"    // Run has not begun, or has ended
	Starting   State = "starting"   // it loads the model for the first time
	Running    State = "running"    // it answers
	Restarting State = "restarting" // it failed, and is started again
)

// A Status describes the program for people.
type Status struct {
	State State `json:"state"`
	// FailedSince is when the program first failed after it last worked; zero while
	// it works.
	FailedSince time.Time `json:"failed_since,omitzero"`
	Error       string    `json:"error,omitempty"` // of the last failure; one line
	Said        string    `json:"said,omitempty"`  // the end of its standard error then; one line
	Restarts    int       `json:"restarts"`
	Scored      uint64    `json:"scored"`
	Unavailable uint64    `json:"unavailable"` // texts without a score
	Manifest    string    `json:"manifest,omitempty"`
	Runtime     string    `json:"runtime,omitempty"`
}

// Well reports whether the program answers.
func (s Status) Well() bool { return s.State == Running }

// A Sidecar is the program and the way to ask it. It is safe for concurrent use;
// the program gets one text at a time. The zero Sidecar is unavailable.
type Sidecar struct {
	cfg      Config
	requests chan *request
	start    func(Config) (*process, error)

	mu     sync.Mutex
	status Status
}

// A request is a text on its way to the program.
type request struct {
	text string
	done chan result // has room for the one result
}

type result struct {
	score     float64
	truncated bool
	err       error
}

// New returns a sidecar for a valid configuration. It starts nothing: Run does.
func New(cfg Config) (*Sidecar, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Sidecar{cfg: cfg.withDefaults(), requests: make(chan *request), start: start, status: Status{State: Stopped}},
		nil
}

// Threshold is the score from which a text counts as an injection. For the zero Sidecar
// it is 0, which every score reaches.
func (s *Sidecar) Threshold() float64 {
	if s == nil {
		return 0
	}
	return s.cfg.Threshold
}

// Status returns the program's status.
func (s *Sidecar) Status() Status {
	if s == nil {
		return Status{State: Stopped}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	if st.State == "" {
		st.State = Stopped
	}
	return st
}

// Score returns how much a text resembles an injection, 0 to 1. truncated says that only
// a part of the text was scored. The error is ErrUnavailable; the score is 1 then. Score
// takes at most the deadline, including the wait for other texts.
func (s *Sidecar) Score(ctx context.Context, text string) (score float64, truncated bool, err error) {
	r := s.ask(ctx, text)
	if s == nil {
		return 1, true, r.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.err != nil {
		s.status.Unavailable++
		return 1, true, r.err
	}
	s.status.Scored++
	return r.score, r.truncated, nil
}

func (s *Sidecar) ask(ctx context.Context, text string) result {
	if st := s.Status(); st.State != Running {
		if st.Error != "" {
			return result{err: unavailable("it is %s: %s", st.State, st.Error)}
		}
		return result{err: unavailable("it is %s", st.State)}
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	end := display.RuneBoundary(text, s.cfg.MaxText)
	q := &request{text[:end], make(chan result, 1)}
	select {
	case s.requests <- q:
	case <-ctx.Done():
		return result{err: unavailable("it was busy with other texts, or the call was given up")}
	}
	select {
	case r := <-q.done:
		r.truncated = r.truncated || end < len(text)
		return r
	case <-ctx.Done():
		return result{err: unavailable("it did not answer within the deadline, or the call was given up")}
	}
}

// Pauses before the program is started again.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = time.Minute
	// steady is how long it has to run before the pause is reset.
	steady = time.Minute
)

// Run keeps the program running until ctx ends, and returns when it has ended. It
// is called once.
func (s *Sidecar) Run(ctx context.Context) error {
	s.set(func(st *Status) { st.State = Starting })
	defer s.set(func(st *Status) { st.State = Stopped })
	pause := firstPause
	for {
		began := time.Now()
		err := s.runOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > steady {
			pause = firstPause
		}
		s.failed(err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

func (s *Sidecar) set(change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// failed records why the program has to be started again.
func (s *Sidecar) failed(err error) {
	var end *endError
	said := ""
	if errors.As(err, &end) {
		said = strings.TrimSpace(display.OneLine(end.said))
	}
	s.set(func(st *Status) {
		st.State, st.Error, st.Said = Restarting, display.OneLine(err.Error()), said
		st.Restarts++
		if st.FailedSince.IsZero() {
			st.FailedSince = time.Now()
		}
	})
}

// An endError is the reason why a program ended, with the end of its standard error.
type endError struct {
	why  error
	said string
}

func (e *endError) Error() string { return e.why.Error() }
func (e *endError) Unwrap() error { return e.why }
