package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// echo prints its words. It decodes escapes if -e says so, or if the shell may be one that needs
// no -e.
func (bc builtinCall) echo() {
	if bc.sink == nil {
		return
	}
	args := bc.in.exp.fields[bc.mark+1:]
	escapes, newline := false, true
	words := args
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0].text, "e")
		newline = newline && !strings.Contains(args[0].text, "n")
		args = args[1:]
	}
	buf, taint := []byte(nil), effect.Taint(0)
	says := slices.ContainsFunc(words[:len(words)-len(args)], func(f field) bool { return strings.Contains(f.text, "E") })
	undecided := !escapes && !says && slices.ContainsFunc(args, isEscaped) // with -E, backslashes are literal
	if undecided && bc.in.alt.shared && bc.in.alt.choose {
		escapes, undecided = bc.in.alt.pick("echo", 2) == 0, false // the reading of bash comes last, and stays
	}
	for i, f := range args {
		if i > 0 {
			buf = append(buf, ' ')
		}
		if escapes {
			taint |= spelled(f.text)
			stopped := false
			if buf, stopped = ansiC(buf, f.text, true); stopped {
				newline = false
				break
			}
		} else {
			buf = append(buf, f.text...)
		}
		taint |= f.taint
	}
	if newline {
		buf = append(buf, '\n')
	}
	if bc.in.rep.made(len(buf)) {
		bc.sink.add(data{string(buf), taint})
		if undecided && !escapes {
			bc.in.echoes.echoed(string(buf))
		}
	}
}

// printf formats its arguments. What it cannot format is unknown.
func (bc builtinCall) printf() {
	args := bc.in.exp.fields[bc.mark+1:]
	into := ""
	if len(args) > 1 && args[0].text == "-v" {
		bc.in.math.injected(args[1].data)
		into, args = args[1].text, args[2:]
	}
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || bc.sink == nil && into == "" {
		return
	}
	d := bc.in.format(args[0].text, args[1:])
	d.taint |= args[0].taint | spelled(args[0].text)
	if strings.Contains(args[0].text, "%b") {
		for _, f := range args[1:] {
			d.taint |= spelled(f.text)
		}
	}
	if into != "" {
		bc.in.assigner.setVariable(into, d)
		bc.in.env.affects(into, d)
		return
	}
	bc.sink.add(d)
}

func (in *interp) format(format string, args []field) data {
	var buf []byte
	var taint effect.Taint
	for round := 0; ; round++ {
		used := 0
		next := func() string {
			if used < len(args) {
				used++
				taint |= args[used-1].taint
				return args[used-1].text
			}
			return ""
		}
		for i := 0; i < len(format); i++ {
			if format[i] == '\\' {
				end := i + 2
				for end < len(format) && end < i+10 && isEscape(format[i:end+1]) {
					end++
				}
				end = min(end, len(format))
				buf, _ = ansiC(buf, format[i:end], false)
				i = end - 1
				continue
			}
			if format[i] != '%' || i+1 == len(format) {
				buf = append(buf, format[i])
				continue
			}
			start := i
			for i++; i < len(format) && strings.IndexByte("#0- +'.123456789", format[i]) >= 0; i++ {
			}
			if i == len(format) {
				break
			}
			buf = verb(buf, format[start:i], format[i], next)
		}
		args = args[used:]
		if len(args) == 0 || used == 0 || !in.rep.made(len(buf)) || round > in.rep.lim.Fields {
			in.rep.made(len(buf))
			return data{string(buf), taint}
		}
	}
}

// isEscape reports whether a text is a prefix of one numeric escape, or a complete one.
func isEscape(s string) bool {
	if len(s) < 3 {
		return true
	}
	digits, base, most := s[2:], 16, 2
	switch s[1] {
	case 'x':
	case 'u':
		most = 4
	case 'U':
		most = 8
	default:
		digits, base, most = s[1:], 8, 3
	}
	_, used := number(digits, base, most)
	return used == len(digits)
}

// verb formats one argument by a verb and its flags.
func verb(buf []byte, flags string, verb byte, next func() string) []byte {
	switch verb {
	case '%':
		return append(buf, '%')
	case 's', 'b', 'q':
		text := next()
		if verb == 'b' {
			decoded, _ := ansiC(nil, text, true)
			text = string(decoded)
		}
		if _, precision, ok := strings.Cut(flags, "."); ok {
			if n, err := strconv.Atoi(precision); err == nil && n >= 0 && n < len(text) {
				text = text[:n]
			}
		}
		return append(buf, padWord(text, flags)...)
	case 'c':
		if text := next(); text != "" {
			return append(buf, text[0])
		}
		return buf
	case 'd', 'i', 'u', 'x', 'X', 'o':
		text := next()
		n, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64)
		if len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
			n, err = int64(text[1]), nil
		}
		if text == "" {
			n, err = 0, nil
		}
		if err != nil {
			return append(buf, effect.Unknown...)
		}
		form := map[byte]string{'x': "%x", 'X': "%X", 'o': "%o"}[verb]
		return append(buf, padWord(fmt.Sprintf(cmp.Or(form, "%d"), n), flags)...)
	}
	next()
	return append(buf, effect.Unknown...)
}

// padWord pads a text to the width in the flags of a verb. Widths above 4096 are ignored.
func padWord(text, flags string) string {
	flags, _, _ = strings.Cut(flags[1:], ".")
	digits := strings.TrimLeft(flags, "#- +'0")
	width, err := strconv.Atoi(digits)
	if err != nil || width <= len(text) || width > 4096 {
		return text
	}
	switch {
	case strings.Contains(flags, "-"):
		return text + strings.Repeat(" ", width-len(text))
	case strings.HasPrefix(flags, "0"):
		return strings.Repeat("0", width-len(text)) + text
	}
	return strings.Repeat(" ", width-len(text)) + text
}

// Whether echo decodes backslash escapes depends on the shell: dash and zsh do, and bash does
// with xpg_echo. The text need not show which shell runs it, nor how it is configured. So both
// outputs are possible.

// isEscaped reports whether decoding backslash escapes changes a word of echo.
func isEscaped(f field) bool {
	return strings.IndexByte(f.text, '\\') >= 0 && decoded(f.text) != f.text
}

// decoded returns a text with its backslash escapes decoded.
func decoded(text string) string {
	out, _ := ansiC(nil, text, true)
	return string(out)
}

// echoed keeps a text that echo printed, and that another shell would print differently.
func (el *echoLog) echoed(text string) {
	text = strings.TrimRight(text, "\n")
	if len(el.list) < mostEchoes && !slices.Contains(el.list, text) {
		el.list = append(el.list, text)
	}
}

// spoken returns a text in which the kept outputs of echo are replaced by what another shell
// would have printed. ok is false if the text contains none of them.
func (el *echoLog) spoken(text string) (other string, ok bool) {
	for _, e := range el.list {
		if strings.Contains(text, e) && el.rep.made(len(text)) {
			text, ok = strings.ReplaceAll(text, e, decoded(e)), true
		}
	}
	return text, ok
}

// eitherSpoken returns one of the two texts, if they differ.
func (el *echoLog) eitherSpoken(d data) data {
	if len(el.list) == 0 || !el.alt.choose {
		return d
	}
	if other, ok := el.spoken(d.text); ok && el.alt.pick("echo "+d.text, 2) == 1 {
		return data{other, d.taint | spelled(d.text)}
	}
	return d
}

// mostEchoes is how many outputs of echo are kept.
const mostEchoes = 16
