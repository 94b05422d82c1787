package sqlitestore

import (
	"context"
	"errors"
	"log/slog"

	"approver.example"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

// Config says where the file is. The zero value is refused.
type Config struct {
	// Path is the file. It is made with mode 0600; its directory must exist.
	Path string `yaml:"path"`
}

// Validate returns every mistake that can be found without looking at the disk.
func (c Config) Validate() error {
	if c.Path == "" {
		return errors.New("path: name the file of the store, such as /var/lib/approver/approver.db")
	}
	return nil
}

// Storage says where the store is.
func (c *Config) Storage() section.Storage {
	return section.Storage{
		Title: "embedded", Part: "store", Where: "embedded " + c.Path, File: c.Path, Durable: true, Paths: []*string{&c.Path},
	}
}

// Secrets returns nothing: the file's mode protects it.
func (*Config) Secrets() []secret.Setting { return nil }

// CheckFiles is [CheckFile] of the configured file.
func (c Config) CheckFiles() error { return CheckFile(c.Path) }

// Open opens the store, see [Open].
func (c Config) Open(_ context.Context, log *slog.Logger) (approver.ClosableKV, error) {
	return Open(c, log)
}

// CheckRecords is [CheckRecords] of the configured file.
func (c Config) CheckRecords() error { return CheckRecords(c.Path) }

// Damaged is [Damaged] of the configured file.
func (c Config) Damaged() ([]section.Unreadable, error) {
	lost, err := Damaged(c.Path)
	all := make([]section.Unreadable, len(lost))
	for i, r := range lost {
		all[i] = section.Unreadable{Key: r.Key, Cause: r.Cause}
	}
	return all, err
}

// Drop is [Drop] of the configured file.
func (c Config) Drop(keys ...string) error { return Drop(c.Path, keys...) }

// ConvertBack is [ToBolt] of the configured file.
func (c Config) ConvertBack() (records int, kept string, err error) { return ToBolt(c.Path) }
