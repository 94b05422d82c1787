package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// backs notes the copies that an editor keeps of a file that it changes in its place: they
// have the text from before. What says how they are called may be a path: sed -i'old/*'.
func (fn *fileNotes) backs(u *grammar.Use, p string) {
	if u.Word < 0 || len(fn.a.line.argv) < 2 {
		return
	}
	takes := "" // letters behind which a word goes on with a value
	switch fn.a.line.by {
	case "sed", "gsed":
		takes = "efl"
	case "perl":
		takes = "eEMmIFCDx"
	case "ruby":
		takes = "erICFEKTx"
	default:
		fn.backsCopy(p)
		return
	}
	in := fn.a.in
	was := in.fs.contentOf(p)
	for _, w := range fn.a.line.argv[1:] {
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
			if in.fs.fileAt(p) != nil {
				in.fs.write(beside, was, false)
			}
			continue
		}
		for _, to := range [...]string{beside, in.fs.abs(name)} { // some take it from the folder of the file
			in.add(effect.Effect{Kind: effect.Write, Target: to, Bits: fn.a.bitsOf(u), Taint: was.taint, By: fn.a.line.by})
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
func (fn *fileNotes) backsCopy(p string) {
	suffixes := []string{"~", ".~1~"}
	keeps := fn.a.line.by == "patch"
	switch fn.a.line.by {
	case "patch":
		suffixes = append(suffixes, ".orig")
	case "cp", "mv", "install", "ln", "rsync", "gcp", "gmv", "ginstall", "gln":
	default:
		return
	}
	for i, w := range fn.a.line.argv[1:] {
		flag, value, given := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--b"):
			keeps = true
		case strings.HasPrefix(flag, "--su") && given:
			keeps, suffixes = true, append(suffixes, value)
		case (w == "-S" || strings.HasPrefix(w, "--su")) && i+2 < len(fn.a.line.argv):
			keeps, suffixes = true, append(suffixes, fn.a.line.argv[i+2])
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
	if s := fn.a.in.par.valueOf("SIMPLE_BACKUP_SUFFIX"); s.known() && s.text != "" {
		suffixes = append(suffixes, s.text)
	}
	replaced := []string{p}
	for i := range fn.a.line.p.Uses { // or what is so called in it
		if u := &fn.a.line.p.Uses[i]; u.Role == grammar.Read && u.Word >= 0 {
			replaced = append(replaced, fn.a.in.arena.concat(strings.TrimSuffix(p, "/"), "/", path.Base(u.Text)))
		}
	}
	for _, p := range replaced {
		was := fn.a.in.fs.contentOf(p)
		if fn.a.in.fs.fileAt(p) == nil && was.taint&told == 0 {
			continue
		}
		for _, suffix := range suffixes {
			fn.a.in.fs.write(fn.a.in.arena.concat(p, suffix), was, false)
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
func (fn *fileNotes) packed(p string) {
	end, ok := packers[fn.a.line.by]
	if !ok || fn.a.taint&told == 0 {
		return
	}
	for i, w := range fn.a.line.argv {
		if rest, ok := strings.CutPrefix(w, "--suffix="); ok {
			end = rest
		} else if rest, ok := strings.CutPrefix(w, "-S"); ok && end != "" {
			if end = rest; end == "" && i+1 < len(fn.a.line.argv) {
				end = fn.a.line.argv[i+1]
			}
		}
	}
	to := fn.a.in.arena.concat(p, end)
	if unpacked, ok := strings.CutSuffix(p, end); ok {
		to = unpacked
	}
	fn.a.in.fs.write(to, data{effect.Unknown, fn.a.taint}, false)
}

// encrypted notes the files that gpg puts beside the one that it reads.
func (fn *fileNotes) encrypted(u *grammar.Use) {
	if u.Word < 0 || fn.a.taint&told == 0 || fn.a.line.by != "gpg" && fn.a.line.by != "gpg2" && fn.a.line.by != "gpgsm" {
		return
	}
	for _, end := range [...]string{".gpg", ".asc", ".pgp"} {
		p := fn.a.pathOf(u)
		fn.a.in.fs.write(fn.a.in.arena.concat(p, end), data{effect.Unknown, fn.a.taint}, false)
		if plain, ok := strings.CutSuffix(p, end); ok {
			fn.a.in.fs.write(plain, data{effect.Unknown, fn.a.taint}, false)
		}
	}
}
