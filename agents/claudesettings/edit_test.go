package claudesettings_test

import (
	"strings"
	"testing"

	"approver.example/agents/claudesettings"
)

// The story: install refused settings that Claude Code reads, because an editor on Windows had put a byte
// order mark at their beginning. It stays where it is.
func TestHooksBehindAByteOrderMark(t *testing.T) {
	_, want := written(t)
	const text = "\ufeff{\n  \"model\": \"opus\"\n}\n"
	with, err := claudesettings.WithHooks("/h/settings.json", []byte(text), want.Hooks)
	if err != nil || !strings.HasPrefix(string(with), "\ufeff{\n  \"model\": \"opus\"") ||
		!strings.Contains(string(with), "approver-hook") {
		t.Fatalf("%q, %v", with, err)
	}
	if back, err := claudesettings.WithHooks("/h/settings.json", with, nil); err != nil || string(back) != text {
		t.Errorf("%q, %v", back, err)
	}
}

// What is wrong with a value is said in the words of the file.
func TestRefusalsInTheWordsOfTheFile(t *testing.T) {
	_, want := written(t)
	for text, why := range map[string]string{
		"{\n \"hooks\": {\"Stop\": \"x\"}}": `f:2:20: "hooks.Stop" is a text, and has to be a list`,
		`{"hooks":{"PreToolUse":"x"}}`:      `f:1:24: "hooks.PreToolUse" must be a list, not "x"`,
	} {
		if _, err := claudesettings.WithHooks("f", []byte(text), want.Hooks); err == nil ||
			!strings.HasPrefix(err.Error(), why) || !strings.HasSuffix(err.Error(), "mend it first; nothing was changed") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := claudesettings.Read("f", []byte(text)); err == nil || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
