package main

import (
	"strings"
	"testing"
	"time"

	"approver.example/cmd/approver/internal/flags"
)

// ask said that people are asked in chats before it knew that a daemon runs. Now it says
// so once it waits, and until when.
func TestWaitingIsSaidOnceItWaits(t *testing.T) {
	if text := (askCmd{Socket: "none"}).waits(t.Context()); !strings.HasSuffix(text,
		"for the configured time at most; Ctrl-C withdraws the question") {
		t.Error(text)
	}
	if text := (askCmd{Socket: "none", TTL: flags.HowLong(90 * time.Second)}).waits(t.Context()); !strings.Contains(text,
		", until ") {
		t.Error(text)
	}
}
