package code

import (
	"path"
	"strings"
)

// folds are those that the tables name.
var folds = map[string]foldFunc{
	// Texts.
	"id": foldTarget, "text": foldText, "lower": eachText(strings.ToLower), "upper": eachText(strings.ToUpper),
	"trim":    foldTrim,
	"replace": foldReplace, "replacein": foldReplaceIn, "split": foldSplit, "explode": foldExplode,
	"split0": foldSplitWords,
	"concat": foldConcat, "concatargs": foldConcatArgs, "format": foldFormat, "sprintf": foldSprintf,
	"sprintfnet": foldFormatArgs,
	"sprintfr":   foldSprintfMethod, "slice": foldSlice, "substringnet": foldSubstring, "repeat": foldRepeat,
	"repeatarg": foldRepeatArgs, "quoteshell": foldQuote, "tr": foldDecoded,

	// Characters, numbers and encodings.
	"chars": foldChars, "chr": foldChr, "ord": foldOrd, "number": foldNumber, "joinchars": foldJoinChars,
	"charat": foldCharAt,
	"pack":   foldPack, "unpack": foldUnpack, "unpack1": foldUnpackOne, "packlist": foldPackList, "buffer": foldBuffer,
	"codec": foldCodec,

	// Lists.
	"join": foldJoin, "joinlist": foldJoinList, "implode": foldImplode, "concatlist": foldConcatList,
	"reverse": foldReverse,
	"map":     foldMap, "mapblock": foldMapBlock, "list": foldList, "first": foldFirst, "arraylist": foldArguments,
	"sockaddr": foldSockaddr,

	// Paths.
	"joinpath": foldJoinPath, "dirname": eachText(path.Dir), "basename": eachText(path.Base),
	"expanduser": foldExpandUser,
	"home":       foldHome, "homepath": foldHomePath, "cwd": foldFolder, "tmp": foldTemp, "newtmp": foldNewTemp,
	"newnear": foldNewNear,
	"parent":  foldParent, "childpath": foldChildPath, "expandpath": foldExpandPath,

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
