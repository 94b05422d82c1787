package logging

import (
	"log"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

// FromLibraries sends what Go's own packages print to the daemon's log, such as what a broken
// proxy sent on an idle connection: in the log's format and level, and bounded.
func FromLibraries(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(&libraryLines{to: to, told: map[string]*occurrence{}})
}

// Bounds of what libraries print: the bytes of a line that are logged, the first bytes that
// identify its kind (what a peer sent comes after them), and the number of kinds.
const (
	maxLibraryLine  = 200
	libraryKind     = 32
	maxLibraryKinds = 16
)

// libraryLines logs each kind of line once a minute.
type libraryLines struct {
	to   *slog.Logger
	mu   sync.Mutex
	told map[string]*occurrence
}

// Write implements io.Writer for one line.
func (l *libraryLines) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	kind := withoutNumbers(text[:min(len(text), libraryKind)])
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	last := l.told[kind]
	if last == nil && len(l.told) >= maxLibraryKinds {
		maps.DeleteFunc(l.told, func(_ string, of *occurrence) bool { return now.Sub(of.told) >= Quiet })
		if len(l.told) >= maxLibraryKinds {
			return len(line), nil
		}
	}
	if last == nil {
		last = &occurrence{}
		l.told[kind] = last
	}
	held, again := last.again(now)
	if !again {
		return len(line), nil
	}
	args := []any{"line", cutLibrary(text, maxLibraryLine)}
	if held > 0 {
		args = append(args, "held_back", held)
	}
	l.to.Warn("a library says", args...)
	return len(line), nil
}

// cutLibrary returns at most most bytes of a text, without splitting a character.
func cutLibrary(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
