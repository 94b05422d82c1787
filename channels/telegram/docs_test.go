package telegram

import (
	"testing"

	"approver.example/channels/channeltest"
)

// The page of this channel says what its cards do.
func TestPage(t *testing.T) {
	labels := func(oneTap bool) (out []string) {
		k, err := keyboard(highCard(t), oneTap)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range k.InlineKeyboard {
			for _, b := range row {
				out = append(out, b.Text)
			}
		}
		return out
	}
	channeltest.Buttons(t, Name, labels(true), labels(false))
}
