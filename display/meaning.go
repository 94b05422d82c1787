package display

import (
	"path"
	"slices"
	"strings"

	"approver.example/display/places"

	"approver.example/display/shape"
)

// This file judges what the mask hides of a call. An agent chooses the names of its
// variables, so a secret-looking name may hide the cluster that a command acts on.
// The rules look at the text only. They are no parser of a shell: what they cannot
// place is unclear, and an unclear part costs people a typed code.

// A role is what a match of a secret's form says of where its value stands.
type role uint8

const (
	byForm      role = iota // the value itself looks like a key
	byName                  // only the name before it says that it is a secret
	inHeader                // bearer or basic credentials
	inURL                   // the password in an address
	byPlace                 // a program that is known takes a credential there
	byFollowing             // a variable brings it to such a place
)

// A meaning is what a hidden part does in its call. The zero value is unclear.
type meaning uint8

const (
	meansUnclear    meaning = iota
	meansChoice             // it says what runs, or where
	meansCredential         // it only proves who asks
)

// Shown is Mask for a call that people are asked about. A value that only its
// name makes a secret, and that says what runs or where, stays in sight. obscured
// reports that something is hidden that says it, or may say it.
func (call Call) Shown() (shown string, obscured bool) {
	raw := call.Text()
	name, s, parts := call.parts()
	c := &reading{text: s, command: call.Command, left: shape.MaxSteps}
	hidden := strings.Count(name+s, hiddenWords) > strings.Count(raw, hiddenWords) // in private keys, or the tool's name
	obscured = Mask(call.Dir) != call.Dir || hidden && c.rereads()
	var hide []part
	for _, p := range parts {
		m := c.of(p)    // also of what looks like a code of ours: a cluster may be called confirm-east99
		if c.left < 0 { // nobody reads so much on a card either
			hide, obscured = append(hide, p), true
			continue
		}
		value := s[p.from:p.to]
		if m == meansChoice && (p.role == byName || p.role == inHeader) && !shape.IsOpaque(value) || p.role == byName && inSight(s, value, parts) {
			continue
		}
		hide, obscured = append(hide, p), obscured || m != meansCredential
	}
	return name + masked(s, hide), obscured
}

// parts is the text of a call, prepared, and what Mask hides of it. The command, its
// options and the name of the tool are looked at one by one: with a word put before it, or
// with a quote closed behind it, a command would be read as another. name stays before s.
func (call Call) parts() (name, s string, parts []part) {
	name, command, options := call.texts()
	name, command, options = Mask(name), prepared(command), prepared(options)
	s = command + options
	if call.Question {
		return name, s, ownParts(s)
	}
	parts = hiddenParts(command)
	if call.Command == "" {
		return name, s, memberParts(s, 0, parts)
	}
	if options == "" {
		return name, s, parts
	}
	for _, p := range hiddenParts(s) {
		if !overlaps(parts, p) {
			parts = append(parts, p)
		}
	}
	return name, s, memberParts(s, len(command), parts)
}

// overlaps reports a part of which another hides something already.
func overlaps(parts []part, p part) bool {
	return slices.ContainsFunc(parts, func(q part) bool { return p.from < q.to && q.from < p.to })
}

// inSight reports that a value stands elsewhere too, where nothing hides it.
func inSight(s, value string, parts []part) bool {
	all := strings.Count(s, value)
	for _, p := range parts {
		all -= strings.Count(s[p.from:p.to], value)
	}
	return all > 0
}

// hiddenWords are in every note of a hidden part.
const hiddenWords = " characters hidden"

// A reading is a call's text and what was found out about it.
type reading struct {
	text, command string
	left          int // steps that may still be taken: an agent chooses the text
	rereading     *bool
	indirection   *bool
	knowsAll      *bool
	read          bool // segments and spans are found
	segments      []places.Segment
	spans         []places.Span
	variables     places.Variables
	assignments   [][]int // where variables get their values
}

// of says what a part does: where it stands, and where each variable is used that
// holds it.
func (c *reading) of(p part) meaning {
	if c.left -= len(c.text); c.left < 0 {
		return meansUnclear
	}
	if p.role == byFollowing {
		return c.followed(p)
	}
	kind, place := c.placeAt(p.begin)
	if place && kind == places.Unclear && p.role == byPlace {
		return meansUnclear // whatever else holds or uses it
	}
	if (place || p.role == byPlace) && kind <= places.ByPosition && (p.role == byPlace || p.role == byName) && !shape.IsKey(c.text[p.begin:p.to]) {
		return meansUnclear // the position may have another meaning here, and the value too
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
	// Whoever gets it in its environment does with it what its name says.
	given := strong || c.allKnown() && (used || slices.ContainsFunc(names, shape.IsConventional) || c.namedField(p.begin))
	if !given {
		return meansUnclear
	}
	return m
}

// worse joins two meanings: what decides is to be shown, whatever else is done.
func worse(a, b meaning) meaning {
	if a == meansChoice || b == meansChoice {
		return meansChoice
	}
	return min(a, b)
}

// inPlace judges a part that no variable holds.
func (c *reading) inPlace(p part, strong bool) meaning {
	kind, place := c.placeAt(p.begin)
	inURL := p.role == inURL
	named := kind != places.Unclear || inURL || c.credentialPlace(p.begin, p.to)
	switch {
	case p.member || c.command == "" && memberPlace().MatchString(c.before(p.begin)):
		// What another tool does with a member is not known, whatever it is called. A
		// key, in a member that says so, is one.
		if p.role == byName {
			return meansUnclear
		}
		return meansCredential
	case place && kind == places.Unclear && !inURL:
		return meansUnclear
	case p.role == byName && !shape.IsOpaque(c.text[p.begin:p.to]) && c.inAddress(p.begin) && !tokenQuery().MatchString(c.before(p.begin)):
		return meansChoice
	case c.command == "" && p.role == inHeader && memberHeader().MatchString(c.before(p.begin)):
		return meansCredential
	case !named && p.role == inHeader && authHeader().MatchString(c.before(p.begin)):
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

// isOperand reports name=value as a word of a program that is known to act on its
// words, or to take a credential there: it sets no variable.
func (c *reading) isOperand(p part) bool {
	if p.role != byName && p.role != byPlace || c.rereads() {
		return false
	}
	program := c.operandOf(p.begin)
	_, place := c.placeAt(p.begin)
	return place || program != "export" && program != "readonly" && program != "unset" && program != "set" && shape.TakesOperands(program)
}

// before is what stands before a place, as much of it as a pattern looks at.
func (c *reading) before(at int) string { return c.text[max(0, at-shape.MaxBefore):at] }

// credentialPlace reports a place where programs take what proves who asks.
func (c *reading) credentialPlace(from, to int) bool {
	c.lexed()
	for _, s := range c.spans {
		if s.Kind != places.Unclear && s.Variable == "" && !s.Followed && s.From <= from && to <= s.To && !strings.ContainsAny(c.text[s.From:from], "(`") {
			return true
		}
	}
	before := c.before(from)
	for _, place := range credentialPlaces {
		if place().MatchString(before) {
			return true
		}
	}
	return addressUser().MatchString(before) && beforeHost().MatchString(c.text[to:])
}

// namedField reports name=value in what curl and its like send.
func (c *reading) namedField(at int) bool {
	kind, _ := c.placeAt(at)
	return kind != places.Unclear || fieldPlace().MatchString(c.before(at))
}

// inAddress reports name=value in the query of an address.
func (c *reading) inAddress(at int) bool { return queryPlace().MatchString(c.before(at)) }

// rereads reports that the text has what could take a word of it apart and use a
// piece: then where a value stands does not say where it goes.
func (c *reading) rereads() bool {
	if c.rereading == nil {
		found := c.command != "" && rereading().MatchString(c.text)
		c.rereading = &found
	}
	return *c.rereading
}

// indirect reports that the text has what can look a variable up unseen.
func (c *reading) indirect() bool {
	if c.indirection == nil {
		found := indirect().MatchString(c.text)
		c.indirection = &found
	}
	return *c.indirection
}

// allKnown reports that every program which the command can be seen to run is one
// that does with credentials what their names say.
func (c *reading) allKnown() bool {
	if c.knowsAll == nil {
		all := c.known("")
		c.knowsAll = &all
	}
	return *c.knowsAll
}

// known is allKnown, but for one more program.
func (c *reading) known(more string) bool {
	return c.command != "" && !slices.ContainsFunc(programs(c.command), func(p string) bool {
		first, second, _ := strings.Cut(p, " ")
		only, known := shape.KnownPrograms[first]
		return first != more && (!known || only != "" && !slices.Contains(strings.Fields(only), second))
	})
}

// programs lists the first word of everything that could be a command, with the
// word behind it. Quotes that are not plain to see are not heeded: then there are
// more, never fewer.
func programs(command string) []string {
	var out []string
	text := redirections().ReplaceAllString(shape.WithoutQuotes(plainEcho().ReplaceAllString(command, "${1}true${2}")), " ")
	for segment := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r;|&(){}`", r) }) {
		words := strings.Fields(segment)
		for len(words) > 0 && (shape.Prefixes[words[0]] || assigned().MatchString(words[0])) {
			words = words[1:]
		}
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		name := words[0]
		if !strings.Contains(name, "/") || strings.HasPrefix(name, "/usr/bin/") || strings.HasPrefix(name, "/bin/") {
			name = path.Base(name)
		}
		second := ""
		for _, w := range words[1:] {
			if second == "" || strings.HasPrefix(second, "--") && strings.Contains(second, "=") {
				second = w
			}
		}
		out = append(out, name+" "+second)
	}
	return out
}
