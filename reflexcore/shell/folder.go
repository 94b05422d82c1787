package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// unpackers are the programs that fill a folder with what is in one file.
var unpackers = []string{"tar", "bsdtar", "unzip", "7z", "7za", "7zz", "cpio", "pax", "git"}

// filled notes that a folder is full of what came from somewhere, for the texts
// that follow. If that is the working directory, or a folder above it, not all in
// it came from there: then it is the folder in it that has the archive's name.
func (fn *fileNotes) filled(folder string, d data) {
	if program, _, _ := strings.Cut(fn.a.line.by, " "); d.taint == 0 || !slices.Contains(unpackers, program) {
		return
	}
	if folder != fn.a.in.cwd.dir && !strings.HasPrefix(fn.a.in.cwd.dir, folder+"/") && folder != "/" {
		fn.fillTree(folder, d.taint)
		return
	}
	for i := range fn.a.line.p.Uses {
		if u := &fn.a.line.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			fn.fillTree(fn.a.in.fs.abs(stem(path.Base(fn.a.pathOf(u)))), d.taint)
		}
	}
}

// cloned notes the folder that a clone makes where no word names one.
func (fn *fileNotes) cloned(url string) {
	if fn.a.line.by != "git clone" {
		return
	}
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), ".git")
	fn.fillTree(fn.a.in.fs.abs(url[strings.LastIndexAny(url, "/:")+1:]), effect.Network)
}

func (fn *fileNotes) fillTree(folder string, taint effect.Taint) {
	if fn.a.line.p.Dry || len(folder) < 2 || folder[0] != '/' || folder == fn.a.in.cwd.dir || !effect.IsKnown(folder) {
		return
	}
	if fn.a.in.fs.write(folder, data{effect.Unknown, taint}, true); fn.a.in.rep.stopped() {
		return
	}
	if f := fn.a.in.fs.fileAt(folder); f != nil {
		f.tree = true
	}
}

// under is the taint of the folders that this text filled and in which a file lies.
func (fsys *filesystem) under(file string) effect.Taint {
	var t effect.Taint
	for i := range fsys.list {
		if f := &fsys.list[i]; f.tree && strings.HasPrefix(file, f.path) && strings.HasPrefix(file[len(f.path):], "/") {
			t |= f.taint
		}
	}
	return t
}

// stem is an archive's name without what says that it is one.
func stem(name string) string {
	for _, end := range []string{".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".tbz2", ".txz", ".zip", ".7z", ".cpio"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
