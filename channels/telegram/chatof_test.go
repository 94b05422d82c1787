package telegram

import (
	"testing"

	"github.com/go-telegram/bot/models"
)

// A stranger tapped a card in a group, and the log named the chat 0: the operator could not
// tell which group that was. The line names it, also of a card that is too old to be shown.
func TestATapNamesItsChat(t *testing.T) {
	var shown, old, none models.MaybeInaccessibleMessage
	shown.Message = &models.Message{Chat: models.Chat{ID: -5}}
	old.InaccessibleMessage = &models.InaccessibleMessage{Chat: models.Chat{ID: 10042}}
	if chatOf(shown) != -5 || chatOf(old) != 10042 || chatOf(none) != 0 {
		t.Errorf("%d, %d, %d", chatOf(shown), chatOf(old), chatOf(none))
	}
}
