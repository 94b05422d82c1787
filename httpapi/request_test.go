package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"approver.example/httpapi/wire"
)

func TestSubmitRefusesRequests(t *testing.T) {
	s := &Submit{Admit: me(), Log: quiet(), MaxBody: 100, Hook: func(context.Context, HookRequest) HookAnswer {
		t.Error("the Hook was called")
		return HookAnswer{}
	}}
	socket, _ := run(t, s.Serve)
	with := func(key, value string) heads {
		h := headers("{}", "")
		h[key] = value
		return h
	}
	without := func(key string) heads {
		h := headers("{}", "")
		delete(h, key)
		return h
	}
	env := func(block string) (heads, string) { return headers("{}", block), block + "{}" }
	badEnv1, body1 := env("PATH=/bin")
	badEnv2, body2 := env("PATH\x00")
	badEnv3, body3 := env("=x\x00")
	badEnv4, body4 := env("A=1\x00A=2\x00")
	badEnv5, body5 := env("A=\xff\x00")
	badEnv6, body6 := env("A=" + strings.Repeat("x", wire.MaxEnv-2) + "\x00")
	for _, tt := range []struct {
		name string
		h    heads
		body string
		code int
		text string
	}{
		{"no agent", without(wire.Agent), "{}", 400, "occurs 0 times"},
		{"agent", with(wire.Agent, "Claude!"), "{}", 400, "not an agent"},
		{"no call", without(wire.Call), "{}", 400, "occurs 0 times"},
		{"short call", with(wire.Call, "abc"), "{}", 400, "32 hex digits"},
		{"capital call", with(wire.Call, strings.ToUpper(testCall)), "{}", 400, "32 hex digits"},
		{"no deadline", without(wire.Deadline), "{}", 400, "occurs 0 times"},
		{"deadline 0", with(wire.Deadline, "0"), "{}", 400, "ms"},
		{"negative deadline", with(wire.Deadline, "-1"), "{}", 400, "ms"},
		{"deadline in words", with(wire.Deadline, "1s"), "{}", 400, "ms"},
		{"deadline of two days", with(wire.Deadline, "172800000"), "{}", 400, "ms"},
		{"no env length", without(wire.EnvBytes), "{}", 400, "occurs 0 times"},
		{"env longer than the body", with(wire.EnvBytes, "3"), "{}", 400, "does not fit"},
		{"huge env", with(wire.EnvBytes, fmt.Sprint(wire.MaxEnv+1)), "{}", 400, "does not fit"},
		{"no length", without("Content-Length"), "{}", 400, "occurs"},
		{"chunked", func() heads {
			h := without("Content-Length")
			h["Transfer-Encoding"] = "chunked"
			return h
		}(), "2\r\n{}\r\n0\r\n\r\n", 400, "does not fit"},
		{"a payload over the limit", headers(strings.Repeat("x", 101), ""), strings.Repeat("x", 101), 413, "more than 100"},
		{"env without a NUL", badEnv1, body1, 400, "not of the form"},
		{"env without =", badEnv2, body2, 400, "not of the form"},
		{"env without a key", badEnv3, body3, 400, "not of the form"},
		{"env twice", badEnv4, body4, 400, "occurs twice"},
		{"env over the limit", badEnv6, body6, 400, "does not fit"},
		{"env not UTF-8", badEnv5, body5, 400, "not valid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "no length" { // is an empty body to HTTP
				tt.h[wire.EnvBytes] = "1"
				tt.text = "does not fit"
				tt.body = ""
			}
			res, body, err := response(t, post(t, socket, tt.h, tt.body))
			if err != nil || res.StatusCode != tt.code || !strings.Contains(body, tt.text) {
				t.Errorf("%+v %q %v, want %d %q", res, body, err, tt.code, tt.text)
			}
		})
	}
	t.Run("a header twice", func(t *testing.T) {
		h := headers("{}", "")
		h[strings.ToLower(wire.Agent)] = "codex"
		if res, body, err := response(t, post(t, socket, h, "{}")); err != nil || res.StatusCode != 400 ||
			!strings.Contains(body, "occurs 2 times") {
			t.Errorf("%+v %q %v", res, body, err)
		}
	})
}

func FuzzParseEnv(f *testing.F) {
	f.Add([]byte("A=1\x00B=\x00"))
	f.Add([]byte("A"))
	f.Add([]byte("A=1\x00A=1\x00"))
	f.Fuzz(func(t *testing.T, block []byte) {
		env, err := parseEnv(block)
		if err != nil {
			return
		}
		n := 0
		for k, v := range env {
			pair := k + "=" + v + "\x00"
			if !bytes.Contains(block, []byte(pair)) {
				t.Errorf("%q is not in %q", pair, block)
			}
			n += len(pair)
		}
		if n != len(block) {
			t.Errorf("%d of %d bytes were read from %q", n, len(block), block)
		}
	})
}
