package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// backs notes the copies that an editor keeps of a file that it changes in its place: they
// have the text from before. What says how they are called may be a path: sed -i'old/*'.
func (a *applied) backs(u *grammar.Use, p string) {
	if u.Word < 0 || len(a.argv) < 2 {
		return
	}
	takes := "" // letters behind which a word goes on with a value
	switch a.by {
	case "sed", "gsed":
		takes = "efl"
	case "perl":
		takes = "eEMmIFCDx"
	case "ruby":
		takes = "erICFEKTx"
	default:
		return
	}
	in := a.in
	was := in.contentOf(p)
	for _, w := range a.argv[1:] {
		suffix := backupSuffix(w, takes, takes == "efl")
		if suffix == "" {
			continue
		}
		base := path.Base(p)
		if !strings.Contains(suffix, "*") {
			suffix = "*" + suffix
		}
		name := strings.ReplaceAll(suffix, "*", base)
		beside := in.abs(in.concat(path.Dir(p), "/", name))
		if !strings.Contains(name, "/") {
			if in.file(p) != nil {
				in.write(beside, was, false)
			}
			continue
		}
		for _, to := range [...]string{beside, in.abs(name)} { // some take it from the folder of the file
			in.add(effect.Effect{Kind: effect.Write, Target: to, Bits: a.how(u), Taint: was.taint, By: a.by})
			in.write(to, was, false)
		}
	}
}

// backupSuffix is what a word says of the name of a backup: what stands behind its letter i,
// or behind --in-place.
func backupSuffix(w, takes string, long bool) string {
	if rest, ok := strings.CutPrefix(w, "--i"); ok && long {
		_, suffix, _ := strings.Cut(rest, "=")
		return suffix
	}
	if len(w) < 3 || w[0] != '-' || w[1] == '-' {
		return ""
	}
	for i := 1; i < len(w); i++ {
		switch {
		case w[i] == 'i':
			return w[i+1:]
		case strings.IndexByte(takes, w[i]) >= 0:
			return ""
		}
	}
	return ""
}
