package oncall

import (
	"time"

	"approver.example"
)

// Pace implements [approver.Pacer]. PagerDuty takes 120 events a minute for a key, an opening and a close alike.
// Opsgenie does not say how many it takes, only when it has had enough.
func (c *Channel) Pace(to approver.Destination, _ bool) []approver.Limit {
	return []approver.Limit{{What: to.Conversation, Most: 100, Within: time.Minute, Urgent: 20}}
}
