package sidecar

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"approver.example/shieldcore/modeldir"
	"approver.example/shieldcore/sidecar/protocol"
)

// A run is one run of the program.
type run struct {
	*process
	lines chan line // closed when there is no more
	next  uint64    // id of the next request
}

type line struct {
	text []byte
	err  error
}

// CheckFiles says why the program could not be started with the files that the
// configuration names. It starts nothing, and does not hash the model.
func (c Config) CheckFiles() error {
	_, _, err := c.model()
	if err == nil && c.Library != "" {
		_, err = os.Stat(c.Library)
	}
	info, statErr := os.Stat(c.Program)
	switch {
	case err != nil:
		return fmt.Errorf("sidecar: %w", err)
	case statErr != nil:
		return fmt.Errorf("sidecar: %w", statErr)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("sidecar: %s is not a program", c.Program)
	}
	return nil
}

// model reads the manifest of the model.
func (c Config) model() (manifest modeldir.Manifest, digest string, err error) {
	manifest, digest, err = modeldir.ReadManifest(c.Model)
	if err == nil && c.Manifest != "" && digest != c.Manifest {
		err = fmt.Errorf("the model's manifest has SHA-256 %s, and the configuration says %s", digest, c.Manifest)
	}
	return manifest, digest, err
}

// runOnce starts the program, checks it, and hands it texts until it fails or ctx
// ends. It returns when the program has ended. The error is never nil.
func (s *Sidecar) runOnce(ctx context.Context) error {
	manifest, digest, err := s.cfg.model()
	if err != nil {
		return err
	}
	p, err := s.start(s.cfg)
	if err != nil {
		return fmt.Errorf("it cannot be started: %w", err)
	}
	done := make(chan struct{})
	l := &run{process: p, lines: make(chan line)}
	go l.read(done)
	err = s.serve(ctx, l, manifest, digest)
	close(done)
	_ = p.in.Close() // of a program that is killed next
	p.kill()
	end := p.wait()
	for range l.lines { // until the reader has ended
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("it ended by itself: %s", howEnded(end))
	}
	return &endError{err, p.said()}
}

func howEnded(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// read passes lines on until there are no more or nobody wants them.
func (l *run) read(done <-chan struct{}) {
	defer close(l.lines)
	r := bufio.NewReaderSize(l.out, protocol.MaxReply)
	for {
		text, err := protocol.ReadLine(r, protocol.MaxReply)
		select {
		case l.lines <- line{text, err}:
		case <-done:
			return
		}
		if err != nil {
			return
		}
	}
}

// serve checks a program that was started, and answers requests with it.
func (s *Sidecar) serve(ctx context.Context, l *run, manifest modeldir.Manifest, digest string) error {
	ready := time.NewTimer(s.cfg.Start)
	defer ready.Stop()
	hello, err := l.hello(ctx, ready.C)
	if err != nil {
		return err
	}
	if hello.Manifest != digest {
		return errors.New("it loaded a model with another manifest")
	}
	for i, g := range manifest.Golden {
		r, err := l.score(ctx, g.Text, ready.C)
		if err != nil {
			return fmt.Errorf("golden text %d: %w", i+1, err)
		}
		if r.Score == nil || r.Truncated || !(math.Abs(*r.Score-g.Score) <= modeldir.Tolerance) {
			return fmt.Errorf("golden text %d: the score is not that of the manifest", i+1)
		}
	}
	s.set(func(st *Status) {
		st.State, st.Error, st.Said, st.FailedSince = Running, "", "", time.Time{}
		st.Manifest, st.Runtime = hello.Manifest, hello.Runtime
	})
	for {
		select {
		case q := <-s.requests:
			if err := s.answer(ctx, l, q); err != nil {
				return err
			}
		case got := <-l.lines:
			if got.err != nil {
				return broken(got.err)
			}
			return errors.New("it wrote what nobody asked for")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answer lets the program score a text. An error ends the program, unless the program
// itself reports one for this text.
func (s *Sidecar) answer(ctx context.Context, l *run, q *request) error {
	timer := time.NewTimer(s.cfg.Deadline)
	defer timer.Stop()
	r, err := l.score(ctx, q.text, timer.C)
	switch {
	case err != nil:
		q.done <- result{err: unavailable("%v", err)}
		// Change the state before the next text is accepted.
		s.set(func(st *Status) { st.State = Restarting })
	case r.Score == nil:
		q.done <- result{err: unavailable("it says: %s", r.Error)}
	default:
		q.done <- result{score: *r.Score, truncated: r.Truncated}
	}
	return err
}

// hello reads the program's first line.
func (l *run) hello(ctx context.Context, late <-chan time.Time) (protocol.Hello, error) {
	text, err := l.line(ctx, late, "did not start in time")
	if err != nil {
		return protocol.Hello{}, err
	}
	h, err := protocol.ParseHello(text)
	if err != nil {
		return protocol.Hello{}, err
	}
	if h.Error != "" {
		return protocol.Hello{}, fmt.Errorf("it says: %s", h.Error)
	}
	return h, nil
}

// score sends a text and reads the reply. It writes in a goroutine, because a program
// that does not read would block it.
func (l *run) score(ctx context.Context, text string, late <-chan time.Time) (protocol.Reply, error) {
	l.next++
	id := strconv.FormatUint(l.next, 10)
	var failed error
	wrote := make(chan struct{})
	go func() {
		failed = protocol.Write(l.in, protocol.Request{ID: id, Text: text})
		close(wrote)
	}()
	answer, err := l.line(ctx, late, "did not answer within the deadline")
	if err != nil {
		l.kill() // ends the writing as well
		_ = l.in.Close()
		<-wrote
		return protocol.Reply{}, err
	}
	select { // the writer may be a moment behind
	case <-wrote:
		err = failed
	case <-late:
		err = errors.New("late")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		l.kill()
		_ = l.in.Close()
		return protocol.Reply{}, errors.New("it answered before it had read the text")
	}
	return protocol.ParseReply(answer, id)
}

// line waits for a line of the program.
func (l *run) line(ctx context.Context, late <-chan time.Time, slow string) ([]byte, error) {
	select {
	case got := <-l.lines:
		if got.err != nil {
			return nil, broken(got.err)
		}
		return got.text, nil
	case <-late:
		return nil, errors.New("it " + slow)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// broken explains a failed read; io.EOF is returned unchanged.
func broken(err error) error {
	switch {
	case errors.Is(err, protocol.ErrTooLong):
		return fmt.Errorf("it wrote a line of more than %d bytes", protocol.MaxReply)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ended in the middle of a line")
	}
	return err
}
