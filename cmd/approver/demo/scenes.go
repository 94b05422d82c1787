package demo

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"approver.example/channels/channeltest/fake"
)

// appOf returns the app of a channel.
func (w *world) appOf(channel string) (int, *app) {
	for i, a := range w.apps {
		if a.channel == channel {
			return i, a
		}
	}
	return 0, w.apps[0]
}

// tap presses a button as a person on their app.
func (w *world) tap(who person, channel string, cards []fake.Shown, b fake.Button) error {
	i, a := w.appOf(channel)
	return a.fake.Tap(who.id[channel], a.conversation, cards[i].Message, b)
}

// heard waits for something that the bot tells a person alone.
func (w *world) heard(who person, channel string, before int) (string, error) {
	_, a := w.appOf(channel)
	var text string
	err := w.wait(8*time.Second, who.name+" is told on "+a.name, func() bool {
		told := a.fake.Told(who.id[channel])
		if len(told) <= before {
			return false
		}
		text = told[len(told)-1]
		return true
	})
	return text, err
}

func (w *world) toldSoFar(who person, channel string) int {
	_, a := w.appOf(channel)
	return len(a.fake.Told(who.id[channel]))
}

// end checks the agent's answer and names the audit record.
func (w *world) end(hook <-chan outcome, decision string, exit int) (outcome, error) {
	o, err := w.answer(hook)
	if err != nil {
		return o, err
	}
	w.check(o.decision() == decision && o.exit == exit, "Claude Code reads %q (exit %d)", decision, exit)
	last, err := w.auditEnd()
	if err != nil {
		return o, err
	}
	w.settled(last.Request, last.Event, last.Hash)
	return o, nil
}

// oneTap: a force-push is held, shown everywhere, approved once on a phone.
func (w *world) oneTap() error {
	w.title("one-tap", "1. Claude Code wants to run: git push --force origin main")
	hook := w.hook("git push --force origin main", "publish the rebased branch")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.say("the hook waits; the same request is on three apps, each with a code of its own:")
	w.show(cards)
	push := "🟠 HIGH · git push --force origin main"
	for i, a := range w.apps {
		w.check(strings.HasPrefix(cards[i].Push, push), "on %s the lock screen says %q", a.name, push)
	}
	w.check(codeIn(cards[0].Text) != codeIn(cards[1].Text) && codeIn(cards[1].Text) != codeIn(cards[2].Text), "three different codes")
	w.say("Alice taps Approve on Telegram …")
	before := w.toldSoFar(w.alice, "telegram")
	if err := w.tap(w.alice, "telegram", cards, fake.ApproveButton); err != nil {
		return err
	}
	o, err := w.end(hook, "allow", 0)
	if err != nil {
		return err
	}
	w.check(strings.Contains(o.stdout, "approved by Alice via telegram"), "the answer says who")
	text, err := w.heard(w.alice, "telegram", before)
	if err != nil {
		return err
	}
	w.check(strings.HasPrefix(text, "Approved"), "Alice hears: %s", text)
	if err := w.settledCards(cards, "Approved once by Alice via telegram"); err != nil {
		return err
	}
	w.show(cards)
	return nil
}

// catastrophe: a tap cannot approve rm -rf /; the typed code decides.
func (w *world) catastrophe() error {
	w.title("catastrophe", "2. Claude Code wants to run: rm -rf /   (nothing is ever run here)")
	hook := w.hook("rm -rf /", "clean up the workspace")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.show(cards)
	for i, a := range w.apps {
		offered := false
		for _, b := range cards[i].Buttons {
			offered = offered || b == fake.ApproveButton
		}
		w.check(!offered, "%s offers no Approve button", a.name)
	}
	request := w.lastAsked()
	i, telegram := w.appOf("telegram")
	before := w.toldSoFar(w.bob, "telegram")
	w.say("a modified Telegram client sends the tap of a button that is not there …")
	if telegram.fake.Forge(w.bob.id["telegram"], telegram.conversation, cards[i].Message, request, fake.ApproveButton) {
		text, err := w.heard(w.bob, "telegram", before)
		if err != nil {
			return err
		}
		w.check(strings.Contains(text, "CATASTROPHIC"), "Bob hears: %s", text)
	}
	i, slack := w.appOf("slack")
	w.say("Alice types the code of her Slack card …")
	if err := slack.fake.EnterCode(w.alice.id["slack"], slack.conversation, cards[i].Message, codeIn(cards[i].Text)); err != nil {
		return err
	}
	if _, err := w.end(hook, "allow", 0); err != nil {
		return err
	}
	return w.settledCards(cards, "Approved once by Alice via slack")
}

// silence: nobody answers, so the call is blocked.
func (w *world) silence() error {
	w.title("silence", "3. Nobody answers   (the demo's policy gives this rule 5 s instead of 2 min)")
	hook := w.hook("terraform destroy -auto-approve", "tear down the test stack")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.say("three cards, no answer …")
	o, err := w.end(hook, "deny", 2)
	if err != nil {
		return err
	}
	w.check(strings.Contains(o.stdout, "nobody answered within 5 s"), "the reason tells silence from a no")
	w.check(o.took > 4*time.Second && o.took < 8*time.Second, "after %.1f s", o.took.Seconds())
	return w.settledCards(cards, "Expired · blocked · nobody answered")
}

// photoFinish: two people answer in the same instant; one wins, the other is
// told who.
func (w *world) photoFinish() error {
	w.title("photo-finish", "4. Alice approves on Telegram and Bob denies on Slack in the same instant")
	hook := w.hook("git push --force origin release", "")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	toldAlice, toldBob := w.toldSoFar(w.alice, "telegram"), w.toldSoFar(w.bob, "slack")
	var both sync.WaitGroup
	errs := make([]error, 2)
	go1 := make(chan struct{})
	both.Go(func() { <-go1; errs[0] = w.tap(w.alice, "telegram", cards, fake.ApproveButton) })
	both.Go(func() { <-go1; errs[1] = w.tap(w.bob, "slack", cards, fake.DenyButton) })
	close(go1)
	both.Wait()
	// The slower thumb may find the button gone already: that is an answer too.
	o, err := w.answer(hook)
	if err != nil {
		return err
	}
	aliceWon := o.decision() == "allow"
	winner, loser, channel, tapErr, before := "Alice", w.bob, "slack", errs[1], toldBob
	verb := "approved"
	if !aliceWon {
		winner, loser, channel, tapErr, before = "Bob", w.alice, "telegram", errs[0], toldAlice
		verb = "denied"
	}
	if tapErr != nil {
		w.say("%s's thumb found the card already settled", loser.name)
	} else {
		text, err := w.heard(loser, channel, before)
		if err != nil {
			return err
		}
		w.check(strings.Contains(text, winner+" "+verb+" it"), "%s won; %s hears: %s", winner, loser.name, text)
	}
	want := "Approved once by Alice via telegram"
	if !aliceWon {
		want = "Denied by Bob via slack"
	}
	if err := w.settledCards(cards, want); err != nil {
		return err
	}
	last, err := w.auditEnd()
	if err == nil {
		w.check((last.Event == "released") == aliceWon, "the audit agrees")
		w.settled(last.Request, last.Event, last.Hash)
	}
	return err
}

// kill: the daemon dies with a request open, and the old card still counts.
func (w *world) kill() error {
	w.title("kill", "5. The daemon is killed with SIGKILL while a request waits")
	hook := w.hook("git push --force origin hotfix", "")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	// The cards are on the phones; give the daemon the moment it takes to note where.
	if err := w.noted(cards); err != nil {
		return err
	}
	if err := w.killDaemon(); err != nil {
		return err
	}
	w.say("kill -9 … the hook process is still waiting; the daemon is started again")
	start := time.Now()
	if err := w.startDaemon(); err != nil {
		return err
	}
	w.say("ready after %d ms; Bob taps Approve on the old Discord card …", time.Since(start).Milliseconds())
	i, discord := w.appOf("discord")
	if err := w.wait(5*time.Second, "Discord takes the tap", func() bool {
		return discord.fake.Tap(w.bob.id["discord"], discord.conversation, cards[i].Message, fake.ApproveButton) == nil
	}); err != nil {
		return err
	}
	if _, err := w.end(hook, "allow", 0); err != nil {
		return err
	}
	for _, a := range w.apps {
		w.check(len(a.cards()) == w.asked[a.channel], "%s has no second card of it", a.name)
	}
	return w.settledCards(cards, "Approved once by Bob via discord")
}

// lastAsked returns the id of the newest request.
func (w *world) lastAsked() string {
	request := ""
	for _, l := range w.audit() {
		if l.Event == "asked" {
			request = l.Request
		}
	}
	return request
}

// noted waits until the audit says that each card is posted.
func (w *world) noted(cards []fake.Shown) error {
	request := w.lastAsked()
	return w.wait(5*time.Second, "the daemon has noted where the cards are", func() bool {
		n := 0
		for _, l := range w.audit() {
			if l.Event == "posted" && l.Request == request {
				n++
			}
		}
		return n == len(cards)
	})
}

// proof holds the whole run against the fakes' own logs and the audit.
func (w *world) proof() error {
	w.title("proof", "6. What the apps' servers and the audit say")
	for _, a := range w.apps {
		posts, edits := count(a.log(), a.posts), count(a.log(), a.edits)
		want := w.asked[a.channel]
		w.check(posts >= want && edits >= want, "%s's server saw %d posts and %d edits for %d requests", a.name, posts, edits, want)
	}
	leaked := 0
	raw := w.outputs.String() + w.auditText()
	for _, code := range w.codes {
		if strings.Contains(raw, strings.TrimPrefix(code, "CONFIRM-")) {
			leaked++
		}
	}
	w.check(len(w.codes) >= 3*w.calls && leaked == 0, "none of the %d codes is in what the agent saw, or in the audit", len(w.codes))
	return w.verify()
}

func count(log []string, what string) (n int) {
	for _, line := range log {
		if strings.Contains(line, what) {
			n++
		}
	}
	return n
}

// interactive lets the person at the keyboard answer one request.
func (w *world) interactive(read func() (string, error)) error {
	w.title("interactive", "Your turn: Claude Code wants to run: git push --force origin main")
	hook := w.hook("git push --force origin main", "publish the rebased branch")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.show(cards)
	w.say("You are Alice. Type  telegram yes · discord no · slack %s   (or nothing, for two minutes)", codeIn(cards[2].Text))
	answered := make(chan error, 1)
	go func() { answered <- w.typed(read, cards) }()
	for {
		select {
		case err := <-answered:
			if err != nil {
				return err
			}
		case o := <-hook:
			w.outputs.WriteString(o.stdout + o.stderr)
			w.say("the agent gets, with exit code %d after %.1f s:\n    %s", o.exit, o.took.Seconds(), strings.TrimSpace(o.stdout))
			time.Sleep(300 * time.Millisecond) // the cards follow the answer
			w.show(cards)
			return nil
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
}

// typed turns lines into taps until one works.
func (w *world) typed(read func() (string, error), cards []fake.Shown) error {
	for {
		line, err := read()
		if err != nil {
			return fmt.Errorf("no answer was typed: %w", err)
		}
		channel, what, _ := strings.Cut(strings.ToLower(strings.TrimSpace(line)), " ")
		i, a := w.appOf(channel)
		if a.channel != channel {
			w.say("Start with telegram, discord or slack.")
			continue
		}
		switch what {
		case "yes":
			err = w.tap(w.alice, channel, cards, fake.ApproveButton)
		case "no":
			err = w.tap(w.alice, channel, cards, fake.DenyButton)
		default:
			err = a.fake.EnterCode(w.alice.id[channel], a.conversation, cards[i].Message, what)
		}
		if err == nil {
			return nil
		}
		w.say("That did not work: %v", err)
	}
}
