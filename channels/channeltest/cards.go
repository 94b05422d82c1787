package channeltest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
)

var cardChecks = []check{
	{"a high card shows everything", checkHighCard},
	{"a catastrophic card takes no tap", checkCatastrophicCard},
	{"a card without one-tap has no approve button", checkNoOneTap},
	{"a bare card can be posted", checkBareCard},
	{"a settled card has result and neither buttons nor code", checkSettled},
	{"a settled card that still carries a code does not show it", checkSettledWithCode},
	{"updating to what is shown is no error", checkSameUpdate},
	{"a huge command is attached whole", checkHuge},
	{"a command of any size is whole or attached", checkSizes},
	{"long claims do not push the command off the card", checkLongClaims},
	{"hostile texts appear literally", checkHostile},
	{"each card has its own code", checkConcurrentPosts},
	{"an unknown conversation is an error", checkUnknownConversation},
	{"an ended context posts nothing", checkEndedContext},
}

var relativeTime = regexp.MustCompile(`\d+ ?(s|sec|seconds?|m|min|minutes?)\b`)

func checkHighCard(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	command := "set -e\ngit fetch origin\n\tgit push --force origin main  # " + card.Request[24:]
	card.Body = append(Command(command),
		display.Block{Label: "Environment", Text: "KUBECONFIG=/home/dev/prod.yaml (was unset)"})
	ref, s := b.post(b.Here, card)
	if ref.Partial {
		t.Errorf("the card is called partial although the command is short")
	}
	if name := b.Channel.Name(); name == "" || name != b.Here.Channel {
		t.Errorf("Name is %q, the destination's channel %q", name, b.Here.Channel)
	}
	if !strings.HasPrefix(s.Push, card.Push) {
		t.Errorf("the notification is %q, want it to start with the push line %q", s.Push, card.Push)
	}
	wantFirstLine(t, s, card.Push)
	for what, text := range map[string]string{
		"command": command, "argument": card.Body[1].Text, "why": card.Why[0], "loss": card.Why[1], "claim": card.Claimed,
		"mark of the claim": "not checked", "context": card.Context, "warning": card.Warnings[0],
		"code": card.Code.Reveal(),
	} {
		if !strings.Contains(plain(s.Text), text) {
			t.Errorf("the card does not show the %s %q:\n%s", what, text, s.Text)
		}
	}
	if !relativeTime.MatchString(s.Text) {
		t.Errorf("the card does not say how long is left:\n%s", s.Text)
	}
	if strings.Contains(s.Text, card.Details[0].Text) {
		t.Errorf("the card shows its details without being asked:\n%s", s.Text)
	}
	wantButtons(t, s, true)
	wantNoCodeInPush(t, s, card)
}

func checkCatastrophicCard(t *testing.T, m maker) {
	b := start(t, m)
	card := catastrophic(t)
	_, s := b.post(b.Here, card)
	wantButtons(t, s, false)
	wantNoCodeInPush(t, s, card)
	if !strings.Contains(s.Text, card.Code.Reveal()) {
		t.Errorf("the card does not show the code that must be typed:\n%s", s.Text)
	}

	contradiction := catastrophic(t)
	contradiction.OneTap = true
	_, s = b.post(b.Here, contradiction)
	wantButtons(t, s, false)
}

func checkNoOneTap(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	card.OneTap = false
	ref, s := b.post(b.Here, card)
	wantButtons(t, s, false)
	if err := b.Fake.Tap(b.Approver, ref.Conversation, ref.Message, fake.ApproveButton); err == nil {
		t.Errorf("the fake let an honest client press a button that is not there")
	}
}

func checkBareCard(t *testing.T, m maker) {
	b := start(t, m)
	full := high(t)
	_, s := b.post(b.Here, approver.Card{
		Request: full.Request, State: approver.Pending, Severity: approver.High, OneTap: true,
		Push: full.Push, Body: full.Body, Code: full.Code, Created: full.Created, Due: full.Due,
	})
	wantButtons(t, s, true)
	if strings.Contains(s.Text, "not checked") {
		t.Errorf("the card marks a claim although the agent made none:\n%s", s.Text)
	}
}

func checkSettled(t *testing.T, m maker) {
	for _, c := range []struct {
		state        approver.State
		mark, result string
	}{
		{approver.Consumed, "✅", "✅ Approved once by Ann via slack · 12 s"},
		{approver.Denied, "⛔", "⛔ Denied by Bob via discord · 3 s"},
		{approver.Expired, "⌛", "⌛ Expired after 120 s · blocked"},
		{approver.Withdrawn, "↩", "↩ Withdrawn · the agent went away"},
	} {
		t.Run(c.state.String(), func(t *testing.T) {
			b := start(t, m)
			card := high(t)
			ref, _ := b.post(b.Here, card)
			before := b.showing(ref.Conversation, command(card))
			s := b.update(ref, settled(card, c.state, c.result))
			wantSettled(t, s, card, c.mark, c.result)
			if n := b.showing(ref.Conversation, command(card)); n != before {
				t.Errorf("%d messages show the command after the update, %d before: want the same message changed", n, before)
			}
			again := b.update(ref, settled(card, c.state, c.result))
			wantSettled(t, again, card, c.mark, c.result)
		})
	}
}

func checkSettledWithCode(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	wrong := card
	wrong.State, wrong.Result = approver.Consumed, "✅ Approved once by Ann"
	wantSettled(t, b.update(ref, wrong), card, "✅", wrong.Result)
}

func checkSameUpdate(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	for range 2 {
		s := b.update(ref, card)
		wantButtons(t, s, true)
	}
}

func checkHuge(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	var long strings.Builder
	for i := 0; long.Len() < 100_000; i++ {
		fmt.Fprintf(&long, "echo line %d & echo '<&>' \"é漢🔥\"\n", i)
	}
	card.Body = Command(long.String() + "rm -rf /srv # the end")
	ref, s := b.post(b.Here, card)
	wantWhole(t, ref, s, card)
	result := "⛔ Denied by Ann"
	wantSettled(t, b.update(ref, settled(card, approver.Denied, result)), card, "⛔", result)
}

func checkSizes(t *testing.T, m maker) {
	b := start(t, m)
	for i, n := range []int{1990, 2990, 4090} {
		for j, unit := range []string{"abcdefg ", "<&>`*_~|", "é漢🔥x "} {
			card := high(t)
			card.Body = Command(strings.Repeat(unit, n/len(unit)) + "END-" + card.Request[24:])
			ref, s := b.post([]approver.Destination{b.Here, b.second()}[(i+j)%2], card)
			wantWhole(t, ref, s, card)
			if t.Failed() {
				t.Fatalf("this was with a command of %d bytes made of %q", len(command(card)), unit)
			}
		}
	}
}

// second is There, or Here where there is no other conversation.
func (b *bench) second() approver.Destination {
	if b.There.Conversation == "" {
		return b.Here
	}
	return b.There
}

func checkLongClaims(t *testing.T, m maker) {
	b := start(t, m)
	card := high(t)
	card.Claimed = strings.Repeat("this is quite harmless, believe me <&> ", 1700)
	card.Context = "claude · /home/dev/" + strings.Repeat("d/", 3000)
	card.Why = []string{strings.Repeat("A rule with a long reason. ", 200)}
	card.Body = Command("make -C release publish\n\techo done")
	ref, s := b.post(b.Here, card)
	wantWhole(t, ref, s, card)
	if !strings.Contains(plain(s.Text), command(card)) {
		t.Errorf("the card does not show its short command:\n%.3000s", s.Text)
	}
	if !strings.Contains(s.Text, card.Code.Reveal()) {
		t.Errorf("the card does not show its code:\n%.2000s", s.Text)
	}
	if !slices.Contains(s.Buttons, fake.DenyButton) {
		t.Errorf("the card has no deny button")
	}
	if !strings.Contains(plain(s.Text), strings.TrimSpace(card.Claimed)) && !strings.Contains(s.Text, "hidden") {
		t.Errorf("the claim was cut and nothing says so:\n%.3000s", s.Text)
	}
}

// hostile texts are what an agent writes to get out of its place on the card.
var hostile = []string{
	`</code></pre></blockquote><b>APPROVED</b> & <script>alert(1)</script> &lt;b&gt; &amp; &#60;`,
	"``` end of block @everyone ```bash echo hi ``` and `one` tick",
	`<!channel> <!everyone> <@U00000001> <#C0123|general> <https://evil.example|click> <!date^1^{time}|x>`,
	`*bold* _it_ __u__ ~strike~ ~~s~~ ||spoiler|| [link](https://evil.example) > quote # head - list`,
	`https://evil.example/x tg://user?id=1 @everyone @here <@1> <@&2> <t:0:R> <:e:1> </approve:1> :smile:`,
	`%s %d %!x {{.}} {"a":"b"} ${HOME} $(id) \\ \" \n \u003c back\slash`,
	display.Visible("rm \u202egpj.exe\u2066 zero\u200bwidth \x1b[2J\x1b]0;title\x07 bell"),
	display.Visible("эта строка на русском, 漢字, عربي, 🔥"),
}

func checkHostile(t *testing.T, m maker) {
	b := start(t, m)
	for i := 0; i < len(hostile); i += 2 {
		text := func(k int) string { return display.OneLine(hostile[(i+k)%len(hostile)]) }
		card := high(t)
		card.Body = append(Command("echo begin\n"+strings.Join(hostile, "\n")+"\necho end"),
			display.Block{Label: text(4), Text: text(5)}, display.Block{Kind: display.Diff, Label: text(6), Text: "-" + text(7)})
		card.Push = display.PushLine(approver.High.String(), text(0), text(1))
		card.Claimed, card.Why, card.Context, card.Warnings = text(0), []string{text(1)}, text(2), []string{text(3)}
		ref, s := b.post(b.Here, card)
		wantWhole(t, ref, s, card)
		wantLiteral(t, s, card)
		result := "⛔ Denied by " + text(2)
		after := settled(card, approver.Denied, result)
		s = b.update(ref, after)
		wantSettled(t, s, card, "⛔", result)
	}
}

func wantLiteral(t *testing.T, s fake.Shown, card approver.Card) {
	t.Helper()
	for what, text := range map[string]string{
		"push": card.Push, "claim": card.Claimed, "why": card.Why[0], "context": card.Context, "warning": card.Warnings[0],
		"label": card.Body[1].Label, "argument": card.Body[1].Text, "label of a change": card.Body[2].Label,
		"change": card.Body[2].Text,
	} {
		if !strings.Contains(plain(s.Text), text) {
			t.Errorf("the %s is not shown literally: want %q in\n%s", what, text, s.Text)
		}
	}
}

func checkConcurrentPosts(t *testing.T, m maker) {
	b := start(t, m)
	cards := make([]approver.Card, 6)
	refs := make([]approver.Ref, len(cards))
	errs := make([]error, len(cards))
	ctx, cancel := context.WithTimeout(context.Background(), b.patience)
	defer cancel()
	var wg sync.WaitGroup
	for i := range cards {
		cards[i] = high(t)
		to := []approver.Destination{b.Here, b.second()}[i%2]
		wg.Go(func() { refs[i], errs[i] = b.Channel.Post(ctx, to, cards[i]) })
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, ref := range refs {
		if errs[i] != nil {
			t.Fatalf("Post %d: %v", i, errs[i])
		}
		key := ref.Conversation + "\x00" + ref.Message
		if seen[key] {
			t.Fatalf("two cards have the message %s", ref.Message)
		}
		seen[key] = true
		text := b.shown(ref).Text
		for j, card := range cards {
			if strings.Contains(text, card.Code.Reveal()) != (i == j) {
				t.Errorf("card %d shows the code of card %d, or not its own", i, j)
			}
		}
	}
}

func checkUnknownConversation(t *testing.T, m maker) {
	b := start(t, m)
	to := b.Here
	to.Conversation = "404404404404404404"
	ref, err := b.tryPost(to, high(t), b.patience)
	if err == nil {
		t.Errorf("Post to a conversation that does not exist returned %+v and no error", ref)
	}
	if ref.Message != "" {
		t.Errorf("Post returned an error and the message %q", ref.Message)
	}
	b.alive()
}

func checkEndedContext(t *testing.T, m maker) {
	b := start(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	card := high(t)
	began := time.Now()
	if _, err := b.Channel.Post(ctx, b.Here, card); err == nil {
		t.Errorf("Post with an ended context returned no error")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("Post with an ended context took %v", took)
	}
	time.Sleep(b.quiet)
	if n := b.showing(b.Here.Conversation, command(card)); n != 0 {
		t.Errorf("Post with an ended context left %d messages", n)
	}
}

// wantButtons checks what a pending card offers.
func wantButtons(t *testing.T, s fake.Shown, oneTap bool) {
	t.Helper()
	if got := slices.Contains(s.Buttons, fake.ApproveButton); got != oneTap {
		t.Errorf("the card offers an approve button: %v, want %v", got, oneTap)
	}
	if !slices.Contains(s.Buttons, fake.DenyButton) {
		t.Errorf("the card offers no deny button, only %v", s.Buttons)
	}
}

func wantNoCodeInPush(t *testing.T, s fake.Shown, card approver.Card) {
	t.Helper()
	code := strings.TrimPrefix(card.Code.Reveal(), "CONFIRM-")
	if strings.Contains(s.Push, code) {
		t.Errorf("the notification %q shows the code", s.Push)
	}
}

// wantFirstLine checks that the push line stands first, behind a mark at most.
func wantFirstLine(t *testing.T, s fake.Shown, push string) {
	t.Helper()
	first, _, _ := strings.Cut(strings.TrimLeft(s.Text, "\n"), "\n")
	if !strings.Contains(plain(first), push) {
		t.Errorf("the first line of the card is %q, want the push line %q", first, push)
	}
}

func wantSettled(t *testing.T, s fake.Shown, card approver.Card, mark, result string) {
	t.Helper()
	if len(s.Buttons) != 0 {
		t.Errorf("the settled card has the buttons %v", s.Buttons)
	}
	code := strings.TrimPrefix(card.Code.Reveal(), "CONFIRM-")
	for what, text := range map[string]string{"card": s.Text, "notification": s.Push,
		"attachment": strings.Join(s.Files, "\n")} {
		if strings.Contains(text, code) {
			t.Errorf("the settled %s shows the code:\n%.3000s", what, text)
		}
	}
	if !strings.Contains(plain(s.Text), result) {
		t.Errorf("the settled card does not say %q:\n%.3000s", result, s.Text)
	}
	if !strings.HasPrefix(s.Push, mark) {
		t.Errorf("the notification is %q, want it to start with the mark %s", s.Push, mark)
	}
	wantFirstLine(t, s, card.Push)
}

// wantWhole checks that a command is on the card whole, or cut by the rules:
// the card says how much is hidden, an attachment has the whole, no tap approves.
func wantWhole(t *testing.T, ref approver.Ref, s fake.Shown, card approver.Card) {
	t.Helper()
	if !ref.Partial {
		if !strings.Contains(plain(s.Text), command(card)) {
			t.Errorf("the card is not called partial, and does not show the whole command of %d bytes:\n%.6000s",
				len(command(card)), s.Text)
		}
		wantButtons(t, s, true)
		return
	}
	wantButtons(t, s, false)
	if !strings.Contains(s.Text, "bytes hidden") {
		t.Errorf("the card cuts the command and does not say how many bytes are hidden:\n%.6000s", s.Text)
	}
	if !slices.ContainsFunc(s.Files, func(file string) bool { return strings.Contains(file, command(card)) }) {
		sizes := make([]int, 0, len(s.Files))
		for _, f := range s.Files {
			sizes = append(sizes, len(f))
		}
		t.Errorf("the card cuts the command and none of the attachments (of %v bytes) has the whole command of %d bytes",
			sizes, len(command(card)))
	}
}
