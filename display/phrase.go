package display

// A Phrase is a sentence or a title that approver says to people. The zero value says nothing.
type Phrase struct {
	// Text is in English, and the key of its translations. It has %s for each of Args, in their
	// order, or %[2]s in a translation that needs another one.
	Text string `json:"text,omitempty"`
	// Args are words of the call, as they are: paths, names, numbers. They are made safe when they
	// are shown.
	Args []string `json:"args,omitempty"`
	// Own are words of approver's own that fill the places of Text after those of Args: what is lost,
	// for example. Unlike Args they are translated.
	Own []string `json:"own,omitempty"`
}

// IsZero reports whether the phrase says nothing.
func (p Phrase) IsZero() bool { return p.Text == "" }

// A Summary says in words what a call would do. Whoever judges the call makes it; without one, a
// card says what can be seen of the call itself.
type Summary struct {
	// Title says what would happen, as a person would say it: "Force-push %s". It has no place and no
	// severity, and is short enough for a lock screen.
	Title Phrase `json:"title,omitzero"`
	// More is how many further things the call does beside the one that the title names: it is one of
	// several branches that are overwritten, or a table is dropped, too.
	More int `json:"more,omitempty"`
	// Why says why a person is asked: what would be lost, or who would get what.
	Why Phrase `json:"why,omitzero"`
	// Does says what was computed of the call, the worst first: what it deletes, overwrites and
	// sends, and how much of it.
	Does []Phrase `json:"does,omitempty"`
	// Undo says how hard it is to undo, and the way back if there is one.
	Undo Phrase `json:"undo,omitzero"`
	// Part is the part of the command that all this is about, exactly as it is written there; empty
	// if it is the whole command, or not in it.
	Part string `json:"part,omitempty"`
	// Project is where all of that happens: the repository that a push goes to, such as acme/shop, or
	// the folder of the project. It is empty if it happens elsewhere, in several places, or where is not
	// certain. Branch is the one that is checked out, if the call works on it; a yes is bound to it.
	Project string `json:"project,omitempty"`
	Branch  string `json:"branch,omitempty"`
}
