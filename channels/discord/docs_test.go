package discord

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
)

// The page of this channel says what its cards do.
func TestPage(t *testing.T) {
	card := high()
	tap, err := render(card, false)
	if err != nil {
		t.Fatal(err)
	}
	card.Severity = approver.Catastrophic
	code, err := render(card, false)
	if err != nil {
		t.Fatal(err)
	}
	channeltest.Buttons(t, Name, labels(tap), labels(code))

	_, room, _ := strings.Cut(channeltest.Page(t, Name), "A card shows up to ")
	if room, _, _ = strings.Cut(room, " "); room != "2600" || commandRoom != 2600 {
		t.Errorf("the page says %s characters, a card has room for %d", room, commandRoom)
	}
}
