package broadcaster

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"approver.example"
)

// Most of what people do is done once by itself: the second yes finds a request that is answered. The rest
// remembers by which event it was done, in the same write. An event that is delivered again, maybe to another
// process and after a crash, then changes nothing.

// events are the last events that changed a record.
type events []string

// mostEvents bounds how many events a record remembers.
const mostEvents = 4

// has reports whether an event changed the record. One without a name never did.
func (e events) has(event string) bool { return event != "" && slices.Contains(e, event) }

// with adds an event.
func (e events) with(event string) events {
	if event == "" {
		return e
	}
	e = append(slices.Clone(e), event)
	return e[max(0, len(e)-mostEvents):]
}

// eventOf names the event that brought an answer, in a few bytes. It is empty if the channel does not say.
func eventOf(rep approver.Reply) string { return eventWith(rep, "") }

// eventWith is eventOf for an event with a content: with another one it is another event.
func eventWith(rep approver.Reply, content string) string {
	if rep.Event == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(rep.Channel + "\x00" + rep.Event + "\x00" + content))
	return hex.EncodeToString(sum[:8])
}
