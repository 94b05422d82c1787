package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/cmd/approver/internal/child"
	"approver.example/daemon/adminapi"
	"approver.example/store/storetest/redistest"
)

// A crew is several daemons, each a process, that share a Redis and the bots of three apps.
type crew struct {
	*testing.T
	w       *world
	members []*child.Daemon
	proxies []*redistest.Proxy // before Telegram, for each
}

func startCrew(t *testing.T, n int) *crew {
	t.Helper()
	w := staged(t, Options{Redis: true})
	c := &crew{T: t, w: w}
	config, err := os.ReadFile(w.daemon.Config())
	must(t, w, err)
	tg := strings.TrimPrefix(w.apps[0].url, "http://")
	for i := range n {
		proxy, err := redistest.StartProxy(tg)
		must(t, w, err)
		t.Cleanup(func() { _ = proxy.Close() })
		dir := filepath.Join(w.dir, fmt.Sprint("member", i))
		must(t, w, os.Mkdir(dir, 0o700))
		own := strings.Replace(string(config), "dir: data\n", fmt.Sprintf("dir: data\naudit: {id: member%d}\n", i), 1)
		own = strings.Replace(own, tg, proxy.Addr, 1)
		must(t, w, os.WriteFile(filepath.Join(dir, "approver.yaml"), []byte(own), 0o600))
		for _, name := range []string{"policy.yaml", "hub.key"} {
			text, err := os.ReadFile(filepath.Join(w.dir, name))
			must(t, w, err)
			must(t, w, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
		c.members = append(c.members, &child.Daemon{Program: program, Dir: dir})
		c.proxies = append(c.proxies, proxy)
	}
	must(t, w, w.daemon.Stop(stopTime)) // it has done its part: the first records of the store
	for _, d := range c.members {
		c.start(d)
		t.Cleanup(func() {
			if err := d.Stop(stopTime); err != nil {
				t.Errorf("%s: %v", filepath.Base(d.Dir), err)
			}
		})
	}
	return c
}

func (c *crew) start(d *child.Daemon) {
	c.Helper()
	must(c.T, c.w, d.Start())
	must(c.T, c.w, c.w.wait(startTime, filepath.Base(d.Dir)+" answers", d.Healthy))
}

// receives lists the members that receive for a channel, as they say themselves.
func (c *crew) receives(channel string) (list []*child.Daemon) {
	for _, d := range c.members {
		out, _ := exec.CommandContext(c.Context(), program, "status", "--json", "--socket", d.Resolve()).Output()
		var status struct {
			Channels []adminapi.Channel `json:"channels"`
		}
		if json.Unmarshal(out, &status) != nil {
			continue
		}
		if slices.ContainsFunc(status.Channels, func(s adminapi.Channel) bool { return s.Name == channel && s.Receives }) {
			list = append(list, d)
		}
	}
	return list
}

// holder waits for members that receive for a channel, and returns one of them and a member that is not it.
func (c *crew) holder(channel string) (holder, other *child.Daemon) {
	c.Helper()
	must(c.T, c.w, c.w.wait(time.Minute, "somebody receives for "+channel, func() bool {
		list := c.receives(channel)
		if len(list) == 0 || channel != "slack" && len(list) > 1 {
			return false
		}
		holder = list[rand.IntN(len(list))]
		return true
	}))
	at := slices.Index(c.members, holder)
	return holder, c.members[(at+1+rand.IntN(len(c.members)-1))%len(c.members)]
}

// audits are the lines of all members.
func (c *crew) audits() (text string) {
	for _, d := range c.members {
		raw, _ := os.ReadFile(filepath.Join(d.Dir, "data", "audit", "audit.jsonl")) // or there is none yet
		text += string(raw)
	}
	return text
}

// tap presses a button once, whether or not the bot is there.
func (c *crew) tap(a *app, message string, button fake.Button) {
	person := c.w.alice.id[a.channel]
	press := a.fake.Tap
	if d, is := a.fake.(*discordtest.Server); is {
		press = d.TapUnheard
	}
	if err := press(person, a.conversation, message, button); err != nil {
		c.Errorf("%s: %v", a.name, err)
	}
}

// The story: the daemon that received for a bot was killed, and whoever pressed a button just then was never heard.
// The platform had brought the press to the one that died, or to nobody; or the next one counted it a second time.
// Three processes share the bots of three apps. The one that receives is killed at any moment around a press, which
// is made once. The next one receives in seconds; each press counts, and counts once; and any of them brings all
// cards up to date.
func TestTheReceiverIsKilled(t *testing.T) {
	c := startCrew(t, 3)
	n := rounds(t, 3)
	took := map[string][]time.Duration{}
	for i := range n {
		a := c.w.apps[i%len(c.w.apps)]
		took[a.channel] = append(took[a.channel], c.killedRound(i, a))
	}
	for channel, all := range took {
		slices.Sort(all)
		t.Logf("%s: %d kills; from the kill to the answer at the agent: half within %v, all within %v", channel, len(all),
			all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
		if worst := all[len(all)-1]; worst > 30*time.Second { // on a machine that does nothing else, five seconds
			t.Errorf("%s: a press took %v", channel, worst)
		}
	}
	c.checkEnds(n)
}

// killedRound plays one request whose receiver is killed, and returns how long its answer took from then.
func (c *crew) killedRound(i int, a *app) time.Duration {
	c.Helper()
	victim, other := c.holder(a.channel)
	command, yes := fmt.Sprintf("git push origin --delete branch-%d-end", i), i%2 == 0
	button, result, want := fake.DenyButton, "Denied by Alice", "deny"
	if yes {
		button, result, want = fake.ApproveButton, "Approved once by Alice", "allow"
	}
	hook := c.w.hookAt(other.Submit(), command, "")
	var card fake.Shown
	must(c.T, c.w, c.w.wait(20*time.Second, a.name+" shows the card", func() bool {
		cards := cardsOf(a, command)
		if len(cards) > 0 {
			card = cards[0]
		}
		return len(cards) > 0
	}))
	must(c.T, c.w, c.w.wait(10*time.Second, "the card is noted", func() bool {
		return strings.Contains(c.audits(), "message "+card.Message+`"`)
	}))
	c.tap(a, card.Message, fake.TimeButton)
	dead, after := make(chan time.Time, 1), time.Duration(rand.IntN(120))*time.Millisecond
	go func() {
		time.Sleep(after)
		if err := victim.Kill(); err != nil {
			c.Error(err)
		}
		dead <- time.Now()
	}()
	time.Sleep(time.Duration(rand.IntN(160)) * time.Millisecond)
	c.tap(a, card.Message, button)
	killed := <-dead
	var o outcome
	select {
	case o = <-hook:
	case <-time.After(time.Minute):
		c.Fatalf("round %d, %s: a press was lost\n%s\n%s", i, a.name, victim.Log(), other.Log())
	}
	took := max(time.Since(killed), 0)
	if o.decision() != want || (o.exit == 0) != yes {
		c.Errorf("round %d, %s: wanted %s, the agent got %q, exit %d, %s", i, a.name, want, o.decision(), o.exit,
			o.stdout+o.stderr)
	}
	for _, each := range c.w.apps {
		must(c.T, c.w, c.w.wait(30*time.Second, each.name+" is up to date", func() bool {
			cards := cardsOf(each, command)
			return len(cards) > 0 && !slices.ContainsFunc(cards, func(s fake.Shown) bool {
				return len(s.Buttons) > 0 || !strings.Contains(s.Text, result)
			})
		}))
	}
	must(c.T, c.w, victim.Start())
	must(c.T, c.w, c.w.wait(startTime, "the one that was killed is back", victim.Healthy))
	return took
}

// checkEnds holds all logs together: each request has one end and got more time once at most.
func (c *crew) checkEnds(n int) {
	ends, more, asked := map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}
	add := func(of map[string]map[string]bool, request, what string) {
		if of[request] == nil {
			of[request] = map[string]bool{}
		}
		of[request][what] = true
	}
	alarms := 0
	for line := range strings.Lines(c.audits()) {
		var l auditLine
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		switch {
		case l.Event == "asked":
			asked[l.Request] = true
		case l.Event == "extended":
			add(more, l.Request, l.Once)
		case l.ended():
			add(ends, l.Request, l.Event)
		case l.Event == "frozen":
			alarms++
		}
	}
	if len(asked) != n || len(ends) != n || alarms > 0 {
		c.Errorf("%d requests, %d with an end, %d freezes; there were %d calls", len(asked), len(ends), alarms, n)
	}
	for request := range asked {
		if len(ends[request]) != 1 || len(more[request]) > 1 {
			c.Errorf("request %s has the ends %v, and got more time in %v", request, ends[request], more[request])
		}
	}
	c.Logf("%d requests, %d of them got more time", len(asked), len(more))
}

// The way to Telegram of the process that receives is cut, and another one has a way: that one receives in seconds,
// and the one that was cut off leaves it to it when its own way is back.
func TestTheReceiverIsCutOff(t *testing.T) {
	c := startCrew(t, 2)
	first, _ := c.holder("telegram")
	at := slices.Index(c.members, first)
	c.proxies[at].Set(redistest.Refuse)
	c.proxies[at].Cut()
	cut := time.Now()
	must(t, c.w, c.w.wait(time.Minute, "the other one receives", func() bool {
		list := c.receives("telegram")
		return len(list) == 1 && list[0] == c.members[1-at]
	}))
	t.Logf("the other one receives after %v", time.Since(cut).Round(time.Millisecond))
	c.proxies[at].Set(redistest.NoFault)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if list := c.receives("telegram"); len(list) != 1 || list[0] == first {
			t.Errorf("%d receive, or the first one took it back", len(list))
		}
	}
}
