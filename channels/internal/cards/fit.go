package cards

import (
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
)

// minBlock is the least room for a block that is cut: it holds the note about the cut, and a label of
// maxLabel bytes.
const minBlock, maxLabel = 200, 40

// trim brings the texts around the body to one line each, and cuts them. It reports whether it had
// to cut any: people judge a call by all of them, and the end of a directory may be what
// distinguishes staging from production.
func (l Limits) trim(card approver.Card) (around approver.Card, short bool) {
	clip := func(text string, limit int) string {
		shown, hidden := Clip(text, limit)
		short = short || hidden > 0
		return shown
	}
	all := func(texts []string, limit int) []string {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = clip(text, limit)
		}
		return texts
	}
	card.Why, card.Warnings = all(card.Why, l.Why), all(card.Warnings, l.Warning)
	card.Claimed, card.Context = clip(card.Claimed, l.Claimed), clip(card.Context, l.Context)
	card.Part, _ = Clip(card.Part, l.Why) // the body has it
	if card.State.Settled() {
		card.Result, _ = Clip(card.Result, l.Why) // nothing is attached to a card that has ended
	}
	return card, short
}

// Clip brings a text to one line of at most limit bytes, and says in its middle how many bytes it
// hides. Zero is no limit.
func Clip(text string, limit int) (shown string, hidden int) {
	text = display.Flat(text)
	if limit <= 0 {
		return text, 0
	}
	shown, hidden = display.Cut(text, limit)
	return strings.ReplaceAll(shown, "\n", " "), hidden // the note has line breaks of its own
}

// cut brings the body into the room: lines to their limit, then the largest blocks. If there are too
// many of them, or their labels are long, all of it becomes one text.
func (l *layout) cut(limits Limits, room int) {
	clipped, least, long, hidden := slices.Clone(l.body), 0, false, 0
	for i, e := range clipped {
		long = long || len(e.Label) > maxLabel
		if e.Kind != Argument {
			least += minBlock
			continue
		}
		var n int
		clipped[i].Text, n = Clip(e.Text, limits.Argument)
		least, hidden = least+l.Size(clipped[i]), hidden+n
	}
	if l.joined = long || least > room; l.joined {
		l.body = []Element{l.asOne()}
	} else {
		l.body, l.hidden, l.short = clipped, hidden, l.short || hidden > 0
	}
	share := l.share(room)
	for i, e := range l.body {
		if e.Kind == Argument || l.Size(e) <= share {
			continue
		}
		l.body[i], hidden = l.fitted(e, share)
		l.cutBody, l.hidden = l.cutBody || hidden > 0, l.hidden+hidden
	}
}

// asOne is the body as one text.
func (l *layout) asOne() Element {
	body := approver.Card{Texts: l.card.Texts, Body: l.blocks}
	return Element{Kind: Code, Text: body.Whole()}
}

// unshown are the blocks that are cut, or not shown as they are. An argument is not among them.
func (l *layout) unshown() (blocks []display.Block) {
	exact := func(e Element) bool { return l.Exact == nil || l.Exact(e.Text) }
	if l.joined {
		if l.cutBody || !exact(l.body[0]) {
			return l.blocks
		}
		return nil
	}
	for i, e := range l.body {
		if e.Kind != Argument && (e.Text != l.blocks[i].Text || !exact(e)) {
			blocks = append(blocks, l.blocks[i])
		}
	}
	return blocks
}

// share is the room of each block of the body, if the small ones get all that they need.
func (l *layout) share(room int) int {
	var sizes []int
	for _, e := range l.body {
		if e.Kind == Argument {
			room -= l.Size(e)
			continue
		}
		sizes = append(sizes, l.Size(e))
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if each := room / (len(sizes) - i); size > each {
			return max(each, minBlock)
		}
		room -= size
	}
	return max(room, minBlock)
}

// fitted cuts the text of an element so that its size is at most room.
func (l *layout) fitted(e Element, room int) (Element, int) {
	text := e.Text
	for limit := room; ; limit = min(limit*room/l.Size(e), limit-16) {
		var hidden int
		e.Text, hidden = display.Cut(text, max(limit, 0))
		if l.Size(e) <= room || limit <= 0 {
			return e, hidden
		}
	}
}
