package reflexcore

import (
	"sync"

	"approver.example"
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/dataflow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/gitruns"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/selfprotect"
)

// A judgment is the state of one call on its way through the stages.
type judgment struct {
	call   analysis.Call
	inText bool                        // it is of commands in a text that a call writes
	asks   func(command string) string // see Engine.asks; made once, for asksBy
	asksBy *Engine
	sets   [2]*Rules // the rules in force, and those of the project

	folded     []byte // the text that patterns match, folded
	matched    []int
	facts      facts          // of the effects
	places     []places.Place // of the effects
	complete   bool           // all patterns were tried, and all links were read
	gitBudget  gitrepo.Budget
	findings   []finding
	about      int // the index of the effect that the verdict is about, or -1
	trips      []trip
	git        gitruns.Reader
	agentTexts agenttexts.Reader
	self       selfprotect.Check

	heuristics func(call approver.ToolCall) []string // see Engine
	heard      []string                              // what they found, once they have looked
	looked     bool
	flows      dataflow.Flow
	reviewed   lazy // see writesReviewed
	guest      lazy // see writesGuest
}

var judgments = sync.Pool{New: func() any { return &judgment{} }}

// release keeps the judgment's allocated memory for another call.
func (j *judgment) release() {
	clear(j.findings)
	clear(j.trips)
	j.facts.reset(nil)
	j.call.Forget()
	j.flows.Forget()
	*j = judgment{
		call: j.call, folded: j.folded[:0], matched: j.matched[:0], places: j.places[:0], findings: j.findings[:0],
		trips: j.trips[:0], facts: j.facts,
		flows: j.flows, asks: j.asks, asksBy: j.asksBy,
	}
	judgments.Put(j)
}

// lazy is a fact that is found out when it is asked for. The zero value is one that was not.
type lazy uint8

func (l *lazy) is(find func() bool) bool {
	if *l == 0 {
		if *l = 1; find() {
			*l = 2
		}
	}
	return *l == 2
}
