package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"approver.example/store/storetest/redistest"
)

// A Sample is what a daemon and its store take at one moment. What the machine does not tell is zero.
type Sample struct {
	AtS         float64 `json:"at_s"`
	Calls       int64   `json:"calls"` // since the soak began
	RSSMiB      float64 `json:"rss_mib"`
	AnonymMiB   float64 `json:"anonymous_mib"`
	LiveMiB     float64 `json:"live_heap_mib"` // after the last garbage collection
	Goroutines  float64 `json:"goroutines"`
	Descriptors float64 `json:"descriptors"`

	Files      float64 `json:"files"` // in the data folder, but for those of the audit
	AuditFiles float64 `json:"audit_files"`
	AuditKiB   float64 `json:"audit_kib"`
	StoreKiB   float64 `json:"store_kib"`
	LogKiB     float64 `json:"store_log_kib"` // of the embedded store; it is written over and over
	OtherKiB   float64 `json:"other_kib"`     // what else is in the data folder

	RedisMemoryKiB float64 `json:"redis_memory_kib,omitempty"`
	RedisAOFKiB    float64 `json:"redis_aof_kib,omitempty"`
	RedisKeys      float64 `json:"redis_keys,omitempty"`
}

// String is a line of progress.
func (s Sample) String() string {
	store := fmt.Sprintf("store %.1f MiB", s.StoreKiB/1024)
	if s.RedisKeys > 0 {
		store = fmt.Sprintf("Redis %.1f MiB, %.0f keys", s.RedisMemoryKiB/1024, s.RedisKeys)
	}
	return fmt.Sprintf("%d calls, RSS %.1f MiB (%.1f anonymous, %.1f live), %.0f descriptors, audit %.1f MiB, %s", s.Calls,
		s.RSSMiB, s.AnonymMiB, s.LiveMiB, s.Descriptors, s.AuditKiB/1024, store)
}

// A sampler takes samples of a daemon, and of its Redis if it has one.
type sampler struct {
	d      *daemon
	server *redistest.Server
	done   func() int64
}

func (s *sampler) take(ctx context.Context) (f Sample, err error) {
	f.Calls = s.done()
	m, err := memoryOf(ctx, s.d.PID())
	if err != nil {
		return f, err
	}
	f.RSSMiB, f.AnonymMiB = m.rss/1024, m.anonymous/1024
	if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.d.PID())); err == nil {
		f.Descriptors = float64(len(open))
	}
	work, err := s.d.work(ctx)
	if err != nil {
		return f, err
	}
	f.LiveMiB, f.Goroutines = float64(work.Live)/(1<<20), float64(work.Goroutines)
	if err := f.disk(filepath.Join(s.d.Dir, "data")); err != nil || s.server == nil {
		return f, err
	}
	return f, f.redis(ctx, s.server.Admin())
}

// disk adds up what is in the data folder.
func (s *Sample) disk(data string) error {
	return filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was a temporary one
			return nil
		}
		if err != nil {
			return err
		}
		files, size := &s.Files, &s.OtherKiB
		switch name := e.Name(); {
		case filepath.Base(filepath.Dir(path)) == "audit":
			files, size = &s.AuditFiles, &s.AuditKiB
		case name == "approver.db":
			size = &s.StoreKiB
		case strings.HasPrefix(name, "approver.db-"):
			size = &s.LogKiB
		}
		*files++
		*size += float64(info.Size()) / 1024
		return nil
	})
}

func (s *Sample) redis(ctx context.Context, rdb *redis.Client) error {
	used, err := usedMemory(ctx, rdb)
	if err != nil {
		return err
	}
	aof, err := redisNumber(ctx, rdb, "persistence", "aof_current_size")
	if err != nil {
		return err
	}
	keys, err := rdb.DBSize(ctx).Result()
	s.RedisMemoryKiB, s.RedisAOFKiB, s.RedisKeys = used/1024, aof/1024, float64(keys)
	return err
}

func usedMemory(ctx context.Context, rdb *redis.Client) (float64, error) {
	return redisNumber(ctx, rdb, "memory", "used_memory")
}

// redisNumber is one number of INFO.
func redisNumber(ctx context.Context, rdb *redis.Client, section, name string) (float64, error) {
	info, err := rdb.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(info, "\n"+name+":")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseFloat(number, 64)
}
