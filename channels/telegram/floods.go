package telegram

import (
	"time"

	"approver.example/channels/internal/calls"
)

// floods remembers, chat by chat, until when Telegram wants no calls, so that the next call
// waits: a call that comes too soon counts against the limit as well. The pause of chat 0 is
// for all chats. The zero value is ready.
type floods struct{ calls.Pauses[int64] }

// everybody is for how long no chat is called after several chats were refused at once.
// Telegram does not say whether the limit is that of a chat or of the bot as a whole, and the
// bot's limit is counted by the second.
const everybody = time.Second

// note records the wait that Telegram asked for in a chat. It ignores chat 0, a call for no
// chat.
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

// left is how long a call for a chat has to wait; a call for no chat, 0, never waits.
func (f *floods) left(chat int64) time.Duration {
	if chat == 0 {
		return 0
	}
	return f.Left(chat, 0)
}
