package display

import (
	"slices"

	"approver.example/display/places"
	"approver.example/display/shape"
)

// This file judges the parts of a call that the mask hides. An agent chooses the names of its
// variables, so a name that looks like a secret's may hide the cluster that a command acts on.
// The rules look only at the text, and do not parse it as a shell does. A part that they cannot
// classify is unclear, and people must type a code for it.

// A meaning is what a hidden part does in its call. The zero value is unclear.
type meaning uint8

const (
	meansUnclear    meaning = iota
	meansChoice             // it says what runs, or where
	meansCredential         // it only proves who asks
)

// of returns the meaning of a part, from its place and from each use of the variables that hold
// it.
func (c *reading) of(p part) meaning {
	if c.left -= len(c.text); c.left < 0 {
		return meansUnclear
	}
	if p.role == byFollowing {
		return c.followed(p)
	}
	kind, place := c.placeAt(p.begin)
	if place && kind == places.Unclear && p.role == byPlace {
		return meansUnclear // no variable or use can make it clear
	}
	if (place || p.role == byPlace) && kind <= places.ByPosition && (p.role == byPlace || p.role == byName) &&
		!shape.IsKey(c.text[p.begin:p.to]) {
		return meansUnclear // the position and the value may mean something else here
	}
	names := c.holders(p.begin)
	if p.role == byName && shape.Identifier().MatchString(p.name) && !c.inAddress(p.begin) {
		names = shape.AppendNew(names, []string{p.name})
	}
	strong := p.role == byForm || p.role == inURL || p.role == inHeader || p.role == byPlace
	if len(names) == 0 || p.member || c.isOperand(p) {
		return c.inPlace(p, strong)
	}
	m, used, names := c.goes(names, p.role == inURL)
	if m == meansChoice || c.indirect() {
		return worse(m, meansUnclear)
	}
	// A program that gets it in its environment uses it as its name says.
	given := strong || c.allKnown() && (used || slices.ContainsFunc(names, shape.IsConventional) || c.namedField(p.begin))
	if !given {
		return meansUnclear
	}
	return m
}

// worse combines two meanings. A choice must be shown, whatever the other meaning is.
func worse(a, b meaning) meaning {
	if a == meansChoice || b == meansChoice {
		return meansChoice
	}
	return min(a, b)
}

// inPlace returns the meaning of a part that no variable holds.
func (c *reading) inPlace(p part, strong bool) meaning {
	kind, place := c.placeAt(p.begin)
	inURL := p.role == inURL
	named := kind != places.Unclear || inURL || c.credentialPlace(p.begin, p.to)
	switch {
	case p.member || c.command == "" && memberPlace().MatchString(c.textBefore(p.begin)):
		// What another tool does with a member is not known, whatever the member's name is. Only a
		// part that is more than its name, such as a key, is a credential.
		if p.role == byName {
			return meansUnclear
		}
		return meansCredential
	case place && kind == places.Unclear && !inURL:
		return meansUnclear
	case p.role == byName && !shape.IsOpaque(c.text[p.begin:p.to]) && c.inAddress(p.begin) &&
		!tokenQuery().MatchString(c.textBefore(p.begin)):
		return meansChoice
	case c.command == "" && p.role == inHeader && memberHeader().MatchString(c.textBefore(p.begin)):
		return meansCredential
	case !named && p.role == inHeader && authHeader().MatchString(c.textBefore(p.begin)):
		return meansUnclear
	case !named && shape.TakesOperands(c.operandOf(p.begin)):
		return meansChoice
	case !named, c.rereads():
		return meansUnclear
	case c.allKnown() || strong:
		return meansCredential
	}
	return meansUnclear
}

// isOperand reports whether name=value is a word of a program that is known to act on its words,
// or to take a credential there. Then it does not set a variable.
func (c *reading) isOperand(p part) bool {
	if p.role != byName && p.role != byPlace || c.rereads() {
		return false
	}
	program := c.operandOf(p.begin)
	_, place := c.placeAt(p.begin)
	return place || program != "export" && program != "readonly" && program != "unset" && program != "set" &&
		shape.TakesOperands(program)
}

// followed returns the meaning of a value that a variable passes to a place for a credential. It
// is a credential there. But every other use of the variable counts too, and the text must not
// contain anything that could use the variable unseen or look it up by its name.
func (c *reading) followed(p part) meaning {
	c.lexed()
	kind := places.Unclear
	for _, s := range c.spans {
		if s.Followed && s.From == p.begin {
			kind = max(kind, s.Kind)
		}
	}
	names := c.holders(p.begin)
	if p.name != "" {
		names = shape.AppendNew(names, []string{p.name})
	}
	if kind == places.Unclear || kind == places.ByPosition && !shape.IsKey(c.text[p.from:p.to]) || len(names) == 0 {
		return meansUnclear
	}
	m, _, names := c.goes(names, false)
	if c.rereads() || c.indirect() || !c.known("echo") || !places.IsPlain(c.text) || !c.variables.Sets(p.begin, names) {
		return worse(m, meansUnclear)
	}
	return m
}

// goes follows the values of variables, also through other variables, and returns what their uses
// mean, together with all names. used reports whether one use is a place for a credential. With
// address, a use of the whole value outside such a place counts as one too.
func (c *reading) goes(names []string, address bool) (m meaning, used bool, all []string) {
	m = meansCredential
	for i := 0; i < len(names) && i < maxNames; i++ {
		if i == maxNames-1 {
			return meansUnclear, used, names
		}
		for _, u := range c.uses(names[i]) {
			switch {
			case u.mention:
				m = worse(m, meansUnclear)
			case c.credentialPlace(u.from, u.to) || address && u.plain && !c.rereads():
				used = true
				names = shape.AppendNew(names, c.holders(u.from))
			case c.carries(u):
				m = worse(m, meansUnclear)
			default:
				held := c.holders(u.from)
				names = shape.AppendNew(names, held)
				if len(held) == 0 || c.actedOn(u.from) {
					m = worse(m, meansChoice)
				}
			}
		}
	}
	if !address && slices.ContainsFunc(names, places.IsDeciding) { // a program may look it up by its name
		m = worse(m, meansUnclear)
	}
	return m, used, names
}

// actedOn reports whether a variable is in a word NAME=$variable on which a program acts.
func (c *reading) actedOn(at int) bool {
	for _, m := range c.assignments {
		if c.left--; m[1] > at || c.left < 0 {
			break
		}
		if c.variables.IsOperand(m[2]) && (inWord(c.text[m[1]:at], true) || inWord(c.text[m[1]:at], false)) {
			return true
		}
	}
	return false
}

// maxNames limits the number of variables that are followed.
const maxNames = 16
