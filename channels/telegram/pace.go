package telegram

import (
	"strconv"
	"strings"
	"time"

	"approver.example"
)

// Pace implements [approver.Pacer]. Telegram says that a bot should send no more than one message a second to a
// chat, apart from short bursts, no more than 20 a minute to a group, and about 30 a second in all. An edit counts
// as a message does, and the topics of a forum as one chat.
func (c *Channel) Pace(to approver.Destination, _ bool) []approver.Limit {
	chat, _, _ := strings.Cut(to.Conversation, "/")
	limits := []approver.Limit{{What: "chat " + chat, Most: 3, Within: 3300 * time.Millisecond}}
	if n, err := strconv.ParseInt(chat, 10, 64); err != nil || n < 0 {
		limits = append(limits, approver.Limit{What: "group " + chat, Most: 17, Within: time.Minute, Urgent: 3})
	}
	return append(limits, approver.Limit{What: "bot", Most: 25, Within: time.Second, Urgent: 3})
}
