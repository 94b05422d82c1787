package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// Where nothing can be parsed, a text is cut into pipelines at what separates commands. A pipeline
// that can be parsed is walked as it is. Of the others, the words, pipes and redirections are
// walked, without the brackets, expansions and keywords that could not be parsed.

// pipelines walks the pipelines of a text that no parser reads. What goes through brackets goes
// into the pipe behind them.
func (in *interp) pipelines(src string) {
	out, pipes := data{}, strings.IndexByte(src, '|') >= 0
	for src != "" && in.rep.spend() {
		var piece pipeline
		src = piece.cut(src)
		if !pipes && !piece.operates && strings.IndexByte(piece.text, '$') < 0 {
			continue // nothing but words
		}
		std := &input{unknown, true}
		if piece.piped {
			std.taint |= out.taint
		}
		var file *syntax.File
		if !piece.piped {
			file = in.parsedPiece(piece.text)
		}
		if file != nil {
			in.walkStmts(file.Stmts, std, &out)
		}
		if file != nil && strings.IndexByte(piece.text, '$') < 0 {
			continue
		}
		if file = in.parsedPiece(piece.written()); file != nil {
			in.walkStmts(file.Stmts, std, &out)
		}
	}
}

// parsedPiece returns a pipeline as it is parsed, or nil.
func (in *interp) parsedPiece(text string) *syntax.File {
	if tooDeep(text, in.rep.lim.Nesting) {
		return nil
	}
	p := pool.Get().(*parsers)
	defer pool.Put(p)
	file, _ := parseWith(p.bash, text)
	return file
}

// A pipeline is what stands between two separators of commands.
type pipeline struct {
	text     string // as it is written, without keywords before it
	piped    bool   // it reads what the one before it prints
	operates bool   // it has a pipe or a redirection
	items    []pipelineItem
}

// A pipelineItem is a word, or an operator: a pipe, or a redirection.
type pipelineItem struct {
	text     string
	operator bool
}

// cut reads the first pipeline of a text, and returns what stands behind it.
func (pl *pipeline) cut(src string) (rest string) {
	w := pieceWord{plain: true}
	end := func() {
		if w.some {
			pl.add(w.written(), false)
		}
		w = pieceWord{plain: true}
	}
	i := 0
	for ; i < len(src); i++ {
		c := src[i]
		if w.quote == 0 && w.separates(src, i) {
			break
		}
		if w.quote != 0 || strings.IndexByte(" \t|<>&", c) < 0 {
			i = w.read(src, i)
			continue
		}
		if c == ' ' || c == '\t' {
			end()
			continue
		}
		operator := pieceOperator(src[i:])
		if w.isNumber() && operator[0] != '|' && operator[0] != '&' {
			pl.add(w.text.String()+operator, true)
			w = pieceWord{plain: true}
		} else {
			end()
			pl.add(operator, true)
		}
		i += len(operator) - 1
	}
	end()
	pl.text = strings.TrimSpace(src[:i])
	pl.withoutKeywords()
	if strings.HasPrefix(src[i:], "||") {
		i++
	}
	return src[min(i+1, len(src)):]
}

// add adds an item. A keyword behind a pipe is left out: what it begins was cut apart.
func (pl *pipeline) add(text string, operator bool) {
	if n := len(pl.items); n > 0 && pl.items[n-1].text[0] == '|' && pl.items[n-1].operator && keywords[text] {
		return
	}
	pl.items = append(pl.items, pipelineItem{text, operator})
	pl.operates = pl.operates || operator
}

// withoutKeywords drops the keywords before the first command, and notes whether a pipe leads
// into it.
func (pl *pipeline) withoutKeywords() {
	for len(pl.items) > 0 && !pl.items[0].operator && keywords[pl.items[0].text] {
		pl.text = strings.TrimSpace(strings.TrimPrefix(pl.text, pl.items[0].text))
		pl.items = pl.items[1:]
	}
	for len(pl.items) > 0 && pl.items[0].operator && pl.items[0].text[0] == '|' {
		pl.piped, pl.items = true, pl.items[1:]
	}
}

// written writes the pipeline so that it can be parsed. Here-documents are left out: their lines
// are walked as commands.
func (pl *pipeline) written() string {
	var b strings.Builder
	some, pipe := false, "" // whether the command has something, and the pipe that leads to it
	for i := 0; i < len(pl.items); i++ {
		item := pl.items[i]
		text := item.text
		switch {
		case item.operator && text[0] == '|':
			if some {
				some, pipe = false, text
			}
			continue
		case item.operator:
			if i+1 >= len(pl.items) || pl.items[i+1].operator {
				continue
			}
			i++
			if strings.Contains(text, "<<") && !strings.HasSuffix(text, "<<<") {
				continue
			}
			text += " " + pl.items[i].text
		}
		if pipe != "" {
			b.WriteString(" " + pipe)
		}
		b.WriteString(" " + text)
		some, pipe = true, ""
	}
	return b.String()
}

// pieceOperators are the operators within a pipeline, the longer ones first.
var pieceOperators = []string{"&>>", "<<<", "<<-", "&>", ">&", "<&", "<>", ">>", ">|", "<<", "|&", "<", ">", "|"}

// pieceOperator returns the operator at the start of a text, which has one.
func pieceOperator(src string) string {
	for _, op := range pieceOperators {
		if strings.HasPrefix(src, op) {
			return op
		}
	}
	return src[:1]
}

// A pieceWord is a word that is being read.
type pieceWord struct {
	text        strings.Builder
	quote       byte
	some, plain bool // plain words have neither quotes nor expansions
}

// separates reports whether a separator of commands stands at index i.
func (w *pieceWord) separates(src string, i int) bool {
	next := src[i+1:]
	switch src[i] {
	case ';', '\n', '(', ')', '}', '`':
		return true
	case '{':
		return i == 0 || src[i-1] != '$'
	case '|':
		return strings.HasPrefix(next, "|")
	case '&':
		return !strings.HasPrefix(next, ">")
	}
	return false
}

// isNumber reports whether a word is the number of a descriptor.
func (w *pieceWord) isNumber() bool {
	return w.some && w.plain && strings.Trim(w.text.String(), "0123456789") == ""
}

// read reads the character at index i, or the expansion there, and returns the index of its end.
func (w *pieceWord) read(src string, i int) int {
	c := src[i]
	switch {
	case c == '\\' && w.quote != '\'' && i+1 < len(src):
		i++
		w.text.WriteByte(src[i])
		w.plain = false
	case w.quote != 0 && c == w.quote:
		w.quote = 0
	case w.quote == 0 && (c == '\'' || c == '"'):
		w.quote, w.plain = c, false
	case c == '$' && w.quote != '\'':
		w.text.WriteString(effect.Unknown)
		w.plain = false
		i = endOfName(src, i)
	default:
		w.text.WriteByte(c)
	}
	w.some = true
	return i
}

// written writes the word so that it can be parsed. A plain word may be a pattern, or name the home
// directory.
func (w *pieceWord) written() string {
	text := w.text.String()
	if w.plain && isPlain(strings.Trim(strings.ReplaceAll(text, "*", "x"), "~")) {
		return text
	}
	return quote(text)
}

// endOfName returns the index of the last character of $X or ${X}, of which the dollar sign is at
// index i.
func endOfName(src string, i int) int {
	if end := strings.IndexByte(src[i:min(len(src), i+maxName)], '}'); end > 1 && src[i+1] == '{' &&
		!strings.ContainsAny(src[i+2:i+end], "$`({;|&\n'\"") {
		return i + end
	}
	for i+1 < len(src) && (src[i+1] == '_' || isLetter(src[i+1]) || src[i+1] >= '0' && src[i+1] <= '9') {
		i++
	}
	return i
}

// maxName is how far the end of ${X} is looked for.
const maxName = 256
