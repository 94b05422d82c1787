package httpapi

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"approver.example"
	"approver.example/httpapi/wire"
)

// A yes that asks for it is acknowledged on its own connection, by whoever has the
// whole of it; what is no acknowledgment is refused.
func TestAcknowledgment(t *testing.T) {
	acked := make(chan string, 9)
	s := &Submit{
		Admit: me(), Log: quiet(),
		Hook: func(context.Context, HookRequest) HookAnswer { return HookAnswer{ExitZero: true, Ack: true} },
		Ack: func(ctx context.Context, peer approver.Peer, id string) error {
			if !peer.Known || peer.UID != uint32(os.Geteuid()) || ctx.Err() != nil {
				t.Errorf("peer %+v, %v", peer, ctx.Err())
			}
			acked <- id
			return nil
		},
	}
	socket, _ := run(t, s.Serve)
	ack := func(head string) string {
		return "POST " + wire.AckPath + " HTTP/1.1\r\nHost: approver\r\n" + head + "\r\n"
	}
	good := "Content-Length: 0\r\n" + wire.Call + ": " + testCall + "\r\n"

	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hook := "POST /v1/hook HTTP/1.1\r\nHost: approver\r\n"
	for k, v := range headers("{}", "") {
		hook += k + ": " + v + "\r\n"
	}
	if _, err := io.WriteString(c, hook+"\r\n{}"); err != nil {
		t.Fatal(err)
	}
	res, _, err := response(t, c)
	if err != nil || res.Header.Get(wire.Ack) != "1" {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := io.WriteString(c, ack(good)); err != nil {
		t.Fatal(err)
	}
	_ = c.Close() // the courier does not wait
	select {
	case id := <-acked:
		if id != testCall {
			t.Errorf("acknowledged %q", id)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the acknowledgment was not taken")
	}
	for name, head := range map[string]string{
		"no call": "Content-Length: 0\r\n", "two calls": good + wire.Call + ": " + testCall + "\r\n",
		"no id":  "Content-Length: 0\r\n" + wire.Call + ": x\r\n",
		"a body": "Content-Length: 2\r\n" + wire.Call + ": " + testCall + "\r\n",
	} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, ack(head)+"{}")
		if res, _, err := response(t, c); err != nil || res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		_ = c.Close()
	}
	if len(acked) > 0 {
		t.Error("something that is no acknowledgment was taken")
	}
}
