package fingerprint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"approver.example/fingerprint/disk"

	"approver.example"
)

// scanTime is how long the files of one call may take: one on a mount that hangs
// must not hold the call for ever.
const scanTime = 5 * time.Second

// A Binder computes what approvals are bound to. Use [New]; it can be shared.
//
// Files are read in full for every call, up to 256 MiB in all. A file beyond that is bound
// by its first and last MiB, its size and its times. Between calls only hashes of system files are
// kept, and only where nobody but root can change the file.
type Binder struct {
	walker  Walker
	shared  disk.Shared
	goCache goFileCache

	mu    sync.Mutex
	scans int // running, also those that nobody waits for any more
}

// New returns a Binder that takes what runs from a walk.
func New(w Walker) *Binder { return &Binder{walker: w} }

// errSlow means that a file does not answer.
var errSlow = approver.UnbindableError(fmt.Sprintf("the files of the command could not be read within %v: "+
	"one of them may be on a mount that hangs", scanTime))

// Of returns what an approval of the call is bound to under a version of the rules.
//
// A call that names more than 1024 files, or leads to more than 20 000 places, is an
// error, as is one whose files are not read within 5 s, or before ctx ends. What
// hangs in the kernel then goes on in the background; when 64 calls do, further ones
// are refused at once, until one of them ends.
func (b *Binder) Of(ctx context.Context, call approver.ToolCall, version string) (approver.Binding, error) {
	files, unbound, err := b.Files(ctx, call)
	if err != nil {
		return approver.Binding{}, err
	}
	return Bind(call, version, files, unbound)
}

// Files returns path → hash for the call, and under "dir" where the working
// directory really is, and the names of what is not bound. A file that cannot be
// read counts as "unreadable", so that its becoming readable shows, and so does a
// folder, with a slash at the end, in which this service may not even look. The
// errors are those of [Binder.Of].
func (b *Binder) Files(ctx context.Context, call approver.ToolCall) (files map[string]string, unbound []string,
	err error) {
	if b == nil || b.walker == nil {
		return nil, nil, errors.New("the files of a command cannot be bound without an engine: use fingerprint.New")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, scanTime, errSlow)
	defer cancel()
	if !b.acquire() {
		return nil, nil, approver.UnbindableError(
			fmt.Sprintf("the files of %d other commands are still being read: some may be on a mount that hangs", disk.MaxScans))
	}
	type result struct {
		files   map[string]string
		unbound []string
		err     error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("the files of the command: %v", p)}
			}
			b.release()
			done <- r
		}()
		r.files, r.unbound, r.err = b.scan(ctx.Done(), call)
	}()
	select {
	case r := <-done:
		return r.files, r.unbound, r.err
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("file hashes: %w", context.Cause(ctx))
	}
}

// acquire takes one of the places for a scan.
func (b *Binder) acquire() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.scans >= disk.MaxScans {
		return false
	}
	b.scans++
	return true
}

func (b *Binder) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scans--
}

// scan is Files without a limit of time. Once canceled is closed, it ends as soon as it can.
func (b *Binder) scan(canceled <-chan struct{}, call approver.ToolCall) (map[string]string, []string, error) {
	s := disk.NewScan(&b.shared, canceled, call)
	s.BindDir()
	in := scope{strict: true, words: true}
	r := &reader{Scan: s, callState: newCallState(b.walker, &b.goCache), scope: in, call: call, path: call.Env["PATH"]}
	r.bindEnvironment()
	r.walk(call, in)
	if s.Err != nil {
		return nil, nil, s.Err
	}
	slices.Sort(s.Unbound)
	return s.Bound, slices.Compact(s.Unbound), nil
}
