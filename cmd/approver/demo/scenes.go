package demo

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"approver.example/channels/channeltest/fake"
)

// appOf returns the app of a channel and its index; for an unknown channel, the first app.
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

// forge sends a tap for a button that the card does not have, or no longer has. It reports whether
// the tap reached the bot.
func (w *world) forge(who person, channel string, cards []fake.Shown, b fake.Button) bool {
	i, a := w.appOf(channel)
	return a.fake.Forge(who.id[channel], a.conversation, cards[i].Message, w.request, b)
}

// enterCode types a code as a person on their app.
func (w *world) enterCode(who person, channel string, cards []fake.Shown, code string) error {
	i, a := w.appOf(channel)
	if channel == "telegram" { // there a code is a message, to which the bot replies
		w.replies[channel]++
	}
	return a.fake.EnterCode(who.id[channel], a.conversation, cards[i].Message, code)
}

// heard waits for a new message that the bot shows only to one person, and returns it. before is how
// many there were.
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

// An ending is the end of a request, as the audit, the agent and the cards must say it.
type ending struct {
	event        string // in the audit
	who, channel string // empty: nobody
	decision     string // for the agent
	exit         int
	card         string
}

func approvedBy(who person, channel string) ending {
	return ending{"released", who.name, channel, "allow", 0, "Approved once by " + who.name + " via " + title(channel)}
}

func deniedBy(who person, channel string) ending {
	return ending{"denied", who.name, channel, "deny", 2, "Denied by " + who.name + " via " + title(channel)}
}

var byNobody = ending{"expired", "", "", "deny", 2, "Expired · blocked · nobody answered"}

// ends waits for the agent's answer, and shows it with the audit record of the request's end.
func (w *world) ends(hook <-chan outcome) (outcome, auditLine, error) {
	o, err := w.answer(hook)
	if err != nil {
		return o, auditLine{}, err
	}
	end, err := w.auditHas("the end of the request", auditLine.ended)
	if err != nil {
		return o, end, err
	}
	w.about(end.Request, end.Hash)
	w.answered(o)
	w.recorded(end)
	return o, end, nil
}

// agree checks that the agent, the audit and the cards say the same ending.
func (w *world) agree(o outcome, end auditLine, cards []fake.Shown, want ending) error {
	w.check(o.decision() == want.decision && o.exit == want.exit, "Claude Code reads %q (exit %d)",
		want.decision, want.exit)
	by := end.Resolution
	if want.who != "" {
		w.check(strings.Contains(o.stdout, "by "+want.who+" via "+title(want.channel)), "the answer says who: %s via %s",
			want.who, title(want.channel))
		w.check(end.Event == want.event && by.Person.Name == want.who && by.Identity.Channel == want.channel,
			"the log says %s, by %s via %s", want.event, want.who, title(want.channel))
	} else {
		w.check(end.Event == want.event && by.Person.Name == "", "the log says %s, by nobody", want.event)
	}
	return w.settledCards(cards, want.card)
}

// end is ends and agree, for a request with only one possible ending.
func (w *world) end(hook <-chan outcome, cards []fake.Shown, want ending) (outcome, error) {
	o, end, err := w.ends(hook)
	if err != nil {
		return o, err
	}
	return o, w.agree(o, end, cards, want)
}

// oneTap: a force-push is held, shown everywhere, approved once on a phone.
func (w *world) oneTap() error {
	w.title("one-tap", "1. Claude Code wants to run: git push --force origin main")
	hook := w.hook("git push --force origin main", "publish the rebased branch")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.say("the agent waits; the same request is on three apps, each with a code of its own:")
	w.show(cards)
	push := "🟠 HIGH · Force-push main"
	for i, a := range w.apps {
		w.check(strings.HasPrefix(cards[i].Push, push), "on %s the lock screen says %q", a.name, push)
		w.check(strings.Contains(cards[i].Text, "git push --force origin main"), "%s's card has the whole command", a.name)
	}
	w.check(codeIn(cards[0].Text) != codeIn(cards[1].Text) && codeIn(cards[1].Text) != codeIn(cards[2].Text),
		"three different codes")
	w.say("Alice taps Approve on Telegram …")
	before := w.toldSoFar(w.alice, "telegram")
	if err := w.tap(w.alice, "telegram", cards, fake.ApproveButton); err != nil {
		return err
	}
	if _, err := w.end(hook, cards, approvedBy(w.alice, "telegram")); err != nil {
		return err
	}
	text, err := w.heard(w.alice, "telegram", before)
	if err != nil {
		return err
	}
	w.check(strings.HasPrefix(text, "Approved"), "Alice hears: %s", text)
	w.show(cards)
	return nil
}

// catastrophe: a tap cannot approve rm -rf /srv, only the typed code can.
func (w *world) catastrophe() error {
	w.title("catastrophe", "2. Claude Code wants to run: rm -rf /srv   (nothing is ever run here)")
	hook := w.hook("rm -rf /srv", "clean up the workspace")
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
	if err := w.tapRefused(cards, hook); err != nil {
		return err
	}
	i, _ := w.appOf("slack")
	w.say("Alice types the code of her Slack card …")
	if err := w.enterCode(w.alice, "slack", cards, codeIn(cards[i].Text)); err != nil {
		return err
	}
	_, err = w.end(hook, cards, approvedBy(w.alice, "slack"))
	return err
}

// tapRefused sends a tap for a button that the cards do not have, and checks that it is refused.
func (w *world) tapRefused(cards []fake.Shown, hook <-chan outcome) error {
	before := w.toldSoFar(w.bob, "telegram")
	w.say("a modified Telegram client sends the tap of a button that is not there …")
	if !w.forge(w.bob, "telegram", cards, fake.ApproveButton) {
		w.check(false, "the tap reaches the bot")
		return nil
	}
	text, err := w.heard(w.bob, "telegram", before)
	if err != nil {
		return err
	}
	w.check(strings.Contains(text, "CATASTROPHIC"), "Bob hears: %s", text)
	if err := w.refused("need_code"); err != nil {
		return err
	}
	w.check(len(hook) == 0, "the agent still waits")
	return nil
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
	o, err := w.end(hook, cards, byNobody)
	if err != nil {
		return err
	}
	w.check(strings.Contains(o.stdout, "nobody answered within 5 s"), "the reason tells silence from a no")
	w.check(o.took > shortTTL-time.Second && o.took < shortTTL+3*time.Second, "after %.1f s", o.took.Seconds())
	return nil
}

// photoFinish: two people answer at the same instant. One wins, and the other is told who.
func (w *world) photoFinish() error {
	w.title("photo-finish", "4. Alice approves on Telegram and Bob denies on Slack in the same instant")
	hook := w.hook("git push --force origin release", "")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	toldAlice, toldBob := w.toldSoFar(w.alice, "telegram"), w.toldSoFar(w.bob, "slack")
	var both sync.WaitGroup
	reached := make([]bool, 2)
	start := make(chan struct{})
	// The card may have lost its button by the time of the tap. A phone that still shows the button
	// sends the tap anyway.
	press := func(who person, channel string, b fake.Button) bool {
		return w.tap(who, channel, cards, b) == nil || w.forge(who, channel, cards, b)
	}
	both.Go(func() { <-start; reached[0] = press(w.alice, "telegram", fake.ApproveButton) })
	both.Go(func() { <-start; reached[1] = press(w.bob, "slack", fake.DenyButton) })
	close(start)
	both.Wait()
	w.check(reached[0] && reached[1], "both taps reach the bot")
	o, end, err := w.ends(hook)
	if err != nil {
		return err
	}
	want, said := approvedBy(w.alice, "telegram"), "Alice approved it"
	loser, channel, before := w.bob, "slack", toldBob
	if o.decision() != "allow" {
		want, said = deniedBy(w.bob, "slack"), "Bob denied it"
		loser, channel, before = w.alice, "telegram", toldAlice
	}
	if err := w.agree(o, end, cards, want); err != nil {
		return err
	}
	text, err := w.heard(loser, channel, before)
	if err != nil {
		return err
	}
	w.check(strings.Contains(text, said), "%s won; %s hears: %s", want.who, loser.name, text)
	return w.refused("too_late")
}

// kill: the daemon dies while a request is pending, and the old card still counts.
func (w *world) kill() error {
	w.title("kill", "6. approver itself is killed, with kill -9, while a request waits")
	hook := w.hook("git push --force origin master", "")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	if err := w.daemon.Kill(); err != nil {
		return err
	}
	w.say("killed; the agent is still waiting; approver is started again …")
	w.check(len(hook) == 0, "the agent still waits")
	if err := w.startDaemon(); err != nil {
		return err
	}
	w.say("Bob taps Approve on the old Discord card …")
	if err := w.wait(5*time.Second, "Discord takes the tap", func() bool {
		return w.tap(w.bob, "discord", cards, fake.ApproveButton) == nil
	}); err != nil {
		return err
	}
	if _, err := w.end(hook, cards, approvedBy(w.bob, "discord")); err != nil {
		return err
	}
	for _, a := range w.apps {
		w.check(len(a.cards()) == w.asked[a.channel], "%s has no second card of it", a.name)
	}
	return nil
}

// proof checks the whole run against the logs of the fakes and the audit.
func (w *world) proof() error {
	w.title("proof", "7. What the apps' servers and the log say")
	for _, a := range w.apps {
		// Each request is one message, which is edited once, when the request has ended.
		posts, edits := count(a.log(), a.posts), count(a.log(), a.edits)
		asked, replies := w.asked[a.channel], w.replies[a.channel]
		more := ""
		if replies > 0 {
			more = fmt.Sprintf(" and %d typed codes", replies)
		}
		// A press that came again after the kill shows once more how its request ended.
		again := pressedAgain(a.log())
		if again > 0 {
			more += fmt.Sprintf("; it brought %d of the last presses again after the kill", again)
		}
		if !w.check(posts == asked+replies && asked <= edits && edits <= asked+again,
			"%s's server saw exactly %d posts and %d edits for %d requests%s", a.name, posts, edits, asked, more) {
			w.say("%s", strings.Join(a.log(), "\n    "))
		}
	}
	leaked := 0
	raw := w.outputs.String() + w.auditText()
	for _, code := range w.codes {
		if strings.Contains(raw, strings.TrimPrefix(code, "CONFIRM-")) {
			leaked++
		}
	}
	w.check(len(w.codes) == w.shown && leaked == 0, "none of the %d codes is in what the agent saw, or in the log",
		len(w.codes))
	return w.verify()
}

// pressedAgain counts the presses that Discord brought again, as it does for a session that is taken up.
func pressedAgain(log []string) (n int) {
	seen := map[string]bool{}
	for _, line := range log {
		_, press, is := strings.Cut(line, "POST /api/v10/interactions/")
		if is && seen[press] {
			n++
		}
		seen[press] = true
	}
	return n
}

func count(log []string, what string) (n int) {
	for _, line := range log {
		if strings.Contains(line, what) {
			n++
		}
	}
	return n
}

// title returns the name of a channel as people write it.
func title(channel string) string { return strings.ToUpper(channel[:1]) + channel[1:] }
