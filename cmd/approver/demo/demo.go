// Package demo shows approvals from end to end, without an installation or an account: a real
// daemon in a temporary folder, real hook processes with a recorded payload, and three fake chat
// servers on loopback that speak the real protocols.
//
// It is also a test: Run fails if any step is not as expected, according to the logs of the fakes
// and the verifier of the audit. However it ends, it ends its processes and removes its folder.
//
// [Events] describes what it prints for programs.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Options are the options of a demo.
type Options struct {
	Redis       bool // a private redis-server instead of the embedded store
	Interactive bool // let the person at the keyboard answer once more at the end
	JSON        bool // print one JSON event per line
	Width       int  // of the screen, in columns; 0 is 80
	In          io.Reader
	Out         io.Writer
	Program     string // the approver program, run as daemon and as hook

	store    string        // for tests: replaces the store part of the configuration
	patience time.Duration // for tests: how long a person at the keyboard has; zero: one minute
}

// Run shows everything and returns an error if anything was not as expected. It stops early, with
// an error and after cleaning up, if ctx ends, the terminal is closed or nobody reads its output.
func Run(ctx context.Context, o Options) error {
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	// A write to a closed pipe must return an error and not end the process, which still has to stop
	// the daemon and remove the folder.
	signal.Ignore(syscall.SIGPIPE)

	w := newWorld(ctx, o)
	err, log := w.play(o), ""
	if early := context.Cause(w.ctx); early != nil {
		err = fmt.Errorf("the demo ended early: %w", early)
	} else if err != nil {
		log = "\n" + w.lastLog()
	}
	err = errors.Join(err, w.tearDown())
	w.result(err)
	switch {
	case err != nil:
		return fmt.Errorf("%w%s", err, log)
	case w.unread != nil:
		return fmt.Errorf("%w: %w", errUnread, w.unread)
	}
	return nil
}

// play sets everything up and shows every scene.
func (w *world) play(o Options) error {
	if err := w.build(o); err != nil {
		return err
	}
	scenes := []func() error{w.oneTap, w.catastrophe, w.silence, w.photoFinish, w.shield, w.kill}
	if o.Interactive {
		lines := linesOf(w.ctx, o.In)
		scenes = append(scenes, func() error { return w.interactive(lines) })
	}
	for _, scene := range append(scenes, w.proof) {
		if err := scene(); err != nil {
			return fmt.Errorf("%s: %w", w.step, err)
		}
	}
	if w.failed > 0 {
		return fmt.Errorf("%d things were not as they should be (see NOT SO above)", w.failed)
	}
	return nil
}

// tearDown ends every process that the demo started and removes its folder.
func (w *world) tearDown() error {
	w.stop(errOver)
	w.hooks.Wait()
	errs := []error{w.daemon.Stop(stopTime)}
	for _, a := range w.apps {
		a.close()
	}
	if w.model != nil {
		w.model.Close()
	}
	if w.redis != nil {
		errs = append(errs, w.redis())
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

// lastLog returns the end of the daemon's log, for errors.
func (w *world) lastLog() string {
	lines := strings.Split(strings.TrimSpace(w.daemon.Log()), "\n")
	return "the end of the daemon's log:\n  " + strings.Join(lines[max(0, len(lines)-15):], "\n  ")
}
