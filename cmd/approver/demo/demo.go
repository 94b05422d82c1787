// Package demo shows the whole way of approvals with nothing installed and no
// account: a real daemon in a temporary folder, real hook processes with a
// recorded payload, and three fake chat servers on loopback that speak the real
// protocols.
//
// It is also a test: Run fails unless every step was as it should be, by the
// fakes' own logs and by the audit's verifier. However it ends, it takes its
// processes and its folder with it.
//
// What it prints for programs is in [Events].
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

// Options say what kind of demo it is.
type Options struct {
	Redis       bool // a private redis-server instead of the embedded store
	Interactive bool // let the person at the keyboard answer once more at the end
	JSON        bool // one event per line
	Width       int  // of the screen, in columns; 0 is 80
	In          io.Reader
	Out         io.Writer
	Program     string // the approver program, run as daemon and as hook

	store    string        // for tests: this store part of the configuration instead
	patience time.Duration // for tests: how long a person at the keyboard has
}

// Run shows everything and returns an error if anything was not as it should be.
// A closed terminal, a signal and a reader of its output that goes away end it
// early, in order.
func Run(ctx context.Context, o Options) error {
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	// A closed pipe must be an error of the write, not the end of the process:
	// there are a daemon and a folder to take away.
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

// play builds the stage and shows every scene.
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

// tearDown ends every process that the show started and removes its folder.
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

// lastLog is the end of the daemon's log, for when something went wrong.
func (w *world) lastLog() string {
	lines := strings.Split(strings.TrimSpace(w.daemon.Log()), "\n")
	return "the end of the daemon's log:\n  " + strings.Join(lines[max(0, len(lines)-15):], "\n  ")
}
