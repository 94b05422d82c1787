package code

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file is about code that is fed from the network, as in curl … | python3 -c CODE. What it reads is
// data as long as nothing takes it for code, and most libraries that may do so are in no table. So only
// modules that are known to read are no question there.

//go:embed readers.txt
var readersText string

// readers are the modules that only read, by language. A slash at the end of a name is kept.
var readers = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for lang, words := range wordset.Table(readersText) {
		all[lang] = wordset.Of(words)
	}
	return all
}()

// fed reports whether the code reads what came from the network.
func (m *machine) fed() bool { return m.lim.InputTaint&effect.Network != 0 }

// brings notes that code which is fed from the network uses a module that may run what it reads.
func (m *machine) brings(module string) {
	if !m.fed() || module == "" {
		return
	}
	if module = strings.TrimPrefix(module, "node:"); !onlyReads(readers[m.d.name], module) {
		m.out.found(Found{Text: module, Taint: m.lim.InputTaint, By: module})
	}
}

func onlyReads(known map[string]bool, module string) bool {
	if known[module] {
		return true
	}
	for i := 0; i < len(module); i++ {
		if module[i] == '.' && known[module[:i]+"/"] {
			return true
		}
	}
	return known[module+"/"]
}

// readCode evaluates a prompt that runs what is on the standard input: a debugger, an interpreter.
func readCode(m *machine, c invocation) (value, bool) {
	if in := m.inputs.input(); in.known() && m.lim.HasInput || in.taint != 0 {
		m.evaluateCode(c.row, in, c.by())
	}
	return unknown(c.taint), true
}

// findFed evaluates a function that runs what it is given, if that came from elsewhere: a template.
func findFed(m *machine, c invocation) (value, bool) {
	if c.taint&(effect.Network|effect.Decoded) != 0 {
		return findOpaque(m, c)
	}
	return unknown(c.taint), true
}

// readLine evaluates input(), which runs the line in Python 2.
func readLine(m *machine, c invocation) (value, bool) {
	line := m.inputs.inputLine()
	if m.version2 && (m.lim.HasInput || line.taint != 0) {
		return m.evaluateCode(row{}, line, c.by()), true
	}
	return line, true
}

// safeLoaders are the classes with which a document of YAML makes no objects.
var safeLoaders = wordset.Of("SafeLoader CSafeLoader BaseLoader CBaseLoader")

// loadYAML evaluates yaml.load, and the YAML class of ruamel. They run what a document says, unless a
// loader is safe.
func loadYAML(m *machine, c invocation) (value, bool) {
	taint, safe := c.taint, false
	if c.param == "type" {
		kind, given := named(c.args, "typ")
		safe, taint = !given || kind.known() && kind.str() != "unsafe" && kind.str() != "full", m.lim.InputTaint
	} else {
		loader, given := named(c.args, "Loader")
		if !given {
			loader = c.second()
		}
		safe = loader.kind == nameValue && safeLoaders[lastName(loader.s)]
	}
	if !safe && taint&(effect.Network|effect.Decoded) != 0 {
		return findOpaque(m, c)
	}
	return unknown(c.taint), true
}
