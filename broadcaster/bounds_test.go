package broadcaster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"approver.example"
)

// odd are texts that JSON writes longer than they are.
var odd = map[string]string{
	"<": "<", "control": "\x01", "invalid": "\xff", "separator": "\u2028", "quote": `"`, "plain": "x",
}

// size is what a record of these controls has.
func (c Controls) size(t *testing.T) int {
	t.Helper()
	value, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return len(value)
}

// The story: whoever may use the resolve socket, which on a machine of one user is every
// agent, removed 23 people of whom nobody had heard, each with a name of 60,000 bytes. Their
// record was full then: no freeze fitted, nobody could be removed or brought back, for good,
// and each call had to read 16 MB. Such a name is refused now, few people whom no list has
// can be removed, and nothing of it keeps a freeze, or the removal of an approver, out.
func TestTheRecordOfRemovalsCannotBeFilled(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		for name, unit := range odd {
			long := strings.Repeat(unit, 60_000/len(unit))
			for what, gone := range map[string]Removal{
				"person":        {Person: "t:" + long},
				"just too long": {Person: strings.Repeat("x", MaxName+1)},
				"account":       {Person: "t", Identities: []approver.Identity{{Channel: "t", ID: long}}},
				"channel":       {Person: "t", Identities: []approver.Identity{{Channel: long, ID: "1"}}},
				"both of it": {
					Person: "t", Identities: []approver.Identity{
						{Channel: strings.Repeat("c", MaxName/2+1), ID: strings.Repeat("i", MaxName/2)},
					},
				},
				"too many":         {Person: "t", Identities: make([]approver.Identity, MaxAccounts+1)},
				"person, listed":   {Person: long},
				"account, by root": {Person: "t", Identities: []approver.Identity{{Channel: "t", ID: long}}, By: "uid 0"},
			} {
				gone.Unlisted = !strings.Contains(what, "listed")
				if _, err := x.Removals.Remove(t.Context(), gone); err == nil || !strings.Contains(err.Error(), "NOT removed") ||
					len(err.Error()) > 2<<10 {
					t.Errorf("%s of %s: %.300v", what, name, err)
				}
			}
		}
		long := strings.Repeat("<", 60_000)
		stood := 0
		for i := range 5 * maxUnlisted {
			gone := Removal{Person: fmt.Sprintf("%0256d", i), Identities: []approver.Identity{
				{Channel: "t", ID: strings.Repeat("<", MaxName-1)},
			}, By: long, Reason: long, Unlisted: true}
			for range 2 { // the second one adds who was last
				if _, err := x.Removals.Remove(t.Context(), gone); err == nil {
					stood++
				} else if !errors.Is(err, errManyGone) {
					t.Fatal(err)
				}
			}
		}
		c, _, err := x.Controls.Load(t.Context())
		if err != nil || stood != 2*maxUnlisted || len(c.Removed.InForce()) != maxUnlisted || c.size(t) > 512<<10 {
			t.Errorf("%d removals, %d stand in %d bytes: %v", stood, len(c.Removed.InForce()), c.size(t), err)
		}
		removeAlice(t, x.Broadcaster)
		if _, why, _ := x.Approvers.counted(t.Context(), "telegram", "1"); !strings.Contains(why.Format, "You were removed") {
			t.Errorf("a listed person was removed: %q", why)
		}
		if _, err := x.Removals.Remove(t.Context(), Removal{Person: "t:by root"}); err != nil {
			t.Error("whom somebody trusted removed:", err)
		}
		if err := x.Removals.Restore(t.Context(), away(t, x.Broadcaster, "alice"), "uid 0"); err != nil {
			t.Error(err)
		}
		if _, err := x.Controls.Freeze(t.Context(), long, long); err != nil {
			t.Error(err)
		}
		if err := x.Controls.Unfreeze(t.Context(), long); err != nil {
			t.Error("what was frozen in long words is not lifted:", err)
		}
	})
}

// Somebody whom a list has is no longer one of the few, and does not become one; who is
// back takes no place.
func TestUnlistedRemovalsThatStandAreCounted(t *testing.T) {
	now := time.Now()
	var c Controls
	remove := func(person string, unlisted bool) error {
		now = now.Add(time.Second)
		return c.remove(Removal{Person: person, Unlisted: unlisted}, now)
	}
	if err := errors.Join(remove("ada", false), remove("ada", true)); err != nil || c.Removed[0].Unlisted {
		t.Fatal(err, c.Removed)
	}
	for i := range maxUnlisted {
		if err := remove(fmt.Sprint(i), true); err != nil {
			t.Fatal(i, err)
		}
	}
	for range 3 {
		if err := errors.Join(remove("0", true), remove("ada", true)); err != nil {
			t.Error("one who is away already takes no other place:", err)
		}
	}
	if err := remove("more", true); !errors.Is(err, errManyGone) {
		t.Error(err)
	}
	if err := remove("0", false); err != nil { // some list has them
		t.Error(err)
	}
	if err := errors.Join(remove("more", true), c.restore(c.Removed[2], now), remove("another", true)); err != nil {
		t.Error("a place is free:", err)
	}
	if err := remove("1", true); !errors.Is(err, errManyGone) { // 1 is back, and all places are taken
		t.Error(err)
	}
	for i := range 1000 {
		if err := remove(fmt.Sprint("listed", i), false); err != nil {
			t.Fatal(err)
		}
	}
}

// full are controls in which every list has its most, and every text, as far as what takes
// no freeze may fill them.
func full(t *testing.T, unit string) Controls {
	t.Helper()
	long := strings.Repeat(unit, 8<<10)
	now := time.Unix(2e9, 123456789)
	c := Controls{Version: 1 << 62, Pause: Pause{now, long, true}, Observe: Observe{now, now, long},
		Freeze: Freeze{At: now, By: long, Reason: long}, Burned: now}
	for i := range mostHolds {
		h := Hold{Freeze: c.Freeze, Who: heldOf(1<<31+i, strings.Repeat(unit, maxProject/len(unit))), Burned: now}
		if h.Who.Session = strings.Repeat(unit, maxSession/len(unit)); i >= maxHolds {
			h.Freeze = Freeze{}
		}
		c.Holds = append(c.Holds, h)
	}
	c.bound()
	r := Removal{At: now, Last: now, By: long, Reason: long, LastBy: long, LastReason: long, Ended: long}
	for j := range maxGoneAccounts {
		r.Identities = append(r.Identities, approver.Identity{
			Channel: "t", ID: fmt.Sprintf("%03d%s", j, strings.Repeat(unit, (MaxName-4)/len(unit))),
		})
	}
	r = r.bounded()
	add := func(r Removal, person string) {
		r.Person = fmt.Sprintf("%08d%s", len(c.Removed), person)
		one := Controls{Removed: []Removal{r}}
		for n, each := c.size(t), one.size(t); ; n += each {
			r.Person = fmt.Sprintf("%08d%s", len(c.Removed), person)
			next := c
			if next.Removed = append(c.Removed, r); next.fits(make([]byte, n+each)) != nil {
				return
			}
			c = next
		}
	}
	add(r, strings.Repeat(unit, (MaxName-8)/len(unit)))
	add(Removal{At: now}, "") // as long as the last ones fit
	return c
}

// What is kept free is enough for every freeze: with every list full of what JSON writes
// longest, one agent after the other is frozen, everything is, all of it is lifted, and
// whoever was removed comes back. The store takes each of these records.
func TestFreezesFitIntoFullControls(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes many records of 16 MB")
	}
	for name, unit := range map[string]string{"<": "<", "invalid": "\xff", "plain": "x"} {
		whole := full(t, unit)
		fits := func(what string, c Controls) {
			t.Helper()
			c.bound()
			if n := c.size(t); n > maxControls {
				t.Errorf("%s, %s: %d bytes, %d more than a store takes", name, what, n, n-maxControls)
			}
		}
		if n := whole.size(t); n < 7<<20 {
			t.Errorf("%s: full at %d bytes", name, n)
		}
		fits("full", whole)
		now := time.Unix(2e9, 987654321)
		c := whole
		c.Freeze, c.Holds = Freeze{}, nil
		for i := range maxHolds {
			c.hold(Hold{Freeze: whole.Freeze, Who: Who{
				Agent: "claude", Peer: approver.Peer{Known: true, UID: 1<<31 + uint32(i)}, Project: whole.Holds[0].Who.Project,
				Session: whole.Holds[0].Who.Session,
			}}, now)
		}
		fits("every agent is frozen", c)
		c.hold(Hold{Freeze: whole.Freeze, Who: heldOf(7, "/p")}, now)
		if fits("and everything", c); !c.Frozen() {
			t.Error("not frozen")
		}
		c.lift(now)
		for i := range maxHolds { // those that were lifted are kept
			c.hold(Hold{Freeze: whole.Freeze, Who: heldOf(1000+i, whole.Holds[0].Who.Project)}, now)
		}
		fits("all were lifted, and as many are frozen anew", c)
		for _, r := range c.Removed {
			if err := c.restore(r, now); err != nil {
				t.Fatal(err)
			}
		}
		c.Freeze = Freeze{At: now, By: strings.Repeat(unit, 1<<20), Reason: strings.Repeat(unit, 1<<20)}
		fits("everybody is back, and everything is frozen", c)
	}
}

// What is refused where the record is full, and what is not.
func TestOnlyFreezesTakeTheRoomOfFreezes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		whole := full(t, "<") // its freezes are still to come
		whole.Freeze, whole.Holds, whole.Pause, whole.Observe = Freeze{}, nil, Pause{}, Observe{}
		if err := beginControls(t.Context(), kv, whole); err != nil {
			t.Fatal(err)
		}
		x := newBench(t, kv)
		for what, do := range map[string]func() error{
			"remove": func() error {
				_, err := x.Removals.Remove(t.Context(), Removal{Person: "one more", Reason: "r"})
				return err
			},
			"pause": func() error {
				_, err := x.Controls.Pause(t.Context(), nil, time.Minute, false, strings.Repeat("<", 300))
				return err
			},
			"observe": func() error {
				_, err := x.Controls.Observe(t.Context(), nil, time.Hour, strings.Repeat("<", 300))
				return err
			},
		} {
			if err := do(); !errors.Is(err, errFullControls) {
				t.Errorf("%s: %v", what, err)
			}
		}
		must := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		must("count", x.Mark.Count(t.Context(), kv))
		_, err := x.Controls.Hold(t.Context(), heldOf(7, "/p"), "approver", strings.Repeat("<", 1<<20))
		must("hold", err)
		_, err = x.Controls.Freeze(t.Context(), "uid 7", strings.Repeat("<", 1<<20))
		must("freeze", err)
		must("unfreeze", x.Controls.Unfreeze(t.Context(), "uid 0"))
		must("restore", x.Removals.Restore(t.Context(), away(t, x.Broadcaster, whole.Removed[0].Person), "uid 0"))
		_, _, err = x.Controls.Enforce(t.Context(), "uid 7")
		must("enforce", err)
		_, err = x.Controls.Pause(t.Context(), nil, 0, false, "uid 7")
		must("the end of a pause", err)
	})
}

// A record that was filled before there was a bound is made small by the next freeze. It is
// of the same people: also of those who have a longer name than a list may have now.
func TestARecordOfBeforeTheBoundsHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		long := strings.Repeat("<", 60_000)
		was := Controls{Version: 1}
		for i := range 23 {
			person := fmt.Sprintf("t:%03d%s", i, long)
			was.Removed = append(was.Removed, Removal{
				Person: person, Identities: []approver.Identity{{Channel: "t", ID: person[2:]}}, At: time.Now(), By: "uid 7",
				Reason: long,
			})
		}
		if err := beginControls(t.Context(), kv, was); err != nil {
			t.Fatal(err)
		}
		x := newBench(t, kv)
		same := func(what string) {
			t.Helper()
			c, _, err := x.Controls.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range was.Removed {
				_, byName := c.Removed.Of(approver.Identity{Channel: "x", ID: "y"}, approver.Person{ID: r.Person})
				_, byAccount := c.Removed.Of(r.Identities[0], approver.Person{ID: "somebody else"})
				if !byName || !byAccount {
					t.Errorf("%s: %.10s is back", what, r.Person)
				}
			}
		}
		same("as it was")
		if _, err := x.Controls.Freeze(t.Context(), "uid 7", "r"); err != nil {
			t.Fatal(err)
		}
		same("after a freeze")
		removeAlice(t, x.Broadcaster)
		if c, _, err := x.Controls.Load(t.Context()); err != nil || c.size(t) > 256<<10 {
			t.Errorf("%d bytes, %v", c.size(t), err)
		}
		if err := x.Removals.Restore(t.Context(), away(t, x.Broadcaster, shortName(was.Removed[0].Person)),
			"uid 0"); err != nil {
			t.Error(err)
		}
	})
}

// Cutting is by bytes and whole characters, says so, and is done once.
func TestCutText(t *testing.T) {
	for name, unit := range odd {
		for n := range 40 {
			for most := 4; most < 20; most++ {
				s := strings.Repeat(unit, n)
				got := cutText(s, most)
				if len(got) > most || !utf8.ValidString(got) || cutText(got, most) != got {
					t.Errorf("%s: %q to %d: %q", name, s, most, got)
				}
				if utf8.ValidString(s) && (len(s) <= most) != (got == s) ||
					strings.HasSuffix(got, "…") != (got != strings.ToValidUTF8(s, "\uFFFD")) {
					t.Errorf("%s: %q to %d: %q", name, s, most, got)
				}
			}
		}
	}
}
