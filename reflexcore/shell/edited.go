package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"

	"approver.example/reflexcore/effect"
)

// cameFrom notes the state of a file before a program copies or moves it. Since mv writes to both
// names, it would be lost otherwise.
func (fn *fileNotes) cameFrom(p string) {
	if !fn.line.p.Copies || !effect.IsKnown(p) {
		return
	}
	o := origin{path: p}
	switch f := fn.in.fs.fileAt(p); {
	case f == nil:
		o.alone, o.itself = true, p
	case f.alias != "" && fn.in.fs.fileAt(f.alias) == nil:
		o.alone, o.itself = true, f.alias
	case len(f.older) == 0:
		o.built, o.from = f.built, f.from
	}
	fn.origins = append(fn.origins, o)
}

// inherits gives a copy, or a file under its new name, the origin that was noted for the source.
func (fn *fileNotes) inherits(to, from string) {
	i := slices.IndexFunc(fn.origins, func(o origin) bool { return o.path == from })
	f := fn.in.fs.fileAt(to)
	if i < 0 || from == to || f == nil || f.path != to || f.alias != "" || !f.isBlank() || fn.in.rep.bits != 0 ||
		!fn.copiesAll() || !fn.in.src.isPlainCall() {
		return
	}
	o := &fn.origins[i]
	if o.alone {
		o.from = []string{o.itself}
	}
	if !slices.ContainsFunc(o.from, func(p string) bool { return fn.in.Table.Find(path.Base(p)) != nil }) {
		f.built, f.from = o.built, o.from
	}
}

// edited notes that a program changed a file in place without changing its origin: a formatter, or
// sed where it inserts only a plain word. From is what the file was made from before; nil: it was
// a file on disk.
func (fn *fileNotes) edited(p string, from []string) {
	if !fn.line.editsPlainly() {
		return
	}
	if f := fn.in.fs.fileAt(p); f != nil && f.path == p && f.alias == "" && f.isBlank() && fn.in.rep.bits == 0 &&
		fn.in.src.isPlainCall() {
		if f.from = from; from == nil {
			f.from = []string{p}
		}
	}
}

// editsPlainly reports whether a command edits files in place only as [fileNotes.edited] says.
func (l *commandLine) editsPlainly() bool {
	if l.by != "sed" && !formatters[l.by] {
		return false
	}
	programs := 0
	for i, w := range l.argv[1:] {
		switch {
		case !effect.IsKnown(w):
			return false
		case l.by != "sed":
			if !isPlain(w) || w[0] == '-' && !slices.Contains(plainFlags[:], w) {
				return false
			}
		case w == "" && l.argv[i] == "-i", strings.HasPrefix(w, "-i") && isPlain(w), w == "-e", w == "-E", w == "-r":
		case w != "" && w[0] == '-':
			return false
		case programs == 0 || l.argv[i] == "-e":
			if programs++; !plainEdit().MatchString(w) {
				return false
			}
		}
	}
	return l.by != "sed" || programs > 0
}

// plainFlags are the flags with which a formatter brings in no rule, setting or other file. By
// contrast, gofmt -r and eslint --rule write what their arguments say.
var plainFlags = [...]string{"-w", "-i", "--write", "--fix", "-s", "-l", "-q"}

// copiesAll reports whether a program that copies or moves replaces existing files. With flags
// such as -n, -u, -i and -b it may keep them, or a backup.
func (fn *fileNotes) copiesAll() bool {
	for i, w := range fn.line.argv[1:] {
		if !isPlain(w) || fn.in.exp.fields[fn.mark+i+1].glob || w[0] == '-' && !slices.Contains(copyFlags[:], w) {
			return false
		}
	}
	return true
}

var copyFlags = [...]string{"-f", "-v", "-r", "-R", "-a", "-p", "-fv", "-vf", "-rf", "--force", "--verbose"}

// formatters change the layout of a file, not what it does.
var formatters = wordset.Of(section("formatters"))

// isShown reports whether a file that open or xdg-open opens is displayed, judging by its
// extension, and not run.
func isShown(target, by string) bool {
	return (by == "open" || by == "xdg-open") && wordset.Has(`.png .jpg .jpeg .gif .svg .webp .pdf .html .htm .txt .md .csv
		.json .log .mp4 .wav`, strings.ToLower(path.Ext(target)))
}

// fedFile is the file on disk that a command has as its standard input, unchanged. It is empty if
// there is none, or if this text may have changed it.
func (a *applied) fedFile() string {
	in := a.in
	const counts = effect.File | effect.Secret | effect.Network | effect.Decoded
	if !a.std.present || a.std.text != effect.Unknown || a.std.taint&counts != effect.File || in.io.fds[0] == "" ||
		!effect.IsKnown(in.io.fds[0]) {
		return ""
	}
	p := in.fs.abs(in.io.fds[0])
	if strings.HasPrefix(p, "/dev/") || strings.HasPrefix(p, "/proc/") || !strings.HasPrefix(p, "/") ||
		in.fs.under(p) != 0 {
		return ""
	}
	if f := in.fs.fileAt(p); f != nil && (f.from == nil || len(f.older) > 0) {
		return ""
	}
	return p
}

// backs notes the backups that an editor keeps of a file that it changes in place: they have the
// old text. The suffix that names them may be a path: sed -i'old/*'.
func (fn *fileNotes) backs(u *grammar.Use, p string) {
	if u.Word < 0 || len(fn.line.argv) < 2 {
		return
	}
	takes := "" // flag letters after which the rest of the word is a value
	switch fn.line.by {
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
	in := fn.in
	was := in.fs.contentOf(p)
	for _, w := range fn.line.argv[1:] {
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
		for _, to := range [...]string{beside, in.fs.abs(name)} { // some programs resolve it in the folder of the file
			in.add(effect.Effect{Kind: effect.Write, Target: to, Bits: fn.bitsOf(u), Taint: was.taint, By: fn.line.by})
			in.fs.write(to, was, false)
		}
	}
}

// backupSuffix is the backup suffix that a word gives: the text after its letter i, or after
// --in-place=.
func backupSuffix(w, takes string, long bool) string {
	if rest, ok := strings.CutPrefix(w, "--i"); ok && long {
		_, suffix, _ := strings.Cut(rest, "=")
		return suffix
	}
	at := strings.IndexAny(w, takes+"i")
	if !hasLetter(w, "i") || w[at] != 'i' {
		return ""
	}
	return w[at+1:]
}

// backsCopy notes the backup of a file that a copy, a move or a patch replaces: cp -b a k leaves
// the old k at k~.
func (fn *fileNotes) backsCopy(p string) {
	suffixes := []string{"~", ".~1~"}
	keeps := fn.line.by == "patch"
	switch fn.line.by {
	case "patch":
		suffixes = append(suffixes, ".orig")
	case "cp", "mv", "install", "ln", "rsync", "gcp", "gmv", "ginstall", "gln":
	default:
		return
	}
	for i, w := range fn.line.argv[1:] {
		flag, value, given := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--b"):
			keeps = true
		case strings.HasPrefix(flag, "--su") && given:
			keeps, suffixes = true, append(suffixes, value)
		case (w == "-S" || strings.HasPrefix(w, "--su")) && i+2 < len(fn.line.argv):
			keeps, suffixes = true, append(suffixes, fn.line.argv[i+2])
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
	if s := fn.in.par.valueOf("SIMPLE_BACKUP_SUFFIX"); s.known() && s.text != "" {
		suffixes = append(suffixes, s.text)
	}
	replaced := []string{p}
	for u := range fn.line.uses(grammar.Read) { // or the file of that name in it
		replaced = append(replaced, fn.in.arena.concat(strings.TrimSuffix(p, "/"), "/", path.Base(u.Text)))
	}
	for _, p := range replaced {
		was := fn.in.fs.contentOf(p)
		if fn.in.fs.fileAt(p) == nil && was.taint&lasting == 0 {
			continue
		}
		for _, suffix := range suffixes {
			fn.in.fs.write(fn.in.arena.concat(p, suffix), was, false)
		}
	}
}

// packers are the programs that compress a file into a new one beside it, with the extension of
// the new file.
var packers = table("packers")

// packed notes the file that a packer writes when it packs or unpacks another one.
func (fn *fileNotes) packed(p string) {
	end := strings.Join(packers[fn.line.by], "")
	if end == "" || fn.taint&lasting == 0 {
		return
	}
	for i, w := range fn.line.argv {
		if rest, ok := strings.CutPrefix(w, "--suffix="); ok {
			end = rest
		} else if rest, ok := strings.CutPrefix(w, "-S"); ok && end != "" {
			if end = rest; end == "" && i+1 < len(fn.line.argv) {
				end = fn.line.argv[i+1]
			}
		}
	}
	to := fn.in.arena.concat(p, end)
	if unpacked, ok := strings.CutSuffix(p, end); ok {
		to = unpacked
	}
	fn.in.fs.write(to, data{effect.Unknown, fn.taint}, false)
}

// encrypted notes the files that gpg puts beside the one that it reads.
func (fn *fileNotes) encrypted(u *grammar.Use) {
	if u.Word < 0 || fn.taint&lasting == 0 || !wordset.Has("gpg gpg2 gpgsm", fn.line.by) {
		return
	}
	for _, end := range [...]string{".gpg", ".asc", ".pgp"} {
		p := fn.pathOf(u)
		fn.in.fs.write(fn.in.arena.concat(p, end), data{effect.Unknown, fn.taint}, false)
		if plain, ok := strings.CutSuffix(p, end); ok {
			fn.in.fs.write(plain, data{effect.Unknown, fn.taint}, false)
		}
	}
}
