package fingerprint

import (
	_ "embed" // the table
	"strings"
	"sync"
)

// A tool is a program that reads files without being told, or whole folders. What its
// words name is bound as for every program, so that flags such as -f need no entry
// here; for a folder that a word names, the same files are looked for in it.
type tool struct {
	// programs are its names, without a folder, and words of which one must be there;
	// none: it does not matter.
	programs, words string
	// files are patterns of names in the folder where it works; above says that they
	// are looked for in the folders above as well.
	files string
	above bool
	// trees are folders, relative to that one, that are bound with all that is below,
	// and of that, where it is not empty, the names that kinds match.
	trees, kinds string
	// given are patterns of what is bound below a folder that a word names.
	given string
	// home are files below the home.
	home string
	// refers says that the files that these files name are bound too.
	refers bool
	// recipes says how to read what the tool runs: "make", "package", "compose", "git"
	// or "go".
	recipes string
	// flags are those whose value is a file that is read in place of those of files.
	flags string
	// elsewhere is the name of what it runs or takes that is not on this disk. With
	// operands it counts only if there is a word, behind those of words, that names no
	// file here.
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
