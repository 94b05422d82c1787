package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// Defaults and limits of Options.
const (
	DefaultMaxSize         = 64 << 20
	DefaultCheckpointEvery = 256
	DefaultCheckpointAfter = 10 * time.Second

	maxID     = 128
	headEvery = 250 * time.Millisecond // between two writes of the head to the store
)

// Options are the parts of a Log.
type Options struct {
	// Dir is the directory of the log. It is made with mode 0700.
	Dir string
	// ID names the log in its lines and in the store. Two logs with one store
	// need two ids. Empty means the host's name.
	ID string
	// Key signs the checkpoints; see LoadOrCreateKey.
	Key Key
	// KV stores the head of the log. With nil, a log that was truncated at a
	// checkpoint cannot be detected.
	KV approver.KV
	// Controls returns the latest known version of the store's record of freezes. It is
	// stored with the head, so that neither can be rolled back alone. Nil means none.
	Controls func() uint64
	// Volatile means that the store can lose its last seconds of writes, for example
	// in a fail-over. If false, missing writes mean that somebody removed them.
	Volatile bool
	// Hold leaves the store's head unchanged until Accept is called. So a store that is
	// older than the log is still detected after a crash.
	Hold bool
	// Changed is called after somebody changed the log while it was open. It must stop
	// every call until people act; why is for people. Until it has returned nil, Record
	// returns an error. A nil Changed never succeeds.
	Changed func(ctx context.Context, why string) error
	// Renamed is called when the log's id has changed. It moves other records that the
	// store keeps under the former id. If the start is interrupted, it is called again.
	// A nil Renamed moves nothing.
	Renamed func(ctx context.Context, former string) error
	// Redact hides secrets in a text; nil means display.Mask. Confirmation
	// codes are masked before and after it.
	Redact func(string) string
	// Log gets messages that no caller waits for: trouble with the head, and when
	// the log fails and works again. Nil is silent.
	Log *slog.Logger
	// Hostname is written in every record; empty means the host's name.
	Hostname string
	// MaxSize is the size in bytes at which a file is rotated, zero means 64
	// MiB. A file may exceed it by one checkpoint, and by alarms.
	MaxSize int64
	// CheckpointEvery is the number of lines after which a checkpoint is
	// written, zero means 256, at most MaxCheckpointEvery. CheckpointAfter is
	// the time after which fewer lines get a checkpoint too, zero means 10 s.
	CheckpointEvery int
	CheckpointAfter time.Duration
	// Keep says how much is kept; the zero value keeps everything.
	Keep Keep

	sync func(*os.File) error // for tests; nil is syncFile
}

// complete checks the options and fills in what may be left out.
func (o *Options) complete() error {
	host, err := os.Hostname()
	if err != nil && (o.ID == "" || o.Hostname == "") {
		return fmt.Errorf("audit log: the host's name: %w", err)
	}
	o.ID = cmp.Or(o.ID, strings.Map(func(c rune) rune {
		if !idChar(c) {
			return '-'
		}
		return c
	}, host))
	o.Hostname = cmp.Or(o.Hostname, host)
	o.MaxSize = cmp.Or(o.MaxSize, DefaultMaxSize)
	o.CheckpointEvery = cmp.Or(o.CheckpointEvery, DefaultCheckpointEvery)
	o.CheckpointAfter = cmp.Or(o.CheckpointAfter, DefaultCheckpointAfter)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Redact == nil {
		o.Redact = display.Mask
	}
	if o.sync == nil {
		o.sync = syncFile
	}
	switch {
	case o.Dir == "":
		return errors.New("audit log: no directory is given")
	case o.Key.private == nil:
		return errors.New("audit log: no signing key is given: LoadOrCreateKey makes one")
	case len(o.ID) > maxID || strings.ContainsFunc(o.ID, func(c rune) bool { return !idChar(c) }):
		return fmt.Errorf("audit log: the id %q must have at most %d letters, digits, dots, dashes and underscores",
			o.ID, maxID)
	case o.CheckpointEvery < 1 || o.CheckpointEvery > MaxCheckpointEvery:
		return fmt.Errorf("audit log: a checkpoint every %d lines: must be 1 to %d", o.CheckpointEvery, MaxCheckpointEvery)
	case o.CheckpointAfter < 0 || o.MaxSize < 0 || o.Keep.Age < 0 || o.Keep.Size < 0:
		return errors.New("audit log: sizes and times cannot be negative")
	}
	return nil
}

func idChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
}

// Keep says how much of a log is kept. The zero value keeps everything.
type Keep struct {
	// Age is how long a full file is kept after its last line; zero is for ever.
	Age time.Duration `yaml:"age"`
	// Size is how many bytes all files may have together; zero is no limit. The
	// file that is being written is always kept.
	Size int64 `yaml:"size"`
}
