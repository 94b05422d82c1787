package otherlang

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// A writeCall is a function that writes a file. Its file is an argument, counted from 0; -1 is the
// last one.
type writeCall struct {
	name string
	file int
	key  string // the file may also be an argument of this name
	when string // it only writes with one of these words in the call, apart by |
}

// writeCalls are the functions that write files, by language. A name with a bracket is written with
// it, of the others a bracket, an exclamation mark or a blank may follow.
var writeCalls = map[string][]writeCall{
	"vim": {{name: "writefile(", file: 1}, {name: "rename(", file: 1}, {name: "filecopy(", file: 1},
		{name: "io.open(", when: `"w|'w|"a|'a|+`}},
	"elisp": {{name: "(write-region ", file: 2}, {name: "(append-to-file ", file: 2}, {name: "(write-file "},
		{name: "(with-temp-file "}, {name: "(copy-file ", file: 1}, {name: "(rename-file ", file: 1},
		{name: "(make-symbolic-link ", file: 1}, {name: "(add-name-to-file ", file: 1}, {name: "(set-visited-file-name "},
		{name: "(find-file "}, {name: "(find-file-noselect "}, {name: "(url-copy-file ", file: 1}},
	"r": {{name: "writeLines", file: 1, key: "con"}, {name: "cat", file: -2, key: "file"},
		{name: "write", file: 1, key: "file"}, {name: "write.table", file: 1, key: "file"},
		{name: "write.csv", file: 1, key: "file"}, {name: "write_file", file: 1, key: "file"},
		{name: "write_lines", file: 1, key: "file"}, {name: "saveRDS", file: 1, key: "file"},
		{name: "save", file: -2, key: "file"}, {name: "dump", file: 1, key: "file"}, {name: "dput", file: 1, key: "file"},
		{name: "sink", key: "file"}, {name: "file.copy", file: 1, key: "to"}, {name: "file.rename", file: 1, key: "to"},
		{name: "file.symlink", file: 1, key: "to"}, {name: "file.link", file: 1, key: "to"},
		{name: "file.append", key: "file1"}, {name: "file.create"}, {name: "writeBin", file: 1, key: "con"},
		{name: "writeChar", file: 1, key: "con"}, {name: "download.file", file: 1, key: "destfile"},
		{name: "file", when: `"w|'w|"a|'a|+`}, {name: "gzfile", when: `"w|'w|"a|'a`}},
	"julia": {{name: "write"}, {name: "open", when: `"w|"a|+|write|append`}, {name: "cp", file: 1},
		{name: "mv", file: 1}, {name: "symlink", file: 1}, {name: "hardlink", file: 1}, {name: "touch"},
		{name: "download", file: 1}, {name: "serialize"}},
	"erlang": {{name: "File.write"}, {name: "File.touch"}, {name: "File.cp", file: 1}, {name: "File.cp_r", file: 1},
		{name: "File.copy", file: 1}, {name: "File.rename", file: 1}, {name: "File.ln_s", file: 1},
		{name: "File.ln", file: 1}, {name: "File.open", when: "write|append"}, {name: "File.stream"},
		{name: "file:write_file"}, {name: ":file.write_file"}, {name: "file:copy", file: 1},
		{name: ":file.copy", file: 1}, {name: "file:rename", file: 1}, {name: "file:make_symlink", file: 1},
		{name: "file:open", when: "write|append"}},
	"haskell": {{name: "writeFile"}, {name: "appendFile"}, {name: "copyFile", file: 1}, {name: "renameFile", file: 1},
		{name: "withFile", when: "Write|Append"}, {name: "openFile", when: "Write|Append"},
		{name: "createFileLink", file: 1}},
	"tcl": {{name: "open", when: " w| a|+"}, {name: "file copy", file: -1}, {name: "file rename", file: -1},
		{name: "file link", file: -2}},
	"gnuplot": {{name: "set output"}, {name: "set out"}, {name: "save"}, {name: "set print"}, {name: "set table"}},
	"gdb": {{name: "dump memory"}, {name: "dump binary memory"}, {name: "dump value"}, {name: "dump binary value"},
		{name: "append memory"}, {name: "append binary memory"}, {name: "set logging file"},
		{name: "generate-core-file"}, {name: "gcore"}, {name: "save breakpoints"}},
	"scheme": lispWrites,
	"other": append([]writeCall{
		{name: "Files.write"}, {name: "Files.writeString"}, {name: "Files.copy", file: 1}, {name: "Files.move", file: 1},
		{name: "Files.newBufferedWriter"}, {name: "Files.newOutputStream"}, {name: "Files.createSymbolicLink"},
		{name: "FileWriter"}, {name: "FileOutputStream"}, {name: "PrintWriter"}, {name: "PrintStream"},
		{name: "RandomAccessFile"}, {name: "os.write"}, {name: "os.write.over"}, {name: "os.write.append"},
		{name: "write", file: -2, key: "toFile"}, {name: "createFile", file: -2, key: "atPath"},
		{name: "copyItem", file: -2, key: "toPath"}, {name: "moveItem", file: -2, key: "toPath"},
		{name: "File.WriteAllText"}, {name: "File.WriteAllLines"}, {name: "File.AppendAllText"},
		{name: "File.WriteAllBytes"}, {name: "File.Copy", file: 1}, {name: "File.Move", file: 1},
		{name: "File.write"}, {name: "File.rename", file: 1}, {name: "File.symlink", file: 1}, {name: "writeFile"},
		{name: "copyFile", file: 1}, {name: "moveFile", file: 1}, {name: "open_out"}, {name: "open_out_gen", file: 2},
		{name: "fopen", when: `"w|"a|'w|'a|+`}, {name: "csvwrite"}, {name: "dlmwrite"}, {name: "save"},
		{name: "tell"}, {name: "copyfile", file: 1}, {name: "movefile", file: 1},
		{name: "open", when: "write|append|'w|\"w|'a|\"a"},
		// A file is an object, and something is written into it.
		{name: "File", when: writesObject}, {name: "Path.of", when: writesObject}, {name: "Paths.get", when: writesObject},
	}, lispWrites...),
}

// lispWrites are the functions of Lisp, Scheme, Racket and Clojure.
var lispWrites = []writeCall{{name: "(spit "}, {name: "(call-with-output-file "}, {name: "(call-with-output-file* "},
	{name: "(with-output-to-file "}, {name: "(open-output-file "}, {name: "(display-to-file ", file: 1},
	{name: "(write-to-file ", file: 1}, {name: "(display-lines-to-file ", file: 1}, {name: "(copy-file ", file: 1},
	{name: "(rename-file ", file: 1}, {name: "(symlink ", file: 1}, {name: "(open-file ", when: `"w|"a|+`},
	{name: "(open ", when: ":output|:io"}, {name: "(with-open-file ", file: -3, when: ":output|:io"},
	{name: "(io/copy ", file: 1}, {name: "(io/writer "}, {name: "(clojure.java.io/writer "}, {name: "(writer "}}

// writesObject are signs that a file that is an object is written.
const writesObject = ".text=|.bytes=|.write|.append|.leftShift|<<|.withWriter|.withPrintWriter|.withOutputStream|" +
	".newWriter|.printWriter|.bufferedWriter|.outputStream|.newOutputStream|.writeText|.appendText|.writeBytes|" +
	".renameTo|.copyTo|.setText|.setBytes|Files.write|Files.copy|Files.move"

// writes finds calls that write files.
func (f *finder) writes() {
	for _, call := range writeCalls[f.lang] {
		for after := range afterEach(f.src, call.name) {
			if f.stopped {
				return
			}
			if isLongerName(f.src[:len(f.src)-len(after)-len(call.name)], call.name) {
				continue
			}
			if file, ok := call.target(after); ok {
				f.found(shell.Found{Effect: effect.Effect{Kind: effect.Write, Target: file, Bits: partial(file),
					By: strings.Trim(call.name, "( ")}, Content: effect.Unknown})
			}
		}
	}
}

func partial(file string) effect.Bits {
	if effect.IsKnown(file) {
		return 0
	}
	return effect.Partial
}

// target returns the file that a call writes, by the text after its name. It is false if the call
// writes no file.
func (c writeCall) target(after string) (string, bool) {
	if c.name[len(c.name)-1] != ' ' && c.name[len(c.name)-1] != '(' {
		after = strings.TrimPrefix(after, "!")
		if after == "" || strings.IndexByte("( \t", after[0]) < 0 {
			return "", false
		}
		after = strings.TrimPrefix(strings.TrimLeft(after, " \t"), "(")
	}
	if c.when != "" && !c.happens(after) {
		return "", false
	}
	args := arguments(after)
	if c.key != "" {
		for _, arg := range args {
			name, value, ok := strings.Cut(arg, "=")
			if !ok {
				name, value, ok = strings.Cut(arg, ":")
			}
			if ok && strings.TrimSpace(name) == c.key {
				return text(value), true
			}
		}
	}
	at := c.file
	switch at {
	case -1:
		at = len(args) - 1
	case -3: // (with-open-file (s FILE …
		args, at = arguments(strings.TrimLeft(strings.Join(args, " "), " (")), 1
	}
	if at < 0 || at >= len(args) || isNamed(args[at]) {
		return "", false
	}
	return text(args[at]), true
}

// happens reports whether a call has one of the words with which it writes, or is followed by one.
func (c writeCall) happens(after string) bool {
	line := firstLine(after)
	if c.when == writesObject {
		line = strings.ReplaceAll(after, " ", "")
	}
	return slices.ContainsFunc(strings.Split(c.when, "|"), func(sign string) bool { return strings.Contains(line, sign) })
}

// isNamed reports whether an argument has a name, as in f(append=TRUE).
func isNamed(arg string) bool {
	name, _, ok := strings.Cut(arg, "=")
	name = strings.TrimSpace(name)
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._") == ""
}

// arguments splits the text behind a call's name into its arguments: at commas, or at blanks if
// there are no commas.
func arguments(after string) []string {
	if args := splitArguments(after, ','); len(args) > 1 {
		return args
	}
	return splitArguments(after, ' ')
}

// splitArguments splits at a separator outside of texts and brackets, up to the closing bracket.
func splitArguments(s string, sep byte) (out []string) {
	depth, from := 0, 0
	add := func(to int) {
		if arg := strings.TrimSpace(s[from:to]); arg != "" {
			out = append(out, arg)
		}
		from = to + 1
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'':
			end := endOfText(s, i)
			if end < 0 {
				if c == '\'' { // a quoted symbol, as Lisp has
					continue
				}
				add(len(s))
				return out
			}
			i = end
		case '(', '[', '{':
			depth++
		case ')', ']', '}', ';', '\n':
			if c != ';' && c != '\n' {
				depth--
			}
			if depth < 0 || depth == 0 && (c == ';' || c == '\n' && sep == ',') {
				add(i)
				return out
			}
		case sep:
			if depth == 0 {
				add(i)
			}
		}
	}
	add(len(s))
	return out
}

// endOfText returns where the text in quotes ends that begins at a place, or -1.
func endOfText(s string, at int) int {
	for i := at + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[at]:
			return i
		}
	}
	return -1
}

// homes are ways to say where the home folder is.
var homes = []string{`Sys.getenv("HOME")`, `System.getenv("HOME")`, `(System/getenv "HOME")`, `(getenv "HOME")`,
	`System.get_env("HOME")`, `os:getenv("HOME")`, `ENV["HOME"]`, `ENV['HOME']`, `homedir()`, `System.user_home!()`,
	`System.user_home!`, `System.user_home()`, `(System/getProperty "user.home")`, `System.getProperty("user.home")`,
	`NSHomeDirectory()`, `$::env(HOME)`, `$env(HOME)`, `os.home`, `getenv("HOME")`, `path.expand("~")`, `$HOME`,
	`expand("~")`, `(user-homedir-pathname)`, `(find-system-path 'home-dir)`}

// joiners are functions and operators that put texts together, or keep a file's name.
var joiners = []string{"concat", "str", "string", "paste0", "string-append", "expand", "fnamemodify",
	"expand-file-name", "path.expand", "Path.expand", "expanduser", "normalizePath", "joinpath", "file.path",
	"Path.join", "Path.of", "Paths.get",
	"java.nio.file.Path.of", "java.nio.file.Paths.get", "java.io.File", "File", "new", "file", "io/file", "os.Path",
	"URL", "fileURLWithPath", "build-path", "string*", "fs_path", "strcat", "format", "clojure.java.io/file", "Text",
	"to_charlist", "pathname", "get", "as.character", "noquote", "identity", "Path"}

// text computes an argument that is made of texts. What is no text and puts none together is
// unknown.
func text(arg string) string {
	var b strings.Builder
	folders := strings.Contains(arg, "joinpath") || strings.Contains(arg, "file.path") ||
		strings.Contains(arg, "Path.join") || strings.Contains(arg, "build-path")
	for s := strings.TrimSpace(arg); s != ""; {
		if home := prefixOf(s, homes); home != "" {
			b.WriteByte('~')
			s = s[len(home):]
			continue
		}
		switch c := s[0]; {
		case c == '"' || c == '\'':
			end := endOfText(s, 0)
			if end < 0 {
				return effect.Unknown
			}
			part := s[1:end]
			if strings.Contains(part, "#{") || strings.Contains(part, "$(") {
				part = effect.Unknown
			}
			if folders && b.Len() > 0 && !strings.HasPrefix(part, "/") {
				b.WriteByte('/')
			}
			b.WriteString(part)
			s = s[end+1:]
		case isWord(c) || c == '$' || c == '/' && b.Len() == 0 || c == '~':
			end := strings.IndexAny(s, " \t\n()\"',+<>")
			if end < 0 {
				end = len(s)
			}
			b.WriteString(named(s[:end]))
			s = s[end:]
		default: // an operator or a bracket
			s = s[1:]
		}
	}
	if b.Len() == 0 {
		return effect.Unknown
	}
	return b.String()
}

// named is the text of a word without quotes: nothing if it puts texts together, itself if it is a
// path, as in Tcl.
func named(word string) string {
	switch {
	case slices.Contains(joiners, word):
		return ""
	case strings.ContainsAny(word, "/~") && !strings.Contains(word, "$"):
		return word
	}
	return effect.Unknown
}

func prefixOf(s string, list []string) string {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}
