package tripwire

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/wordset"
)

// A slot is what a word can be in an instruction to a model. Slots add up.
type slot uint64

const (
	override  slot = 1 << iota // ignore, forget
	prior                      // previous, above
	all                        // all, everything
	your                       // you, your
	system                     // system, initial, hidden
	instr                      // instructions, prompt
	rule                       // rules, limits, ethics
	not                        // no, without, never
	follow                     // follow, obey
	reveal                     // print, reveal
	act                        // act, pretend
	now                        // now, from here on
	model                      // AI, assistant, the names of models and agents
	mode                       // mode, persona
	modeKind                   // developer, god, jailbreak
	free                       // unrestricted, amoral
	user                       // the user, the human
	tell                       // tell, inform
	must                       // must, always, immediately
	run                        // run, execute
	send                       // send, upload
	secret                     // password, key, conversation
	address                    // a URL or an e-mail address
	copies                     // copy, insert, spread
	this                       // this, these
	file                       // file, reply
	approved                   // approved, authorised
	boss                       // security, administrator, owner
	skip                       // skip, bypass
	confirm                    // confirmation, review
	harm                       // bomb, malware
	make                       // make, synthesise
	illegal                    // illegal, unethical
	values                     // constitution, safety, guardrails
	change                     // modify, rewrite
	silently                   // secretly
	before                     // before
	respond                    // respond, answer
	character                  // character, role
	refuse                     // refuse, apologise
	are                        // are, is: you are
	comment                    // text that is not shown: a comment, hidden by its style
	markup                     // the markup between the turns of a conversation
	heading                    // SYSTEM:, NEW INSTRUCTIONS:
	fresh                      // new
	anything                   // anything
	stop                       // stop, cease
	to                         // to
	team                       // team
	forgets                    // ignore, forget: of override, what is said of words only
	entire                     // everything
	bounds                     // limits, ethics, censorship: of rule, what is said of people and models
	frees                      // free of
	how                        // how to, a recipe
	topic                      // injection, attack: the text is about the subject
	does                       // do
	stay                       // stay, break
	void                       // void, suspended
	says                       // tell, list, write: a weak reveal
)

// slotNames are the names of the slots in the tables, in their order.
var slotNames = strings.Fields(`
	override prior all your system instr rule not follow reveal act now model mode modeKind free user tell must
	run send secret address copies this file approved boss skip confirm harm make illegal values change silently
	before respond character refuse are comment markup heading fresh anything stop to team forgets entire bounds
	frees how topic does stay void says
`)

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
			d.add(entry{stem, prefix, slot(wordset.Bits(slotNames, slots))})
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

// hash is of the first two bytes, which every word and stem has, or of one.
func hash[text string | []byte](w text) int {
	if len(w) < 2 {
		return int(w[0])
	}
	return (int(w[0])*61 ^ int(w[1])*7) & (1<<12 - 1)
}

// find returns what a word can be. Words are in lower case.
func (d *dictionary) find(w []byte) (s slot) {
	if len(w) == 0 {
		return 0
	}
	list := d[hash(w)]
	for i := range list {
		e := &list[i]
		if len(w) == len(e.text) && string(w) == e.text || e.prefix && len(w) > len(e.text) && string(w[:len(e.text)]) == e.text {
			s |= e.slot
		}
	}
	return s
}

// longest returns the longest word of the lexicon that text begins with, of at
// most most bytes, and its length.
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
