package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed grammar
var grammars embed.FS

// How many texts are made of each family.
const (
	attacksEach = 1200
	benignEach  = 1000
)

// A grammar has the alternatives of each name. Names that begin with a capital
// are families of texts.
type grammar struct {
	rules    map[string][]string
	families []string
}

// readGrammar reads a grammar: lines of a name and its alternatives, the form that
// grammar/attacks.txt describes.
func readGrammar(source string) (*grammar, error) {
	g := &grammar{rules: map[string][]string{}}
	name := ""
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			var ok bool
			if name, line, ok = strings.Cut(line, ": "); !ok || g.rules[name] != nil {
				return nil, fmt.Errorf("grammar: %q has no alternatives, or is there twice", name)
			}
			if name[0] >= 'A' && name[0] <= 'Z' {
				g.families = append(g.families, name)
			}
		}
		line = strings.TrimPrefix(strings.TrimSpace(line), "| ")
		for alternative := range strings.SplitSeq(strings.TrimSuffix(line, " |"), " | ") {
			g.rules[name] = append(g.rules[name], strings.TrimSpace(alternative))
		}
	}
	for name, alternatives := range g.rules {
		for _, a := range alternatives {
			for _, part := range parts(a) {
				if part.name != "" && g.rules[part.name] == nil {
					return nil, fmt.Errorf("grammar: %s asks for %q, which is not there", name, part.name)
				}
			}
		}
	}
	return g, nil
}

// A part of an alternative is text, or a name that is replaced by one of its
// alternatives.
type part struct {
	text, name string
	maybe      bool
}

func parts(alternative string) (out []part) {
	for rest := alternative; rest != ""; {
		before, after, _ := strings.Cut(rest, "{")
		name, tail, ok := strings.Cut(after, "}")
		if !ok || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789?") != "" || name == "" {
			// A brace of the text itself.
			before, tail = rest[:len(before)+min(1, len(rest)-len(before))], after
			name = ""
		}
		name, maybe := strings.CutSuffix(name, "?")
		out = append(out, part{text: before, name: name, maybe: maybe})
		rest = tail
	}
	return out
}

func (g *grammar) expand(name string, r *rng, b *strings.Builder) {
	alternatives := g.rules[name]
	for _, p := range parts(alternatives[r.n(len(alternatives))]) {
		b.WriteString(p.text)
		if p.name != "" && (!p.maybe || r.n(2) == 0) {
			g.expand(p.name, r, b)
		}
	}
}

// tidy corrects spaces around punctuation; ¦ becomes a bar, which otherwise separates
// alternatives.
var tidy = strings.NewReplacer(" ,", ",", " .", ".", " ?", "?", " :", ":", " ;", ";", " !", "!", "( ", "(", " )", ")",
	"¦", "|", "  ", " ")

// sentence makes one text of a family, in one of several ways to write it.
func (g *grammar) sentence(family string, r *rng) string {
	var b strings.Builder
	g.expand(family, r, &b)
	s := tidy.Replace(b.String())
	switch r.n(24) {
	case 0:
		s = strings.ToUpper(s)
	case 1, 2, 3, 4:
	default:
		sentences := strings.SplitAfter(s, ". ")
		for i, x := range sentences {
			if x != "" {
				sentences[i] = strings.ToUpper(x[:1]) + x[1:]
			}
		}
		s = strings.Join(sentences, "")
	}
	if r.n(2) == 0 && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

var (
	joints = []string{"\n", "\n\n", " ", "\n- ", "\n> ", " ", "\n"}
	// around are the benign families into which an injection is planted. Families that
	// mention attacks are left out, because the mention would count as an attack.
	around = []string{"Office", "Manual", "Output", "User"}
)

// generate makes our own texts, the same in each call. Each family of attacks and of
// benign texts is a source. each scales their number; 1 is all.
func generate(each float64, without uint) ([]*text, error) {
	var gs [2]*grammar
	for i, name := range []string{"grammar/benign.txt", "grammar/attacks.txt"} {
		source, err := grammars.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if gs[i], err = readGrammar(string(source)); err != nil {
			return nil, err
		}
	}
	benign, attacks := gs[0], gs[1]
	for _, f := range around {
		if !slices.Contains(benign.families, f) {
			return nil, fmt.Errorf("grammar: benign.txt has no family %s", f)
		}
	}
	r := rng(7)
	joint := func() string { return joints[r.n(len(joints))] }
	filler := func() string {
		var b strings.Builder
		for range r.n(3) {
			b.WriteString(benign.sentence(around[r.n(len(around))], &r) + joint())
		}
		return b.String()
	}
	var out []*text
	add := func(g *grammar, n float64, make func(family string) string) {
		for _, family := range g.families {
			for range int(n * each) {
				s := make(family)
				out = append(out, newText("own_"+strings.ToLower(family), g == attacks, s, without))
			}
		}
	}
	add(attacks, attacksEach, func(family string) string {
		s := attacks.sentence(family, &r)
		if r.n(4) == 0 {
			s += joint() + attacks.sentence(attacks.families[r.n(len(attacks.families))], &r)
		}
		if r.n(2) == 0 {
			s = filler() + s + joint() + filler()
		}
		return s
	})
	add(benign, benignEach, func(family string) string {
		s := benign.sentence(family, &r)
		for range r.n(4) {
			s += joint() + benign.sentence(family, &r)
		}
		if r.n(3) == 0 {
			s = filler() + s + joint() + filler()
		}
		return s
	})
	return out, nil
}
