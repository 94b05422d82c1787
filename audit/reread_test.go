package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
)

// edits are in place, and change no size.
var edits = []string{"two lines swapped", "a word edited", "edited, and the time set back",
	"a line overwritten with zeros", "a chain computed anew"}

// touches have the file read anew, and then not again for a second.
var touches = map[string]assault{
	"chmod": func(t *testing.T, _, active string, _ []byte) { try(t, os.Chmod(active, 0o640)) },
	"touch": func(t *testing.T, _, active string, _ []byte) { try(t, os.Chtimes(active, time.Now(), time.Now())) },
	"link":  func(t *testing.T, _, active string, _ []byte) { try(t, os.Link(active, active+".snapshot")) },
	"one byte as it was": func(t *testing.T, _, active string, b []byte) {
		overwrite(t, active, 0, b[:1])
	},
}

// The story: somebody touched the log, so that it was read anew, and edited it in place
// within the next second, in which it is not read again. The next record took the edited
// file for what the daemon itself had left: releases went on for ever. Now a reading that
// is owed is not forgotten: with the next record, or a look, after that second.
func TestAnEditBehindATouchIsNoticed(t *testing.T) {
	for touched, touch := range touches {
		for _, edit := range edits {
			for _, how := range []string{"record", "look", "many records", "rotation"} {
				if touched != "chmod" && (edit != "a word edited" || how != "record") {
					continue // the touch is of no matter for the rest
				}
				t.Run(touched+", "+edit+", "+how, func(t *testing.T) {
					t.Parallel()
					o, _ := options(t)
					if how == "rotation" {
						o.MaxSize = 12000
					}
					l := open(t, o)
					write(t, l, 9)
					active := filepath.Join(o.Dir, activeName)
					time.Sleep(20 * time.Millisecond)
					touch(t, o.Dir, active, readFile(t, active))
					record(t, l, note("read anew"))
					time.Sleep(20 * time.Millisecond)
					assaults[edit](t, o.Dir, active, readFile(t, active))
					_, err := l.Record(t.Context(), note("in the same second")) // at once, or later
					deadline := time.Now().Add(rereadEvery + guardEvery + time.Second)
					for err == nil && time.Now().Before(deadline) {
						switch how {
						case "record":
							time.Sleep(rereadEvery + 50*time.Millisecond)
							_, err = l.Record(t.Context(), approver.Record{Event: approver.EventReleased})
						case "look":
							time.Sleep(50 * time.Millisecond)
							err = l.Err()
						case "many records":
							time.Sleep(50 * time.Millisecond)
							_, err = l.Record(t.Context(), approver.Record{Event: approver.EventReleased})
						case "rotation": // before the second is over
							_,
								err = l.Record(t.Context(), approver.Record{Event: approver.EventReleased,
								Note: string(bytes.Repeat([]byte("x"), 900))})
						}
					}
					if !errors.Is(err, ErrFailed) || !errors.Is(l.Err(), ErrChanged) {
						t.Errorf("the edit is not noticed: %v, %v", err, l.Err())
					}
				})
			}
		}
	}
}

// The story: the edit comes while the disk makes a record durable, between the look
// before the record and the end of its writing. The next record finds it.
func TestAnEditWhileTheDiskIsBusyIsNoticed(t *testing.T) {
	for _, edit := range edits {
		for _, how := range []string{"record", "look", "rotation"} {
			t.Run(edit+", "+how, func(t *testing.T) {
				t.Parallel()
				o, _ := options(t)
				if how == "rotation" {
					o.MaxSize = 9000
				}
				var act atomic.Bool
				o.Changed = func(context.Context, string) error { return errors.New("the store is away") }
				o.sync = func(f *os.File) error {
					if act.CompareAndSwap(true, false) {
						time.Sleep(20 * time.Millisecond)
						assaults[edit](t, o.Dir, f.Name(), readFile(t, f.Name()))
					}
					return syncFile(f)
				}
				l := open(t, o)
				write(t, l, 5)
				act.Store(true)
				var err error
				for deadline := time.Now().Add(rereadEvery + guardEvery + time.Second); err == nil && time.Now().Before(deadline); {
					switch {
					case act.Load(), how == "record":
						_, err = l.Record(t.Context(), approver.Record{Event: approver.EventReleased})
					case how == "rotation":
						_,
							err = l.Record(t.Context(), approver.Record{Event: approver.EventReleased,
							Note: string(bytes.Repeat([]byte("x"), 900))})
					default:
						time.Sleep(50 * time.Millisecond)
						err = l.Err()
					}
				}
				if !errors.Is(err, ErrFailed) || !errors.Is(l.Err(), ErrChanged) {
					t.Errorf("the edit is not noticed: %v, %v", err, l.Err())
				}
			})
		}
	}
}
