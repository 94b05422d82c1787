package discord

import (
	"time"

	"approver.example"
)

// Pace implements [approver.Pacer]. Discord counts the new messages of a channel, and the edits there, apart: five
// in five seconds. A bot may make 50 requests a second.
func (c *Channel) Pace(to approver.Destination, edit bool) []approver.Limit {
	what := "messages "
	if edit {
		what = "edits "
	}
	return []approver.Limit{
		{What: what + to.Conversation, Most: 4, Within: 5 * time.Second},
		{What: "bot", Most: 40, Within: time.Second, Urgent: 4},
	}
}
