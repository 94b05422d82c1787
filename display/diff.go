package display

import "strings"

// A diffLine is one line of a diff: its sign is '+', '-' or ' '.
type diffLine struct {
	sign byte
	text string
}

// maxDiff limits the work on one diff: how many pairs of lines are compared.
const maxDiff = 1 << 18

// diffOf returns all lines of two texts, those that stay only once.
func diffOf(before, after []string) (lines []diffLine) {
	add := func(sign byte, texts []string) {
		for _, t := range texts {
			lines = append(lines, diffLine{sign, t})
		}
	}
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	add(' ', before[:head])
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	if len(a)*len(b) > maxDiff {
		add('-', a)
		add('+', b)
	} else {
		lines = append(lines, common(a, b)...)
	}
	add(' ', before[len(before)-tail:])
	return lines
}

// common finds the longest common lines of two texts.
func common(a, b []string) (lines []diffLine) {
	left := make([][]int, len(a)+1) // the number of common lines from a place on
	for i := range left {
		left[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if left[i][j] = max(left[i+1][j], left[i][j+1]); a[i] == b[j] {
				left[i][j] = left[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, diffLine{' ', a[i]})
			i++
			j++
		case i < len(a) && (j == len(b) || left[i+1][j] >= left[i][j+1]):
			lines = append(lines, diffLine{'-', a[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', b[j]})
			j++
		}
	}
	return lines
}

// diffText writes masked lines. In a line that differs from one on the other side only in white
// space, that white space is marked.
func diffText(lines []diffLine) string {
	sides := map[byte]map[string]bool{'-': {}, '+': {}, ' ': {}}
	for _, l := range lines {
		sides[l.sign][unspaced(l.text)] = true
	}
	other := map[byte]byte{'-': '+', '+': '-'}
	out := make([]string, len(lines))
	for i, l := range lines {
		text := Squeeze(Visible(l.text))
		if l.sign != ' ' && sides[other[l.sign]][unspaced(l.text)] && l.text != "" {
			text = markedSpace(text)
		}
		out[i] = string(l.sign) + text
	}
	return strings.Join(out, "\n")
}

// unspaced returns a line without its white space.
func unspaced(line string) string { return strings.Join(strings.Fields(line), "") }

// markedSpace marks each tab of a line, and the spaces at its end.
func markedSpace(line string) string {
	line = strings.ReplaceAll(line, "\t", "⟨U+0009⟩")
	body := strings.TrimRight(line, " ")
	return body + strings.Repeat("⟨U+0020⟩", len(line)-len(body))
}

// A filePatch is what a patch does to one file.
type filePatch struct {
	does, path, to string
	hunks          []hunk
}

// A hunk is a stretch of changed lines.
type hunk struct {
	at    string // the line that says where it is, without its @@
	lines []string
	end   bool // it is at the end of the file
}

// patchOf reads a patch in the form of Codex. ok is false if the same text could not be written
// from what was read.
func patchOf(text string) (files []filePatch, ok bool) {
	inner, ok := strings.CutPrefix(text, "*** Begin Patch\n")
	inner, after, found := strings.Cut(inner, "*** End Patch")
	if !ok || !found || after != "" && after != "\n" || inner != "" && !strings.HasSuffix(inner, "\n") {
		return nil, false
	}
	var file *filePatch
	for line := range strings.SplitSeq(strings.TrimSuffix(inner, "\n"), "\n") {
		if does, path, is := patchHeader(line); is {
			files = append(files, filePatch{does: does, path: path})
			file = &files[len(files)-1]
			continue
		}
		if file == nil || !file.read(line) {
			return nil, false
		}
	}
	return files, len(files) > 0
}

// patchHeader reads a line such as "*** Update File: main.go".
func patchHeader(line string) (does, path string, ok bool) {
	for _, does := range []string{"Add", "Delete", "Update"} {
		if path, ok := strings.CutPrefix(line, "*** "+does+" File: "); ok && strings.TrimSpace(path) == path && path != "" {
			return does, path, true
		}
	}
	return "", "", false
}

// read reads one more line about the file.
func (f *filePatch) read(line string) bool {
	last := len(f.hunks) - 1
	to, moves := strings.CutPrefix(line, "*** Move to: ")
	at, begins := strings.CutPrefix(line, "@@")
	switch {
	case f.does == "Delete":
		return false
	case moves:
		f.to = to
		return f.does == "Update" && last < 0 && to != "" && strings.TrimSpace(to) == to
	case begins:
		f.hunks = append(f.hunks, hunk{at: at})
		return f.does == "Update" && (at == "" || strings.HasPrefix(at, " ") && strings.TrimSpace(at) == at[1:])
	case last >= 0 && f.hunks[last].end:
		return false
	case line == "*** End of File":
		if last >= 0 {
			f.hunks[last].end = true
		}
		return f.does == "Update" && last >= 0
	case line == "" || strings.IndexByte("+- ", line[0]) < 0 || f.does == "Add" && line[0] != '+':
		return false
	case last < 0 && f.does == "Update":
		return false
	case last < 0:
		f.hunks = append(f.hunks, hunk{})
		last = 0
	}
	f.hunks[last].lines = append(f.hunks[last].lines, line)
	return true
}

// Changed shows what is different in a text.
func Changed(label, before, after string) Block {
	lines := func(s string) []string { return strings.Split(Mask(s), "\n") }
	return Block{Kind: Diff, Label: label, Text: diffText(diffOf(lines(before), lines(after)))}
}
