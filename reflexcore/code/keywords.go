package code

import "strings"

// keywordStatements are the statements of each language that begin with a keyword.
var keywordStatements = map[string]map[string]statementFunc{
	"python": begins(map[string]statementFunc{
		"import from": (*machine).imports, "def": (*machine).pythonDef, "class": (*machine).skipClass,
		"for foreach": (*machine).pythonFor, "with": (*machine).pythonWith, "throw raise": (*machine).throws,
		"return": (*machine).returns, "exec": (*machine).execText,
	}),
	"node": begins(map[string]statementFunc{
		"import from": (*machine).importsNode, "class": (*machine).skipClass,
		"function fn sub": (*machine).declaresFunction, "const let var": (*machine).declarations,
		"for": (*machine).forOf, "with": (*machine).withScope, "throw raise": (*machine).throws,
		"return": (*machine).returns,
	}),
	"ruby": begins(map[string]statementFunc{
		"def": (*machine).rubyDef, "for": (*machine).forIn, "return": (*machine).returns,
	}),
	"perl": begins(map[string]statementFunc{
		"use no namespace package": (*machine).use, "function fn sub": (*machine).declaresFunction,
		"my our local": (*machine).declarations, "for foreach": (*machine).forVariable,
		"return": (*machine).returns,
	}),
	"php": begins(map[string]statementFunc{
		"use no namespace package": (*machine).use, "class": (*machine).skipClass,
		"function fn sub": (*machine).declaresFunction, "const": (*machine).declarations,
		"for foreach": (*machine).forAs, "throw raise": (*machine).throws, "return": (*machine).returns,
	}),
	"lua": begins(map[string]statementFunc{
		"function fn sub": (*machine).declaresFunction, "local": (*machine).declarations,
		"for": (*machine).forIn, "return": (*machine).returns,
	}),
}

// begins returns a statement for each of the keywords that are written in one text.
func begins(of map[string]statementFunc) map[string]statementFunc {
	out := map[string]statementFunc{}
	for words, f := range of {
		for word := range strings.FieldsSeq(words) {
			out[word] = f
		}
	}
	return out
}
