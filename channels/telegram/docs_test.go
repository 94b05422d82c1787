package telegram

import (
	"slices"
	"testing"

	"approver.example/channels/channeltest"
)

func TestPageNamesTheButtons(t *testing.T) {
	labels := func(oneTap bool) (out []string) {
		card := lastingCard(t)
		card.OneTap, card.Edits = oneTap, true
		for _, b := range slices.Concat(mustRender(t, card).buttons.InlineKeyboard...) {
			out = append(out, b.Text)
		}
		return out
	}
	channeltest.Buttons(t, Name, labels(true), labels(false))
}
