package fingerprint

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file reports commands that run code of which nothing was bound. So if the tables
// miss a feature of an interpreter or a tool, the card shows it.

// bindCode binds the files that the interpreters and tools of a step load by themselves.
// It reports the step if it needs code and none was bound.
func (p *pass) bindCode(i int) {
	st := &p.Steps[i]
	p.step = i
	if len(st.Argv) == 0 || st.Remote || st.Shell || !effect.IsKnown(st.Argv[0]) {
		return
	}
	c := &p.commands[i]
	r := reading{p.reader, c, first(st), p.workDirs(st)}
	needs := false
	if l := languageOf(r.name); l != nil {
		needs = interpreterReader{r, l}.bind()
	} else if r.name == "java" || r.name == "javaw" {
		needs = javaReader{r}.bind()
	} else {
		r.bindLanguageVariables()
		needs = builds(r.name, st.Argv[1:]) && !c.wrapped && !saysAll(r.name, st.Argv[1:])
	}
	if wordset.Has("rustc rustdoc", r.name) {
		rustReader{r}.bind()
	}
	cReader{r}.bind()
	clusterReader{r}.fromFolders()
	clusterReader{r}.nameEntered()
	if words := queriers[r.name]; words != "" {
		queryReader{r, words}.bind(p.readBy(i))
	}
	p.bindPlacings(r.name, p.folderOf(st))
	credentialsReader{r}.bind()
	requirementsReader{r}.bind()
	if builds(r.name, st.Argv[1:]) && !c.wrapped && unknownPlace(st.Argv[1:]) {
		p.unboundCommand(st)
	}
	if needs && !c.hasCode && !c.fed && !c.wrapped {
		p.reportUnbound("what %s runs", strings.Join(strings.Fields(st.Command), " "))
	}
}

// builds reports whether a command builds from files, so that one must be bound.
func builds(name string, words []string) bool {
	subs, some := building[name]
	if !some && !builders[name] {
		return false
	}
	at := slices.IndexFunc(words, operand)
	if at < 0 {
		at = len(words)
	}
	tells := func(flag string) bool { return wordset.Has("--version --help -v -V -h -version -help", flag) }
	if slices.ContainsFunc(words[:at], tells) {
		return false
	}
	if some {
		return slices.ContainsFunc(words, func(w string) bool { return wordset.Has(subs, w) }) &&
			!slices.ContainsFunc(words, func(w string) bool { return idle[w] })
	}
	return at == len(words) || !idle[words[at]]
}

// places are flags of builders for the place of their files.
const places = "-C -f --directory --file --makefile --prefix --cwd --dir --chdir -chdir --project-directory " +
	"--manifest-path --taskfile --justfile --working-directory"

// unknownPlace reports whether the place of a builder's files is unknown.
func unknownPlace(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		value, is := flagAt(words, slices.Index(words, w), places)
		return is && !effect.IsKnown(value)
	})
}

// bindLanguageVariables binds the code that the variables of a program's language load into it. It does
// not count as the program's own code.
func (r reading) bindLanguageVariables() {
	coded := r.c.hasCode
	language := ""
	for name, programs := range loadedBy {
		if wordset.Has(programs, r.name) {
			language = name
		}
	}
	switch language {
	case "":
	case "java":
		for _, value := range append(r.Values("CLASSPATH"), r.Values("JAVA_TOOL_OPTIONS")...) {
			for _, part := range splitAny(value, " :=") {
				javaReader{r}.classes(part)
			}
		}
	default:
		l := *languageOf(language)
		l.Programs = language
		interpreterReader{r, &l}.loadsVariables(nil, nil)
	}
	r.c.hasCode = coded
}
