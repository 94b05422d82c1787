package discord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

// mostResumes is after how many failures a new session begins: an old one may be the trouble.
const mostResumes = 3

// A bot that Discord refuses is tried again and again, and begins a session each time. The last sparedSessions of
// a day are begun sparedFor apart, so that some are left once it is mended.
const (
	sparedSessions = 300
	sparedFor      = 5 * time.Minute
)

// closes are the gateway's close codes after which no retry helps, with what to do. After any
// other the next connection may work.
var closes = map[int]struct {
	kind calls.Kind
	cure string
}{
	4004: {calls.Revoked, "the bot token is not valid: put a current one into token_file"},
	4010: {calls.Fatal, "the shard is not valid: update approver"},
	4011: {calls.Fatal, "the bot is in too many servers for one connection: take it out of some"},
	4012: {calls.Fatal, "the gateway no longer speaks this version of the API: update approver"},
	4013: {calls.Fatal, "the gateway does not know the intents: update approver"},
	4014: {calls.Fatal, "the application may not use the Message Content intent: switch it on at Discord under Bot, or " +
		"set text_approvals to false"},
}

// over are the close codes after which a session cannot be taken up again.
var over = map[int]bool{4003: true, 4004: true, 4007: true, 4009: true, 4010: true, 4011: true, 4012: true, 4013: true,
	4014: true}

// closed is the error of a connection that Discord closed.
func closed(what string, code int) error {
	c := closes[code]
	return &calls.Error{Kind: c.kind, Call: what, Words: fmt.Sprintf("close code %d", code), Cure: c.cure,
		Code: strconv.Itoa(code)}
}

// Run connects to the gateway and takes answers until ctx ends; then it returns nil. It returns
// an error when Discord refuses the bot twice in a row: its token, its intents, or because the
// token belongs to another application than the configured one. It can then be called again,
// and works once people have fixed the cause.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	reply = receiving.Replies(reply, c.log, "handling an answer panicked", &c.Speech)
	if c.hook != nil {
		return c.attend(ctx, reply)
	}
	j := newJournal(c)
	defer j.leave() // when all that came is handled
	workers := newWorkers(c.log)
	defer workers.stop()
	var keeping sync.WaitGroup
	defer keeping.Wait()
	// What is under way ends with Run, however Run ends. The core itself ends the answers that
	// it has.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.outage.Stopped()
	last := j.recall(ctx)
	keeping.Go(func() { j.run(ctx) })
	for failures, refused := 0, false; ; failures++ {
		ready, err := c.connect(ctx, &last, newIntake(c, workers, reply), j)
		if ctx.Err() != nil {
			return nil
		}
		good := !ready.IsZero() || calls.Coded(err, "op 9")
		if !ready.IsZero() && time.Since(ready) >= c.settled {
			failures = 0
		}
		if good && failures == 0 {
			// Discord closes connections as a matter of routine, and keeps taps for us.
			c.outage.Failed(err)
			c.log.Debug("the gateway closed the connection", "error", err)
			if calls.Sleep(ctx, max(rand.N(c.backoff.First/4), calls.Asked(err))) != nil {
				return nil
			}
			refused = false
			continue
		}
		wait, stop := c.backoff.After(failures, err), calls.Stops(err)
		c.outage.Down(err, wait)
		if stop || failures >= mostResumes {
			last = session{}
			j.note(last)
		}
		if stop && refused {
			return err
		}
		refused = stop // a single refusal may be a hiccup at Discord
		if calls.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// mayIdentify checks that the token is good and that Discord allows another session today:
// Discord resets the token of a bot that makes too many. One that is taken up again is none. It returns the
// gateway's address.
func (c *Channel) mayIdentify(ctx context.Context, resumes bool) (address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.hello)
	defer cancel()
	var got struct {
		URL   string `json:"url"`
		Limit *struct {
			Remaining  int   `json:"remaining"`
			ResetAfter int64 `json:"reset_after"` // milliseconds
		} `json:"session_start_limit"`
	}
	if err := c.call(ctx, "ask for the gateway", http.MethodGet, "gateway/bot", nil, nil, &got); err != nil {
		return "", err
	}
	if got.Limit == nil || resumes {
		return got.URL, nil
	}
	if got.Limit.Remaining <= 0 {
		wait := min(time.Duration(max(got.Limit.ResetAfter, 0))*time.Millisecond, 24*time.Hour)
		return "", &calls.Error{Kind: calls.Limited, Wait: wait, Code: "sessions used up",
			Words: "discord: the bot has used up its connections for today"}
	}
	if wait := c.begun.Left(struct{}{}); wait > 0 && got.Limit.Remaining <= sparedSessions {
		return "", &calls.Error{Kind: calls.Limited, Wait: wait, Code: "few sessions left",
			Words: fmt.Sprintf("discord: the bot has %d connections left for today, so it begins few", got.Limit.Remaining)}
	}
	c.begun.Note(struct{}{}, time.Now().Add(sparedFor))
	return got.URL, nil
}

// know learns who we are from the gateway's Ready message.
func (c *Channel) know(r *discordgo.Ready) error {
	app := ""
	if r.Application != nil {
		app = r.Application.ID
	}
	if app == "" {
		app = c.cfg.ApplicationID
	}
	switch {
	case r.User == nil || r.User.ID == "" || app == "":
		return errors.New("discord: the gateway does not say who the bot is: set application_id")
	case c.cfg.ApplicationID != "" && c.cfg.ApplicationID != app:
		return calls.Errorf(calls.Fatal, "discord: the token belongs to application %s, not to application_id %s", app,
			c.cfg.ApplicationID)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.app, c.bot, c.homes = app, r.User.ID, nil
	for _, guild := range r.Guilds {
		if c.pairsOnly && guild != nil {
			c.homes = append(c.homes, guild.ID)
		}
	}
	return nil
}
