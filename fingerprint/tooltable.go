package fingerprint

import (
	_ "embed" // the table
	"strings"
	"sync"
)

// A tool is a program that reads files or whole folders by default. Files in its words
// are bound as for every program, so flags such as -f need no entry here. If a word names
// a folder, the same files are searched in it.
type tool struct {
	// programs are its names, without a folder. words are words of which one must be in
	// the command; none: all commands count.
	programs, words string
	// files are patterns of names in the working folder; with above, also in the folders
	// above it.
	files string
	above bool
	// trees are folders, relative to the working folder, that are bound with all files
	// below. kinds, if not empty, are patterns of the names that count.
	trees, kinds string
	// given are patterns of files below a folder that a word names.
	given string
	// home are files below the home.
	home string
	// refers says that the files that these files name are bound too.
	refers bool
	// recipes selects the reader for the code that the tool runs: "make", "package",
	// "compose", "image", "git" or "go".
	recipes string
	// flags are flags whose value is a file that replaces files.
	flags string
	// elsewhere is the text that reports remote code of the tool. With operands it counts
	// only if a word after those of words is no local file.
	elsewhere string
	operands  bool
}

//go:embed tools.txt
var toolsText string

// tools is the table. A program may be in several rows, which add up.
var tools = sync.OnceValue(func() []tool {
	return readTable(toolsText, func(t *tool) map[string]any {
		return map[string]any{
			"programs": &t.programs, "words": &t.words, "files": &t.files, "above": &t.above, "trees": &t.trees,
			"kinds": &t.kinds, "given": &t.given, "home": &t.home, "refers": &t.refers, "recipes": &t.recipes,
			"flags": &t.flags, "elsewhere": &t.elsewhere, "operands": &t.operands,
		}
	})
})

// toolsOf are the rows of a program.
var toolsOf = sync.OnceValue(func() map[string][]int {
	of := map[string][]int{}
	for n, t := range tools() {
		for name := range strings.FieldsSeq(t.programs) {
			of[name] = append(of[name], n)
		}
	}
	return of
})

const kustomization = "kustomization.yaml kustomization.yml Kustomization"
