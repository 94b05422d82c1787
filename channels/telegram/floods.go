package telegram

import (
	"time"

	"approver.example/channels/internal/calls"
)

// floods remembers until when Telegram wants to be left alone, chat by chat, so that
// the next call waits instead of knocking: each knock counts too. The pause of chat 0 is for
// all chats. The zero value is ready.
type floods struct{ calls.Pauses[int64] }

// everybody is for how long all chats are left alone after several were refused at
// once: Telegram does not say whether a chat has too much, or the bot in all, and
// what the bot may do in all is counted by the second.
const everybody = time.Second

// note keeps what Telegram asked for in a chat; of a call for no chat, 0, nothing.
func (f *floods) note(chat int64, wait time.Duration) {
	if chat == 0 {
		return
	}
	now := time.Now()
	f.Note(chat, now.Add(wait))
	if f.Others(chat, 0) {
		f.Note(0, now.Add(min(wait, everybody)))
	}
}

// left is how long a call for a chat has to wait; one for no chat, 0, never does.
func (f *floods) left(chat int64) time.Duration {
	if chat == 0 {
		return 0
	}
	return f.Left(chat, 0)
}
