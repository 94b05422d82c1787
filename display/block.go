package display

// A Block is one piece of what a card shows: a line, code, or what changes. Label and Text are safe
// to show: secrets are masked, and every character can be seen. They may still be the agent's words,
// so whoever shows them escapes them for its platform.
type Block struct {
	Kind BlockKind `json:"kind,omitempty"`
	// Label says what the text is, such as "Path" or the name of an argument. It may be empty.
	Label string `json:"label,omitempty"`
	// Text is one line for a Line, and lines for the other kinds. Those of a Diff begin with "+", "-"
	// or " ".
	Text string `json:"text,omitempty"`
}

// A BlockKind says how a block is shown.
type BlockKind uint8

// The kinds.
const (
	Line BlockKind = iota // the label and a short text on one line
	Code                  // a text with a fixed width, as it is
	Diff                  // lines that are removed, added, or stay
)
