package fingerprint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/fingerprint/disk"
)

// scanTime bounds the scan for one call: a file on a mount that hangs must not block
// the call for ever.
const scanTime = 5 * time.Second

// A Binder computes what approvals are bound to. Make one with [New]; it can be shared.
//
// It reads up to 256 MiB of files for every call. A file beyond that is bound by its first
// and last MiB, its size and its times. Between calls it caches only hashes of files that
// nobody but root can change.
type Binder struct {
	walker  Walker
	shared  disk.Shared
	goCache disk.Cache[goFile]
	scans   chan struct{} // has one for each running scan, also if it was canceled
}

// New returns a Binder that uses a walker to analyze calls.
func New(w Walker) *Binder { return &Binder{walker: w, scans: make(chan struct{}, disk.MaxScans)} }

// errSlow means that reading the files took too long.
var errSlow = approver.UnbindableError(fmt.Sprintf("the files of the command could not be read within %v: "+
	"one of them may be on a mount that hangs", scanTime))

// Of returns what an approval of the call is bound to under a version of the rules.
//
// It fails if the call names more than 1024 files or leads to more than 20,000 places, and
// if the files are not read within 5 s or before ctx ends. A read that hangs in the kernel
// goes on in the background. While 64 of them do, further calls are refused at once.
func (b *Binder) Of(ctx context.Context, call approver.ToolCall, version string) (approver.Binding, error) {
	files, unbound, err := b.Files(ctx, call)
	if err != nil {
		return approver.Binding{}, err
	}
	return Bind(call, version, files, unbound)
}

// Files returns a map from path to hash for the call, with the real path of the working
// directory under "dir", and the names of what is not bound. The hash of a file that
// cannot be read is "unreadable", so that the fingerprint changes when it becomes
// readable. The same goes for a folder that cannot be searched; its path ends in a
// slash. The errors are those of [Binder.Of].
func (b *Binder) Files(ctx context.Context, call approver.ToolCall) (files map[string]string, unbound []string,
	err error) {
	if b == nil || b.walker == nil {
		return nil, nil, errors.New("the files of a command cannot be bound without an engine: use fingerprint.New")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, scanTime, errSlow)
	defer cancel()
	select {
	case b.scans <- struct{}{}:
	default:
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
			<-b.scans
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

// scan is Files without a time limit. When canceled is closed, it ends as soon as it can.
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
