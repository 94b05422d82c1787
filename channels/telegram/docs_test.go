package telegram

import (
	"testing"

	"approver.example/channels/channeltest"
)

// The page of this channel says what its cards do.
func TestPage(t *testing.T) {
	labels := func(oneTap bool) (out []string) {
		k, err := keyboard("0190b2c8-7a9f-7e2c-b1f0-6f0e0a1b2c3d", oneTap)
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
