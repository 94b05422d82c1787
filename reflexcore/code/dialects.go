package code

import "strings"

// pythonRunners are the modules with functions that run something, each with one of them.
// Those of JavaScript have other names.
var pythonRunners = map[string]string{
	"os": "os.system", "posix": "posix.system", "subprocess": "subprocess.run", "pty": "pty.spawn",
	"commands":      "commands.getoutput",
	"child_process": "child_process.exec", "shelljs": "shelljs.exec",
}

// dialects are the languages that share the machine.
var dialects = map[string]*dialect{
	"python": {
		name: "python",
		keywords: strings.Fields(`
			and as assert async await class def del elif else except finally for from global if import in is
			lambda nonlocal not or pass raise return try while with yield
		`),
		hash: true, foldedNames: true, triple: true, prefixes: true, joinsTexts: true, keepEscapes: true,
		binds:          map[string]int{"in": bindCompare, "not in": bindCompare, "if": bindChoice, "//": bindTimes},
		comprehensions: true, slices: true, member: []string{"."},
		namedBy: []string{"="}, functionValues: true, separator: ",", appends: "append", runners: pythonRunners,
		printsAll: true, opensInput: true,
		lineEnds: true, indented: true, classNames: true, outerWords: []string{"global", "nonlocal"}, decorators: true,
		execWord: true, throws: true, importForm: importNames, notebooks: true,
	},
	"node": {
		name: "node",
		keywords: strings.Fields(`
			async await case catch class const default delete do else export extends finally for function if
			import in instanceof let new of return static switch throw try typeof var void while yield
		`),
		lineComment: "//", blockOpen: "/*", blockClose: "*/",
		sigils: "$", nameEscapes: true, dollarNames: true, bracedNames: true,
		backtick: qInter, inner: "${", templates: true, regex: true, regexLine: true, regexClasses: true,
		binds: map[string]int{"in": bindCompare}, commaOperator: true, arrows: true,
		member: []string{".", "?."}, computedMembers: true, defaultMember: true, classValues: true,
		functionValues: true, separator: ",", replacesOnce: ".replace", appends: "push", appendsMany: true,
		concatCopies: true, runners: pythonRunners, pipesChildren: true, shellOption: true,
		braces: true, functionWords: true, bareMethods: true, classNames: true, letDeclares: true, throws: true,
		withScopes: true, loop: loopOf, importForm: importFrom,
	},
	"ruby": {
		name: "ruby",
		keywords: strings.Fields(`
			and begin case class def do else elsif end ensure for if in module not or rescue return then
			unless until when while yield
		`),
		hash: true, pod: true, podBegin: true, endMark: true,
		sigils: "$@", markedNames: true, doubleAt: true, specialVars: true,
		single: qSingle, double: qInter, backtick: qInter | qCommand, inner: "#{", percent: true, symbols: true,
		heredoc: true, upperHeredoc: true, regex: true, colonPairs: true, member: []string{".", "&.", "::"},
		bareCalls: true, selfCalls: true, bareOps: []string{"*", "-", "&", ":", "["}, blocks: true,
		namedBy: []string{":"}, pairArgs: true,
		argvOperands: true, replacesOnce: ".sub", importsNothing: true, pipeOpens: true, pipeReads: true,
		lineEnds: true, loop: loopIn,
	},
	"perl": {
		name: "perl",
		keywords: strings.Fields(`
			and cmp do else elsif eq for foreach ge gt if last le local lt my ne next no not or our package
			return sub unless until use while x
		`),
		hash: true, pod: true, endMark: true, dataMark: true,
		sigils: "$@%&", colonSigils: true, bracedNames: true, lastIndex: true, specialVars: true, hashElements: true,
		single: qSingle, double: qInter, backtick: qInter | qCommand, vars: true, atInTexts: true, quoteLike: true,
		heredoc: true, regex: true, patternCode: true,
		binds: map[string]int{"x": bindTimes}, concat: ".", member: []string{"->", "::"}, dynamicMembers: true,
		blockValues: true, angleInput: true,
		bareCalls: true, selfCalls: true, commandsAlone: true, bareAcross: true, bareSigils: []string{"$", "@", "\\"},
		blockArgs: true,
		pairArgs:  true, flattens: true, argumentList: "@_", textNames: true, separator: ",", printSeparator: true,
		pipeOpens: true,
		braces:    true, functionWords: true, loop: loopVariable, uses: true, includes: []string{"do", "require"},
		includesTexts: true,
	},
	"php": {
		name: "php",
		keywords: strings.Fields(`
			and as break case catch class const do else elseif finally fn for foreach function global if
			instanceof namespace new or private protected public return static switch throw try use while
			xor
		`),
		lineComment: "//", hash: true, blockOpen: "/*", blockClose: "*/", openTag: true,
		sigils: "$", bracedNames: true, anyCase: true,
		single: qSingle, double: qInter, backtick: qInter | qCommand, vars: true, braceVars: true, keepEscapes: true,
		heredoc: true, inlineHeredoc: true,
		concat: ".", keyedLists: true, member: []string{"->", "?->", "::"}, dynamicMembers: true, braceMembers: true,
		classValues: true,
		bareCalls:   true, namedBy: []string{":"}, sigilParams: true, callableTexts: true, separator: ",",
		importsNothing: true, expectURLs: true,
		braces: true, functionWords: true, classNames: true, throws: true, loop: loopAs, uses: true,
		includes: []string{"include", "include_once", "require_once", "require"},
	},
	"lua": {
		name: "lua",
		keywords: strings.Fields(`
			and break do else elseif end for function if in local not or repeat return then until while
		`),
		lineComment: "--", longBrackets: true,
		concat: "..", caretPower: true, oneBased: true, member: []string{".", ":"},
		bareCalls: true, selfCalls: true, bareTextOnly: true, functionValues: true, separator: ",",
		runners: map[string]string{"os": "os.execute", "io": "io.popen"}, runsInput: true,
		openBodies: true, functionWords: true, loop: loopIn,
	},
	"awk": {
		name: "awk",
		keywords: strings.Fields(`
			BEGIN END delete do else exit for function getline if in print printf return while
		`),
		hash: true, regex: true, regexLine: true, blocksOnly: true, lineEnds: true, braces: true,
	},
	"powershell": {name: "powershell", ownReader: true, separator: ",", member: []string{"."}, environmentDrive: true},
}
