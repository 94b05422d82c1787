package analysis

import (
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file reads what runs of files whose names do not say so. A script is judged when it is written, by its
// name: run.sh. Nobody looked at notes.txt as code, nor at the steps of a Dockerfile as commands of this machine;
// when a shell gets one of them, or it is copied to a name of a script, it is read.

const (
	maxScripts     = 8   // of a call
	maxLooked      = 128 // files that are looked for
	maxScriptBytes = 64 << 10
)

// ReadScripts reads the files that an interpreter runs, or that are copied to the name of a script, although they
// were not read as code of its language when they were written.
func (a *Call) ReadScripts(place shell.Context) {
	r := scriptReader{Call: a, place: place, left: maxScriptBytes}
	for i := 0; i < len(a.Effects); i++ { // scripts run others
		e := a.Effects[i]
		if e.Kind != effect.Exec && e.Kind != effect.Write || e.Bits&(effect.Later|effect.Remote) != 0 {
			continue
		}
		p := effect.Payload{Why: "a script with another name"}
		var files []string
		switch e.Kind {
		case effect.Exec:
			p.Lang, files = r.runs(&e)
		case effect.Write:
			if e.Taint&effect.File != 0 && effect.IsPlain(e.Target) {
				if sink := content.Classify(e.Target); sink.Lang != "" || !sink.Parts() || sink.Prompts() {
					p.Lang = sink.Lang
				} else {
					p.Lang = inParts
				}
				p.Path, p.Later, files = e.Target, true, r.readFiles()
			}
		default:
		}
		for _, file := range files {
			if p.Lang != "" && !slices.Contains(r.seen, file) && !r.wasRead(file, p.Lang) {
				r.read(file, p, true)
			}
		}
	}
}

// A scriptReader reads the scripts of one call.
type scriptReader struct {
	*Call
	place shell.Context
	seen  []string // files
	count int      // of those that are there
	left  int      // bytes
}

// runs returns the language in which an effect runs files, and the files. It is that of the interpreter, the shell's
// for a file that is a command by itself, and that of the code that loads the file. The language is empty if it is
// not known.
func (r *scriptReader) runs(e *effect.Effect) (lang string, files []string) {
	program := e.Program()
	switch {
	case wordset.Has("source .", program):
		lang = sourced
	case path.Base(program) == path.Base(e.Target), strings.Contains(program, "/") && content.Interpreter(program) == "":
		lang = itself
	case wordset.Has("make gmake just", program):
		lang = makefile
	default:
		lang = content.Interpreter(program)
	}
	if lang == "" { // code says by what it runs something, such as load
		lang = languageOf(r.Text)
	}
	switch {
	case e.Taint&effect.File != 0 && (!effect.IsKnown(e.Target) || strings.HasSuffix(e.Target, " code")): // its input
		return lang, r.readFiles()
	case path.IsAbs(e.Target):
		return lang, r.expand(e.Target)
	case strings.Contains(e.Target, "."):
		return lang, r.expand(path.Join(r.ToolCall.Dir, e.Target))
	}
	return lang, nil
}

// expand returns the files that a pattern matches in one folder.
func (r *scriptReader) expand(pattern string) (files []string) {
	if effect.IsPlain(pattern) {
		return []string{pattern}
	}
	dir, name := path.Split(pattern)
	if !effect.IsPlain(dir) || !effect.IsKnown(name) {
		return nil
	}
	names, err := r.Analyzer.Files.ReadDir(path.Clean(dir), disk.MaxListed)
	if err != nil {
		return nil
	}
	for _, have := range names {
		if ok, err := path.Match(name, have); ok && err == nil {
			files = append(files, dir+have)
		}
	}
	return files
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

// Instead of a language:
const (
	makefile = "make"    // recipes
	itself   = "itself"  // the language that the first line of a file says
	sourced  = "sourced" // shell code, or settings in its form
	inParts  = "parts"   // some of a file's content runs, by the name that it gets
)

// wasRead reports whether a file is read as code of a language when it is written, by its name and by the name of
// what it leads to, or is one of the system's.
func (r *scriptReader) wasRead(file, lang string) bool {
	real, seen := r.Links.Real(r.Analyzer.Files, file)
	if seen && r.Around.Path(real, &effect.Effect{Kind: effect.Exec, Target: real})&places.System != 0 {
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
	case sourced:
		lang = effect.Shell
	case inParts:
		return content.Classify(file).Parts()
	}
	return content.Classify(file).Lang == lang
}

// readFiles returns the files that a call reads.
func (r *scriptReader) readFiles() (files []string) {
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind == effect.Read && e.Bits&(effect.Later|effect.Remote) == 0 && path.IsAbs(e.Target) {
			files = append(files, r.expand(e.Target)...)
		}
	}
	return files
}

// read reads a file as a payload. What is missing may be made by the same call, as a copy of another file. A binary
// is no script, and neither is a file that says by its first line what it is if that was looked at when it was
// written.
func (r *scriptReader) read(file string, p effect.Payload, copied bool) {
	r.seen = append(r.seen, file)
	if r.count > maxScripts || len(r.seen) > maxLooked {
		return
	}
	text, err := r.Analyzer.Files.ReadFile(file, r.left)
	if !disk.IsMissing(err) {
		r.count++
	}
	switch {
	case r.count > maxScripts, len(r.seen) == maxLooked:
		r.adds(effect.Payload{Why: "more scripts with other names than are read", Path: p.Path, Later: p.Later})
		return
	case disk.IsMissing(err) && copied:
		for _, from := range r.copiedTo(file) {
			if !slices.Contains(r.seen, from) {
				r.read(from, p, false)
			}
		}
		return
	case err != nil && r.isLong(file, p.Lang):
		r.adds(effect.Payload{Why: "a script that is longer than is read: " + file, Path: p.Path, Later: p.Later})
		return
	case err != nil:
		return
	}
	r.left -= len(text)
	p.Text = string(text)
	first, _, _ := strings.Cut(p.Text, "\n")
	if strings.IndexByte(first, 0) >= 0 || strings.HasPrefix(first, "\x7fELF") {
		return
	}
	sink, says := content.Classify(file), content.Shebang(first)
	lang := p.Lang
	if p.Lang == sourced || p.Lang == itself {
		p.Lang = effect.Shell
	}
	if lang == itself && strings.HasPrefix(first, "#!") {
		p.Lang = says
	}
	switch {
	case lang == inParts:
		content.Payloads(p.Path, p.Text, r.Analyzer.Limits.Tools.Content, r.adds)
	case strings.HasPrefix(first, "#!") && says == p.Lang && !sink.Parts(): // it was looked at
	case lang == makefile:
		content.Payloads(path.Dir(file)+"/Makefile", p.Text, r.Analyzer.Limits.Tools.Content, func(p effect.Payload) {
			p.Later = false
			r.adds(p)
		})
	case lang == sourced && sink.Kind == content.Credential:
		if p.Text = settingsCode(p.Text); p.Text != "" {
			r.adds(p)
		}
	default:
		r.adds(p)
	}
}

// adds adds the effects of a script to those of the call. Its commands are no steps of the call.
func (r *scriptReader) adds(p effect.Payload) {
	effects, steps := len(r.Effects), len(r.Steps)
	r.Payload(p, r.place)
	r.Steps = r.Steps[:steps]
	for i := effects; i < len(r.Effects); i++ {
		r.Effects[i].Step = -1
	}
}

// copiedTo returns the files that a call copies or moves to a file, or with a folder to where it lies.
func (r *scriptReader) copiedTo(file string) (from []string) {
	for i := range r.Effects {
		w := &r.Effects[i]
		if w.Kind != effect.Write || w.Taint&effect.File == 0 || !disk.Below(file, w.Target) {
			continue
		}
		for _, source := range r.readFiles() {
			if rest := file[len(w.Target):]; rest == "" || path.Base(source) == path.Base(file) {
				from = append(from, source)
			} else {
				from = append(from, source+rest)
			}
		}
	}
	return from
}

// settingsCode returns the lines of a file of settings that a shell runs, such as .env, if one of them does more
// than assign a value. Values that no shell understands are left out: many have such, which is no reason to ask.
func settingsCode(text string) string {
	var code strings.Builder
	more := false
	for line := range strings.Lines(text) {
		if !plainSetting().MatchString(line) {
			if setting().MatchString(line) && !runsCommand().MatchString(line) && !shell.Parses(line) {
				continue
			}
			more = true
		}
		code.WriteString(line)
	}
	if !more {
		return ""
	}
	return code.String()
}

var (
	setting      = lazyregexp.New(`^\s*(?:export\s+)?\w+=`)
	plainSetting = lazyregexp.New(
		"^\\s*(?:#.*|(?:export\\s+)?\\w+=(?:\"[^\"$`\\\\]*\"|'[^']*'|[^\\s\"'$`;&|<>()\\\\]*)\\s*(?:\\s#.*)?)?\n?$")
	runsCommand = lazyregexp.New("[$<>]\\(|`|\\\\$")
)

// isLong reports whether a file is longer than is read of a script. What runs by itself is a program then.
func (r *scriptReader) isLong(file, lang string) bool {
	info, err := r.Analyzer.Files.Lstat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() > int64(r.left) &&
		(lang != itself || info.Mode()&0o111 == 0)
}
