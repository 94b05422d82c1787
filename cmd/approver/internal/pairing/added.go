package pairing

import (
	"fmt"
	"strconv"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/section"
)

// added returns what is added for somebody on a platform.
func (c flags) added(at section.Platform, who approver.Paired) pairing {
	const people = "approvers"
	place := item{id: who.Chat}
	if at.Mapped {
		place.lines = []string{"id: " + strconv.Quote(who.Chat)}
	}
	if who.Thread != 0 {
		place.id += "/" + strconv.Itoa(who.Thread)
		place.lines = append(place.lines, fmt.Sprintf("thread: %d", who.Thread))
	}
	return pairing{lists: []string{at.Places, people}, items: map[string]item{at.Places: place, people: c.person(who)}}
}

func (c flags) person(who approver.Paired) item {
	lines := []string{"id: " + strconv.Quote(who.ID), "name: " + strconv.Quote(display.OneLine(who.Name))}
	if c.Person != "" {
		lines = append(lines, "person: "+strconv.Quote(c.Person))
	}
	return item{who.ID, lines}
}
