package pairing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/cmd/approver/internal/qr"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/tokens"
)

// ears are what receives the code: a bot on a connection of its own, or the daemon that has the
// connection already, because two cannot receive for one bot.
type ears struct {
	bot     approver.Pairer
	daemon  *httpapi.ResolveClient // nil without a daemon that receives
	channel string
	token   string // how to get one
}

// meet shows a new code and how to send it, and waits until somebody does.
func (c flags) meet(ctx context.Context, e ears) (approver.Paired, error) {
	code, err := tokens.Mint(CodeLength)
	if err != nil {
		return approver.Paired{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout,
		fmt.Errorf("the code was good for %v: run this again for a new one", c.Timeout))
	defer cancel()
	bot, err := e.bot.Introduce(ctx, code)
	if err != nil {
		return approver.Paired{}, e.unmet(lateIn(ctx, err))
	}
	c.introduce(bot, code)
	ended := make(chan struct{})
	var reporter sync.WaitGroup
	reporter.Go(func() { e.report(ctx, ended) })
	defer reporter.Wait()
	defer close(ended)
	if e.daemon == nil {
		return Alone(ctx, e.bot, code)
	}
	var who approver.Paired
	err = e.daemon.Operate(ctx, adminapi.OpPair, adminapi.PairRequest{Channel: e.channel, Code: code.Reveal()}, &who)
	return who, lateIn(ctx, err)
}

// unmet says what to do where the platform does not say who the bot is.
func (e ears) unmet(err error) error {
	if _, refused := errors.AsType[approver.TokenError](err); refused {
		return fmt.Errorf("%w\nthe network is fine: the platform answers, and does not take this token. Copy it again, "+
			"whole, or get a new one. %s", err, e.token)
	}
	return fmt.Errorf("%w\nthis may not be the token's fault: the platform could not be reached, or did not answer as it "+
		"should. Look at the network, its firewall and HTTPS_PROXY; --api-url names another server", err)
}

// introduce prints who the bot is and how to send it the code. Links are not folded, so that they
// can be copied. The QR code comes last, so that it is whole on a small screen.
func (c flags) introduce(bot approver.Introduction, code tokens.Code) {
	term.Say("The bot is " + bot.Name + ".")
	scan := ""
	for _, step := range bot.Steps {
		term.Say(step.Text)
		if step.Link != "" {
			fmt.Fprintln(os.Stdout, "    "+term.Visibly(step.Link))
			scan = cmp.Or(scan, step.Link)
		}
	}
	term.Print(0, "The code, which works once:\n")
	fmt.Fprintln(os.Stdout, "    "+code.Reveal())
	if c.draws(scan) {
		drawQR(scan)
	}
	term.Print(0, "waiting %s for the code\n", display.Duration(c.Timeout))
}

// draws reports whether a QR code can be shown: on a terminal that shows colors.
func (c flags) draws(link string) bool {
	return link != "" && !c.NoQR && term.Width(os.Stdout) > 0 && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

func drawQR(link string) {
	lines, fits, err := qr.Draw(link, term.Width(os.Stdout), term.Height(os.Stdout))
	switch {
	case err != nil:
		term.Print(0, "(no QR code: %v)\n", err)
	case !fits:
		term.Print(0, "(no QR code: the terminal is too small for one)\n")
	default:
		fmt.Fprintln(os.Stdout, strings.Join(lines, "\n"))
	}
}

// report says what was sent that was not the code, and how much time is left, until ended is
// closed.
func (e ears) report(ctx context.Context, ended <-chan struct{}) {
	end, _ := ctx.Deadline()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var said approver.Passed
	trouble, spoke := "", time.Now()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		left := display.Duration(time.Until(end).Round(time.Second))
		passed, problem := e.passed(ctx)
		switch {
		case problem != trouble && problem != "":
			term.Say("the bot hears nothing now: " + problem)
		case passed != said:
			term.Say(seen(passed) + "; " + left + " left")
		case time.Since(spoke) >= time.Minute:
			term.Say("still waiting; " + left + " left")
		default:
			continue
		}
		said, trouble, spoke = passed, problem, time.Now()
	}
}

// passed returns what was sent that was not the code, and what is wrong with the connection. An
// older daemon does not say.
func (e ears) passed(ctx context.Context) (passed approver.Passed, problem string) {
	if e.daemon != nil {
		_ = e.daemon.Operate(ctx, adminapi.OpPassed, adminapi.PairRequest{Channel: e.channel}, &passed)
		return passed, ""
	}
	if r, can := e.bot.(approver.Receiver); can {
		if now := r.Reception(); !now.Up {
			problem = now.Problem
		}
	}
	return e.bot.Passed(), problem
}

// seen says in words what was sent that was not the code.
func seen(p approver.Passed) string {
	var all []string
	if p.Messages > 0 {
		all = append(all, fmt.Sprintf("somebody wrote to the bot, but not the code (%s)", count(p.Messages, "message")))
	}
	if p.Codes > 0 {
		all = append(all, fmt.Sprintf("somebody sent a code that is not this one (%s)", count(p.Codes, "time")))
	}
	if p.Others > 0 {
		all = append(all, fmt.Sprintf("%s of other programs receive for this bot too, so the code may reach one of them "+
			"instead: stop approver serve there, or run approver pair there", count(p.Others, "connection")))
	}
	return strings.Join(all, "; ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Alone pairs on a connection of its own, without the daemon.
func Alone(ctx context.Context, ch approver.Pairer, code tokens.Code) (who approver.Paired, err error) {
	run, stop := context.WithCancel(ctx)
	wait, give := context.WithCancelCause(ctx)
	defer give(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := ch.Run(run, nil); err != nil {
			give(err)
		}
	}()
	if who, err = ch.Pair(wait, code); err == nil {
		linger(ctx)
	}
	stop()
	<-ended
	return who, err
}

// linger keeps the connection for a moment, so that what was just said arrives.
func linger(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(afterwards):
	}
}

// lateIn turns the error of an expired or canceled ctx into one in our own words.
func lateIn(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("nobody sent the code: %w", context.Cause(ctx))
	}
	return err
}
