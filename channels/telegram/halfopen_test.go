package telegram

import (
	"crypto/tls"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/calls/callstest"
)

// The story: nobody closed the connection to Telegram, but nothing came through it any more.
// Polls, cards and edits share one HTTP/2 connection, so taps were heard and cards shown again
// only when the kernel gave it up. Now a tap and a card come through within seconds.
func TestADeadConnectionToTelegramIsLeft(t *testing.T) {
	b := idle(t)
	front := callstest.NewFront(t, b.s.Addr, callstest.NewCertificate(t, "127.0.0.1", time.Now().Add(time.Hour)))
	cfg := testConfig(b.s)
	cfg.APIURL = "https://" + front.Addr
	b.c = newChannel(t, cfg)
	b.c.pace = quickPace()
	tr := b.c.client.Transport.(calls.Presenter)
	tr.TLSClientConfig = &tls.Config{RootCAs: front.Roots, MinVersion: tls.VersionTLS12}
	tr.HTTP2.SendPingTimeout, tr.HTTP2.PingTimeout = 300*time.Millisecond, 300*time.Millisecond
	b.run()
	b.eventually("the first poll", b.s.Polling)
	ref := b.post(highCard(t))
	if n := front.Tunnel.Made(); n != 1 {
		t.Fatalf("polls and cards have %d connections, so this shows nothing", n)
	}
	front.Tunnel.Die()
	b.eventually("the end of the dead connection", func() bool { return front.Tunnel.Made() > 1 })
	b.tap(ann, ref, fake.DenyButton)
	b.want(1)
	b.post(highCard(t))
}
