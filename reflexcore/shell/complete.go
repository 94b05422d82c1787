package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// jobs lists; with -x it runs a command, in which only the numbers of jobs are replaced.
func (bc builtinCall) jobs() {
	from, runs := bc.mark+1, false
	for from < len(bc.in.exp.fields) && strings.HasPrefix(bc.in.exp.fields[from].text, "-") {
		runs = runs || strings.Contains(bc.in.exp.fields[from].text, "x")
		from++
	}
	if runs && from < len(bc.in.exp.fields) {
		bc.in.runAgain(from, bc.std, bc.sink)
	}
}

// compgen prints what could follow, tokens and all. It expands the words of -W, and runs
// the command of -C and the function of -F.
func (bc builtinCall) compgen() {
	args := bc.in.exp.fields[bc.mark+1:]
	for i, f := range args {
		if len(f.text) < 2 || f.text[0] != '-' {
			continue
		}
		at := strings.IndexAny(f.text, "WCF")
		if at < 0 {
			continue
		}
		value := data{f.text[at+1:], f.taint}
		if value.text == "" && i+1 < len(args) {
			value = args[i+1].data
		}
		if f.text[at] == 'W' {
			bc.in.exp.hidden(value.text)
			continue
		}
		bc.in.payloads.sub(value, "compgen", &input{}, nil)
	}
	bc.environs()
}

// readLetters takes a line from the input, or as many letters as read -n says.
func (lr *lineReader) readLetters(std *input, delimiter string, most *string, raw bool) data {
	if most == nil {
		return lr.readLine(std, delimiter)
	}
	whole := std.text
	line := lr.readLine(std, delimiter)
	n, err := strconv.Atoi(*most)
	switch {
	case !std.present || !line.known() || line.text == "":
		return line
	case err != nil || n < 0 || !raw && strings.Contains(line.text, `\`):
		return data{effect.Unknown, line.taint}
	}
	for i := range line.text {
		if n == 0 {
			std.text = whole[i:]
			return data{line.text[:i], line.taint}
		}
		n--
	}
	return line
}

// A cutting says how mapfile cuts its input.
type cutting struct {
	delimiter, most, skips string
	trims                  bool
}

// cut returns the pieces, unless it is not known how many they are.
func (c cutting) cut(text string) (pieces []string, ok bool) {
	most, err := strconv.Atoi("0" + c.most)
	skips, also := strconv.Atoi("0" + c.skips)
	if err != nil || also != nil {
		return nil, false
	}
	delimiter := "\x00"
	if c.delimiter != "" {
		delimiter = c.delimiter[:1]
	}
	for text != "" && (most == 0 || len(pieces) < most) {
		piece, rest, found := strings.Cut(text, delimiter)
		if text = rest; skips > 0 {
			skips--
			continue
		}
		if found && !c.trims && delimiter != "\n" {
			piece += delimiter
		}
		pieces = append(pieces, piece)
	}
	return pieces, true
}
