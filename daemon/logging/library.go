package logging

import (
	"log"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

// FromLibraries makes lines of the daemon's log of what Go's own packages print, such as what a
// broken proxy sent on a connection that was idle: in its format and level, and bounded.
func FromLibraries(to *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(&libraryLines{to: to, told: map[string]*occurrence{}})
}

// Bounds of what libraries say: how much of a line is told, and what tells lines of one kind
// from others. What a peer sent stands behind that.
const (
	maxLibraryLine  = 200
	libraryKind     = 32
	maxLibraryKinds = 16
)

// libraryLines tells each kind of line once a minute.
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

// cutLibrary is as much of a text as most bytes take, without half a character.
func cutLibrary(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
