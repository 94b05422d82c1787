package code

import "slices"

// A dialect is how a language is written, as far as the shared lexer and the
// folder need to know.
type dialect struct {
	name string

	// Words.
	lineComment           string
	hash                  bool // # begins a comment
	blockOpen, blockClose string
	pod                   bool // =begin … =end, =pod … =cut
	single, double        quoting
	backtick              quoting // 0: no quote
	inner                 string  // what begins an expression inside a string
	vars                  bool    // $x stands for its value inside a string
	keepEscapes           bool    // \q in a string is \q, not q
	triple                bool
	regex, heredoc        bool
	openTag               bool // <?php
	sigils                string
	keywords              []string

	// Sentences.
	bareCalls bool   // system "x" is a call
	lineEnds  bool   // a statement ends with its line
	concat    string // the operator that joins strings, besides +
	member    []string
	braces    bool // { begins a block where a statement may stand
}

func (d *dialect) isKeyword(word string) bool {
	_, found := slices.BinarySearch(d.keywords, word)
	return found
}

// dialects are the languages that share the lexer and the folder. The keywords
// are those after which a value or a statement follows; they are sorted.
var dialects = map[string]*dialect{
	"python": {
		name: "python", hash: true, triple: true, lineEnds: true, keepEscapes: true, member: []string{"."},
		keywords: []string{"and", "as", "assert", "async", "await", "class", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"},
	},
	"node": {
		name: "node", lineComment: "//", blockOpen: "/*", blockClose: "*/", backtick: qInter, inner: "${", regex: true, sigils: "$", member: []string{".", "?."}, braces: true,
		keywords: []string{"async", "await", "case", "catch", "class", "const", "default", "delete", "do", "else", "export", "extends", "finally", "for", "function", "if", "import", "in", "instanceof", "let", "new", "of", "return", "static", "switch", "throw", "try", "typeof", "var", "void", "while", "yield"},
	},
	"ruby": {
		name: "ruby", hash: true, pod: true, single: qSingle, double: qInter, backtick: qInter | qCommand, inner: "#{", regex: true, heredoc: true, sigils: "$@", bareCalls: true, lineEnds: true, member: []string{".", "&.", "::"},
		keywords: []string{"and", "begin", "case", "class", "def", "do", "else", "elsif", "end", "ensure", "for", "if", "in", "module", "not", "or", "rescue", "return", "then", "unless", "until", "when", "while", "yield"},
	},
	"perl": {
		name: "perl", hash: true, pod: true, single: qSingle, double: qInter, backtick: qInter | qCommand, vars: true, regex: true, heredoc: true, sigils: "$@%&", bareCalls: true, concat: ".", member: []string{"->", "::"}, braces: true,
		keywords: []string{"and", "cmp", "do", "else", "elsif", "eq", "for", "foreach", "ge", "gt", "if", "last", "le", "local", "lt", "my", "ne", "next", "no", "not", "or", "our", "package", "return", "sub", "unless", "until", "use", "while", "x"},
	},
	"php": {
		name: "php", lineComment: "//", hash: true, blockOpen: "/*", blockClose: "*/", single: qSingle, double: qInter, backtick: qInter | qCommand, vars: true, keepEscapes: true, heredoc: true, openTag: true, sigils: "$", bareCalls: true, concat: ".", member: []string{"->", "?->", "::"}, braces: true,
		keywords: []string{"and", "as", "break", "case", "catch", "class", "const", "do", "else", "elseif", "finally", "fn", "for", "foreach", "function", "global", "if", "instanceof", "namespace", "new", "or", "private", "protected", "public", "return", "static", "switch", "throw", "try", "use", "while", "xor"},
	},
	"lua": {
		name: "lua", lineComment: "--", bareCalls: true, concat: "..", member: []string{".", ":"},
		keywords: []string{"and", "break", "do", "else", "elseif", "end", "for", "function", "if", "in", "local", "not", "or", "repeat", "return", "then", "until", "while"},
	},
	"awk": {
		name: "awk", hash: true, regex: true, lineEnds: true, braces: true,
		keywords: []string{"BEGIN", "END", "delete", "do", "else", "exit", "for", "function", "getline", "if", "in", "print", "printf", "return", "while"},
	},
	"powershell": {name: "powershell", member: []string{"."}}, // what calls and values need; it has a reader of its own
}
