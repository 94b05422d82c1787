package configs

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"approver.example"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
)

// Store says where requests are kept. It has a field for each store that exists, and at most
// one may be set; none means a file in Config.Dir.
type Store struct {
	// KeepFor is how long a request stays in the store after its deadline.
	KeepFor time.Duration       `yaml:"keep_for"`
	Sqlite  *sqlitestore.Config `yaml:"sqlite"`
	// Bolt is what Sqlite was called before its file was one of SQLite.
	Bolt  *sqlitestore.Config `yaml:"bolt"`
	Redis *redisstore.Config  `yaml:"redis"`
}

// A storeSection is the configuration of a store: a pointer to a struct.
type storeSection interface {
	// Validate returns all problems, joined, or nil. It reads no file.
	Validate() error
	// Storage returns what the daemon needs to know about the store.
	Storage() section.Storage
	// Secrets returns the settings that hold a secret.
	Secrets() []secret.Setting
	// CheckFiles returns why Open would refuse the files that the section names. It changes
	// nothing and does not connect.
	CheckFiles() error
	// Open opens the store.
	Open(ctx context.Context, log *slog.Logger) (approver.ClosableKV, error)
}

// store returns the section of the store in use.
func (c Config) store() storeSection {
	for _, s := range sections[storeSection](&c.Store) {
		return s
	}
	return &sqlitestore.Config{Path: filepath.Join(c.Dir, "approver.db")}
}

// Storage returns what the daemon needs to know about the store in use.
func (c Config) Storage() section.Storage { return c.store().Storage() }

// CheckStoreFiles returns why OpenStore would refuse the files that the configuration names.
func (c Config) CheckStoreFiles() error { return c.store().CheckFiles() }

// A FileStore is a store in one file. What it does needs the file for itself.
type FileStore interface {
	// CheckRecords names the records that cannot be read. The daemon starts without them.
	CheckRecords() error
	// Damaged returns those records.
	Damaged() ([]section.Unreadable, error)
	// Drop removes some of them.
	Drop(keys ...string) error
	// ConvertBack writes the store in its former format, and returns how many records it has and
	// the name under which it is kept as it was.
	ConvertBack() (records int, kept string, err error)
}

// FileStore returns the store in use, if it is one in a file.
func (c Config) FileStore() (FileStore, bool) {
	s, ok := c.store().(FileStore)
	return s, ok
}

// CheckStoreRecords returns which records of a store in a file cannot be read. The daemon starts
// without them.
func (c Config) CheckStoreRecords() error {
	if s, ok := c.FileStore(); ok {
		return s.CheckRecords()
	}
	return nil
}

// OpenStore opens the store in use.
func (c Config) OpenStore(ctx context.Context, log *slog.Logger) (approver.ClosableKV, error) {
	return c.store().Open(ctx, log)
}
