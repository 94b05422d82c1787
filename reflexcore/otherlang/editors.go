package otherlang

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// editorWrites are the commands of vi and vim that write the file that they name.
var editorWrites = wordset.Of("w wr wri writ write wq x xit exit up update sav save saveas wn wnext wp wprevious " +
	"mks mksession mkvimrc mkexrc mkv mkvi mkview redi redir wundo wviminfo mkspell W")

// ranges are what may stand before a command of an editor.
const ranges = ":0123456789,;$%.+-*'<>^ \t"

// editor finds the files that commands of vi, vim and ed write, one command a line. Lines of text
// that are put in are none.
func (f *finder) editor() {
	inserts := false
	for line := range f.lines() {
		switch {
		case inserts:
			inserts = line != "."
			continue
		case f.src != line && isInsertion(line):
			inserts = true
			continue
		}
		for command := range strings.SplitSeq(line, "|") {
			f.editorCommand(strings.TrimSpace(command))
		}
	}
}

// enters turns the ways to write the key Enter into line ends.
var enters = strings.NewReplacer(`\<CR>`, "\n", `\<cr>`, "\n", "^M", "\n", "\r", "\n")

// isInsertion reports whether the lines that follow, up to a dot, are text.
func isInsertion(line string) bool {
	switch strings.TrimLeft(line, ranges) {
	case "a", "i", "c", "a!", "i!", "append", "insert", "change":
		return true
	}
	return false
}

// editorCommand finds what one command writes.
func (f *finder) editorCommand(line string) {
	line = afterPatterns(strings.TrimLeft(line, ranges))
	end := 0
	for end < len(line) && isWord(line[end]) {
		end++
	}
	word, rest := line[:end], strings.TrimSpace(strings.TrimPrefix(line[end:], "!"))
	switch word {
	case "sil", "silent", "keepalt", "noautocmd", "noa", "keepjumps", "confirm", "conf", "lockmarks", "unsilent",
		"sandbox":
		f.editorCommand(rest)
		return
	case "exe", "exec", "execute":
		f.editorCommand(text(rest))
		return
	case "norm", "normal", "call", "feedkeys":
		if _, typed, ok := strings.Cut(rest, ":"); ok && word != "call" {
			f.editorCommand(firstLine(enters.Replace(typed)))
		}
		return
	}
	if f.editorRuns(word, rest) || !editorWrites[word] || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "(") {
		return
	}
	bits := effect.Bits(0)
	if strings.HasPrefix(rest, ">>") {
		bits = effect.Append
	}
	file := strings.TrimSpace(strings.TrimLeft(rest, ">"))
	for strings.HasPrefix(file, "++") { // ++enc=latin1
		_, file, _ = strings.Cut(file, " ")
		file = strings.TrimSpace(file)
	}
	if file == "" || file[0] == '!' || file[0] == '%' && !strings.ContainsAny(file, "/$") || file[0] == '@' ||
		strings.HasPrefix(file, "=>") {
		return // the file that is open, a program, a file beside it, or a register
	}
	if file = strings.Replace(file, "$HOME", "~", 1); strings.ContainsAny(file, "$`%") {
		file = effect.Unknown
	}
	e := effect.Effect{Kind: effect.Write, Target: file, Bits: bits | partial(file), By: ":" + word}
	f.found(shell.Found{Effect: e, Content: effect.Unknown})
}

// editorRuns finds a file that a command reads or runs, or a shell command. It is false if the
// command does neither.
func (f *finder) editorRuns(word, rest string) bool {
	file := rest
	for strings.HasPrefix(file, "++") {
		_, file, _ = strings.Cut(file, " ")
	}
	if file == "" && opensShell[word] {
		f.shell("sh")
		return true
	}
	if file == "" || file[0] == '!' || file[0] == '%' {
		return false
	}
	switch word {
	case "r", "re", "rea", "read", "e", "E", "ed", "edi", "edit":
		f.found(shell.Found{Effect: effect.Effect{Kind: effect.Read, Target: file, By: ":" + word}})
	case "te", "ter", "term", "terminal":
		f.shell(file)
	case "so", "sou", "sour", "source", "ru", "runtime":
		f.found(shell.Found{Argv: []string{"vim", "-S", file}})
	case "luafile", "luaf":
		f.found(shell.Found{Argv: []string{"lua", file}})
	case "pyfile", "pyf", "py3file", "py3f", "pyxfile", "pyxf":
		f.found(shell.Found{Argv: []string{"python3", file}})
	case "rubyfile", "rubyf":
		f.found(shell.Found{Argv: []string{"ruby", file}})
	default:
		return false
	}
	return true
}

// opensShell are the commands that open a shell, where nothing follows.
var opensShell = wordset.Of("sh she shel shell te ter term terminal")

// isForced reports whether a ! that follows a text belongs to the command before it, as in w! and
// q!. Those that read take a program there.
func isForced(before string) bool {
	start := len(before)
	for start > 0 && isWord(before[start-1]) && (before[start-1] < '0' || before[start-1] > '9') {
		start--
	}
	switch before[start:] {
	case "", "r", "re", "rea", "read":
		return false
	}
	return start == 0 || before[start-1] != '\'' // the mark of a range
}

// afterPatterns is a command without a range of patterns or a global command before it:
// /a/,/b/w x and g/a/w x.
func afterPatterns(line string) string {
	for range 4 {
		start := strings.TrimLeft(line, ranges)
		for _, g := range [...]string{"g", "v", "global", "vglobal"} {
			if rest, ok := strings.CutPrefix(start, g+"/"); ok {
				start = "/" + rest
			}
		}
		if start == "" || start[0] != '/' && start[0] != '?' {
			return start
		}
		end := strings.IndexByte(start[1:], start[0])
		if end < 0 {
			return start
		}
		line = start[end+2:]
	}
	return line
}
