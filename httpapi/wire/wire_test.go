package wire

import (
	"net/textproto"
	"strings"
	"testing"
)

func TestIsAgent(t *testing.T) {
	for s, want := range map[string]bool{
		"claude": true, "my-agent_2": true, strings.Repeat("a", MaxAgent): true,
		"": false, "Claude": false, "a b": false, "a\r\nX: y": false, "é": false, strings.Repeat("a", MaxAgent+1): false,
	} {
		if got := IsAgent(s); got != want {
			t.Errorf("IsAgent(%q) = %v", s, got)
		}
	}
}

func TestIsCall(t *testing.T) {
	for s, want := range map[string]bool{
		"0123456789abcdef0123456789abcdef": true,
		"0123456789ABCDEF0123456789abcdef": false, "": false, "0123": false,
		"0123456789abcdef0123456789abcdeg": false, "0123456789abcdef0123456789abcdef0": false,
	} {
		if got := IsCall(s); got != want {
			t.Errorf("IsCall(%q) = %v", s, got)
		}
	}
}

// net/http writes headers in this form, and the courier by hand.
func TestHeadersAreCanonical(t *testing.T) {
	for _, name := range []string{Agent, Call, Deadline, EnvBytes, Exit, StderrBytes} {
		if got := textproto.CanonicalMIMEHeaderKey(name); got != name {
			t.Errorf("%s is written %s", name, got)
		}
	}
}
