package agents

import "encoding/json"

// A Reading says how an agent's model reads what a call returned. The zero value is
// not at all.
type Reading struct {
	// Reads says that the model reads a text that the agent did not write itself.
	Reads bool
	// Replaces says that the protocol lets a hook put another result in its place.
	Replaces bool
	// Lines says that the agent numbers the lines, so that none may be added.
	Lines bool
	// From is where the text comes from, as far as the call says: an address or a path.
	From string
}

// A Result is what is to become of what a call returned. The zero value leaves it.
type Result struct {
	// Response is what the model is to read instead, in the same form; nil leaves it.
	Response json.RawMessage
	// Context is told the model beside the result, and Notice the agent's user; each
	// is one line.
	Context, Notice string
}

// A Returner is an [Adapter] of an agent whose protocol has a word for a hook that
// looks at what a call returned.
type Returner interface {
	Adapter

	// Reading says how the model reads what the call of a Ran returned.
	Reading(ev Event) Reading

	// EncodeResult writes the answer to a Ran. What the protocol cannot say of r is an
	// answer that blocks, see [Adapter.Encode] of the zero verdict.
	EncodeResult(ev Event, r Result) Answer
}
