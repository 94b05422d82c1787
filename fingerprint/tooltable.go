package fingerprint

// A tool is a program that reads files or whole folders by default. Files in its words
// are bound as for every program, so flags such as -f need no entry here. If a word names
// a folder, the same files are searched in it.
type tool struct {
	// Programs are its names, without a folder. Words are words of which one must be in
	// the command; none: all commands count.
	Programs, Words string
	// Files are patterns of names in the working folder; with Above, also in the folders
	// above it.
	Files string
	Above bool
	// Trees are folders, relative to the working folder, that are bound with all files
	// below. Kinds, if not empty, are patterns of the names that count.
	Trees, Kinds string
	// Given are patterns of files below a folder that a word names.
	Given string
	// Home are files and folders below the home.
	Home string
	// Refers says that the files that these files name are bound too.
	Refers bool
	// Recipes selects the reader for the code that the tool runs: "make", "package",
	// "compose", "image", "git", "forge" or "go".
	Recipes string
	// Flags are flags whose value is a file that replaces files.
	Flags string
	// Elsewhere is the text that reports remote code of the tool. With Operands it counts
	// only if a word after those of Words is no local file.
	Elsewhere string
	Operands  bool
}

// tools is the table. A program may be in several rows, which add up.
var tools = tableOf[tool]("tools.txt")

// toolsOf are the rows of a program.
var toolsOf = rowsOf(tools, func(t tool) string { return t.Programs })

const kustomization = "kustomization.yaml kustomization.yml Kustomization"
