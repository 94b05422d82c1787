package cards

import (
	"time"

	"approver.example/display"
)

// A Page is a card laid out for a platform, before it is written in its markup: the elements in
// their order, and the buttons.
type Page struct {
	// Headline is the first line of the card, and what a lock screen shows.
	Headline string
	Elements []Element
	// Rows are the buttons; none on a settled card.
	Rows [][]Button
	// Reference is the last line of a card that waits and can have no buttons; see [Referred].
	Reference string
	// Tap reports whether a button approves.
	Tap bool
	// Partial reports that something had to be cut, now or when the card was posted.
	Partial bool
	// File is what the card cannot show, whole; without a name there is none.
	File File
}

// A File goes with a card that does not show everything as it is.
type File struct{ Name, Content, Caption string }

// An Element is one line or block of a card.
type Element struct {
	Kind ElementKind
	// Label is our own for a Field and a Note, and the agent's for an Argument or a block.
	Label string
	// Text may be anybody's, except for a Note: whoever writes it has to escape it.
	Text string
	// Said marks a Field with the agent's own words.
	Said bool
	// Words are the parts of an Answer.
	Words []Word
	// Until is the time of a Clock, and Since when it started, if that is known.
	Until, Since time.Time
}

// An ElementKind says how an element is written.
type ElementKind uint8

// The kinds.
const (
	Field    ElementKind = iota // our label, and a text on one line
	Argument                    // somebody else's label, and a text on one line
	Code                        // lines with a fixed width
	Diff                        // lines with a fixed width, which begin with "+", "-" or " "
	Note                        // a line in our own words
	Result                      // what became of the request, on one line
	Clock                       // until when the card can be answered
	Answer                      // how to answer
)

// ofBlock is the kind of the element that shows a block.
func ofBlock(k display.BlockKind) ElementKind {
	switch k {
	case display.Code:
		return Code
	case display.Diff:
		return Diff
	case display.Line:
	}
	return Argument
}

// A Word is a part of a line of our own. A typed one is what people may type, such as a code.
type Word struct {
	Text  string
	Typed bool
}

// A Button is a button of a card.
type Button struct {
	Action Action
	Label  string
	Style  Style
	// Copy is what the button puts on the clipboard of whoever presses it, instead of an action.
	Copy string
}

// A Style says what a button means.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Good
	Bad
	Main // what leads on, where there is no Good
)

// An Attachment is what is known of the file of a card. The zero value is for a card that is
// posted now, or that shows everything.
type Attachment uint8

// The attachments.
const (
	Fresh        Attachment = iota
	Attached                // the file is beside the card
	Missing                 // it could not be sent
	MaybeMissing            // it may be there, and it may have failed
)
