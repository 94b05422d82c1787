package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/cmd/approver/internal/child"
	"approver.example/store/storetest/redistest"
)

// rollingFor is how long replicas are killed in turn. APPROVER_ROLLING raises it for a long run, as make
// rolling does: without it, only a single Redis is played.
func rollingFor(t *testing.T) (d time.Duration, long bool) {
	t.Helper()
	s := os.Getenv("APPROVER_ROLLING")
	if s == "" {
		return 6 * time.Second, false
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d, true
}

// Replicas that share one Redis and one bot on each of three chat apps are killed in turn, while agents ask
// all of them and people answer. In the middle of it, the store itself fails over where it can.
func TestRollingKills(t *testing.T) {
	const perSecond = 20
	tests := []struct {
		name     string
		replicas int
		store    func(*testing.T) (config string, midway func() error)
	}{
		{"redis", 2, singleRedis},
		{"tls", 2, tlsRedis},
		{"sentinel", 3, sentinels},
		{"cluster", 3, clustered},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			last, long := rollingFor(t)
			if tc.name != "redis" && !long {
				t.Skip("a long run: see APPROVER_ROLLING")
			}
			store, midway := tc.store(t)
			r := newRolling(t, tc.replicas, store)
			rate := perSecond
			if !long {
				rate, midway = 5, nil
			}
			r.run(t, last, time.Second/time.Duration(rate), midway)
			r.judge(t)
		})
	}
}

func singleRedis(t *testing.T) (string, func() error) {
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: %q}\n", server.Addr, hubKey(t)), func() error {
		server.Kill()
		return server.Restart(t.Context())
	}
}

func tlsRedis(t *testing.T) (string, func() error) {
	server, err := redistest.Start(t.Context(), redistest.Options{TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	f := server.Files
	return fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: %q, tls: {enabled: true, ca_file: %q, cert_file: %q, "+
			"key_file: %q}}\n", server.Addr, hubKey(t), f.CA, f.Cert, f.Key), func() error {
			server.Kill()
			return server.Restart(t.Context())
		}
}

func sentinels(t *testing.T) (string, func() error) {
	primary, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { primary.Close() })
	nodes := []*redistest.Server{primary}
	for range 2 {
		replica, err := redistest.StartReplica(t.Context(), primary, redistest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { replica.Close() })
		nodes = append(nodes, replica)
	}
	sentinel, err := redistest.StartSentinel(t.Context(), primary, "approver")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sentinel.Close() })
	midway := func() error {
		primary.Kill()
		for range 300 {
			if now, err := leaderNow(t, nodes); err == nil && now != primary {
				return primary.Restart(t.Context()) // the Sentinel makes it a replica
			}
			time.Sleep(100 * time.Millisecond)
		}
		return fmt.Errorf("no other node became the primary")
	}
	return fmt.Sprintf("  redis: {addrs: [%q], master_name: approver, hub_key_file: %q, replicas: 1}\n", sentinel.Addr,
		hubKey(t)), midway
}

func clustered(t *testing.T) (string, func() error) {
	cluster, err := redistest.StartCluster(t.Context(), 3, redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close() })
	midway := func() error {
		node := cluster.Nodes[1]
		node.Kill()
		time.Sleep(time.Second)
		return node.Restart(t.Context())
	}
	return fmt.Sprintf("  redis: {addrs: [%q], hub_key_file: %q}\n", strings.Join(cluster.Addrs(), `", "`), hubKey(t)),
		midway
}

// A rolling is a team of replicas, and what became of their calls.
type rolling struct {
	*world
	replicas []*child.Daemon

	mu       sync.Mutex
	answered map[int]time.Time // when somebody first pressed a button for a call
	done     map[int]told
	kills    int
	stores   int // times that the store was struck
}

// A told is what the agent of a call was told.
type told struct {
	outcome
	at time.Time
}

func newRolling(t *testing.T, replicas int, store string) *rolling {
	t.Helper()
	id := func(n int) string { return fmt.Sprintf("audit: {id: hub-%d}\n", n) }
	r := &rolling{world: staged(t, Options{store: store + id(0)}), answered: map[int]time.Time{}, done: map[int]told{}}
	r.replicas = append(r.replicas, &r.daemon)
	for n := 1; n < replicas; n++ {
		d := &child.Daemon{Program: program, Dir: t.TempDir()}
		for _, file := range []string{"approver.yaml", "policy.yaml"} {
			text, err := os.ReadFile(filepath.Join(r.dir, file))
			if err != nil {
				t.Fatal(err)
			}
			other := strings.Replace(string(text), id(0), id(n), 1)
			if err := os.WriteFile(filepath.Join(d.Dir, file), []byte(other), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Stop(stopTime) })
		r.replicas = append(r.replicas, d)
		if err := r.wait(startTime, "a replica answers", d.Healthy); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// run asks about one call after another for a while. Every second replica's agents are answered yes.
func (r *rolling) run(t *testing.T, last, every time.Duration, midway func() error) {
	t.Helper()
	began, ctx := time.Now(), t.Context()
	acting, stop := context.WithCancel(ctx)
	var actors, hooks sync.WaitGroup
	for _, a := range r.apps {
		actors.Go(func() { r.answer(acting, a) })
	}
	striking, enough := context.WithTimeout(ctx, last)
	var strikes sync.WaitGroup
	strikes.Go(func() { r.strike(t, striking) })
	if midway != nil {
		strikes.Go(func() {
			if pause(striking, last/2) {
				if err := midway(); err != nil {
					t.Errorf("the store: %v", err)
				}
				r.mu.Lock()
				r.stores++
				r.mu.Unlock()
			}
		})
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; time.Since(began) < last; n++ {
		hook := r.hookAt(r.replicas[n%len(r.replicas)].Submit(), branch(n), "")
		hooks.Go(func() {
			o := <-hook
			r.mu.Lock()
			defer r.mu.Unlock()
			r.done[n] = told{o, time.Now()}
		})
		if n%200 == 199 {
			t.Logf("%v: asked %d, killed %d", time.Since(began).Round(time.Second), n+1, r.killed())
		}
		<-tick.C
	}
	strikes.Wait()
	enough()
	hooks.Wait()
	// What a crash left without a note loses its buttons at the next press: people go on pressing.
	_ = r.wait(40*time.Second, "no card has buttons", func() bool { return r.withButtons() == 0 })
	stop()
	actors.Wait()
}

func branch(n int) string { return fmt.Sprintf("git push origin --delete branch-%d-end", n) }

var branchNumber = regexp.MustCompile(`branch-(\d+)-end`)

// yes is what people say of a call.
func yes(n int) bool { return n%3 != 0 }

// strike kills one replica after another, and starts it again, until ctx ends.
func (r *rolling) strike(t *testing.T, ctx context.Context) { //nolint:revive // as helpers of tests have it
	t.Helper()
	for n := 0; pause(ctx, time.Second+rand.N(2*time.Second)); n++ {
		d := r.replicas[n%len(r.replicas)]
		if err := d.Kill(); err != nil {
			t.Errorf("a replica: %v", err)
			return
		}
		r.mu.Lock()
		r.kills++
		r.mu.Unlock()
		time.Sleep(rand.N(time.Second))
		// A daemon that finds no store ends, and its service manager starts it again.
		for tries := 0; ; tries++ {
			if err := d.Start(); err != nil {
				t.Errorf("a replica: %v", err)
				return
			}
			err := r.wait(startTime/3, "a replica answers again", d.Healthy)
			if err == nil {
				break
			}
			_ = d.Kill()
			if tries == 10 {
				t.Errorf("%v\n%s", err, d.Log())
				return
			}
		}
	}
}

func (r *rolling) killed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kills
}

// pause reports whether a time passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// answer presses the buttons of cards on one app. Each call is answered on one of the apps, and after five
// seconds on any of them, as long as its card there has buttons.
func (r *rolling) answer(ctx context.Context, a *app) {
	own := slices.Index(r.apps, a)
	seen, pressed := map[string]time.Time{}, map[string]time.Time{}
	for pause(ctx, 100*time.Millisecond) {
		for _, card := range a.cards() {
			found := branchNumber.FindStringSubmatch(card.Text)
			if found == nil || !slices.Contains(card.Buttons, fake.DenyButton) {
				continue
			}
			n, _ := strconv.Atoi(found[1])
			now := time.Now()
			if seen[card.Message].IsZero() {
				seen[card.Message] = now
			}
			waits := now.Sub(seen[card.Message])
			if n%len(r.apps) != own && waits < 5*time.Second || waits < 200*time.Millisecond ||
				now.Sub(pressed[card.Message]) < time.Second {
				continue
			}
			button := fake.DenyButton
			if yes(n) {
				button = fake.ApproveButton
			}
			pressed[card.Message] = now
			if a.fake.Tap(r.alice.id[a.channel], a.conversation, card.Message, button) == nil {
				r.mu.Lock()
				if _, was := r.answered[n]; !was {
					r.answered[n] = now
				}
				r.mu.Unlock()
			}
		}
	}
}

// withButtons counts the cards that can still be pressed.
func (r *rolling) withButtons() (n int) {
	for _, a := range r.apps {
		for _, c := range a.cards() {
			if slices.Contains(c.Buttons, fake.DenyButton) {
				n++
			}
		}
	}
	return n
}

// judge compares what agents were told with what people said, with the cards, and with the audit of all
// replicas.
func (r *rolling) judge(t *testing.T) {
	t.Helper()
	var allowed, denied, wrong int
	others := map[string]int{}
	var took []time.Duration
	for n, o := range r.done {
		said := o.decision()
		switch {
		case said == "allow" && o.exit == 0 && yes(n):
			allowed++
			took = append(took, o.at.Sub(r.answered[n]))
		case said != "allow" && o.exit != 0 && !yes(n) && strings.Contains(o.stdout, "Alice"):
			denied++
			took = append(took, o.at.Sub(r.answered[n]))
		case said == "allow" || o.exit == 0:
			wrong++
			t.Errorf("call %d: people said %t, and the agent got %q, exit %d: %s", n, yes(n), said, o.exit, o.stdout+o.stderr)
		default: // no answer of a person reached it
			others[why(o.outcome)]++
		}
	}
	slices.Sort(took)
	cards, calls := 0, 0
	for _, a := range r.apps {
		of := map[string]int{}
		for _, c := range a.cards() {
			if found := branchNumber.FindStringSubmatch(c.Text); found != nil {
				of[found[1]]++
			}
		}
		for _, n := range of {
			cards, calls = cards+n, calls+1
		}
	}
	released := r.audited(t)
	if released != allowed {
		t.Errorf("%d calls were allowed, the audits have %d released", allowed, released)
	}
	if n := r.withButtons(); n > 0 {
		t.Errorf("%d cards still have buttons", n)
	}
	at := func(q float64) time.Duration {
		if len(took) == 0 {
			return 0
		}
		return took[int(q*float64(len(took)-1))].Round(time.Millisecond)
	}
	t.Logf("%d replicas, %d kills, store struck %d times: %d calls, allowed %d, denied %d, wrong %d; without an answer "+
		"of a person %v; cards beyond the first of a call and app %d of %d; from the first press to the agent p50 %v, "+
		"p99 %v, at most %v", len(r.replicas), r.kills, r.stores, len(r.done), allowed, denied, wrong, others,
		cards-calls, calls, at(0.5), at(0.99), at(1))
	var lost int
	for _, n := range others {
		lost += n
	}
	if wrong == 0 && lost > len(r.done)/10 {
		t.Errorf("%d of %d calls got no answer of a person", lost, len(r.done))
	}
}

// why is the reason that an agent was given, without what differs from call to call.
func why(o outcome) string {
	var doc struct {
		Hook struct {
			Reason string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(o.stdout), &doc)
	reason, _, _ := strings.Cut(cmp.Or(doc.Hook.Reason, strings.TrimSpace(o.stderr), fmt.Sprintf("exit %d", o.exit)), "\n")
	return reason[:min(len(reason), 120)]
}

// audited stops all replicas, verifies the audit of each, and returns how many requests were released. Each
// request has one end.
func (r *rolling) audited(t *testing.T) (released int) {
	t.Helper()
	ends, texts, withheld := map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}
	for n, d := range r.replicas {
		if err := d.Stop(stopTime); err != nil {
			t.Errorf("replica %d: %v", n, err)
		}
	}
	for n, d := range r.replicas {
		cmd := exec.CommandContext(t.Context(), d.Program, "audit", "verify", "--config", d.Config())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("replica %d: audit verify: %v\n%s", n, err, out)
		}
		files, err := filepath.Glob(filepath.Join(d.Dir, "data", "audit", "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Errorf("replica %d has no audit: %v", n, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			for line := range strings.Lines(string(raw)) {
				var l auditLine
				if json.Unmarshal([]byte(line), &l) != nil || l.Request == "" {
					continue
				}
				texts[l.Request] = append(texts[l.Request], fmt.Sprintf("  replica %d: %s %s %s %q %q\n", n, l.Timestamp, l.Event,
					l.Resolution.Cause, l.Outcome, l.Note))
				if l.Event == "denied" && strings.Contains(l.Note, "not given to the agent") {
					withheld[l.Request] = true
				}
				if l.ended() {
					if ends[l.Request] == nil {
						ends[l.Request] = map[string]bool{}
					}
					ends[l.Request][l.Event] = true
				}
			}
		}
	}
	for id, e := range ends {
		if withheld[id] {
			delete(e, "released") // the log says so itself, in a later record
		}
		if len(e) != 1 {
			t.Errorf("the audits have %v as the end of request %s:\n%s", slices.Sorted(maps.Keys(e)), id,
				strings.Join(texts[id], ""))
		}
		if e["released"] {
			released++
		}
	}
	return released
}
