package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tailscale/hujson"
)

// A hookSettings is the part of Claude Code's settings that matters here.
type hookSettings struct {
	Hooks map[string][]hookMatcher `json:"hooks"`
	Off   bool                     `json:"disableAllHooks"`
}

// off returns why no hook runs with these settings, or nil.
func (s hookSettings) off(path string) error {
	if !s.Off {
		return nil
	}
	return fmt.Errorf(`%s has "disableAllHooks": true, so no hook runs and nobody asks approver: remove that first`, path)
}

type hookMatcher struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// ours reports whether a hook is approver's: by its program, so that one of an
// older version, or from another place, is found too.
func ours(hook json.RawMessage) bool {
	var h struct{ Command string }
	if json.Unmarshal(hook, &h) != nil {
		return false
	}
	program, rest, _ := strings.Cut(h.Command, " --agent claude")
	program = filepath.Base(strings.Trim(program, "'"))
	return rest != h.Command && (program == "approver-hook" || program == "approver hook")
}

// readSettings checks the text of a settings file; broken JSON, and keys that
// Claude Code reads otherwise, are told with their place and never overwritten.
func readSettings(path string, text []byte) (hookSettings, error) {
	var s hookSettings
	err := json.Unmarshal(text, &s)
	at := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	case err == nil:
		at, err = checkKeys(text)
	}
	if err == nil {
		return s, nil
	}
	if at >= 0 {
		before := text[:min(int(at), len(text))]
		line := bytes.Count(before, []byte("\n")) + 1
		col := len(before) - bytes.LastIndexByte(before, '\n') - 1
		path = fmt.Sprintf("%s:%d:%d", path, line, max(col, 1))
	}
	return s, fmt.Errorf("%s: %w: mend it first; nothing was changed", path, err)
}

// A patch is a list of changes in the form of RFC 6902.
type patch []map[string]any

// withHooks returns the text with these hooks and none of approver's others. All
// else stays as it is, to the byte.
func withHooks(path string, text []byte, want hookSettings) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	have, err := readSettings(path, text)
	if err == nil && len(want.Hooks) > 0 {
		err = have.off(path)
	}
	if err != nil {
		return nil, err
	}
	var p patch
	if have.Hooks == nil && len(want.Hooks) > 0 {
		p = append(p, map[string]any{"op": "add", "path": "/hooks", "value": map[string]any{}})
	}
	for _, event := range slices.Sorted(keysOf(have.Hooks, want.Hooks)) {
		p = append(p, eventPatch(event, have.Hooks, want.Hooks[event])...)
	}
	if len(p) == 0 {
		return text, nil
	}
	if len(want.Hooks) == 0 && emptied(have.Hooks) {
		p = patch{{"op": "remove", "path": "/hooks"}}
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	operations, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if err := v.Patch(operations); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v.Pack(), nil
}

// emptied reports whether nothing but approver's hooks is there.
func emptied(hooks map[string][]hookMatcher) bool {
	for _, matchers := range hooks {
		for _, m := range matchers {
			if !slices.ContainsFunc(m.Hooks, ours) || slices.ContainsFunc(m.Hooks, func(h json.RawMessage) bool { return !ours(h) }) {
				return false
			}
		}
	}
	return true
}

func keysOf(maps ...map[string][]hookMatcher) func(func(string) bool) {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		for _, m := range maps {
			for key := range m {
				if !seen[key] && !yield(key) {
					return
				}
				seen[key] = true
			}
		}
	}
}

// eventPatch changes the matchers of one event.
func eventPatch(event string, all map[string][]hookMatcher, want []hookMatcher) (p patch) {
	have, there := all[event]
	at := "/hooks/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(event)
	var kept int
	var installed []hookMatcher
	// From the end, so that the places before stay what they are.
	for i, m := range slices.Backward(have) {
		var foreign int
		for j, h := range slices.Backward(m.Hooks) {
			if !ours(h) {
				foreign++
				continue
			}
			p = append(p, map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i) + "/hooks/" + strconv.Itoa(j)})
		}
		switch {
		case foreign == len(m.Hooks):
			kept++
		case foreign == 0:
			installed = append(installed, m)
			p = append(p[:len(p)-len(m.Hooks)], map[string]any{"op": "remove", "path": at + "/" + strconv.Itoa(i)})
		default:
			kept++
		}
	}
	if len(installed) == len(want) && len(p) == len(want) && same(installed, want) {
		return nil
	}
	switch {
	case !there && len(want) > 0:
		return patch{{"op": "add", "path": at, "value": want}}
	case kept == 0 && len(want) == 0 && len(p) > 0:
		return patch{{"op": "remove", "path": at}}
	}
	for _, m := range want {
		p = append(p, map[string]any{"op": "add", "path": at + "/-", "value": m})
	}
	return p
}

func same(a, b []hookMatcher) bool {
	plain := func(m []hookMatcher) any {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		sorted, _ := json.Marshal(v)
		return string(sorted)
	}
	return plain(a) == plain(b)
}

// changeFile replaces a file in one step and keeps what it was beside it. change
// gets no text if there is no file. It returns the backup's name, or "" if
// nothing changed or there was nothing to keep.
func changeFile(path string, change func([]byte) ([]byte, error)) (backup string, changed bool, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link to a file in a repository of dotfiles stays one
	}
	old, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return "", false, err
	}
	text, err := change(old)
	if err != nil || bytes.Equal(text, old) {
		return "", false, err
	}
	mode, owned := fs.FileMode(0o600), func(string) error { return nil }
	if !missing {
		info, err := os.Stat(path)
		if err != nil {
			return "", false, err
		}
		mode, owned = info.Mode().Perm(), ownedAs(info)
		backup = path + ".before-approver-" + time.Now().UTC().Format("20060102T150405.000")
		if err := errors.Join(writeNew(backup, old, mode), owned(backup)); err != nil {
			return "", false, fmt.Errorf("the backup: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", false, err
	}
	next := path + ".approver-new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if err := errors.Join(writeNew(next, text, mode), owned(next)); err != nil {
		return "", false, err
	}
	return backup, true, os.Rename(next, path)
}

// ownedAs returns what gives a file the owner and group of another: whoever
// could read that must be able to read what comes in its place.
func ownedAs(info fs.FileInfo) func(path string) error {
	return func(path string) error {
		was, ok := info.Sys().(*syscall.Stat_t)
		now, err := os.Stat(path)
		if err != nil || !ok {
			return err
		}
		is, ok := now.Sys().(*syscall.Stat_t)
		if ok && is.Uid == was.Uid && is.Gid == was.Gid {
			return nil
		}
		return os.Chown(path, int(was.Uid), int(was.Gid))
	}
}

// writeNew writes a file that must not be there, whole or not at all: half a
// file, as a full disk leaves it, would be in the way of the next try.
func writeNew(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
