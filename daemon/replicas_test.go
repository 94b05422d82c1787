package daemon

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/daemon/daemontest"
	"approver.example/store/storetest/redistest"
)

// A fleet is three daemons on one Redis, each with its own audit and its own way to the store.
type fleet struct {
	t        *testing.T
	dir      string
	server   *redistest.Server
	replicas []*replica
	proxies  []*redistest.Proxy
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	_, server := daemontest.RedisPlaceOn(t, "appendfsync always")
	f := &fleet{t: t, dir: t.TempDir(), server: server}
	for name := range strings.FieldsSeq("a b c") {
		proxy, err := redistest.StartProxy(server.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = proxy.Close() })
		r := &replica{dir: filepath.Join(f.dir, name), store: proxy.Addr}
		if err := os.Mkdir(r.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		r.start(t)
		t.Cleanup(func() { _ = r.cmd.Process.Kill() })
		f.replicas, f.proxies = append(f.replicas, r), append(f.proxies, proxy)
	}
	for _, r := range f.replicas {
		select {
		case <-r.ready:
		case <-time.After(time.Minute):
			t.Fatal("a replica does not start")
		}
	}
	return f
}

// strike kills a replica at a random moment, and starts it again. Most often it and another one have
// started by then, else nothing would ever be asked; the others are killed while they start.
func (f *fleet) strike() (alive bool) {
	r := f.replicas[rand.N(len(f.replicas))] //nolint:gosec // any of them
	if rand.N(5) > 0 {                       //nolint:gosec // any mix will do
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && !r.serves(); {
			time.Sleep(time.Millisecond)
		}
	}
	time.Sleep(rand.N(300 * time.Millisecond)) //nolint:gosec // any moment will do
	alive = r.kill(f.t)
	r.start(f.t)
	return alive
}

// revive starts those again that ended while their store was away.
func (f *fleet) revive() {
	for _, r := range f.replicas {
		select {
		case err := <-r.ended:
			r.ended <- err
			r.kill(f.t)
			r.start(f.t)
		default:
		}
	}
}

// fleetKills is how often something is struck.
func fleetKills(most, short int) int {
	if n, err := strconv.Atoi(os.Getenv("APPROVER_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return short
	}
	return most
}

// The story: three daemons share a Redis. One after the other was killed while agents asked at each and
// people answered anywhere, some of them at odds, and nobody could say whether all three logs together
// have each event once. A courier whose daemon was killed comes back to it with the same call. Whatever
// agents and people were told is in the logs, each event with one content and each request with one end,
// and no call is released twice.
func TestThreeReplicasUnderRollingKills(t *testing.T) {
	f := startFleet(t)
	n, alive := fleetKills(12, 5), 0
	for range n {
		if f.strike() {
			alive++
		}
	}
	f.check(fmt.Sprintf("%d kills, %d of them of a daemon that ran", n, alive))
}

// The same, and Redis is killed in between. Its file has all that it said it has.
func TestReplicasWhoseRedisIsKilled(t *testing.T) {
	f := startFleet(t)
	n := fleetKills(6, 2)
	for i := range n {
		time.Sleep(rand.N(400 * time.Millisecond)) //nolint:gosec // any moment will do
		f.server.Kill()
		if i%3 == 2 {
			f.strike()
		}
		time.Sleep(rand.N(400 * time.Millisecond)) //nolint:gosec // any moment will do
		if err := f.server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.revive()
	}
	f.check(fmt.Sprintf("%d kills of Redis, %d of a daemon", n, n/3))
}

// The same over bad networks. Connections are cut and refused, they hang, they are half-open for good, and
// answers come late or are lost although what was asked for was done. That is not known where it was asked
// for, and must not be done or recorded twice.
func TestReplicasOverBadConnections(t *testing.T) {
	f := startFleet(t)
	faults := map[string]func(*redistest.Proxy){
		"cut":       (*redistest.Proxy).Cut,
		"refused":   func(p *redistest.Proxy) { p.Set(redistest.Refuse); p.Cut() },
		"hanging":   func(p *redistest.Proxy) { p.Set(redistest.Stall) },
		"half-open": func(p *redistest.Proxy) { p.Set(redistest.Swallow) },
		"late":      func(p *redistest.Proxy) { p.Delay(rand.N(150 * time.Millisecond)) }, //nolint:gosec // any delay
	}
	lose := func(p *redistest.Proxy) {
		for range 5 {
			p.LoseAnswer("evalsha", rand.N(4))         //nolint:gosec // any answer
			time.Sleep(rand.N(100 * time.Millisecond)) //nolint:gosec // any moment will do
		}
	}
	names := slices.Collect(maps.Keys(faults))
	n, counts := fleetKills(12, 4), map[string]int{}
	for range n {
		p := f.proxies[rand.N(len(f.proxies))] //nolint:gosec // any of them
		lose(p)
		name := names[rand.N(len(names))] //nolint:gosec // any of them
		faults[name](p)
		counts[name]++
		time.Sleep(rand.N(700 * time.Millisecond)) //nolint:gosec // any moment will do
		p.Set(redistest.NoFault)
		p.Delay(0)
		f.revive()
	}
	lost := 0
	for _, p := range f.proxies {
		lost += p.Lost()
	}
	if lost == 0 {
		t.Error("no answer was lost")
	}
	f.check(fmt.Sprintf("%d faults, %v; %d answers lost", n, counts, lost))
}

// check ends all replicas, waits in new ones until no request is open, and holds their logs against what
// was said.
func (f *fleet) check(what string) {
	t := f.t
	t.Helper()
	var lives []*roomLife
	for _, r := range f.replicas {
		r.kill(t)
	}
	for _, r := range f.replicas {
		lives = append(lives, startRoom(t, daemontest.RedisPlaceAt(t, f.server.Addr), r.dir, filepath.Base(r.dir)))
	}
	for end := time.Now().Add(50 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		open, err := lives[0].people.Requests.Open(t.Context())
		missing := unended(f.lines())
		if err == nil && len(open) == 0 && len(missing) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d are open, %v; without an end: %v", len(open), err, missing)
		}
	}
	for _, l := range lives {
		if why := l.freeze(); why != "" {
			t.Errorf("frozen because %q", why)
		}
		l.stop()
	}
	lines, allowed, answered := f.lines(), []string{}, 0
	for _, r := range f.replicas {
		for id := range saidCalls(t, r.dir, "allow") {
			allowed = append(allowed, id)
		}
		answered += len(saidCalls(t, r.dir, ""))
		keys, err := audit.LoadKeys(filepath.Join(r.dir, "audit.key.pub"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := audit.Verify(t.Context(), []string{filepath.Join(r.dir, "audit")}, keys, nil)
		if err != nil || report.Losses.Count > 0 {
			t.Errorf("the audit of %s: %+v, %v", filepath.Base(r.dir), report, err)
		}
	}
	checkEvents(t, lines, allowed)
	of, torn := map[string]map[approver.Event]bool{}, 0
	for _, l := range lines {
		switch {
		case l.Alarm == "torn": // the kill came in the midst of a write, which nobody had heard of
			torn++
		case l.Event == approver.EventAlarm, l.Event == approver.EventFrozen:
			t.Errorf("%s: %s", l.Event, cmp.Or(l.Note, l.Reason))
		}
		if of[l.Request] == nil {
			of[l.Request] = map[approver.Event]bool{}
		}
		of[l.Request][l.Event] = true
	}
	told := f.checkTold(of)
	t.Logf("%s: %d calls were answered, %d of them allowed; people were told %v; %d lines, %d of them repeats, %d after "+
		"half a line", what, answered, len(allowed), told, len(lines), len(lines)-len(byID(t, lines)), torn)
	if len(allowed) == 0 {
		t.Error("nothing was allowed")
	}
}

// lines are those of all logs together.
func (f *fleet) lines() (lines []audit.Line) {
	for _, r := range f.replicas {
		lines = append(lines, auditLines(f.t, r.dir)...)
	}
	return lines
}

// checkTold holds what people were told against the ends of their requests, and returns how often each
// kind of outcome was told.
func (f *fleet) checkTold(of map[string]map[approver.Event]bool) map[approver.OutcomeKind]int {
	kinds := map[approver.OutcomeKind]int{}
	for _, r := range f.replicas {
		text, err := os.ReadFile(filepath.Join(r.dir, "told"))
		if err != nil {
			f.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var yes bool
			var request string
			var kind approver.OutcomeKind
			if n, _ := fmt.Sscanf(line, "%t %s %d", &yes, &request, &kind); n != 3 {
				f.t.Errorf("a line of what people were told: %q", line)
				continue
			}
			kinds[kind]++
			if kind == approver.OutcomeRefused && !strings.Contains(line, "store") { // nobody did anything wrong
				f.t.Errorf("a person is told: %s", line)
			}
			end, is := approver.EventDenied, kind == approver.OutcomeDenied
			if kind == approver.OutcomeApproved {
				end, is = approver.EventReleased, true
			}
			if is && (!of[request][end] || yes != (kind == approver.OutcomeApproved)) {
				f.t.Errorf("of a request with %v a person is told: %s", of[request], line)
			}
		}
	}
	return kinds
}
