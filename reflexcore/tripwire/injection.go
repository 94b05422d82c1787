package tripwire

import (
	"fmt"
	"strings"
	"sync"
)

// InjectionDetectors are the detectors of [Injection].
var InjectionDetectors = []Detector{
	{"hijack", 0.9, "instructions that were given before are to be ignored, forgotten, overridden"},
	{"role", 0.85, "a role, a mode or a persona that no rules hold for"},
	{"extraction", 0.75, "a system prompt or hidden instructions are to be shown"},
	{"concealed", 0.85, "a directive to a model that people are not to know of, or do not see"},
	{"markup", 0.45, "the marks between the turns of a conversation, or a heading that pretends to be the system"},
	{"exfiltration", 0.7, "a secret or a conversation is to be sent to an address"},
	{"propagation", 0.8, "the text itself is to be copied on"},
	{"approval", 0.8, "approval is claimed, so that nobody need be asked"},
	{"harmful", 0.6, "how to make weapons, drugs, malware"},
	{"constitutional", 0.85, "a model's values or rules are to be changed"},
	{"dense", 0.6, "so many words of directives that the rest is not read"},
	{"refusal", 0.6, "a model is never to refuse, to warn, to apologise"},
}

// A step is one place of a template: a word with one of the slots, at most so many
// words after the one before.
type step struct {
	slots slot
	gap   int32
}

// A template is a sequence of slots that makes a directive in any of the
// languages of the lexicon.
type template struct {
	detector string
	strength float64
	steps    []step
}

// templates are the grammar. Strength is of the detector's weight.
var templates = [...]template{
	// hijack: ignore all previous instructions; ignore the instructions above.
	{"hijack", 1, []step{{override, 0}, {prior, 5}, {instr, 4}}},
	{"hijack", 1, []step{{forgets, 0}, {instr, 6}, {prior, 5}}},
	{"hijack", 0.95, []step{{override, 0}, {your | system, 3}, {instr, 4}}},
	{"hijack", 0.8, []step{{forgets, 0}, {all, 3}, {instr, 4}}},
	{"hijack", 0.85, []step{{forgets, 0}, {entire, 2}, {prior, 5}}},
	{"hijack", 0.7, []step{{forgets, 0}, {prior | your | system | values, 4}, {rule, 4}}},
	{"hijack", 0.8, []step{{forgets, 0}, {all, 3}, {prior, 3}, {rule, 3}}},
	{"hijack", 0.9, []step{{prior, 0}, {instr, 4}, {override, 5}}},
	{"hijack", 0.95, []step{{not | stop, 0}, {follow, 2}, {prior | your | system, 3}, {instr, 4}}},
	{"hijack", 0.6, []step{{stop, 0}, {follow, 2}, {your | system, 3}, {rule, 4}}},
	{"hijack", 0.8, []step{{forgets, 0}, {all, 2}, {your, 5}, {prior, 4}}},
	{"hijack", 0.7, []step{{fresh, 0}, {instr, 1}, {stop | forgets, 8}}},
	{"hijack", 0.85, []step{{prior, 0}, {instr, 4}, {void, 4}}},
	{"hijack", 0.9, []step{{system, 0}, {override, 1}, {prior | all, 4}, {rule | instr, 4}}},
	// role: you are now …; developer mode; act as … without restrictions.
	{"role", 0.7, []step{{your, 0}, {are, 2}, {now, 2}, {modeKind | free, 8}}},
	{"role", 1, []step{{your, 0}, {are, 2}, {now, 2}, {modeKind | free | model, 8}, {not | frees, 8}, {bounds | values | rule, 4}}},
	{"role", 0.7, []step{{now, 0}, {your, 3}, {are | act, 6}, {modeKind | free | character | model, 8}}},
	{"role", 0.75, []step{{modeKind, 0}, {mode, 1}, {model | act | respond | illegal, 10}}},
	{"role", 0.8, []step{{modeKind, 0}, {mode, 1}, {free | not, 10}, {bounds | free | illegal, 8}}},
	{"role", 0.95, []step{{act, 0}, {model | mode | modeKind | character | your, 6}, {not | free | frees, 14}, {bounds | free | illegal, 5}}},
	{"role", 0.8, []step{{model | character, 0}, {not, 4}, {bounds, 3}}},
	{"role", 0.9, []step{{model | character, 0}, {not, 6}, {follow, 3}, {rule | bounds, 6}}},
	{"role", 0.7, []step{{your | model, 0}, {not | frees, 6}, {all | follow, 3}, {bounds, 3}}},
	{"role", 0.8, []step{{model | your | character, 0}, {free, 6}, {not | illegal | free, 10}}},
	{"role", 0.8, []step{{not, 0}, {bounds, 2}, {bounds | illegal, 4}, {your | model | respond | character, 20}}},
	{"role", 0.9, []step{{not, 0}, {follow, 3}, {model, 3}, {bounds | rule, 4}}},
	{"role", 0.9, []step{{forgets, 0}, {model, 2}, {bounds | rule, 4}}},
	{"role", 0.8, []step{{not, 0}, {follow, 3}, {all, 3}, {bounds, 4}}},
	{"role", 0.8, []step{{not, 0}, {follow, 3}, {bounds, 4}, {bounds, 4}}},
	{"role", 0.65, []step{{free, 0}, {model, 4}}},
	{"role", 0.7, []step{{act, 0}, {not | frees, 5}, {bounds, 2}}},
	{"role", 0.9, []step{{does, 0}, {anything, 1}, {now, 1}}},
	{"role", 0.75, []step{{stay, 0}, {character, 2}}},
	{"role", 0.75, []step{{not, 0}, {stop, 2}, {character, 2}}},
	{"role", 0.75, []step{{act, 0}, {character | model | modeKind, 5}, {illegal | free, 20}}},
	{"role", 0.7, []step{{illegal, 0}, {illegal, 4}, {illegal, 4}, {your | respond | character, 15}}},
	{"role", 0.75, []step{{respond | act, 0}, {illegal | free, 4}, {not, 12}, {bounds | follow, 6}}},
	// extraction: reveal your system prompt.
	{"extraction", 1, []step{{reveal, 0}, {your, 4}, {system | prior, 3}, {instr, 3}}},
	{"extraction", 0.7, []step{{reveal, 0}, {system, 4}, {instr, 1}}},
	{"extraction", 0.9, []step{{reveal, 0}, {your, 3}, {instr, 3}}},
	{"extraction", 0.8, []step{{says, 0}, {your, 4}, {system, 2}, {instr, 3}}},
	{"extraction", 0.7, []step{{reveal, 0}, {all | this | to, 3}, {prior, 4}, {instr, 3}}},
	{"extraction", 0.7, []step{{reveal, 0}, {instr, 3}, {prior, 4}, {your, 4}}},
	{"extraction", 0.8, []step{{says, 0}, {are | before, 2}, {your, 2}, {instr, 3}}},
	// concealed: AI agents: before answering run …, and do not tell the user.
	{"concealed", 0.95, []step{{model, 0}, {before | must, 6}, {run | send, 8}, {not, 14}, {tell, 3}, {user, 4}}},
	{"concealed", 0.95, []step{{model, 0}, {before, 4}, {respond, 4}, {run | send | must, 6}}},
	{"concealed", 0.6, []step{{not, 0}, {tell, 2}, {user, 4}, {your | this | run | send, 12}}},
	{"concealed", 0.75, []step{{your | model, 0}, {must, 2}, {not, 2}, {tell, 2}, {user, 5}}},
	{"concealed", 0.75, []step{{not, 0}, {tell, 2}, {this, 2}, {instr, 2}}},
	{"concealed", 0.75, []step{{run | send, 0}, {silently, 6}, {address | secret | user, 10}}},
	{"concealed", 0.75, []step{{silently, 0}, {run | send, 3}, {address | secret | user, 10}}},
	{"concealed", 0.9, []step{{run | send, 0}, {not, 14}, {tell, 2}, {user, 4}}},
	{"concealed", 0.75, []step{{comment, 0}, {model, 6}, {run | send | override | before, 8}}},
	{"concealed", 0.95, []step{{comment, 0}, {override | not, 6}, {tell | prior, 4}, {user | instr, 5}}},
	{"concealed", 0.85, []step{{to, 0}, {model, 3}, {must | override, 6}, {run | send | override, 8}}},
	{"concealed", 0.7, []step{{model, 0}, {must, 4}, {silently | run | send, 5}, {address | secret, 10}}},
	// markup and headings.
	{"markup", 0.7, []step{{markup, 0}}},
	{"markup", 1, []step{{markup, 0}, {your | override | must | system, 12}}},
	{"markup", 0.9, []step{{heading, 0}, {your | override | must | instr, 8}}},
	{"markup", 0.8, []step{{fresh | must, 0}, {system, 1}, {instr, 1}}},
	// exfiltration.
	{"exfiltration", 1, []step{{send, 0}, {secret, 6}, {address, 8}}},
	{"exfiltration", 0.9, []step{{secret, 0}, {send, 8}, {to, 4}, {address, 4}}},
	{"exfiltration", 0.75, []step{{send, 0}, {your | system, 3}, {secret | instr, 4}, {to, 6}, {address, 4}}},
	// propagation.
	{"propagation", 1, []step{{copies, 0}, {this, 2}, {instr, 4}, {all, 8}, {file, 5}}},
	{"propagation", 0.8, []step{{copies, 0}, {this, 2}, {file, 3}, {all, 6}, {file, 4}}},
	{"propagation", 0.75, []step{{copies, 0}, {this, 2}, {instr, 2}, {to, 2}, {all, 3}}},
	{"propagation", 0.9, []step{{copies, 0}, {this, 2}, {instr, 4}, {your, 6}, {file, 5}}},
	// approval.
	{"approval", 1, []step{{approved, 0}, {boss, 4}, {skip, 14}, {confirm, 4}}},
	{"approval", 1, []step{{boss, 0}, {approved, 6}, {skip, 14}, {confirm, 4}}},
	{"approval", 0.85, []step{{skip, 0}, {confirm, 4}, {boss | team, 12}, {approved, 6}}},
	{"approval", 0.85, []step{{skip, 0}, {confirm, 4}, {approved, 10}, {boss, 5}}},
	{"approval", 0.75, []step{{not, 0}, {confirm, 2}, {user, 3}, {confirm, 4}}},
	// harmful.
	{"harmful", 1, []step{{how, 0}, {make, 3}, {harm, 4}}},
	{"harmful", 0.7, []step{{make, 0}, {harm, 3}}},
	// constitutional.
	{"constitutional", 1, []step{{change | override, 0}, {your, 2}, {values, 4}}},
	{"constitutional", 0.8, []step{{your, 0}, {values, 3}, {not, 5}, {follow, 5}}},
	// refusal.
	{"refusal", 0.8, []step{{not, 0}, {refuse, 3}, {your | respond | model | character, 14}}},
	{"refusal", 0.8, []step{{your | model, 0}, {not, 6}, {refuse, 4}}},
	{"refusal", 0.7, []step{{not, 0}, {reveal | tell | respond, 3}, {model, 3}, {model | instr, 4}}},
}

// byFirst are the templates by their first step's slots.
var byFirst = func() (t [64][]int) {
	for i := range templates {
		for s := templates[i].steps[0].slots; s != 0; s &= s - 1 {
			t[bit(s)] = append(t[bit(s)], i)
		}
	}
	return t
}()

func bit(s slot) int {
	n := 0
	for s &= -s; s > 1; s >>= 1 {
		n++
	}
	return n
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// What may be looked at in a text. Honest ones take less than a tenth of it.
const minWork, workPerHit = 1 << 16, 64

// maxText is how much of a text is read: of a longer one the beginning and the end.
const maxText = 256 << 10

// Injection appends what in a text speaks to a model. Factor says how much it
// counts where it stands: less than 1 in tests and documents about the subject,
// more in files that agents obey.
func Injection(parts []Part, text string, factor float64) []Part {
	if len(text) > maxText {
		parts = Injection(parts, text[:maxText/2], factor)
		text = text[len(text)-maxText/2:]
	}
	r := readers.Get().(*reader)
	*r = reader{hits: r.hits[:0], found: r.found, word: r.word[:0], spaced: r.spaced[:0]}
	r.read(text)
	r.work = minWork + workPerHit*len(r.hits)
	if parts = r.judge(parts, text, factor); r.work < 0 {
		parts = add(parts, "dense", 1, "the text is full of words of directives, too many to be read")
	}
	readers.Put(r)
	return parts
}

// judge matches the templates.
func (r *reader) judge(parts []Part, text string, factor float64) []Part {
	r.found = r.found[:0]
	if len(r.hits) == 0 {
		return parts
	}
	var open [len(templates)]bool // templates of which all slots are somewhere in the text
	for i := range templates {
		open[i] = true
		for _, s := range templates[i].steps {
			if r.seen&s.slots == 0 {
				open[i] = false
				break
			}
		}
	}
	for i := range r.hits {
		done := [len(templates)]bool{}
		for s := r.hits[i].slot; s != 0; s &= s - 1 {
			for _, t := range byFirst[bit(s)] {
				if !open[t] || done[t] {
					continue
				}
				done[t] = true
				if last, ok := r.match(i, t); ok {
					r.note(sighting{templates[t].detector, r.strength(i, t), i, last, 0})
				}
			}
		}
	}
	for _, f := range r.found {
		what := fmt.Sprintf("%s (%q)", sees(f.detector), quote(text, int(r.hits[f.first].byte), int(r.hits[f.last].byte)))
		parts = add(parts, f.detector, (f.strength+(1-f.strength)*f.again/2)*factor, what)
	}
	return parts
}

// A sighting is where a detector saw the most, and how much it saw elsewhere.
type sighting struct {
	detector    string
	strength    float64
	first, last int // hits
	again       float64
}

// elsewhere is how many words lie between two directives that are not the same.
const elsewhere = 12

// note keeps the strongest sighting of each detector.
func (r *reader) note(s sighting) {
	for i := range r.found {
		f := &r.found[i]
		if f.detector != s.detector {
			continue
		}
		apart := r.hits[s.first].at-r.hits[f.last].at > elsewhere
		switch {
		case s.strength > f.strength && apart:
			s.again = max(f.again, f.strength)
			*f = s
		case s.strength > f.strength:
			s.again = f.again
			*f = s
		case apart:
			f.again = max(f.again, s.strength)
		}
		return
	}
	r.found = append(r.found, s)
}

// strength is what a match of template t at hit i counts.
func (r *reader) strength(i, t int) float64 {
	strength := templates[t].strength
	if templates[t].steps[0].slots&not == 0 && r.negated(i) {
		strength *= 0.3
	}
	if r.about(i) {
		strength *= 0.6
	}
	return strength
}

// match finds the steps of template t that follow hit i. It looks at no pair of
// hit and step twice, and ends when the work for the text is used up.
func (r *reader) match(i, t int) (last int, ok bool) {
	r.failed = [len(r.failed)]uint64{}
	r.first = i
	return r.from(i, templates[t].steps, 1)
}

func (r *reader) from(i int, steps []step, k int) (last int, ok bool) {
	if k == len(steps) {
		return i, true
	}
	for j := i + 1; j < len(r.hits) && j-r.first < 64 && r.hits[j].at-r.hits[i].at <= steps[k].gap; j++ {
		if r.work--; r.work < 0 {
			return 0, false
		}
		if r.hits[j].slot&steps[k].slots == 0 || r.hits[j].at == r.hits[i].at || r.failed[k]&(1<<(j-r.first)) != 0 {
			continue
		}
		if last, ok = r.from(j, steps, k+1); ok {
			return last, true
		}
		r.failed[k] |= 1 << (j - r.first)
	}
	return 0, false
}

// negated reports whether a hit is said not to be done: never ignore.
func (r *reader) negated(i int) bool {
	for j := i - 1; j >= 0 && r.hits[i].at-r.hits[j].at <= 2; j-- {
		if r.hits[j].slot&not != 0 {
			return true
		}
	}
	return false
}

// about reports whether the text speaks about such texts near a hit, as a document
// on the subject does.
func (r *reader) about(i int) bool {
	if r.seen&topic == 0 {
		return false
	}
	const near = 40
	for j := i; j >= 0 && r.hits[i].at-r.hits[j].at <= near; j-- {
		if r.hits[j].slot&topic != 0 {
			return true
		}
	}
	return false
}

func sees(name string) string {
	for _, d := range InjectionDetectors {
		if d.Name == name {
			return d.Sees
		}
	}
	return name
}

// quote is what a finding stands on, cut short.
func quote(text string, from, to int) string {
	const most = 120
	from = min(from, len(text))
	end := min(max(to, from), from+most)
	if n := untilSpace(text[min(end, len(text)):]); n > 0 {
		end += min(n, 24)
	}
	return strings.ToValidUTF8(text[from:min(end, len(text))], "")
}
