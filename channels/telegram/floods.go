package telegram

import (
	"sync"
	"time"
)

// floods remembers until when Telegram wants to be left alone, chat by chat, so that
// the next call waits instead of knocking: each knock counts too. The zero value is
// ready.
type floods struct {
	mu    sync.Mutex
	until map[int64]time.Time // of a chat; of 0, for all chats
}

// everybody is for how long all chats are left alone after several were refused at
// once: Telegram does not say whether a chat has too much, or the bot in all, and
// what the bot may do in all is counted by the second.
const everybody = time.Second

// note keeps what Telegram asked for in a chat; of a call for no chat, 0, nothing.
func (f *floods) note(chat int64, wait time.Duration) {
	if chat == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[int64]time.Time{}
	}
	now := time.Now()
	for other, end := range f.until {
		switch {
		case !now.Before(end):
			delete(f.until, other)
		case other != chat && other != 0:
			f.until[0] = later(f.until[0], now.Add(min(wait, everybody)))
		}
	}
	f.until[chat] = later(f.until[chat], now.Add(wait))
}

// left is how long a call for a chat has to wait; one for no chat, 0, never does.
func (f *floods) left(chat int64) time.Duration {
	if chat == 0 {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(time.Until(later(f.until[chat], f.until[0])), 0)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
