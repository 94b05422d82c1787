package main

import (
	"os/exec"
	"strings"
	"testing"
)

// allowed are the packages that the courier may link in, and why. Each is
// started at every tool call of every agent, before main runs.
var allowed = map[string]string{
	"approver.example/cmd/approver-hook":         "itself",
	"approver.example/cmd/approver-hook/courier": "its code",
	"approver.example/agents/blocking":           "the blocking answers",
	"approver.example/agents/facts":              "what is particular to each agent",
	"approver.example/httpapi/wire":              "the names that the daemon knows too",
	"approver.example/httpapi/socketpath":        "where the socket is and whose it must be",
	"approver.example/httpapi/peercred":          "who listens",

	"bytes":        "looking through the answer",
	"errors":       "telling a lost connection from an odd answer",
	"io":           "reading",
	"io/fs":        "of os",
	"iter":         "of strings and bytes",
	"math/bits":    "of the runtime",
	"os":           "streams, the socket's poller",
	"os/signal":    "the agent's SIGTERM",
	"path":         "of io/fs",
	"runtime":      "Go",
	"slices":       "of os",
	"cmp":          "of slices",
	"context":      "of os/signal",
	"strconv":      "numbers in headers and reasons",
	"strings":      "flags, environment, headers",
	"sync":         "of os",
	"sync/atomic":  "of sync",
	"syscall":      "sockets, random numbers",
	"time":         "the deadline",
	"unicode":      "of strings and bytes",
	"unicode/utf8": "reasons and documents are UTF-8",
	"unsafe":       "of the runtime",
}

// onDarwin are linked in there only, where nothing smaller knows of peers.
var onDarwin = map[string]string{
	"golang.org/x/sys/unix": "peer credentials",
	"fmt":                   "of x/sys/unix",
	"math":                  "of fmt",
	"reflect":               "of fmt",
	"sort":                  "of x/sys/unix",
}

func TestImports(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-deps", ".")
		cmd.Env = append(cmd.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for name := range strings.FieldsSeq(string(out)) {
			n++
			if strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "vendor/") {
				continue // of the packages above
			}
			if allowed[name] == "" && (system != "darwin" || onDarwin[name] == "") {
				t.Errorf("%s: %s is linked into the courier, whose start every tool call waits for", system, name)
			}
		}
		if n < 20 {
			t.Errorf("%s: go list names only %d packages", system, n)
		}
	}
}
