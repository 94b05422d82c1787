package fingerprint

import (
	"path/filepath"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// javaPaths are flags whose value is a list of folders and archives.
const javaPaths = "-cp -classpath --class-path -p --module-path --patch-module -Xbootclasspath -Xbootclasspath/a " +
	"-Xbootclasspath/p"

// A javaReader reads the class path of a Java machine.
type javaReader struct{ reading }

// bind binds the class path of a Java command, and reports whether the command needs a file
// of code.
func (r javaReader) bind() (needs bool) {
	words := r.javaWords(r.c.Argv[1:], 0)
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"} {
		for _, value := range r.Values(name) {
			words = append(r.javaWords(strings.Fields(value), 0), words...)
		}
	}
	classes := r.Values("CLASSPATH")
	for n := 0; n < len(words); n++ {
		w := words[n]
		next := func() string {
			if n++; n < len(words) {
				return words[n]
			}
			return ""
		}
		flag, value, joined := strings.Cut(w, "=")
		if !joined {
			flag, value, joined = strings.Cut(w, ":")
		}
		switch {
		case wordset.Has(javaPaths, flag):
			if !joined {
				value = next()
			}
			classes = append(classes, value)
		case w == "-jar":
			needs = true
			classes = append(classes, next())
		case flag == "-javaagent" || flag == "-agentpath" || flag == "-agentlib":
			value, _, _ = strings.Cut(value, "=")
			classes = append(classes, value)
		case operand(w) || w == "-m" || w == "--module":
			if needs = true; len(classes) == 0 {
				classes = []string{"."}
			}
			n = len(words) // the rest is the program's
		}
	}
	for _, list := range classes {
		for _, part := range strings.Split(list, ":") {
			r.classes(part)
		}
	}
	return needs
}

// javaWords replaces argument files (@file) by their words.
func (r javaReader) javaWords(argv []string, depth int) (words []string) {
	for _, w := range argv {
		file, ok := strings.CutPrefix(w, "@")
		if !ok || depth > 1 {
			words = append(words, w)
			continue
		}
		for _, base := range r.bases {
			if at := abs(base, file); !r.Visit(at, disk.Code) {
				text, _ := r.TextOf(at, "names")
				words = append(words, r.javaWords(strings.Fields(strings.ReplaceAll(text, `"`, "")), depth+1)...)
			}
		}
	}
	return words
}

// classes binds one entry of a class path.
func (r javaReader) classes(part string) {
	if !effect.IsKnown(part) {
		r.reportUnbound("the classes in %s", effect.Show(part))
		return
	}
	for _, base := range r.bases {
		at := abs(base, strings.TrimSuffix(part, "*"))
		if clean := filepath.Clean(at); !r.Visit(at, disk.Code) {
			r.c.hasCode = r.c.hasCode || r.Bound[clean] != ""
		} else if strings.HasSuffix(part, "*") {
			for _, jar := range r.BindMatching(clean, "*.jar") {
				r.c.hasCode = r.c.hasCode || r.Bound[jar] != ""
			}
		} else if len(r.BindFolder(clean, "*.class", "*.jar", "*.properties", "*.xml", "*.groovy", "*.clj")) > 0 {
			r.c.hasCode = true
		}
	}
}
