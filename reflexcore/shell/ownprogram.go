package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// Approver is also started without its program: go runs and builds its package, and a
// pattern finds it. What it is told then is judged as its own words.

// own is the name of approver's program and of the last folder of its package.
const ownName = "approver"

// goValues are the flags of go run and go tool that take the next word.
var goValues = wordSet("-exec -C -mod -modfile -overlay -pgo -tags -ldflags -gcflags -asmflags -p -o -pkgdir -toolexec -buildmode -compiler -installsuffix -covermode -coverpkg")

// runsOwn walks what approver is told where go runs its package.
func (ag *agentReader) runsOwn(args []field) {
	rest := args[1:]
	for len(rest) > 1 && rest[0].text == "-C" {
		rest = rest[2:]
	}
	if len(rest) == 0 || rest[0].text != "run" && rest[0].text != "tool" {
		return
	}
	tool := rest[0].text == "tool"
	rest = rest[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
		if rest = rest[1:]; goValues[args[len(args)-len(rest)-1].text] && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 || !ag.in.fs.isOwnPackage(rest[0].text) && (!tool || path.Base(rest[0].text) != ownName) {
		return
	}
	for len(rest) > 0 && strings.HasSuffix(rest[0].text, ".go") && len(rest) > 1 && strings.HasSuffix(rest[1].text, ".go") {
		rest = rest[1:]
	}
	ag.tellsOwn(rest[1:])
}

// isOwnPackage reports whether a word names approver's package for go, or a file of it.
func (fsys *filesystem) isOwnPackage(word string) bool {
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	if word == "" || !effect.IsKnown(word) {
		return false
	}
	if strings.HasSuffix(word, ".go") {
		word = path.Dir(word)
	}
	if word == "." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") {
		word = fsys.abs(word)
	}
	return path.Base(word) == ownName
}

// tellsOwn walks words as those of approver.
func (ag *agentReader) tellsOwn(words []field) {
	if ag.in.rep.level >= ag.in.rep.lim.Nesting {
		ag.in.rep.over(overDepth)
		return
	}
	mark := len(ag.in.exp.fields)
	words = slices.Clone(words) // they may lie in the list that grows
	ag.in.exp.push(field{data: data{text: ownName}})
	for _, f := range words {
		ag.in.exp.push(f)
	}
	ag.in.rep.level++
	ag.in.separately(false, func() { ag.in.run(mark, &input{}, &data{}, false) })
	ag.in.rep.level--
	ag.in.exp.fields = ag.in.exp.fields[:mark]
}

// buildsOwn reports whether a command line of go build makes approver's program.
func (fn *fileNotes) buildsOwn() bool {
	return fn.a.line.by == "go build" && slices.ContainsFunc(fn.a.line.argv[1:], fn.a.in.fs.isOwnPackage)
}

// patternTells walks what approver is told where a pattern finds its program.
func (ag *agentReader) patternTells(base string, args []field) {
	if ok, err := path.Match(base, ownName); ok && err == nil && strings.Trim(base, "*?[]") != "" {
		ag.tellsOwn(args)
	}
}
