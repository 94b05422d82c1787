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
		a.backsCopy(p)
		return
	}
	in := a.in
	was := in.fs.contentOf(p)
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
		beside := in.fs.abs(in.arena.concat(path.Dir(p), "/", name))
		if !strings.Contains(name, "/") {
			if in.fs.file(p) != nil {
				in.fs.write(beside, was, false)
			}
			continue
		}
		for _, to := range [...]string{beside, in.fs.abs(name)} { // some take it from the folder of the file
			in.add(effect.Effect{Kind: effect.Write, Target: to, Bits: a.how(u), Taint: was.taint, By: a.by})
			in.fs.write(to, was, false)
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

// backsCopy notes the backup of a file that a program which copies or moves others replaces:
// cp -b a k leaves the old k at k~.
func (a *applied) backsCopy(p string) {
	suffixes := []string{"~", ".~1~"}
	keeps := a.by == "patch"
	switch a.by {
	case "patch":
		suffixes = append(suffixes, ".orig")
	case "cp", "mv", "install", "ln", "rsync", "gcp", "gmv", "ginstall", "gln":
	default:
		return
	}
	for i, w := range a.argv[1:] {
		flag, value, given := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--b"):
			keeps = true
		case strings.HasPrefix(flag, "--su") && given:
			keeps, suffixes = true, append(suffixes, value)
		case (w == "-S" || strings.HasPrefix(w, "--su")) && i+2 < len(a.argv):
			keeps, suffixes = true, append(suffixes, a.argv[i+2])
		case len(w) > 1 && w[0] == '-' && w[1] != '-':
			if at := strings.IndexByte(w, 'S'); at > 0 && at+1 < len(w) {
				keeps, suffixes = true, append(suffixes, w[at+1:])
			}
			keeps = keeps || strings.Contains(w, "b")
		}
	}
	if !keeps {
		return
	}
	if s := a.in.par.value("SIMPLE_BACKUP_SUFFIX"); s.known() && s.text != "" {
		suffixes = append(suffixes, s.text)
	}
	replaced := []string{p}
	for i := range a.p.Uses { // or what is so called in it
		if u := &a.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			replaced = append(replaced, a.in.arena.concat(strings.TrimSuffix(p, "/"), "/", path.Base(u.Text)))
		}
	}
	for _, p := range replaced {
		was := a.in.fs.contentOf(p)
		if a.in.fs.file(p) == nil && was.taint&told == 0 {
			continue
		}
		for _, suffix := range suffixes {
			a.in.fs.write(a.in.arena.concat(p, suffix), was, false)
		}
	}
}

// packers are the programs that put a file into a smaller one beside it, and the end of its
// name.
var packers = map[string]string{
	"gzip": ".gz", "pigz": ".gz", "bzip2": ".bz2", "pbzip2": ".bz2", "xz": ".xz", "pixz": ".xz", "lzma": ".lzma", "lzip": ".lz", "lzop": ".lzo",
	"compress": ".Z", "bzip3": ".bz3", "zstd": ".zst", "pzstd": ".zst", "lz4": ".lz4", "brotli": ".br",
	"gunzip": ".gz", "bunzip2": ".bz2", "unxz": ".xz", "unlzma": ".lzma", "unzstd": ".zst", "uncompress": ".Z", "unlz4": ".lz4",
}

// packed notes the file that a packer makes of another one, or makes it of again.
func (a *applied) packed(p string) {
	end, ok := packers[a.by]
	if !ok || a.taint&told == 0 {
		return
	}
	for i, w := range a.argv {
		if rest, ok := strings.CutPrefix(w, "--suffix="); ok {
			end = rest
		} else if rest, ok := strings.CutPrefix(w, "-S"); ok && end != "" {
			if end = rest; end == "" && i+1 < len(a.argv) {
				end = a.argv[i+1]
			}
		}
	}
	to := a.in.arena.concat(p, end)
	if unpacked, ok := strings.CutSuffix(p, end); ok {
		to = unpacked
	}
	a.in.fs.write(to, data{effect.Unknown, a.taint}, false)
}

// encrypted notes the files that gpg puts beside the one that it reads.
func (a *applied) encrypted(u *grammar.Use) {
	if u.Word < 0 || a.taint&told == 0 || a.by != "gpg" && a.by != "gpg2" && a.by != "gpgsm" {
		return
	}
	for _, end := range [...]string{".gpg", ".asc", ".pgp"} {
		p := a.path(u)
		a.in.fs.write(a.in.arena.concat(p, end), data{effect.Unknown, a.taint}, false)
		if plain, ok := strings.CutSuffix(p, end); ok {
			a.in.fs.write(plain, data{effect.Unknown, a.taint}, false)
		}
	}
}
