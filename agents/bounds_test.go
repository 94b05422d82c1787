package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spelled is a payload of an event with one field in place of its own.
func spelled(t *testing.T, event, key, value string) []byte {
	t.Helper()
	fields := map[string]any{
		"hook_event_name": event, "session_id": "s", "cwd": "/p", "tool_name": "Bash",
		"tool_input":  map[string]string{"command": "ls"},
		"tool_use_id": "toolu_1", "tool_response": "x", "error": "e", "permission_mode": "default", "agent_id": "a",
		"source": "user_settings", "file_path": "/p/f", "transcript_path": "/p/t",
		"tool_calls": []any{map[string]string{"tool_use_id": "toolu_1"}},
	}
	if key == "tool_calls" {
		fields[key] = []any{map[string]string{"tool_use_id": value}}
	} else {
		fields[key] = value
	}
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The story: an agent sent a session id of 3.6 MB. It stood in the record of the freeze,
// in the log and in the memory of the daemon, and after five of them everybody was
// frozen. What an agent says of itself has a length that real agents keep, and a call
// with more is not understood.
func TestWhatAnAgentSaysOfItselfIsShort(t *testing.T) {
	events := map[string][]string{
		"PreToolUse":         {"session_id", "cwd", "tool_use_id", "agent_id", "permission_mode", "tool_name"},
		"PermissionRequest":  {"session_id", "cwd", "tool_use_id", "agent_id", "permission_mode", "tool_name"},
		"PostToolUse":        {"session_id", "cwd", "tool_use_id", "agent_id", "permission_mode", "tool_name"},
		"PostToolUseFailure": {"session_id", "cwd", "tool_use_id", "agent_id", "permission_mode", "tool_name"},
		"PostToolBatch":      {"session_id", "cwd", "tool_calls"},
		"ConfigChange":       {"session_id", "cwd", "file_path", "transcript_path"},
	}
	paths := map[string]bool{"cwd": true, "file_path": true, "transcript_path": true}
	for event, keys := range events {
		for _, key := range keys {
			limit, first := maxID, "x"
			if paths[key] {
				limit, first = maxPath, "/"
			}
			for n, want := range map[int]bool{36: true, limit - 1: true, limit: true, limit + 1: false, 10 * limit: false,
				64 << 10: false} {
				ev, err := Claude{}.Decode(spelled(t, event, key, first+strings.Repeat("x", n-1)))
				if (err == nil) != want {
					t.Errorf("%s with a %s of %d bytes: %v", event, key, n, err)
				}
				if err != nil && (ev.Kind != Unknown || len(err.Error()) > 1000) {
					t.Errorf("%s with a %s of %d bytes: %v, %.2000s", event, key, n, ev.Kind, err)
				}
			}
		}
	}
	// The bytes count, not the characters or their escapes.
	if _, err := (Claude{}).Decode(spelled(t, "PreToolUse", "session_id", strings.Repeat("é", maxID/2+1))); err == nil {
		t.Error("an id of 258 bytes was taken")
	}
	if _, err := (Claude{}).Decode(spelled(t, "PreToolUse", "session_id", strings.Repeat("\x01", maxID))); err != nil {
		t.Error(err)
	}
	if _, err := (Claude{}).Decode(spelled(t, strings.Repeat("x", 1<<20), "cwd", "/p")); err == nil ||
		len(err.Error()) > 1000 {
		t.Error("a long event")
	}
}

// A report of what ran is told whatever is too long in it: two different long sessions
// stay two, and a folder that is no path is not known.
func TestALongReportIsToldAllTheSame(t *testing.T) {
	long := strings.Repeat("q", 256<<10)
	seen := map[string]bool{}
	for i, session := range []string{"s", long, "a" + long, long + "a", strings.Repeat("é", 300),
		strings.Repeat("q", 257)} {
		ev, is, err := Claude{}.Report(spelled(t, "PostToolUse", "session_id", session), "")
		if !is || (err != nil) != (i > 0) || ev.Kind != Ran || ev.Call.Dir != "/p" || ev.Call.Tool != "Bash" {
			t.Errorf("%d: %t, %v, %v in %q", i, is, err, ev.Kind, ev.Call.Dir)
		}
		if len(ev.Call.Session) > maxID || ev.Call.Session == "" || seen[ev.Call.Session] {
			t.Errorf("%d: session %q", i, ev.Call.Session)
		}
		seen[ev.Call.Session] = true
	}
	for _, key := range []string{"cwd", "tool_use_id", "agent_id", "permission_mode", "tool_name"} {
		ev, is, err := Claude{}.Report(spelled(t, "PostToolUseFailure", key, "/"+long), "PostToolUseFailure")
		dir := "/p"
		if key == "cwd" {
			dir = ""
		}
		if !is || err == nil || ev.Kind != Ran || ev.Call.Session != "s" || ev.Call.Dir != dir || len(ev.Call.Tool) > 256 {
			t.Errorf("%s: %t, %v, %q in %.50q", key, is, err, ev.Call.Session, ev.Call.Dir)
		}
	}
}

// Every path that Linux takes is a working folder. What real agents send is far below
// the limits.
func TestARealCallIsNotTooLong(t *testing.T) {
	deep := strings.Repeat("/"+strings.Repeat("d", 254), 16) + "/" + strings.Repeat("e", 14) // PATH_MAX without its NUL
	if len(deep) != 4095 {
		t.Fatal(len(deep))
	}
	if ev, err := (Claude{}).Decode(spelled(t, "PreToolUse", "cwd", deep)); err != nil || ev.Call.Dir != deep {
		t.Error(err)
	}
	files, err := filepath.Glob("testdata/claude/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ev, err := Claude{}.Decode(payload)
		if err = errors.Join(err, tooNear(ev)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func tooNear(ev Event) error {
	for _, id := range append([]string{ev.Call.Session, ev.UseID, ev.Subagent, ev.Mode, ev.Call.Tool}, ev.Over...) {
		if len(id) > maxID/3 {
			return fmt.Errorf("%q has %d bytes", id, len(id))
		}
	}
	return nil
}
