package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"approver.example/channels/channeltest/fake"
)

// linesOf reads lines in the background, and closes the channel at the end of the input. A read
// from a terminal cannot be interrupted, so it lasts until the process ends.
func linesOf(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// interactive lets the person at the keyboard answer one request, as Alice or Bob, on any app. If
// the input has already ended, it shows silence with a short time.
func (w *world) interactive(lines <-chan string) error {
	early, present := "", true
	select {
	case early, present = <-lines:
	default:
	}
	command, ttl := "git push --force origin yours", w.patience
	if !present {
		command, ttl = "terraform destroy", shortTTL
	}
	w.title("interactive", "Your turn. Claude Code wants to run: "+command)
	hook := w.hook(command, "publish the rebased branch")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.show(cards)
	want := byNobody
	if present {
		w.say("Answer as Alice or as Bob, on any app, within %.0f s. Type who, where and what:", ttl.Seconds())
		w.say("  alice telegram yes · bob discord no · bob slack %s", codeIn(cards[2].Text))
		w.say("Or nothing: silence is a no.")
		if want, err = w.turn(early, lines, hook, cards); err != nil {
			return err
		}
	} else {
		w.say("Nobody is at the keyboard: silence is a no, after %v …", ttl)
	}
	_, err = w.end(hook, cards, want)
	return err
}

// turn reads lines as answers until one counts or the time is over.
func (w *world) turn(line string, lines <-chan string, hook chan outcome, cards []fake.Shown) (ending, error) {
	for {
		if strings.TrimSpace(line) != "" {
			want, err := w.typed(line, cards)
			if err != nil {
				w.say("That did not work: %v", err)
			} else if want != byNobody {
				return want, nil
			}
		}
		select {
		case next, open := <-lines:
			line = next
			if !open {
				lines = nil
				w.say("The input has ended, so nobody answers. Silence is a no when the time is over …")
			}
		case o := <-hook: // nobody answered in time
			hook <- o
			return byNobody, nil
		case <-w.ctx.Done():
			return ending{}, context.Cause(w.ctx)
		}
	}
}

// typed does what a line says and shows what the person is told. It returns the ending that this
// caused, or byNobody if the request has not ended.
func (w *world) typed(line string, cards []fake.Shown) (ending, error) {
	who, channel, what, err := w.parse(line)
	if err != nil {
		return byNobody, err
	}
	before, want := w.toldSoFar(who, channel), approvedBy(who, channel)
	switch what {
	case "yes":
		err = w.tap(who, channel, cards, fake.ApproveButton)
	case "no":
		want = deniedBy(who, channel)
		err = w.tap(who, channel, cards, fake.DenyButton)
	default:
		err = w.enterCode(who, channel, cards, what)
	}
	if err != nil {
		return byNobody, err
	}
	text, err := w.heard(who, channel, before)
	if err != nil {
		return byNobody, err
	}
	w.say("%s hears: %s", who.name, text)
	// If the answer counted, the audit has the end a moment after people are told.
	if w.wait(500*time.Millisecond, "the audit has the end", func() bool {
		return slices.ContainsFunc(w.audit(), func(l auditLine) bool {
			return l.Request == w.request && l.Event == want.event
		})
	}) != nil {
		return byNobody, nil
	}
	return want, nil
}

var errNotUnderstood = errors.New("type who, where and what, such as: bob discord yes")

// parse reads the person, the app and the answer, in any order. Without a name, the person is
// Alice.
func (w *world) parse(line string) (who person, channel, what string, err error) {
	who = w.alice
	for word := range strings.FieldsSeq(strings.ToLower(line)) {
		switch _, a := w.appOf(word); {
		case word == "alice":
		case word == "bob":
			who = w.bob
		case a.channel == word:
			channel = word
		case word == "yes", word == "no":
			what = word
		case strings.HasPrefix(word, "confirm-"):
			what = strings.ToUpper(word)
		default:
			return who, "", "", fmt.Errorf("%q is not understood: %w", word, errNotUnderstood)
		}
	}
	if channel == "" || what == "" {
		err = errNotUnderstood
	}
	return who, channel, what, err
}
