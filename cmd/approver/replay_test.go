package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/httpapi/wire"
)

// The story: a program of the agent's user speaks to the submit socket itself. Ada has
// approved a force push once; with the same call id and payload the program was told
// yes again and again, for 24 hours, over restarts, and after a freeze that burns all
// answers, and no line of the audit said so. Now it hears it for some seconds, each
// time is in the audit, and an acknowledgment, a restart after the time or a freeze
// ends it.
func TestAYesIsReadAgainOnTheSocket(t *testing.T) {
	t.Parallel()
	o := &operator{badMachine: &badMachine{t: t, dir: shortDir(t)}, chat: telegramtest.New()}
	t.Cleanup(o.chat.Close)
	o.home()
	t.Cleanup(func() { killPID(t, o.path("pid")) })
	o.asIs("systemctl --user start approver")

	// submit sends a call by hand and returns the exit code and whether an
	// acknowledgment is asked for.
	submit := func(id string) (exit string, ack bool) {
		t.Helper()
		payload := bashPayload("git push --force origin main")
		res := exchange(t, o.path(".approver/run/submit.sock"),
			fmt.Sprintf("POST %s HTTP/1.1\r\nHost: approver\r\n%s: claude\r\n%s: %s\r\n%s: 86400000\r\n%s: "+
				"0\r\nContent-Length: %d\r\n\r\n%s",
				wire.HookPath, wire.Agent, wire.Call, id, wire.Deadline, wire.EnvBytes, len(payload), payload))
		return res.Header.Get(wire.Exit), res.Header.Get(wire.Ack) == "1"
	}
	approved := func(id string) {
		t.Helper()
		told := make(chan string, 1)
		go func() {
			exit, ack := submit(id)
			told <- fmt.Sprint(exit, ack)
		}()
		o.must(o.chat.Tap("10042", "10042", o.card(o.chat), fake.ApproveButton))
		if got := <-told; got != "0true" {
			t.Fatalf("%s: %s", id, got)
		}
	}
	want := func(what, id, exit string) {
		t.Helper()
		if got, _ := submit(id); got != exit {
			t.Errorf("%s: exit %s, want %s", what, got, exit)
		}
	}
	a, b := strings.Repeat("a", 32), strings.Repeat("b", 32)
	approved(a)
	want("at once", a, "0")
	o.asIs("systemctl --user restart approver")
	want("after a restart, within some seconds", a, "0")
	if n := strings.Count(string(o.audit()), `"event":"repeated"`); n != 2 {
		t.Errorf("%d repetitions are in the audit, want 2", n)
	}
	exchange(t, o.path(".approver/run/submit.sock"),
		"POST "+wire.AckPath+" HTTP/1.1\r\nHost: approver\r\nContent-Length: 0\r\n"+wire.Call+": "+a+"\r\n\r\n")
	want("acknowledged", a, "2")
	o.asIs("systemctl --user restart approver")
	want("acknowledged, after a restart", a, "2")

	o.eventually("the card offers nothing more", func() bool {
		for _, c := range o.chat.Cards("10042") {
			if len(c.Buttons) > 0 {
				return false
			}
		}
		return true
	})
	approved(b)
	o.asIs("approver freeze --reason test")
	want("during a freeze", b, "2")
	o.lift("approver unfreeze --reason test")
	want("after a freeze", b, "2")
	if n := strings.Count(string(o.audit()), `"event":"repeated"`); n != 2 {
		t.Errorf("%d repetitions are in the audit, want 2", n)
	}
}

// audit is the log as it is now.
func (o *operator) audit() []byte {
	o.t.Helper()
	text, err := os.ReadFile(o.path(".approver/audit/audit.jsonl"))
	o.must(err)
	return text
}

// exchange sends one request by hand.
func exchange(t *testing.T, socket, request string) *http.Response {
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Error(err)
		return &http.Response{}
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(c, request)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Error(err)
		return &http.Response{}
	}
	return res
}
