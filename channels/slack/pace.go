package slack

import (
	"time"

	"approver.example"
)

// Pace implements [approver.Pacer]. Slack takes one new message a second in a conversation, with short bursts, and
// some hundred a minute in a workspace. It counts edits for the whole app: 50 a minute.
func (c *Channel) Pace(to approver.Destination, edit bool) []approver.Limit {
	if edit {
		return []approver.Limit{
			{What: "edits at once", Most: 4, Within: 4 * time.Second},
			{What: "edits", Most: 42, Within: time.Minute},
		}
	}
	return []approver.Limit{
		{What: "messages " + to.Conversation, Most: 3, Within: 3300 * time.Millisecond},
		{What: "messages", Most: 200, Within: time.Minute, Urgent: 20},
	}
}
