package code

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// folds are those that the tables name.
var folds = map[string]foldFunc{
	// Texts.
	"text": foldText, "lower": eachText(strings.ToLower), "upper": eachText(strings.ToUpper), "trim": foldTrim,
	"replacein": foldReplaceIn, "concat": foldConcat, "sprintf": foldSprintf, "sprintfnet": foldFormatArgs,
	"slice": foldSlice, "substringnet": foldSubstring, "quoteshell": foldQuote,
	"id":         func(_ *machine, c invocation) value { return c.target() },
	"replace":    func(m *machine, c invocation) value { return c.replaced(m.d, c.receiver()) }, // s.replace(a, b)
	"split":      func(_ *machine, c invocation) value { return split(c.receiver(), c.first(), c.taint) },
	"explode":    func(_ *machine, c invocation) value { return split(c.second(), c.first(), c.taint) },
	"split0":     func(_ *machine, c invocation) value { return split(c.first(), unknown(0), c.taint) },
	"concatargs": func(_ *machine, c invocation) value { return text(concat(values(c.args), ""), c.taint) },
	"format":     func(_ *machine, c invocation) value { return formatBraces(c.receiver(), c.args) }, // "{}".format(x)
	"sprintfr":   func(_ *machine, c invocation) value { return sprintf(c.receiver(), values(c.args)) },
	"repeat":     func(_ *machine, c invocation) value { return repeat(c.receiver(), c.first()) },
	"repeatarg":  func(_ *machine, c invocation) value { return repeat(c.first(), c.second()) },
	"tr":         func(_ *machine, c invocation) value { return unknown(c.taint | effect.Decoded) },

	// Characters, numbers and encodings.
	"ord": foldOrd, "charat": foldCharAt, "unpack1": foldUnpackOne, "packlist": foldPackList,
	"buffer": foldBuffer, "codec": foldCodec,
	"chars":     func(_ *machine, c invocation) value { return charsOf(values(c.args), c.taint) },
	"chr":       func(_ *machine, c invocation) value { return charsOf([]value{c.receiver()}, c.taint) },
	"number":    func(_ *machine, c invocation) value { return parseNumber(c.target(), c.second(), c.taint) },
	"joinchars": func(_ *machine, c invocation) value { return charsOf(c.receiver().list, c.taint) },
	"pack":      func(_ *machine, c invocation) value { return pack(values(c.args), c.taint) },
	"unpack":    func(_ *machine, c invocation) value { return list([]value{foldUnpackOne(nil, c)}, c.taint) },

	// Lists.
	"join": foldJoin, "joinlist": foldJoinList, "implode": foldImplode, "concatlist": foldConcatList,
	"reverse": foldReverse, "map": foldMap, "mapblock": foldMapBlock, "list": foldList,
	"first":     func(_ *machine, c invocation) value { return at(c.receiver(), 0) },
	"arraylist": func(_ *machine, c invocation) value { return list(values(c.args), c.taint) },
	"sockaddr":  func(_ *machine, c invocation) value { return list([]value{c.second(), c.first()}, c.taint) },

	// Paths.
	"dirname": eachText(path.Dir), "basename": eachText(path.Base), "expanduser": foldExpandUser,
	"homepath": foldHomePath, "newtmp": foldNewTemp, "newnear": foldNewNear, "parent": foldParent,
	"childpath": foldChildPath, "expandpath": foldExpandPath,
	"joinpath": func(_ *machine, c invocation) value { return text(joinPath(values(c.args)), c.taint) },
	"home":     func(m *machine, c invocation) value { return text(m.lim.Home, c.taint) },
	"cwd":      func(m *machine, c invocation) value { return m.cwd.folder(c.taint) },
	"tmp":      func(_ *machine, c invocation) value { return text("/tmp", c.taint) },

	// Names.
	"namespace": foldName(""), "require": foldName("require"), "constant": foldConstant, "same": foldSame,
}

// foldOf is the fold of a name. Of a function that has none nothing is known but the taints
// of what went in.
func foldOf(name string) foldFunc {
	if decoder, ok := strings.CutPrefix(name, "decode:"); ok {
		return func(_ *machine, c invocation) value { return applyDecoder(decoder, c.target()) }
	}
	if f, ok := folds[name]; ok {
		return f
	}
	return foldUnknown
}

func foldUnknown(_ *machine, c invocation) value { return c.unknown() }

func foldCall(m *machine, c invocation) (value, bool) { return c.fold(m, c), true }
