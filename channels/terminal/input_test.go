package terminal

import (
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/tokens"
)

func TestParseInput(t *testing.T) {
	code := testCode(t)
	yes := func(n int) Input { return Input{Verb: VerbAnswer, Number: n, Approve: true} }
	no := func(n int) Input { return Input{Verb: VerbAnswer, Number: n} }
	with := func(in Input) Input { in.Code = code; return in }
	chosen := func(in Input, n int) Input { in.Choice = n; return in }
	command := func(in Input) Input { in.Command = true; return with(in) }
	because := func(in Input, why string) Input { in.Reason = why; return in }
	lasting := func(term approver.Term) Input { in := command(yes(0)); in.Grant = term; return in }
	for _, test := range []struct {
		line string
		want Input
		err  string // part of the error
	}{
		{line: ""},
		{line: "  \t "},
		{line: "y 3", want: yes(3)},
		{line: "  Y   3  ", want: yes(3)},
		{line: "yes 12", want: yes(12)},
		{line: "approve 1", want: yes(1)},
		{line: "n 3", want: no(3)},
		{line: "no 3", want: no(3)},
		{line: "deny 3", want: no(3)},
		{line: "3 CONFIRM-7KQ4MX", want: with(yes(3))},
		{line: "3 confirm-7kq4mx", want: with(yes(3))},
		{line: "3 7kq4mx", want: with(yes(3))},
		{line: "y 3 CONFIRM-7KQ4MX", want: with(yes(3))},
		{line: "n 3 CONFIRM-7KQ4MX", want: with(no(3))},
		{line: "y 3 1", want: chosen(yes(3), 1)},
		{line: "yes 3 4", want: chosen(yes(3), 4)},
		{line: "3 CONFIRM 7KQ4MX", want: with(yes(3))},
		{line: "/approve CONFIRM-7KQ4MX", want: command(yes(0))},
		{line: "/approve CONFIRM-7KQ4MX 15m", want: lasting(approver.Term{For: 15 * time.Minute})},
		{line: "/approve 7KQ4MX session", want: lasting(approver.Term{Session: true})},
		{line: "/deny 7KQ4MX", want: command(no(0))},
		{line: "/deny CONFIRM-7KQ4MX not on main", want: because(command(no(0)), "not on main")},
		{line: "no CONFIRM-7KQ4MX, not on main", want: because(with(no(0)), "not on main")},
		{line: "/approve CONFIRM-7KQ4MX 15 Min", want: lasting(approver.Term{For: 15 * time.Minute})},
		{line: "/approve CONFIRM-7KQ4MX if Bob agrees", err: "send the code alone to approve"},
		{line: "/freeze", err: "nothing was done: freeze is a command of its own here: type approver freeze"},
		{line: "/Freeze! it went mad", err: "type approver freeze in another window"},
		{line: "/status", err: "type approver status"},
		{line: "/grants", err: "type approver grants"},
		{line: "/pending", want: Input{Verb: VerbList}},
		{line: "/help", want: Input{Verb: VerbHelp}},
		{line: "CONFIRM-7KQ4MX", want: with(yes(0))},
		{line: "no CONFIRM-7KQ4MX", want: with(no(0))},
		{line: "yes CONFIRM-7KQ4MX", want: with(yes(0))},
		{line: "reject CONFIRM-7KQ4MX", want: with(no(0))},
		{line: "reject 3", want: no(3)},
		{line: "allow 3", want: yes(3)},
		{line: "ok 3", want: yes(3)},
		{line: "no, CONFIRM-7KQ4MX", want: with(no(0))},
		{line: "list", want: Input{Verb: VerbList}},
		{line: "l", want: Input{Verb: VerbList}},
		{line: "HELP", want: Input{Verb: VerbHelp}},
		{line: "?", want: Input{Verb: VerbHelp}},
		{line: "quit", want: Input{Verb: VerbQuit}},
		{line: "exit", want: Input{Verb: VerbQuit}},
		{line: "show 3", want: Input{Verb: VerbShow, Number: 3}},

		{line: "y", err: "which card?"},
		{line: "yes", err: "which card?"},
		{line: "n", err: "which card?"},
		{line: "show", err: "which card?"},
		{line: "stop", err: "which card?"},
		{line: "3", err: "what of card 3?"},
		{line: "y 0", err: "not a card's number"},
		{line: "y -1", err: "not understood"},
		{line: "y +1", err: "not understood"},
		{line: "y 1000000", err: "not a card's number"},
		{line: "y 99999999999999999999", err: "not a card's number"},
		{line: "y ３", err: "not understood"},
		{line: "n 3 1", err: "not a confirmation code"},
		{line: "3 1", err: "not a confirmation code"},
		{line: "y 3 0", err: "not a confirmation code"},
		{line: "y 3 1 1", err: "not a confirmation code"},
		{line: "y 3 5", err: "not a confirmation code"},
		{line: "y all", err: "not understood"},
		{line: "n all", err: "not understood"},
		{line: "show 3 4", err: "not a card's number"},
		{line: "3 y", err: "not a confirmation code"},
		{line: "3 CONFIRM-AAA", err: "not a confirmation code"},
		{line: "/approve", err: "not a confirmation code"},
		{line: "/approve 3", err: "not a confirmation code"},
		{line: "/approve CONFIRM-7KQ4MX CONFIRM-7KQ4MW", err: "more than one"},
		{line: "list 3", err: "not understood"},
		{line: "quit now", err: "not understood"},
		{line: "hello", err: "not understood"},
		{line: strings.Repeat("y 3 ", 2000), err: "at most 4096"},
	} {
		got, err := ParseInput(test.line)
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("ParseInput(%.40q): error %v, want %q", test.line, err, test.err)
		}
		if test.err == "" && got != test.want {
			t.Errorf("ParseInput(%q) is %+v, want %+v", test.line, got, test.want)
		}
		if test.err != "" && (got.Verb == VerbAnswer || got.Approve) {
			t.Errorf("ParseInput(%.40q) is an error and the answer %+v", test.line, got)
		}
	}
}

func FuzzParseInput(f *testing.F) {
	for _, line := range []string{"y 3", "n 3", "3 CONFIRM-7KQ4MX", "/approve CONFIRM-7KQ4MX", "/deny x", "list", "help",
		"quit", "show 1", "no, CONFIRM-7KQ4MX", ""} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		in, err := ParseInput(line)
		if err != nil {
			if in.Verb == VerbAnswer || in.Approve {
				t.Fatalf("%q is an error and the answer %+v", line, in)
			}
			if errors.Is(err, tokens.ErrNone) {
				t.Fatalf("%q: the error says that no code was found, to somebody who may not have meant one", line)
			}
			return
		}
		if in.Verb != VerbAnswer && (in.Approve || !in.Code.IsZero()) {
			t.Fatalf("%q is no answer and has %+v", line, in)
		}
		if in.Verb == VerbAnswer && in.Number == 0 && in.Code.IsZero() {
			t.Fatalf("%q answers a card that it does not name", line)
		}
		if in.Approve && !strings.ContainsAny(line, "0123456789") && in.Code.IsZero() {
			t.Fatalf("%q approves without a number or a code", line)
		}
		if in.Number < 0 || in.Number > maxNumber {
			t.Fatalf("%q has the number %d", line, in.Number)
		}
	})
}
