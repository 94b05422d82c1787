package daemon

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"approver.example/store/storetest/redistest"
)

// A recordedKey is one key of a Redis of before, as it was read from there.
type recordedKey struct {
	Key   string
	Type  string
	Value []recordedText // of a zset: members and their scores in turn
}

// A recordedText is a text, or the bytes of one.
type recordedText string

// UnmarshalJSON reads "text" or {"b64": "bytes"}.
func (r *recordedText) UnmarshalJSON(text []byte) error {
	var sealed struct{ B64 string }
	if json.Unmarshal(text, (*string)(r)) == nil {
		return nil
	}
	if err := json.Unmarshal(text, &sealed); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(sealed.B64)
	*r = recordedText(raw)
	return err
}

// fill writes the recorded keys of a file into a server. None of them ends by itself: how
// long it took from the record to this test changes nothing.
func fill(t *testing.T, db *redis.Client, path string) (keys int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Buffer(nil, 1<<20); lines.Scan(); keys++ {
		var k recordedKey
		if err := json.Unmarshal(lines.Bytes(), &k); err != nil {
			t.Fatal(err)
		}
		switch k.Type {
		case "string":
			err = db.Set(t.Context(), k.Key, string(k.Value[0]), 0).Err()
		case "zset":
			for i := 0; i+1 < len(k.Value) && err == nil; i += 2 {
				err = db.Do(t.Context(), "ZADD", k.Key, string(k.Value[i+1]), string(k.Value[i])).Err()
			}
		default:
			t.Fatalf("%s is a %s", k.Key, k.Type)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return keys
}

// The Redis of a daemon of an earlier build that was killed after the same as in
// TestADataFolderOfBefore. The question that was open is over by now, and cannot be answered:
// the clock of a Redis is that of its machine, and never goes back.
func TestARedisOfBefore(t *testing.T) {
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	cfg := recorded(t, "before-redis.tgz", func(dir, text string) string {
		if n := fill(t, server.Admin(), filepath.Join(dir, "redis.jsonl")); n < 80 {
			t.Fatalf("%d keys were recorded", n)
		}
		return strings.Replace(text, "127.0.0.1:37665", server.Addr, 1)
	})
	runsOnWhatWasThere(t, cfg)
}
