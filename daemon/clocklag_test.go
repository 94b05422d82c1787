package daemon

import (
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
	"approver.example/store/storetest/redistest"
)

// A reading of the clock that was long on its way was carried on, and observe mode that was ended went on.
func TestAClockThatWasLongOnItsWayIsNotCarriedOn(t *testing.T) {
	place, server := daemontest.RedisPlaceOn(t)
	proxy, err := redistest.StartProxy(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proxy.Close() }()
	a := startRoom(t, place, t.TempDir(), "a")
	defer a.stop()
	b := startRoom(t, daemontest.RedisPlaceAt(t, proxy.Addr), t.TempDir(), "b")
	defer b.stop()
	wrong := 0
	const tries = 20
	for range tries {
		if _, err := a.people.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
		proxy.Delay(300 * time.Millisecond)
		if _, err := b.store.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
		proxy.Delay(0)
		if _, ended, err := a.people.Controls.Enforce(t.Context(), "Ada"); err != nil || !ended {
			t.Fatal(ended, err)
		}
		if _, is := b.people.Controls.Observing(t.Context(), approver.Verdict{}); is {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d times a call is let go by observe mode after its end was acknowledged", wrong, tries)
	}
}
