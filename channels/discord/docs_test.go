package discord

import (
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
)

// The page of this channel says what its cards do.
func TestPage(t *testing.T) {
	card := high()
	card.Lasting, card.Extends, card.Disowns, card.Edits = "git push of acme/shop", true, true, true
	tap, err := embedded.render(card, cards.Fresh)
	if err != nil {
		t.Fatal(err)
	}
	card.Severity = approver.Catastrophic
	code, err := embedded.render(card, cards.Fresh)
	if err != nil {
		t.Fatal(err)
	}
	channeltest.Buttons(t, Name, labels(tap), labels(code))

	if want := fmt.Sprintf("at most %d characters", maxDescription); !strings.Contains(channeltest.Page(t, Name), want) {
		t.Errorf("the page does not say %q", want)
	}
}
