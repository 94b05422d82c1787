package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"mvdan.cc/sh/v3/syntax"
)

// A word of which nothing is known may be a word that occurs elsewhere in the call and is printed
// in a way that the walk does not follow: git push $(python3 -c 'print("--force")'). So a command
// with such a word is walked once more for each candidate in the call: words that begin with a
// dash, and hidden paths, that occur in code, in documents, or in what is printed, stored or
// named. A word that is already a flag of the command in which it stands does not count. A
// pattern may match a file that the call created with such a name: touch -- -rf; rm *.

const (
	standIns   = 8  // words that are tried one by one; the rest are tried together
	standWords = 64 // candidates per call
	standWalks = 64 // walks per call
)

// standing walks a command again for each candidate word that may stand in it.
func (rg *readings) standing(seen unsure, from int, walk func()) {
	if rg.in.rep.stopped() || rg.in.rep.steps > rg.in.rep.lim.Steps/2 {
		return
	}
	words := rg.in.candidates.heldWords()
	for len(words) > 0 && rg.in.candidates.walks < standWalks && !rg.in.rep.stopped() {
		n := 1
		if len(words) > standIns && rg.in.candidates.walks%standIns == standIns-1 {
			n = len(words)
		}
		rg.in.candidates.text = words[:n]
		words = words[n:]
		rg.in.candidates.walks++
		rg.omitting(omitsFor, seen&^named, from, len(rg.below), walk)
	}
	rg.in.candidates.text = nil
}

// standIn replaces the unknown words of a command by the words that are being tried.
func (rg *readings) standIn(mark int) {
	if rg.omits != omitsFor || len(rg.in.exp.fields) <= mark {
		return
	}
	rest := append([]field(nil), rg.in.exp.fields[mark+1:]...)
	rg.in.exp.fields = rg.in.exp.fields[:mark+1]
	for _, f := range rest {
		put := false
		for _, w := range rg.in.candidates.text {
			if f.isWhole() || w.file && f.isPattern() && matchesName(f.text, w.text) {
				rg.in.exp.push(field{data: data{w.text, f.taint}, quoted: f.quoted})
				put = true
			}
		}
		if !put || f.glob {
			rg.in.exp.push(f)
		}
	}
}

// fed notes the words that a command gets from an unknown input, and replaces them by the words
// that are being tried.
func (rg *readings) fed(mark int) {
	for i := mark; i < len(rg.in.exp.fields); i++ {
		if f := &rg.in.exp.fields[i]; i > mark && f.splits && f.text == effect.Unknown {
			f.hollow = true
			rg.doubts |= wholeUnknown
		}
	}
	rg.standIn(mark)
}

func matchesName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// mayHold reports whether a text may have words that [candidates.holdsWord] takes: it has a dash,
// or both a slash and a dot. This saves a search of long texts without any.
func mayHold(src string) bool {
	return strings.IndexByte(src, '-') >= 0 || strings.IndexByte(src, '.') >= 0 && strings.IndexByte(src, '/') >= 0
}

// heldWords returns the candidate words.
func (sd *candidates) heldWords() []heldWord {
	for ; sd.read < len(sd.files); sd.read++ {
		syntax.Walk(sd.files[sd.read], sd.holds)
	}
	return sd.words
}

// holds collects candidates from one syntax node.
func (sd *candidates) holds(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		sd.holdsArgs(n.Args)
		for _, a := range n.Assigns {
			if a.Value != nil {
				sd.holdsWord(a.Value.Lit(), false)
			}
		}
		if isFlat(n) { // the common case
			return false
		}
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if a.Name != nil && a.Value != nil {
				sd.holdsWord(a.Value.Lit(), false)
			}
		}
	case *syntax.ArrayElem:
		sd.holdsWord(n.Value.Lit(), false)
	case *syntax.WordIter:
		for _, w := range n.Items {
			sd.holdsWord(w.Lit(), false)
		}
	case *syntax.Redirect:
		if n.Word != nil && n.Op != syntax.WordHdoc {
			sd.holdsWord(path.Base(n.Word.Lit()), true)
		} else if n.Word != nil {
			sd.holdsText(n.Word.Lit())
		}
		if n.Hdoc != nil {
			for _, part := range n.Hdoc.Parts {
				if lit, ok := part.(*syntax.Lit); ok {
					sd.holdsText(lit.Value)
				}
			}
		}
	}
	return len(sd.words) < standWords
}

// isFlat reports whether a command has nothing in its words that has to be visited separately.
func isFlat(c *syntax.CallExpr) bool {
	if len(c.Assigns) > 0 {
		return false
	}
	for _, w := range c.Args {
		for _, part := range w.Parts {
			switch p := part.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
			case *syntax.ParamExp:
				if !p.Short || p.Index != nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.NestedParam != nil {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// holdsArgs collects candidates from the words of a command: from all words if the command only
// prints, stores or names them, otherwise from code and from words after --.
func (sd *candidates) holdsArgs(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	name := args[0].Lit()
	ended, keeps, makes := false, false, false
	switch name {
	case "cp", "mv", "ln", "tee", "install", "rsync":
		makes = true
	case "echo", "printf", ":", "true", "false", "test", "[", "set", "touch", "mkdir", "print":
		keeps = true
	default:
		keeps = slices.ContainsFunc(sd.in.def.funcs, func(f function) bool { return f.name == name })
	}
	makes = makes || keeps
	for _, w := range args[1:] {
		text := w.Lit()
		if text == "" {
			sd.holdsQuoted(w, keeps || ended, makes)
			continue
		}
		base := text
		if strings.IndexByte(text, '/') >= 0 {
			base = path.Base(text)
		}
		if keeps || ended || base != text && strings.HasPrefix(base, "-") {
			sd.holdsWord(text, false)
			sd.holdsWord(base, makes && (ended || base != text))
		}
		ended = ended || text == "--"
	}
}

// holdsQuoted collects candidates from the quoted parts of a word.
func (sd *candidates) holdsQuoted(w *syntax.Word, data, makes bool) {
	take := func(s string) {
		if data && len(w.Parts) == 1 {
			sd.holdsWord(s, makes)
			sd.holdsWord(path.Base(s), makes)
		}
		if data || !strings.HasPrefix(s, "-") { // a quoted flag is still a flag
			sd.holdsText(s)
		}
	}
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted:
			take(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					take(string(unescape(nil, lit.Value, inQuotes)))
				}
			}
		}
	}
}

// holdsText collects candidates from code or from a document.
func (sd *candidates) holdsText(text string) {
	const ends = " \t\r\n'\"`()[]{};,|&<>\\"
	for len(text) > 0 && len(sd.words) < standWords {
		i := strings.IndexAny(text, "-/~@")
		if i < 0 {
			return
		}
		starts := i == 0 || strings.IndexByte(ends+"/=:#", text[i-1]) >= 0
		n := strings.IndexAny(text[i:], ends)
		if n < 0 {
			n = len(text) - i
		}
		if starts {
			word := strings.TrimRight(text[i:i+n], "/")
			sd.holdsWord(word, false)
			sd.holdsWord(path.Base(word), false)
		}
		if !starts || n < 1 {
			n = 1
		}
		text = text[i+n:]
	}
}

// holdsWord adds one word to the candidates if it may change what a command does. file says that
// it may be the name of a created file.
func (sd *candidates) holdsWord(word string, file bool) {
	if len(word) < 2 || len(word) > longest || !effect.IsKnown(word) || len(sd.words) >= standWords {
		return
	}
	switch letter := strings.TrimLeft(word, "-"); {
	case word[0] == '-':
		if len(word)-len(letter) > 2 || letter == "" || !isLetter(letter[0]) {
			return
		}
	case strings.Contains(word, "/.") && strings.IndexByte("/~@", word[0]) >= 0:
		if word[0] == '~' {
			word = sd.in.fs.expandHome(word)
		}
	default:
		return
	}
	for i := range sd.words {
		if have := &sd.words[i]; have.text == word {
			have.file = have.file || file
			return
		}
	}
	sd.words = append(sd.words, heldWord{word, file})
}

const flagWalks = 48 // flags that are tried for one word

// asFlags walks a command once more with each flag that a word may be of which only the beginning
// is known: git push --$X. New effects count.
func (rg *readings) asFlags(mark int, p *grammar.Parsed, std *input, from int) {
	if rg.omits != omitsNothing || p.Program == nil || rg.in.rep.steps > rg.in.rep.lim.Steps/2 {
		return
	}
	n := len(rg.in.exp.fields)
	for i := mark + 1; i < n && !rg.in.rep.stopped(); i++ {
		f := rg.in.exp.fields[i]
		if f.text == "--" {
			return
		}
		at := strings.Index(f.text, effect.Unknown)
		if !f.hollow || at < 1 || f.text[0] != '-' || strings.Contains(f.text[:at], "=") {
			continue
		}
		for _, flag := range p.Flags(f.text[:at], flagWalks) {
			rg.in.exp.fields = append(rg.in.exp.fields, rg.in.exp.fields[mark:n]...)
			rg.in.exp.fields[n+i-mark] = field{data: data{flag, f.taint}}
			own := *std
			rg.omitting(omitsFor, 0, from, len(rg.below), func() { rg.in.programs.runProgram(n, &own, &data{}) })
			rg.in.exp.fields = rg.in.exp.fields[:n]
		}
	}
}
