package tripwire

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/wordset"
)

// A slot is a role that a word can have in an instruction to a model. Slots are bits.
type slot uint64

// slotNames are the names of the slots in the tables, in order.
var slotNames = strings.Fields(`
	override prior all your system instr rule not follow reveal act now model mode modeKind free user tell must
	run send secret address copies this file approved boss skip confirm harm make illegal values change silently
	before respond character refuse are comment markup heading fresh anything stop to team forgets entire bounds
	frees how topic does stay void says
`)

func slotsOf(names string) slot { return slot(wordset.Bits(slotNames, names)) }

// The slots that the code treats specially.
var (
	not     = slotsOf("not")
	topic   = slotsOf("topic")   // the text is about the subject
	address = slotsOf("address") // a URL or an e-mail address
	comment = slotsOf("comment") // text that is not shown: a comment, hidden by its style
	markup  = slotsOf("markup")  // the markup between the turns of a conversation
	heading = slotsOf("heading") // SYSTEM:, NEW INSTRUCTIONS:
)

// wordsText is the vocabulary.
//
//go:embed words.txt
var wordsText string

// An entry is a word of the lexicon, or the beginning of words.
type entry struct {
	text   string
	prefix bool
	slot   slot
}

// dictionary finds words by their first three bytes.
type dictionary [1 << 12][]entry

var words = func() *dictionary {
	d := new(dictionary)
	for slots, list := range wordset.Table(wordsText) {
		for w := range strings.FieldsSeq(list) {
			stem, prefix := strings.CutSuffix(w, "*")
			d.add(entry{stem, prefix, slotsOf(slots)})
		}
	}
	return d
}()

func (d *dictionary) add(e entry) {
	list := &d[hash(e.text)]
	for i := range *list {
		if have := &(*list)[i]; have.text == e.text && have.prefix == e.prefix {
			have.slot |= e.slot
			return
		}
	}
	*list = append(*list, e)
}

// hash hashes the first two bytes, which every word and stem has, or the only one.
func hash[text string | []byte](w text) int {
	if len(w) < 2 {
		return int(w[0])
	}
	return (int(w[0])*61 ^ int(w[1])*7) & (1<<12 - 1)
}

// find returns the slots of a word, which is in lower case.
func (d *dictionary) find(w []byte) (s slot) {
	if len(w) == 0 {
		return 0
	}
	list := d[hash(w)]
	for i := range list {
		e := &list[i]
		if len(w) == len(e.text) && string(w) == e.text ||
			e.prefix && len(w) > len(e.text) && string(w[:len(e.text)]) == e.text {
			s |= e.slot
		}
	}
	return s
}

// longest returns the longest word of the lexicon at the beginning of text, up to most bytes, and
// its length.
func (d *dictionary) longest(text []byte, most int) (s slot, n int) {
	for n = min(most, len(text)); n > 0; n-- {
		if n < len(text) && !utf8.RuneStart(text[n]) {
			continue
		}
		if s = d.find(text[:n]); s != 0 {
			return s, n
		}
	}
	return 0, 0
}
