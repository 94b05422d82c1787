package fingerprint

import (
	"path/filepath"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file finds the classes that a Java program is made of.

// javaPaths are flags whose value is a list of folders and archives.
const javaPaths = "-cp -classpath --class-path -p --module-path --patch-module -Xbootclasspath -Xbootclasspath/a -Xbootclasspath/p"

// java binds what the flags and variables of a Java machine name, and reports whether it
// should have a file of code.
func (p *pass) java(i int, bases []string) (needs bool) {
	words := p.javaWords(p.Steps[i].Argv[1:], bases, 0)
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"} {
		for _, value := range p.values(name) {
			words = append(p.javaWords(strings.Fields(value), bases, 0), words...)
		}
	}
	classes := p.values("CLASSPATH")
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
		case oneOf(javaPaths, flag):
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
			p.classes(i, part, bases)
		}
	}
	return needs
}

// javaWords are words with those of the files of arguments among them.
func (p *pass) javaWords(argv, bases []string, depth int) (words []string) {
	for _, w := range argv {
		file, ok := strings.CutPrefix(w, "@")
		if !ok || depth > 1 {
			words = append(words, w)
			continue
		}
		for _, base := range bases {
			if at := abs(base, file); !p.visit(at, code) {
				text, _ := p.text(at, "names")
				words = append(words, p.javaWords(strings.Fields(strings.ReplaceAll(text, `"`, "")), bases, depth+1)...)
			}
		}
	}
	return words
}

// classes binds one place of a class path.
func (p *pass) classes(i int, part string, bases []string) {
	if !effect.IsKnown(part) {
		p.named("the classes in %s", effect.Show(part))
		return
	}
	for _, base := range bases {
		at := abs(base, strings.TrimSuffix(part, "*"))
		if clean := filepath.Clean(at); !p.visit(at, code) {
			p.coded[i] = p.coded[i] || p.out[clean] != ""
		} else if strings.HasSuffix(part, "*") {
			for _, jar := range p.settings(clean, "*.jar") {
				p.coded[i] = p.coded[i] || p.out[jar] != ""
			}
		} else if len(p.folder(clean, "*.class", "*.jar", "*.properties", "*.xml", "*.groovy", "*.clj")) > 0 {
			p.coded[i] = true
		}
	}
}
