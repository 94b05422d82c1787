package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
)

// program is the approver program under test.
var program string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: the programs that these tests run are built without the race detector, which runs the short " +
			"tests")
		return
	}
	dir, err := os.MkdirTemp("", "approver-test-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "approver")
	build := exec.Command("go", "build", "-o", program, "approver.example/cmd/approver")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// rounds is how often the daemon, or its store, is struck. APPROVER_CRASHES
// raises it for a long run, as make crash does.
func rounds(t *testing.T, short int) int {
	if s := os.Getenv("APPROVER_CRASHES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return short
}

// staged is a world with a running daemon and nothing shown yet.
func staged(t *testing.T, o Options) *world {
	t.Helper()
	if o.Program = program; o.Out == nil {
		o.Out = t.Output() // a check that fails says what it saw
	}
	w := newWorld(t.Context(), o)
	if err := w.build(o); err != nil {
		t.Fatal(errors.Join(err, w.tearDown()))
	}
	t.Cleanup(func() {
		if err := w.tearDown(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// tally counts what became of requests.
type tally struct{ lost, wrong, after, before, allowed, denied, expired, unseen, orphans int }

func (c tally) String() string {
	return fmt.Sprintf("lost %d, wrong %d; answered after the restart %d, before the blow %d; allowed %d, denied %d, "+
		"expired %d, unseen %d; cards that a crash orphaned %d",
		c.lost, c.wrong, c.after, c.before, c.allowed, c.denied, c.expired, c.unseen, c.orphans)
}

func TestKillOnAFile(t *testing.T) {
	killing(t, staged(t, Options{}), rounds(t, 8))
}

func TestKillOnRedis(t *testing.T) {
	killing(t, staged(t, Options{Redis: true}), rounds(t, 8))
}

// killing ends the daemon with SIGKILL at a random moment of each request's
// life and starts it again. The hook keeps waiting, the person keeps trying.
func killing(t *testing.T, w *world, n int) {
	strike := func(time.Duration) error {
		if err := w.daemon.Kill(); err != nil {
			return err
		}
		return w.startDaemon()
	}
	asleep := func(d time.Duration) error { // until after the deadline of a silent round
		if err := w.daemon.Kill(); err != nil {
			return err
		}
		time.Sleep(shortTTL + 500*time.Millisecond - d)
		return w.startDaemon()
	}
	var c tally
	for i := range n {
		blow, delay := strike, time.Duration(rand.IntN(250))*time.Millisecond
		if i%25 == 5 {
			// A hook that never reached a daemon gives up long before this one is back.
			blow, delay = asleep, delay+time.Second
		}
		one(t, w, i, delay, blow, &c)
	}
	finish(t, w, n, c)
}

// silentRound reports whether nobody answers in a round.
func silentRound(i int) bool { return i%25 == 3 || i%25 == 5 }

// one runs one request. At the moment blow, strike happens.
func one(t *testing.T, w *world, i int, blow time.Duration, strike func(time.Duration) error, c *tally) {
	t.Helper()
	command, want := fmt.Sprintf("git push origin --delete branch-%d-end", i), "allow"
	yes := i%2 == 0
	if !yes {
		want = "deny"
	}
	silent := silentRound(i)
	if silent {
		command, want = fmt.Sprintf("terraform destroy -target=branch-%d-end", i), "deny"
	}
	a := w.apps[i%len(w.apps)]
	hook := w.hook(command, "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if !silent {
		go insist(ctx, w, a, command, yes)
	}
	time.Sleep(blow)
	early := len(hook) == 1
	if err := strike(blow); err != nil {
		t.Fatalf("round %d: %v\n%s", i, err, w.lastLog())
	}
	var o outcome
	select {
	case o = <-hook:
	case <-time.After(40 * time.Second):
		c.lost++
		t.Errorf("round %d, blow after %v: no answer\n%s", i, blow, w.lastLog())
		return
	}
	switch {
	case early:
		c.before++
	default:
		c.after++
	}
	switch {
	case silent && strings.Contains(o.stdout, "nobody answered"):
		c.expired++
	case silent && o.exit != 0 && strings.Contains(o.stdout, "no approval channel could be reached"):
		// The blow came while the cards were on their way, and the question's time was over
		// before another daemon may post them anew: nobody is known to have seen one.
		c.unseen++
	case silent || o.decision() != want || (o.exit == 0) != yes:
		c.wrong++
		t.Errorf("round %d, blow after %v: wanted %s, the agent got %q, exit %d, %s\n%s", i, blow, want, o.decision(), o.exit,
			o.stdout+o.stderr, w.lastLog())
	case yes:
		c.allowed++
	default:
		c.denied++
	}
	result := map[bool]string{true: "Approved once by Alice", false: "Denied by Alice"}[yes]
	if silent {
		result = "Expired"
	}
	for _, a := range w.apps {
		c.orphans += upToDate(t, w, a, command, result)
	}
}

// insist answers as Alice on one app until the card is settled.
func insist(ctx context.Context, w *world, a *app, command string, yes bool) {
	button := fake.DenyButton
	if yes {
		button = fake.ApproveButton
	}
	time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
	for ctx.Err() == nil {
		if cards := cardsOf(a, command); len(cards) > 0 {
			card := cards[rand.IntN(len(cards))] // one that a crash orphaned is as good
			_ = a.fake.Tap(w.alice.id[a.channel], a.conversation, card.Message, button)
		}
		time.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
	}
}

func cardsOf(a *app, command string) []fake.Shown {
	var out []fake.Shown
	for _, c := range a.cards() {
		if strings.Contains(c.Text, command) {
			out = append(out, c)
		}
	}
	return out
}

// upToDate waits until every card that the daemon knows of shows its end. It
// returns how many others there are: a crash between the platform's acceptance
// of a card and the note of it leaves one that nobody can find until somebody presses it.
func upToDate(t *testing.T, w *world, a *app, command, result string) (orphans int) {
	t.Helper()
	var stale []fake.Shown
	err := w.wait(30*time.Second, a.name+" is up to date", func() bool {
		audit := w.auditText()
		stale, orphans = nil, 0
		for _, c := range cardsOf(a, command) {
			switch {
			case !strings.Contains(audit, "message "+c.Message+`"`):
				orphans++
			case len(c.Buttons) > 0 || !strings.Contains(c.Text, result):
				stale = append(stale, c)
			}
		}
		return len(stale) == 0
	})
	if err != nil {
		t.Errorf("%v: %+v\n%s", err, stale, w.lastLog())
	}
	return orphans
}

// finish holds the whole run against the audit.
func finish(t *testing.T, w *world, n int, c tally) {
	t.Helper()
	if err := w.verify(); err != nil || w.failed > 0 {
		t.Errorf("audit verify: %v, %d failed\n%s", err, w.failed, w.lastLog())
	}
	ends := map[string]map[string]bool{}
	for _, l := range w.audit() {
		if l.ended() {
			if ends[l.Request] == nil {
				ends[l.Request] = map[string]bool{}
			}
			ends[l.Request][l.Event] = true
		}
	}
	released := 0
	for id, e := range ends {
		if len(e) != 1 {
			t.Errorf("the audit has %v as the end of request %s", e, id)
		}
		if e["released"] {
			released++
		}
	}
	if released != c.allowed {
		t.Errorf("%d calls were allowed, the audit has %d released", c.allowed, released)
	}
	t.Logf("%d blows: %v; the audit is whole", n, c)
}
