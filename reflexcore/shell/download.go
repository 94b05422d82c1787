package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// downloaders save what they fetch under its own name, also from an address
// without a scheme.
var downloaders = []string{"wget", "curl", "aria2c", "axel", "scp", "rsync", "sftp"}

// saved notes the file that a download is saved as where no flag names one.
func (fn *fileNotes) saved(url string) {
	if fn.a.line.p.Dry || fn.a.line.by == "curl" && !slices.ContainsFunc(fn.a.line.argv, savesByName) {
		return
	}
	if !strings.Contains(url, "://") && !slices.Contains(downloaders, fn.a.line.p.Program.Name) {
		return // the name of a package
	}
	url, _, _ = strings.Cut(url, "?")
	name := path.Base(url[strings.LastIndexByte(url, ':')+1:])
	if name == "" || name == "." || name == "/" || fn.a.in.cwd.dir == effect.Unknown {
		return
	}
	fn.a.in.fs.write(fn.a.in.fs.abs(name), data{effect.Unknown, effect.Network}, false)
}

// fetchedInto notes what a download is called in the folder that it is put into.
func (fn *fileNotes) fetchedInto(folder string) {
	if !slices.Contains(downloaders, fn.a.line.p.Program.Name) {
		return
	}
	for i := range fn.a.line.p.Uses {
		if u := &fn.a.line.p.Uses[i]; u.Role == grammar.Fetch && u.Word >= 0 {
			name := path.Base(u.Text[strings.LastIndexByte(u.Text, ':')+1:])
			if name != "" && name != "." && name != "/" {
				fn.a.in.fs.write(strings.TrimSuffix(folder, "/")+"/"+name, data{effect.Unknown, effect.Network}, false)
			}
		}
	}
}

// savesByName reports whether a word is curl's -O, alone or among other letters.
func savesByName(w string) bool {
	return strings.HasPrefix(w, "--remote-n") || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, 'O') > 0
}
