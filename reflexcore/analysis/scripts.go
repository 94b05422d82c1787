package analysis

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file reads what runs of files whose names do not say so. A script is judged when it is written, by its
// name: run.sh. Nobody looked at notes.txt as code, nor at the steps of a Dockerfile as commands of this machine;
// when a shell gets one of them, or it is copied to a name of a script, it is read.

const (
	maxScripts     = 8 // of a call
	maxScriptBytes = 64 << 10
)

// ReadScripts reads the files that an interpreter runs, or that are copied to the name of a script, although they
// were not read as code of its language when they were written.
func (a *Call) ReadScripts(place shell.Context) {
	n, left := 0, maxScriptBytes
	for i := range len(a.Effects) {
		e := &a.Effects[i]
		if e.Bits&(effect.Later|effect.Remote) != 0 {
			continue
		}
		p := effect.Payload{Why: "a script with another name"}
		var files []string
		switch e.Kind {
		case effect.Exec:
			p.Lang, files = a.runs(e)
		case effect.Write:
			if p.Lang = content.Classify(e.Target).Lang; e.Taint&effect.File != 0 && effect.IsPlain(e.Target) {
				p.Path, p.Later, files = e.Target, true, a.readFiles()
			}
		default:
		}
		for _, file := range files {
			if p.Lang == "" || a.wasRead(file, p.Lang) {
				continue
			}
			if n++; n <= maxScripts {
				left -= a.readScript(file, p, place, left)
			}
		}
	}
}

// runs returns the language in which an effect runs files, and the files. It is that of the interpreter, the shell's
// for a file that is a command by itself, and that of the code that loads the file. The language is empty if it is
// not known.
func (a *Call) runs(e *effect.Effect) (lang string, files []string) {
	program := e.Program()
	switch {
	case wordset.Has("source .", program):
		lang = effect.Shell
	case path.Base(program) == path.Base(e.Target):
		lang = itself
	case wordset.Has("make gmake", program):
		lang = makefile
	default:
		lang = content.Interpreter(program)
	}
	if lang == "" { // code says by what it runs something, such as load
		lang = languageOf(a.Text)
	}
	switch {
	case e.Taint&effect.File != 0 && (!effect.IsKnown(e.Target) || strings.HasSuffix(e.Target, " code")): // its input
		return lang, a.readFiles()
	case !effect.IsPlain(e.Target):
		return lang, nil
	case path.IsAbs(e.Target):
		return lang, []string{e.Target}
	case strings.Contains(e.Target, "."):
		return lang, []string{path.Join(a.ToolCall.Dir, e.Target)}
	}
	return lang, nil
}

// languageOf returns the language of the first word of a text that is an interpreter's name and no shell's.
func languageOf(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()`\"'", r) }) {
		if lang := content.Interpreter(word); lang != "" && lang != effect.Shell {
			return lang
		}
	}
	return ""
}

const (
	makefile = "make"   // stands for the language of make
	itself   = "itself" // stands for the one that the first line of a file says
)

// wasRead reports whether a file is read as code of a language when it is written, by its name and by the name of
// what it leads to, or is one of the system's.
func (a *Call) wasRead(file, lang string) bool {
	real, seen := a.Links.Real(a.Analyzer.Files, file)
	if seen && a.Around.Path(real, &effect.Effect{Kind: effect.Exec, Target: real})&places.System != 0 {
		return true
	}
	return seen && isNamed(file, lang) && (real == file || isNamed(real, lang))
}

func isNamed(file, lang string) bool {
	switch lang {
	case makefile:
		base := strings.ToLower(path.Base(file))
		return strings.Contains(base, "makefile") || path.Ext(base) == ".mk"
	case itself:
		return content.Classify(file).Lang != ""
	}
	return content.Classify(file).Lang == lang
}

// readFiles returns the files that a call reads.
func (a *Call) readFiles() (files []string) {
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind == effect.Read && e.Bits&(effect.Later|effect.Remote|effect.Recursive) == 0 && path.IsAbs(e.Target) &&
			effect.IsPlain(e.Target) {
			files = append(files, e.Target)
		}
	}
	return files
}

// readScript reads a file as a payload, if it has at most a number of bytes, and returns how many it has. A missing
// file, a binary and one that says by its first line that it is such a script were read before, or have nothing to
// read.
func (a *Call) readScript(file string, p effect.Payload, place shell.Context, limit int) int {
	text, err := a.Analyzer.Files.ReadFile(file, limit)
	if err != nil && !p.Later && a.isLong(file, limit) {
		a.Payload(effect.Payload{Why: "a script that is longer than is read: " + file}, place)
	}
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return 0
	}
	p.Text = string(text)
	first, _, _ := strings.Cut(p.Text, "\n")
	says, sink := content.Shebang(first), content.Classify(file)
	if p.Lang == itself {
		if p.Lang = effect.Shell; strings.HasPrefix(first, "#!") {
			if p.Lang = says; !sink.Parts() {
				return len(text)
			}
		}
	} else if says == p.Lang {
		return len(text)
	}
	switch {
	case p.Lang == makefile:
		content.Payloads(path.Dir(file)+"/Makefile", p.Text, a.Analyzer.Limits.Tools.Content, func(p effect.Payload) {
			p.Later = false
			a.Payload(p, place)
		})
	case p.Lang == effect.Shell && sink.Kind == content.Credential:
		a.readSettings(p, place)
	default:
		a.Payload(p, place)
	}
	return len(text)
}

// readSettings reads a file of settings that a shell runs, such as .env: only the lines that do more than assign
// values. Many have values that no shell understands, which is no reason to ask.
func (a *Call) readSettings(p effect.Payload, place shell.Context) {
	for line := range strings.Lines(p.Text) {
		line = strings.TrimSpace(line)
		assigns := assignment.MatchString(line) && !wordset.ContainsAny(line, ";", "`", "|", "&", "$(")
		if line == "" || line[0] == '#' || assigns {
			continue
		}
		from := len(a.Effects)
		p.Text = line
		a.Payload(p, place)
		a.Effects = append(a.Effects[:from], slices.DeleteFunc(a.Effects[from:], func(e effect.Effect) bool {
			return e.Kind == effect.Opaque || e.Bits&effect.Partial != 0 || !e.Known()
		})...)
	}
}

// assignment matches a line that gives a variable a value.
var assignment = regexp.MustCompile(`^(?:export\s+)?[A-Za-z_]\w*=`)

// isLong reports whether a file is longer than is read of a script. Programs are, and are no scripts.
func (a *Call) isLong(file string, limit int) bool {
	info, err := a.Analyzer.Files.Lstat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() > int64(limit) && info.Mode()&0o111 == 0
}
