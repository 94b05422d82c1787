package telegram

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// This file sends what a card does not show, and keeps what could not be sent.

// attachTries bounds how often a file is tried before its card says that it failed.
const attachTries = 4

// complete attaches what a card does not show. If that fails, the card says so: it must not ask
// people to read a file that does not exist.
func (c *Channel) complete(ctx context.Context, at place, id int, card approver.Card, f file) {
	err := c.attachPatiently(ctx, at, id, f)
	if err == nil {
		return
	}
	c.log.Warn("a card is without its file; Details on the card sends it again",
		"chat", at.chat, "message", id, "error", err)
	c.unsent.put(at, id, f)
	m, err := render(card, unattached)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.pace.saying)
		defer cancel()
		err = c.edit(ctx, at, id, m)
	}
	if err != nil {
		c.log.Warn("nor can the card say so", "chat", at.chat, "message", id, "error", err)
	}
}

// attachPatiently tries while ctx lasts, but leaves time to say that it failed.
func (c *Channel) attachPatiently(ctx context.Context, at place, id int, f file) error {
	if end, ok := ctx.Deadline(); ok {
		short, cancel := context.WithDeadline(ctx, end.Add(-c.pace.saying))
		defer cancel()
		ctx = short
	}
	for try := 0; ; try++ {
		err := c.attach(ctx, at, id, f)
		if err == nil || kindOf(err) == rejected || kindOf(err) == limited || try == attachTries-1 ||
			calls.Sleep(ctx, calls.Backoff(c.pace.firstWait, c.pace.lastWait, try)) != nil {
			return err
		}
	}
}

// attach sends what a card does not show, as a reply to it.
func (c *Channel) attach(ctx context.Context, at place, card int, f file) error {
	var caption page
	caption.add(code, f.caption)
	return c.call(ctx, at.chat, "sendDocument", func(ctx context.Context) error {
		_, err := c.api.SendDocument(ctx, &bot.SendDocumentParams{
			ChatID: at.chat, MessageThreadID: at.thread, DisableNotification: true,
			Document: &models.InputFileUpload{Filename: f.name, Data: strings.NewReader(f.content)},
			Caption:  caption.html(), ParseMode: models.ParseModeHTML, DisableContentTypeDetection: true,
			ReplyParameters: &models.ReplyParameters{MessageID: card},
		})
		return err
	})
}

// unsent keeps the files that could not be sent, so that Details can send them again. It lasts
// as long as the process, and keeps the latest ones. The zero value is ready.
type unsent struct {
	mu    sync.Mutex
	files []unsentFile // oldest first
}

type unsentFile struct {
	at   place
	card int
	file
}

// maxUnsent bounds the bytes of all files that are kept.
const maxUnsent = 16 << 20

func (u *unsent) put(at place, card int, f file) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.files = append(u.files, unsentFile{at, card, f})
	size := 0
	for i := len(u.files) - 1; i >= 0; i-- {
		if size += len(u.files[i].content); size > maxUnsent {
			u.files = append([]unsentFile(nil), u.files[i+1:]...)
			return
		}
	}
}

func (u *unsent) has(at place, card int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.index(at, card) >= 0
}

// take removes the file of a card, so that two people who ask for it get it only once.
func (u *unsent) take(at place, card int) (file, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := u.index(at, card)
	if i < 0 {
		return file{}, false
	}
	f := u.files[i].file
	u.files = slices.Delete(u.files, i, i+1)
	return f, true
}

func (u *unsent) index(at place, card int) int {
	return slices.IndexFunc(u.files, func(f unsentFile) bool { return f.at == at && f.card == card })
}
