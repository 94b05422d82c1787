package fingerprint

import (
	"maps"
	"strings"

	"approver.example/reflexcore/wordset"
)

var lists = maps.Collect(wordset.Table(textOf("words.txt")))

// set returns the words of a list as a set. A list that is not in words.txt is a bug, and panics.
func set(name string) map[string]bool {
	words, ok := lists[name]
	if !ok {
		panic("fingerprint: words.txt has no list " + name)
	}
	return wordset.Of(words)
}

// listsBy returns the lists whose names begin with a subject, by each further word of the name.
func listsBy(subject string) map[string]string {
	by := map[string]string{}
	for name, words := range lists {
		if keys, is := strings.CutPrefix(name, subject+" "); is {
			for key := range strings.FieldsSeq(keys) {
				by[key] = words
			}
		}
	}
	return by
}

// What these are is said in words.txt.
var (
	helperless      = set("helperless")
	programVars     = set("program-variables")
	builders        = set("builders")
	idle            = set("idle")
	makers          = set("makers")
	translators     = set("translators")
	checks          = set("checks")
	silents         = set("silent-flags")
	fetchers        = set("fetchers")
	bringing        = set("bringing")
	looking         = set("looking")
	branches        = set("tree-changes")
	copiers         = set("copiers")
	checkers        = set("checkers")
	quietly         = set("quiet-builtins")
	viewers         = set("viewers")
	filters         = set("filters")
	inputBuiltins   = set("input-builtins")
	appliers        = set("appliers")
	plainWrappers   = set("plain-wrappers")
	evaluators      = set("evaluators")
	variableSetters = set("variable-setters")
	planFlags       = set("plan-flags")
	clusterPrograms = set("cluster-programs")
	cloudPrograms   = set("cloud-programs")
	edits           = set("git-edits")
	filtering       = set("git-filters")
	gitPrograms     = set("git-commands")
	received        = set("receiving-hooks")
	gitTakes        = set("git-flags")
	gitKnown        = set("git-builtins")
	loading         = set("loading-variables")
	special         = set("make-targets")
	opaqueWords     = set("make-opaque")
	spreads         = set("workspace-words")
	composeStarts   = set("compose-starts")
	decidingEndings = set("code-endings")
	furthers        = set("naming-endings")
	plainDocuments  = set("documents")
	idleCargo       = set("cargo-idle")
	inWords         = set("kinds-in-words")
	standardInput   = set("standard-input")
	elsewhereNamed  = set("codeless-variables")
	shells          = set("shells")
	objects         = set("objects")
	sources         = set("sources")
	compilers       = set("compilers")
	pythonLibrary   = set("python-library")

	helperNames = listsBy("helpers")
	building    = listsBy("building")
	loadedBy    = listsBy("written-in")
	outputs     = listsBy("outputs")
	embedded    = listsBy("database-flags")
	entering    = listsBy("entering")
	queriers    = listsBy("query-includes")
)
