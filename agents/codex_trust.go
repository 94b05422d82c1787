package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents/settings"
)

// Codex skips a hook that nobody has trusted, and says nothing. What is trusted stands in config.toml
// as a hash of each hook: [hooks.state."FILE:EVENT:GROUP:HOOK"] trusted_hash = "sha256:…". The hash is
// that of the normalized hook, see codex-rs/hooks/src/engine/discovery.rs. Managed hooks need no trust.

// codexManaged is the folder of the machine's settings.
const codexManaged = "/etc/codex"

// codexEvents are the events of Codex and their names in a key of trust.
var codexEvents = map[string]string{
	"PreToolUse": "pre_tool_use", "PermissionRequest": "permission_request", "PostToolUse": "post_tool_use",
	"PreCompact": "pre_compact", "PostCompact": "post_compact", "SessionStart": "session_start",
	"SessionEnd": "session_end", "UserPromptSubmit": "user_prompt_submit", "SubagentStart": "subagent_start",
	"SubagentStop": "subagent_stop", "Stop": "stop", "Interrupt": "interrupt",
}

// codexUnmatched are the events whose matcher Codex does not read, and does not hash.
const codexUnmatched = "UserPromptSubmit Stop Interrupt"

// codexDefault is the timeout of a hook that names none, in seconds.
const codexDefault = 600

// hash returns the hash that Codex compares with the trusted one.
func (h codexHook) hash(event string, matcher *string) (string, error) {
	one := map[string]any{"type": h.Type, "command": *h.Command, "async": h.Async, "timeout": uint64(codexDefault)}
	if h.Timeout != nil {
		one["timeout"] = max(*h.Timeout, 1)
	}
	if h.Status != nil {
		one["statusMessage"] = *h.Status
	}
	identity := map[string]any{"event_name": codexEvents[event], "hooks": []any{one}}
	if matcher != nil && !hasWord(codexUnmatched, event) {
		identity["matcher"] = *matcher
	}
	text, err := encoded(identity, "") // keys in their order
	if err != nil {
		return "", err
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	// encoding/json escapes two line separators that Codex writes as they are.
	for escape, plain := range map[string]string{`\u2028`: "\u2028", `\u2029`: "\u2029"} {
		text = unescaped(text, escape, plain)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// unescaped replaces an escape, unless its backslash is itself escaped.
func unescaped(text []byte, escape, plain string) []byte {
	var out bytes.Buffer
	for len(text) > 0 {
		switch {
		case bytes.HasPrefix(text, []byte(escape)):
			out.WriteString(plain)
			text = text[len(escape):]
		case text[0] == '\\' && len(text) > 1:
			out.Write(text[:2])
			text = text[2:]
		default:
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return out.Bytes()
}

// A codexTrusted is a hook in a file of hooks, with the key and the hash by which Codex trusts it. The key
// has its place in the file.
type codexTrusted struct {
	key, hash string
	ours      bool
}

// codexTrust returns the hooks in a file of hooks. A folder that CODEX_HOME names is in a key without
// links, and that in a home as it is named: where these differ, there are keys for both.
func codexTrust(path string, text []byte) (all []codexTrusted) {
	events, err := codexFile(text)
	if err != nil {
		return nil // Codex trusts nothing in it
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		for i, g := range events[event] {
			for j, h := range g.Hooks {
				if h.Type != "command" {
					continue
				}
				sum, err := h.hash(event, g.Matcher)
				for _, path := range codexNames(path) {
					if key := fmt.Sprintf("%s:%s:%d:%d", path, codexEvents[event], i, j); err == nil {
						all = append(all, codexTrusted{key, sum, settings.Command(*h.Command).Ours(codex.name)})
					}
				}
			}
		}
	}
	return all
}

// file returns the file and the event of a key, without the place in them.
func (t codexTrusted) file() string {
	at := strings.LastIndexByte(t.key, ':')
	return t.key[:max(strings.LastIndexByte(t.key[:max(at, 0)], ':'), 0)]
}

// codexNames returns the names of a file in keys of trust.
func codexNames(path string) []string {
	names := []string{path}
	if real := withoutLinks(filepath.Dir(path)); real != filepath.Dir(path) {
		names = append(names, filepath.Join(real, filepath.Base(path)))
	}
	return names
}

// withoutLinks returns a folder without links. It, and folders above it, need not be there yet.
func withoutLinks(dir string) string {
	for at, rest := dir, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// codexHas reports whether approver's hooks are among these.
func codexHas(all []codexTrusted) bool {
	return slices.ContainsFunc(all, func(t codexTrusted) bool { return t.ours })
}
