package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// entries is what lies in a folder, as os.walk, glob and their like give it: a list
// whose one element stands for all. With param tree they are those of all folders
// below it as well.
func (res *resources) entries(r row, folder value, args []arg, by string) value {
	res.files(row{action: "read"}, folder, args, 0, by)
	root := strings.TrimSuffix(folder.str(), "/")
	one := text(root+"/"+effect.Unknown, effect.File)
	switch r.param {
	case "walk": // a folder, its folders and its files
		any := value{kind: listValue, list: []value{unknown(effect.File)}, s: "entries"}
		one = value{kind: listValue, list: []value{one, any, any}}
		res.walked = append(res.walked, root)
	case "tree":
		one = value{kind: objectValue, s: "path", from: one.s, taint: effect.File}
		res.walked = append(res.walked, root)
	case "paths":
		one = value{kind: objectValue, s: "path", from: one.s, taint: effect.File}
	case "pattern":
		one = text(folder.str(), effect.File)
		if top, _, deep := strings.Cut(folder.str(), "/**"); deep {
			res.walked = append(res.walked, top)
		}
	}
	return value{kind: listValue, list: []value{one}, s: "entries", taint: effect.File}
}

// rowsGone is a method of a mapper of objects to tables that deletes rows: all of
// them, unless an argument says which.
func (res *resources) rowsGone(args []arg, by string) {
	f := Found{Op: RemoteDelete, Text: "rows of a table", Bits: effect.Bulk, By: by}
	if first, ok := argument(args, 0); ok {
		if where, ok := first.key("where"); ok {
			first = where
		}
		if first.kind != listValue || first.keys == nil || len(first.list) > 0 {
			f.Bits = 0
		}
	}
	res.out.found(f)
}

// emptied is destroy and truncate of such a mapper, which other objects have too:
// it is meant where its options are those of a query.
func (res *resources) emptied(args []arg, by string) {
	first, ok := argument(args, 0)
	if !ok {
		return
	}
	whole, _ := first.key("truncate")
	where, chosen := first.key("where")
	switch {
	case whole.truthy():
		res.out.found(Found{Op: RemoteDelete, Text: "rows of a table", Bits: effect.Bulk, By: by})
	case chosen:
		res.rowsGone([]arg{{value: where}}, by)
	}
}
