package code

import (
	"strings"

	"approver.example/reflexcore/code/lex"
)

// pythonRunners are modules with functions that run something, each with one such function. In
// JavaScript the names differ.
var pythonRunners = map[string]string{
	"os": "os.system", "posix": "posix.system", "subprocess": "subprocess.run", "pty": "pty.spawn",
	"commands":      "commands.getoutput",
	"child_process": "child_process.exec", "shelljs": "shelljs.exec",
}

// dialects are the languages of the machine.
var dialects = map[string]*dialect{
	"python": {
		name: "python",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			and as assert async await class def del elif else except finally for from global if import in is
			lambda nonlocal not or pass raise return try while with yield
		`),
			Comments: lex.Comments{Hash: true},
			Names:    lex.Names{Folded: true},
			Texts:    lex.Texts{Triple: true, Prefixes: true, KeepEscapes: true},
		},
		texts: textRules{joined: true},
		expressions: expressionRules{
			binds:          map[string]int{"in": bindCompare, "not in": bindCompare, "if": bindChoice, "//": bindTimes},
			comprehensions: true, slices: true, functionValues: true,
		},
		members: memberRules{operators: []string{"."}},
		calls:   callRules{namedBy: []string{"="}},
		library: libraryRules{
			separator: ",", appends: "append", runners: pythonRunners, printsAll: true, opensInput: true,
			notebooks: true,
		},
		statements: statementRules{
			lineEnds: true, indented: true, outerWords: []string{"global", "nonlocal"}, decorators: true,
		},
	},
	"node": {
		name: "node",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			async await case catch class const default delete do else export extends finally for function if
			import in instanceof let new of return static switch throw try typeof var void while yield
		`),
			Comments: lex.Comments{Line: "//", BlockOpen: "/*", BlockClose: "*/"},
			Names:    lex.Names{Sigils: "$", Escapes: true, Dollar: true, Braced: true},
			Texts: lex.Texts{
				Backtick: lex.Filled, Inner: "${", Templates: true, Regex: true, RegexLine: true,
				RegexClasses: true,
			},
		},
		expressions: expressionRules{
			binds: map[string]int{"in": bindCompare}, commaOperator: true, arrows: true, classValues: true,
			functionValues: true,
		},
		members: memberRules{operators: []string{".", "?."}, computed: true, defaultMember: true},
		library: libraryRules{
			separator: ",", replacesOnce: ".replace", appends: "push", appendsMany: true,
			concatCopies: true, runners: pythonRunners, pipesChildren: true, shellOption: true,
		},
		statements: statementRules{
			braces: true, bareMethods: true, letDeclares: true,
		},
	},
	"ruby": {
		name: "ruby",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			and begin case class def do else elsif end ensure for if in module not or rescue return then
			unless until when while yield
		`),
			BareCalls: true,
			Comments:  lex.Comments{Hash: true, Pod: true, PodBegin: true, EndMark: true},
			Names:     lex.Names{Sigils: "$@", Marked: true, DoubleAt: true, Special: true},
			Texts: lex.Texts{
				Single: lex.Single, Double: lex.Filled, Backtick: lex.Filled | lex.Runs, Inner: "#{",
				Percent: true, Symbols: true, Heredoc: true, UpperHeredoc: true, Regex: true,
			},
		},
		expressions: expressionRules{colonPairs: true},
		members:     memberRules{operators: []string{".", "&.", "::"}},
		calls: callRules{
			self: true, bareOps: []string{"*", "-", "&", ":", "["}, blocks: true, namedBy: []string{":"},
			pairs: true,
		},
		library: libraryRules{
			argvOperands: true, replacesOnce: ".sub", importsNothing: true, pipeOpens: true,
			pipeReads: true,
		},
		statements: statementRules{
			lineEnds: true,
		},
	},
	"perl": {
		name: "perl",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			and cmp do else elsif eq for foreach ge gt if last le local lt my ne next no not or our package
			return sub unless until use while x
		`),
			BareCalls: true,
			Comments:  lex.Comments{Hash: true, Pod: true, EndMark: true, DataMark: true},
			Names:     lex.Names{Sigils: "$@%&", ColonSigils: true, Braced: true, LastIndex: true, Special: true},
			Texts: lex.Texts{
				Single: lex.Single, Double: lex.Filled, Backtick: lex.Filled | lex.Runs, QuoteLike: true,
				Heredoc: true, Regex: true,
			},
		},
		texts: textRules{variables: true, arrays: true, patternCode: true},
		expressions: expressionRules{
			binds: map[string]int{"x": bindTimes}, concat: ".", blockValues: true, angleInput: true,
		},
		members: memberRules{hashElements: true, operators: []string{"->", "::"}, dynamic: true},
		calls: callRules{
			self: true, commandsAlone: true, bareAcross: true, bareSigils: []string{"$", "@", "\\"},
			blockArgs: true, pairs: true, flattens: true, argumentList: "@_", textNames: true,
		},
		library: libraryRules{separator: ",", printSeparator: true, pipeOpens: true},
		statements: statementRules{
			braces:   true,
			includes: []string{"do", "require"}, includesTexts: true,
		},
	},
	"php": {
		name: "php",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			and as break case catch class const do else elseif finally fn for foreach function global if
			instanceof namespace new or private protected public return static switch throw try use while
			xor
		`),
			BareCalls: true,
			Comments:  lex.Comments{Line: "//", Hash: true, BlockOpen: "/*", BlockClose: "*/", OpenTag: true},
			Names:     lex.Names{Sigils: "$", Braced: true},
			Texts: lex.Texts{
				Single: lex.Single, Double: lex.Filled, Backtick: lex.Filled | lex.Runs, KeepEscapes: true,
				Heredoc: true, InlineHeredoc: true,
			},
		},
		texts:       textRules{variables: true, braced: true},
		expressions: expressionRules{concat: ".", keyedLists: true, classValues: true},
		members:     memberRules{operators: []string{"->", "?->", "::"}, dynamic: true, braced: true},
		calls:       callRules{anyCase: true, namedBy: []string{":"}, sigilParams: true, callableTexts: true},
		library:     libraryRules{separator: ",", importsNothing: true, expectURLs: true},
		statements: statementRules{
			braces:   true,
			includes: []string{"include", "include_once", "require_once", "require"},
		},
	},
	"lua": {
		name: "lua",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			and break do else elseif end for function if in local not or repeat return then until while
		`),
			BareCalls: true,
			Comments:  lex.Comments{Line: "--"},
			Texts:     lex.Texts{LongBrackets: true},
		},
		expressions: expressionRules{concat: "..", caretPower: true, oneBased: true, functionValues: true},
		members:     memberRules{operators: []string{".", ":"}},
		calls:       callRules{self: true, bareTextOnly: true},
		library: libraryRules{
			separator: ",", runners: map[string]string{"os": "os.execute", "io": "io.popen"},
			runsInput: true,
		},
		statements: statementRules{
			openBodies: true,
		},
	},
	"awk": {
		name: "awk",
		syntax: lex.Syntax{
			Keywords: strings.Fields(`
			BEGIN END delete do else exit for function getline if in print printf return while
		`),
			BlocksOnly: true,
			Comments:   lex.Comments{Hash: true},
			Texts:      lex.Texts{Regex: true, RegexLine: true},
		},
		statements: statementRules{lineEnds: true, braces: true},
	},
	"powershell": {
		name: "powershell", ownReader: true,
		members: memberRules{operators: []string{"."}},
		library: libraryRules{separator: ",", environmentDrive: true},
	},
}
