package pairing

import (
	"fmt"
	"strconv"

	"approver.example"
	"approver.example/display"
)

// mappings returns how somebody is added where both lists hold mappings.
func (c flags) mappings(places, people string) func(approver.Paired) pairing {
	return func(who approver.Paired) pairing {
		place := item{who.Chat, []string{"id: " + strconv.Quote(who.Chat)}}
		if who.Thread != 0 {
			place.id += "/" + strconv.Itoa(who.Thread)
			place.lines = append(place.lines, fmt.Sprintf("thread: %d", who.Thread))
		}
		return pairing{lists: []string{places, people}, items: map[string]item{places: place, people: c.person(who)}}
	}
}

// scalars returns how somebody is added where places are listed by their id.
func (c flags) scalars(places, people string) func(approver.Paired) pairing {
	return func(who approver.Paired) pairing {
		return pairing{lists: []string{places, people}, items: map[string]item{places: {id: who.Chat}, people: c.person(who)}}
	}
}

func (c flags) person(who approver.Paired) item {
	lines := []string{"id: " + strconv.Quote(who.ID), "name: " + strconv.Quote(display.OneLine(who.Name))}
	if c.Person != "" {
		lines = append(lines, "person: "+strconv.Quote(c.Person))
	}
	return item{who.ID, lines}
}
