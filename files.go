package approver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bounds of a FileHasher.
const (
	maxFiles     = 1024     // files bound per call; more is an error
	maxFileBytes = 16 << 20 // content is hashed up to this size
	maxCallBytes = 64 << 20 // and up to this much per call
	maxCached    = 4096
)

// A FileHasher says what the files are that a call would execute, so that an
// approval binds them: every word of the command that names a regular file, by
// its path or through PATH. It errs on the side of too many; it does not
// understand shell. A file above 16 MiB, and what goes beyond 64 MiB in one
// call, is bound by its identity (device, inode, size, times) instead. Results are cached by identity,
// which includes the change time that no unprivileged process can set.
type FileHasher struct {
	mu    sync.Mutex
	cache map[string]string
}

// Of returns path → hash for the call. A file that cannot be read counts as
// "unreadable", so that its becoming readable shows.
func (h *FileHasher) Of(call ToolCall) (map[string]string, error) {
	out, budget := map[string]string{}, int64(maxCallBytes)
	for _, word := range words(call.Command) {
		for _, path := range candidates(word, call) {
			if _, done := out[path]; done {
				continue
			}
			hash, ok := h.hash(path, &budget)
			if !ok {
				continue
			}
			if len(out) >= maxFiles {
				return nil, fmt.Errorf("the command names more than %d files: split it", maxFiles)
			}
			out[path] = hash
		}
	}
	return out, nil
}

// words splits a command at white space and shell operators and drops quotes
// and backslashes.
func words(command string) []string {
	bare := strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(command)
	split := func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&<>(){}$`=,", r) }
	return append(strings.FieldsFunc(bare, split), strings.FieldsFunc(command, split)...)
}

// candidates are the places where a word can lead, the likeliest first.
func candidates(word string, call ToolCall) []string {
	if len(word) > 4096 || strings.HasPrefix(word, "-") || strings.ContainsRune(word, 0) {
		return nil
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok && call.Env["HOME"] != "" {
		word = filepath.Join(call.Env["HOME"], rest)
	}
	if filepath.IsAbs(word) {
		return []string{filepath.Clean(word)}
	}
	var out []string
	if filepath.IsAbs(call.Dir) {
		out = append(out, filepath.Join(call.Dir, word))
	}
	if !strings.Contains(word, "/") {
		for _, dir := range filepath.SplitList(call.Env["PATH"]) {
			if filepath.IsAbs(dir) {
				out = append(out, filepath.Join(dir, word))
			}
		}
	}
	return out
}

func (h *FileHasher) hash(path string, budget *int64) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	// O_NONBLOCK: the path may become a pipe between the look and the opening.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "unreadable", true
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "unreadable", true
	}
	id := identity(info)
	if *budget -= info.Size(); info.Size() > maxFileBytes || *budget < 0 {
		return "identity:" + id, true
	}
	h.mu.Lock()
	sum, ok := h.cache[id]
	h.mu.Unlock()
	if ok {
		return sum, true
	}
	d := sha256.New()
	if _, err := io.Copy(d, io.LimitReader(f, maxFileBytes+1)); err != nil {
		return "unreadable", true
	}
	sum = "sha256:" + hex.EncodeToString(d.Sum(nil))
	// A file that changed a moment ago may change again within the same tick
	// of the file system's clock: such a result is not kept.
	if time.Since(info.ModTime()) > 2*time.Second && id != "" {
		h.mu.Lock()
		if h.cache == nil || len(h.cache) >= maxCached {
			h.cache = map[string]string{}
		}
		h.cache[id] = sum
		h.mu.Unlock()
	}
	return sum, true
}
