package demo

import (
	"os"
	"os/user"
	"strings"
	"time"

	"approver.example/channels/channeltest/fake"
)

// newCards waits until each app shows one more card than before and the audit has it, and returns
// the new cards in the order of the apps.
func (w *world) newCards() ([]fake.Shown, error) {
	cards := make([]fake.Shown, len(w.apps))
	for i, a := range w.apps {
		want := w.asked[a.channel] + 1
		err := w.wait(10*time.Second, a.name+" shows the card", func() bool {
			all := a.cards()
			if len(all) < want {
				return false
			}
			cards[i] = all[want-1]
			return true
		})
		if err != nil {
			return nil, err
		}
		w.asked[a.channel] = want
		w.shown++
		if code := codeIn(cards[i].Text); code != "" {
			w.codes = append(w.codes, code)
		}
	}
	return cards, w.noted(cards)
}

// noted waits until the audit says that the cards of a new request are posted. Then the daemon
// has noted where they are. The audit follows a moment after that.
func (w *world) noted(cards []fake.Shown) error {
	var asked auditLine
	err := w.wait(5*time.Second, "the daemon has noted where the cards are", func() bool {
		posted := 0
		for _, l := range w.audit() {
			switch {
			case l.Event == "asked":
				asked, posted = l, 0
			case l.Event == "posted" && l.Request == asked.Request:
				posted++
			}
		}
		return posted == len(cards) && asked.Request != w.noticed
	})
	if err == nil {
		w.noticed = asked.Request
		w.recorded(asked)
	}
	return err
}

// cards returns the messages of an app that are cards. Answers to typed messages and attached files
// are messages too, but have no severity in their first line.
func (a *app) cards() []fake.Shown {
	var out []fake.Shown
	for _, c := range a.fake.Cards(a.conversation) {
		if strings.Contains(c.Push, "HIGH · ") || strings.Contains(c.Push, "CATASTROPHIC · ") {
			out = append(out, c)
		}
	}
	return out
}

// now returns a card as it looks now.
func (a *app) now(message string) fake.Shown {
	for _, c := range a.fake.Cards(a.conversation) {
		if c.Message == message {
			return c
		}
	}
	return fake.Shown{}
}

// show prints the cards as the apps show them now.
func (w *world) show(cards []fake.Shown) {
	titles, texts := make([]string, len(cards)), make([]string, len(cards))
	_, wide := fit(w.width, len(cards))
	for i, a := range w.apps {
		c := a.now(cards[i].Message)
		c.Text = anyone(c.Text)
		if w.json {
			w.tell(event{
				Event: "card", Audit: w.attested(c), App: a.name, Message: c.Message, Push: c.Push, Text: c.Text, Buttons: c.Labels,
				Attached: len(c.Files),
			}, "")
			continue
		}
		titles[i], texts[i] = a.name, c.Text
		if len(c.Labels) > 0 {
			texts[i] += "\n" + buttonRows(c.Labels, wide)
		}
		texts[i] += strings.Repeat("\n📎 attachment", len(c.Files))
	}
	if !w.json {
		w.tell(event{}, panels(titles, texts, w.width))
	}
}

// anyone returns the text of a card as another machine would show it, for those who pass on what the
// demo prints: the real card has the user and the machine that the kernel and the system name.
func anyone(text string) string {
	who, err := user.Current()
	host, errHost := os.Hostname()
	if err != nil || errHost != nil {
		return text
	}
	return strings.NewReplacer("claude of "+who.Username+"@"+host, "claude of dev@laptop",
		"claude as "+who.Username+" in", "claude as dev in").Replace(text)
}

// attested returns the hash of the audit record of a card's posting. For a settled card it returns
// "", so that the event names the newest record, which is the end of the request.
func (w *world) attested(c fake.Shown) string {
	for _, l := range w.audit() {
		if l.Event == "posted" && len(c.Buttons) > 0 && strings.HasSuffix(l.Note, " message "+c.Message) {
			return l.Hash
		}
	}
	return ""
}

// settledCards waits until every card says how the request ended and has no buttons, and checks that
// it has no code.
func (w *world) settledCards(cards []fake.Shown, want string) error {
	for i, a := range w.apps {
		if err := w.wait(10*time.Second, a.name+"'s card is up to date", func() bool {
			c := a.now(cards[i].Message)
			return len(c.Buttons) == 0 && strings.Contains(c.Text, want)
		}); err != nil {
			w.show(cards)
			return err
		}
		w.check(codeIn(a.now(cards[i].Message).Text) == "", "%s: %q, no button, no code", a.name, want)
	}
	return nil
}

// codeIn returns the confirmation code in a card's text, or "".
func codeIn(text string) string {
	i := strings.Index(text, "CONFIRM-")
	if i < 0 {
		return ""
	}
	end := i + len("CONFIRM-")
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] >= 'A' && text[end] <= 'Z') {
		end++
	}
	if end-i < len("CONFIRM-")+6 {
		return ""
	}
	return text[i:end]
}
