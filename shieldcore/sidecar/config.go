package sidecar

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"approver.example/internal/lazyregexp"
	"approver.example/shieldcore/sidecar/protocol"
)

// Defaults of the configuration.
const (
	DefaultThreshold = 0.5
	DefaultDeadline  = 500 * time.Millisecond
	DefaultStart     = 30 * time.Second
	DefaultMaxText   = 64 << 10 // bytes
	DefaultThreads   = 1
)

// Bounds of the settings.
const (
	minDeadline, maxDeadline = 20 * time.Millisecond, 30 * time.Second
	minStart, maxStart       = time.Second, 10 * time.Minute
	minText                  = 1 << 10
	maxThreads               = 64
)

// Config is the sidecar's part of the configuration file. The zero value is
// refused by Validate.
type Config struct {
	// Program is the absolute path of approver-classifier.
	Program string `yaml:"program"`
	// Library is the absolute path of libonnxruntime.
	Library string `yaml:"library,omitempty"`
	// Model is the absolute path of the model's directory, as approver model add
	// prints it.
	Model string `yaml:"model"`
	// Manifest is the SHA-256 of the model's manifest.json, as approver model add
	// prints it. Empty accepts any manifest: then anybody who can write into the
	// directory can put another model there.
	Manifest string `yaml:"manifest,omitempty"`
	// Threshold is the score from which a text counts as found, above 0 and up to
	// 1. Zero is DefaultThreshold.
	Threshold float64 `yaml:"threshold,omitempty"`
	// Deadline is how long one text may take, 20ms to 30s. Zero is
	// DefaultDeadline.
	Deadline time.Duration `yaml:"deadline,omitempty"`
	// Start is how long the program may take to load the model and to score its
	// golden texts, 1s to 10m. Zero is DefaultStart.
	Start time.Duration `yaml:"start,omitempty"`
	// MaxText is how many bytes of a text are scored, 1 KiB to 256 KiB; a longer one
	// is marked as truncated. Zero is DefaultMaxText.
	MaxText int `yaml:"max_text,omitempty"`
	// Threads is how many threads the program computes with, 1 to 64. Zero is
	// DefaultThreads.
	Threads int `yaml:"threads,omitempty"`
}

var sum = lazyregexp.New(`^[0-9a-f]{64}$`)

// Validate returns every problem of the configuration, joined, or nil. It reads
// no file.
func (c Config) Validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("sidecar: "+format, args...)) }
	for _, p := range []struct{ name, path, of string }{
		{"program", c.Program, "approver-classifier"}, {"library", c.Library, "libonnxruntime"},
		{"model", c.Model, "a model's directory, as approver model add prints it"},
	} {
		if (p.path != "" || p.name != "library") && !filepath.IsAbs(p.path) {
			fail("%s must be the absolute path of %s", p.name, p.of)
		}
	}
	if c.Manifest != "" && !sum().MatchString(c.Manifest) {
		fail("manifest must be the SHA-256 of the model's manifest.json: 64 digits of 0-9a-f, as approver model verify " +
			"prints it")
	}
	if !(c.Threshold >= 0 && c.Threshold <= 1) {
		fail("threshold is %v: above 0, and at most 1", c.Threshold)
	}
	if d := c.Deadline; d != 0 && (d < minDeadline || d > maxDeadline) {
		fail("deadline is %v: %v to %v are possible", d, minDeadline, maxDeadline)
	}
	if d := c.Start; d != 0 && (d < minStart || d > maxStart) {
		fail("start is %v: %v to %v are possible", d, minStart, maxStart)
	}
	if n := c.MaxText; n != 0 && (n < minText || n > protocol.MaxText) {
		fail("max_text is %d: %d to %d bytes are possible", n, minText, protocol.MaxText)
	}
	if n := c.Threads; n < 0 || n > maxThreads {
		fail("threads is %d: 1 to %d are possible", n, maxThreads)
	}
	return errors.Join(errs...)
}

// withDefaults fills in what is left out.
func (c Config) withDefaults() Config {
	c.Threshold = cmp.Or(c.Threshold, DefaultThreshold)
	c.Deadline = cmp.Or(c.Deadline, DefaultDeadline)
	c.Start = cmp.Or(c.Start, DefaultStart)
	c.MaxText = cmp.Or(c.MaxText, DefaultMaxText)
	c.Threads = cmp.Or(c.Threads, DefaultThreads)
	return c
}
