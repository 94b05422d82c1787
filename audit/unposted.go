package audit

import (
	"slices"

	"approver.example"
)

// lookBack is how many lines before its end a log is searched for questions without an end.
// A question is stored within seconds of its line, or not at all.
const lookBack = 4096

// Unposted returns the requests of which the last 4,096 lines have the question and nothing
// later, the oldest first. Their calls have no arguments: the log keeps them masked.
func (l *Log) Unposted() ([]approver.Record, error) {
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
	return slices.DeleteFunc(asked, func(r approver.Record) bool {
		_, later := told[r.Request]
		return later
	}), err
}
