package audit

import (
	"slices"

	"approver.example"
)

// lookBack is how many lines before its end a log is searched for questions without an end.
const lookBack = 4096

// Unended returns the requests of which the last 4,096 lines have the question and no end, the
// oldest first. Each has the last event that the log has of it: EventAsked if that is the
// question. Their calls have no arguments: the log keeps them masked.
func (l *Log) Unended() ([]approver.Record, error) {
	var asked []approver.Record
	told := map[string]approver.Told{}
	last := l.Opened().Seq
	err := l.active.dir.each(last-min(last, lookBack)+1, func(line Line) {
		approver.Told{Request: line.Request, Event: line.Event, At: line.Timestamp, Once: line.Once}.Tell(told)
		if line.Event == approver.EventAsked && line.Request != "" && line.Once == line.Request+":asked" {
			asked = append(asked, approver.Record{
				Event: line.Event, At: line.Timestamp, Request: line.Request, Fingerprint: line.Fingerprint,
				Call: approver.ToolCall{ID: line.Call, Agent: line.Agent, Session: line.Session, Tool: line.Tool, Dir: line.Dir},
			})
		}
	})
	asked = slices.DeleteFunc(asked, func(r approver.Record) bool { return told[r.Request].Ended() })
	for i, r := range asked {
		if later, ok := told[r.Request]; ok {
			asked[i].Event = later.Event
		}
	}
	return asked, err
}
