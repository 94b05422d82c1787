package approver

// A Prompt is a question that an agent is about to ask its own user, because its own permissions
// do not cover a call.
type Prompt struct {
	// Choices are what the agent would remember with a yes; none means that a yes can only be for
	// this one call.
	Choices []Choice
	// Left says that the question is left to the agent's own user.
	Left bool
}

// A Choice is a yes that means more than this one call: the agent adds a permission of its own, and
// then no longer asks its user about some calls. It does not change what approver's rules say, and
// every call is still judged. The zero Choice adds nothing.
type Choice struct {
	// Label is for a button, at most MaxChoiceLabel bytes.
	Label string `json:"label"`
	// Detail says exactly what is added and where it is kept, in at most MaxChoiceDetail bytes. A card
	// shows all of it, or does not offer the choice.
	Detail string `json:"detail"`
}

// Bounds of choices: those of one card, and the bytes of their texts. They fit into every platform's
// buttons and cards without being cut.
const (
	MaxChoices      = 4
	MaxChoiceLabel  = 38
	MaxChoiceDetail = 200
)

// Chosen returns the choice with a number, as in [Reply.Choice]. ok is false for a number that has
// none; zero is the yes to this one call, and has the zero Choice.
func (v Verdict) Chosen(number int) (c Choice, ok bool) {
	switch {
	case number == 0:
		return Choice{}, true
	case number < 0 || number > len(v.Choices):
		return Choice{}, false
	}
	return v.Choices[number-1], true
}
