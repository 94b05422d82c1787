package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// This file keeps the session for whoever receives next, in this process or another one: it takes the session up
// and misses nothing.

const (
	// keepEvery is how often the journal is kept when events have come, and keepAnew when none have.
	keepEvery = 2 * time.Second
	keepAnew  = time.Minute
	// resumable is for how long Discord surely takes a session up again. Nobody knows the limit, which is
	// minutes; trying one that is over costs a few seconds.
	resumable = 5 * time.Minute
	// keepWithin bounds the last note of a run.
	keepWithin = time.Second
)

// Discord lets a bot begin a thousand sessions a day, and one in five seconds. A daemon that crashes and is started
// again and again would use them up, and then Discord resets the token.
const (
	sessionsAtOnce = 100
	sessionEvery   = 100 * time.Second // 864 more in a day
	sessionApart   = 5 * time.Second
)

// Kept is what one run leaves to the next.
type kept struct {
	Session string           `json:"session,omitempty"`
	Address string           `json:"address,omitempty"`
	Seq     int64            `json:"seq,omitempty"` // of the last event that is handled, as all before it are
	App     string           `json:"app,omitempty"`
	Bot     string           `json:"bot,omitempty"`
	Intents discordgo.Intent `json:"intents,omitempty"`
	// Full is when as many sessions may be begun as ever, and Began when the last one was.
	Full  time.Time `json:"full,omitzero"`
	Began time.Time `json:"began,omitzero"`
}

// A journal knows what of a session is handled, and keeps that in the memory of the channel, if it has one.
type journal struct {
	*Channel
	memory approver.Memory // nil: it is not kept

	mu     sync.Mutex
	now    kept
	latest int64         // the last event that has come
	open   map[int64]int // events in work

	keeping sync.Mutex // one Keep after the other, and the next
	last    []byte     // what was kept last
	fresh   time.Time  // when that was
}

// Remember implements [approver.Rememberer].
func (c *Channel) Remember(m approver.Memory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory = m
}

func newJournal(c *Channel) *journal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &journal{Channel: c, memory: c.memory, open: map[int64]int{}}
}

// recall returns the session of the run before, if it may be taken up.
func (j *journal) recall(ctx context.Context) session {
	if j.memory == nil {
		return session{}
	}
	what, age, err := j.memory.Recall(ctx)
	var was kept
	if err != nil || what == nil || json.Unmarshal(what, &was) != nil {
		if err != nil {
			j.log.Warn("the session of before could not be read, so a new one begins", "error", err)
		}
		return session{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now.Full, j.now.Began = was.Full, was.Began
	known := was.Session != "" && was.App != "" && was.Bot != ""
	other := was.Intents != j.intents() || j.cfg.ApplicationID != "" && j.cfg.ApplicationID != was.App
	if !known || other || age > resumable {
		return session{}
	}
	j.now, j.latest = was, was.Seq
	j.Channel.mu.Lock()
	j.app, j.bot = was.App, was.Bot
	j.Channel.mu.Unlock()
	return session{id: was.Session, address: was.Address, seq: was.Seq}
}

// note follows the session.
func (j *journal) note(s session) {
	app, bot := j.self()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now.Session, j.now.Address, j.latest = s.id, s.address, s.seq
	j.now.App, j.now.Bot, j.now.Intents = app, bot, j.intents()
}

// begin notes that an event is in work. end is called when it is done.
func (j *journal) begin(seq int64) (end func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open[seq]++
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.open[seq]--; j.open[seq] == 0 {
			delete(j.open, seq)
		}
	}
}

// encoded is the journal as it is kept: events that are in work come again.
func (j *journal) encoded() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.now
	out.Seq = j.latest
	for seq := range j.open {
		out.Seq = min(out.Seq, seq-1)
	}
	text, _ := json.Marshal(out) // it has nothing that cannot be encoded
	return text
}

// keep stores the journal if it is news.
func (j *journal) keep(ctx context.Context) error {
	if j.memory == nil {
		return nil
	}
	j.keeping.Lock()
	defer j.keeping.Unlock()
	what := j.encoded()
	if bytes.Equal(what, j.last) && time.Since(j.fresh) < keepAnew {
		return nil
	}
	err := j.memory.Keep(ctx, what)
	if err == nil {
		j.last, j.fresh = what, time.Now()
	} else if ctx.Err() == nil {
		j.log.Debug("the session could not be kept for the next process", "error", err)
	}
	return err
}

// run keeps the journal until ctx ends.
func (j *journal) run(ctx context.Context) {
	for j.memory != nil && calls.Sleep(ctx, keepEvery) == nil {
		_ = j.keep(ctx)
	}
}

// leave keeps the journal at the end of a run, unless another process has received since.
func (j *journal) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), keepWithin)
	defer cancel()
	_ = j.keep(ctx)
}

// mayBegin counts a new session before it begins. Its error says how long to wait.
func (j *journal) mayBegin(ctx context.Context) error {
	j.mu.Lock()
	now := time.Now()
	full := j.now.Full
	if full.Before(now) {
		full = now
	}
	wait := full.Sub(now) - (sessionsAtOnce-1)*sessionEvery
	if apart := sessionApart - now.Sub(j.now.Began); j.memory != nil && apart <= sessionApart {
		wait = max(wait, apart)
	}
	if wait > 0 {
		j.mu.Unlock()
		return &calls.Error{Kind: calls.Limited, Wait: wait, Code: "sessions held back",
			Words: "discord: too many connections were begun lately, and Discord allows a thousand a day"}
	}
	j.now.Full, j.now.Began = full.Add(sessionEvery), now
	j.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	if j.keep(ctx) != nil {
		_ = j.keep(ctx) // it replaces what a process before has kept meanwhile; else Discord's own count must do
	}
	return nil
}
