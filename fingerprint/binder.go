package fingerprint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/reflexcore"
)

// Bounds of a Binder, each for one call.
const (
	maxFiles     = 1024      // files bound that the command names
	maxCallBytes = 256 << 20 // bytes of files that are read in full
	endBytes     = 1 << 20   // of each end of a larger file
	maxLooks     = 20_000    // places looked at
	maxPath      = 4096      // bytes of a path; the kernel takes no more
	maxTree      = 4096      // files of one folder that are bound by their content
	treeBytes    = 64 << 20  // bytes of them
	maxWalked    = 200_000   // entries of all folders that are gone through
	maxText      = 1 << 20   // bytes of a file that is read for what it names
	maxFollowed  = 8         // how deep scripts that run scripts are followed
	maxTexts     = 4096      // files that are read for what they name
	maxTextBytes = 64 << 20  // bytes of them
	maxBases     = 64        // folders that the words of one command name
	maxParts     = 1024      // parts of one word longer than a path
	maxWords     = 512       // places that one file of settings names
	maxWalks     = 512       // lines of recipes, and scripts, that are walked
	maxCached    = 4096      // hashes kept between calls
	maxScans     = 64        // scans at once, those included that nobody waits for any more
	maxNames     = 32        // of what is not bound
)

// scanTime is how long the files of one call may take: one on a mount that hangs
// must not hold the call for ever.
const scanTime = 5 * time.Second

// walkTime is how long it may take to go through the folders of one call.
const walkTime = 2 * time.Second

// A Walker says what a call would run; see [reflexcore.Engine.Walk].
type Walker interface {
	Walk(approver.ToolCall) (reflexcore.Walk, error)
}

// A Binder computes what approvals are bound to. Use [New]; it can be shared.
//
// Files are read in full for every call, up to 256 MiB in all. A file beyond that is bound
// by its first and last MiB, its size and its times. Between calls only hashes of system files are
// kept, see [Binder.keeps].
type Binder struct {
	walker Walker
	shared
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
	return approver.Bind(call, version, files, unbound)
}

// Files returns path → hash for the call, and under "dir" where the working
// directory really is, and the names of what is not bound. A file that cannot be
// read counts as "unreadable", so that its becoming readable shows, and so does a
// folder, with a slash at the end, in which this service may not even look. The
// errors are those of [Binder.Of].
func (b *Binder) Files(ctx context.Context, call approver.ToolCall) (files map[string]string, unbound []string, err error) {
	if b == nil || b.walker == nil {
		return nil, nil, errors.New("the files of a command cannot be bound without an engine: use fingerprint.New")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, scanTime, errSlow)
	defer cancel()
	if !b.begin() {
		return nil, nil, approver.UnbindableError(fmt.Sprintf("the files of %d other commands are still being read: some may be on a mount that hangs", maxScans))
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
			b.end()
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

// begin takes one of the places for a scan.
func (b *Binder) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.scans >= maxScans {
		return false
	}
	b.scans++
	return true
}

func (b *Binder) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scans--
}

// scan is Files without a limit of time. Once given is closed, it ends as soon as it can.
func (b *Binder) scan(given <-chan struct{}, call approver.ToolCall) (map[string]string, []string, error) {
	s := &scan{
		shared: &b.shared, walker: b.walker, call: call, given: given, out: map[string]string{}, seen: map[string]level{}, listed: map[string][]string{},
		sums: map[string]string{}, done: map[string]bool{}, folded: map[string]map[string]bool{}, imported: map[string]goFile{}, budget: maxCallBytes,
	}
	for name := range call.Env {
		s.compares = s.compares || strings.HasPrefix(name, approver.ComparedEnv)
	}
	s.bindDir()
	in := scope{strict: true, words: true}
	(&reader{scan: s, scope: in, call: call, path: call.Env["PATH"]}).loaders()
	s.walk(call, in)
	if s.err != nil {
		return nil, nil, s.err
	}
	slices.Sort(s.unbound)
	return s.out, slices.Compact(s.unbound), nil
}
