package configs_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/configs"
)

// When what tools return is looked at: a channel over a network turns it on, and only
// people turn it off beside one.
func TestSanitizesOutput(t *testing.T) {
	const (
		local  = "channels:\n  terminal:\n    approvers: [{id: '1000', name: Ada}]\n"
		remote = local + "  telegram:\n    token: 123456789:AAabcdefghijklmnopqrstuvwxyz0123456\n    chats: [{id: 5}]\n" +
			"    approvers: [{id: '5', name: Ada}]\n"
	)
	for _, c := range []struct {
		mode, channels    string
		is, optOut, waits bool
	}{
		{"", "", false, false, false},
		{"", local, false, false, false},
		{"", remote, true, false, false},
		{"auto", local, false, false, false},
		{"auto", remote, true, false, false},
		{"on", local, true, false, false},
		{"on", "", true, false, false},
		{"on", remote, true, false, false},
		{"off", local, false, false, false},
		{"off", remote, false, true, true},
	} {
		text := c.channels
		if c.mode != "" {
			text = "shield: {output_sanitization: " + c.mode + "}\n" + text
		}
		cfg, err := configs.Parse("/etc/x/approver.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		const line = "shield.output_sanitization: off"
		if is, out, waits := cfg.SanitizesOutput(), cfg.OutputOptOut(),
			slices.Contains(cfg.Authority(), line); is != c.is || (out != "") != c.optOut || waits != c.waits {
			t.Errorf("%q with %.30q: on %v, says %q, waits %v", c.mode, c.channels, is, out, waits)
		}
		if held := cfg.HeldTo(nil); c.waits && (!held.SanitizesOutput() || held.OutputOptOut() != "") {
			t.Error("what people have not approved is off all the same")
		}
		if held := cfg.HeldTo([]string{line}); c.waits && held.SanitizesOutput() {
			t.Error("what people have approved is on all the same")
		}
	}
	if mode := configs.OutputMode(9).String(); mode != "on" {
		t.Errorf("a mode that is none is %q", mode)
	}
	if _, err := configs.Parse("x", []byte("shield: {output_sanitization: yes}")); err == nil ||
		!strings.Contains(err.Error(), "one of auto, on, off") {
		t.Errorf("%v", err)
	}
}
