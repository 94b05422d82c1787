package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example/configs"
)

// Durations of the JSON log were bare nanoseconds under a name without a unit.
func TestDurationsOfTheJSONLogHaveAUnit(t *testing.T) {
	var out bytes.Buffer
	New(&out, configs.Log{Format: configs.LogJSON}).With("wait", 2*time.Second).Info("it works again", "after",
		18*time.Second, slog.Group("of", "took", 3*time.Millisecond))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	of, _ := line["of"].(map[string]any)
	if line["after_ms"] != 18000.0 || line["wait_ms"] != 2000.0 || of["took_ms"] != 3.0 || line["after"] != nil {
		t.Errorf("%s", &out)
	}
	out.Reset()
	New(&out, configs.Log{}).Info("it works again", "after", 18*time.Second)
	if !strings.Contains(out.String(), "after=18s") {
		t.Errorf("%s", &out)
	}
}

// A proxy that answered on idle connections wrote into the JSON log what it liked, raw, and
// as often as it liked.
func TestWhatLibrariesSayIsALineOfTheLog(t *testing.T) {
	var out bytes.Buffer
	was, flags := log.Writer(), log.Flags()
	defer func() { log.SetOutput(was); log.SetFlags(flags) }()
	FromLibraries(New(&out, configs.Log{Format: configs.LogJSON}))
	for n := range 200 {
		log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=<nil>",
			fmt.Sprint(n, "\u202e", strings.Repeat("x", 4096)))
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	var line map[string]any
	if err := json.Unmarshal(lines[0], &line); err != nil || len(lines) != 1 || len(lines[0]) > 500 ||
		line["level"] != "WARN" {
		t.Errorf("%d lines, the first of %d bytes, %v: %.200s", len(lines), len(lines[0]), err, lines[0])
	}
	out.Reset()
	for n := range 200 { // each is of another kind
		log.Print(string(rune('a'+n%26)), strings.Repeat(string(rune('a'+n/26)), libraryKind))
	}
	if n := strings.Count(out.String(), "\n"); n != maxLibraryKinds-1 {
		t.Errorf("%d lines of %d kinds", n, maxLibraryKinds)
	}
	out.Reset()
	FromLibraries(New(&out, configs.Log{Level: configs.Level(slog.LevelError)}))
	if log.Print("something"); out.Len() > 0 {
		t.Errorf("at the level error: %s", &out)
	}
}
