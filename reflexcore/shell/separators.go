package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"approver.example/reflexcore/effect"
)

// wholes pushes values that are known as fields of their own, as long as each is one word
// whatever it is next to: the builder has nothing yet. It returns how many these are. A
// list is pushed by every command that takes it, so a long one has to be quick.
func (b *builder) wholes(list []data, quoted bool) (n int) {
	in := b.in
	if len(list) == 0 || !quoted && in.par.ifs() != usualIFS {
		return 0
	}
	torn := !quoted && (in.par.tears() || in.par.torn())
	if room := min(len(list), in.rep.lim.Fields-len(in.exp.fields)); room > 0 {
		in.exp.fields = slices.Grow(in.exp.fields, room)
	}
	for ; n < len(list); n++ {
		d := &list[n]
		switch {
		case d.text == "", torn && len(d.text) > 1, quoted && !d.known(), !quoted && !isKnownWord(d.text):
			return n
		}
		if in.rep.made(len(d.text)) {
			in.exp.push(field{data: *d, quoted: quoted})
		}
	}
	return n
}

// ifs is what separates words. Where nothing is known of it, words end where they usually
// do, or at any sign that is neither a letter nor part of a path.
func (pm *parameters) ifs() string {
	d, ok := pm.separators()
	if !ok {
		return usualIFS
	}
	if !d.known() {
		known := strings.ReplaceAll(d.text, effect.Unknown, "")
		if known == "" {
			known = usualIFS
		}
		return []string{known, anyIFS}[pm.in.alt.pick("IFS?", 2)]
	}
	return d.text
}

// ifsOf is what separates the words of a value: a file that was read into the shell may have
// set it, see [variables.shake].
func (pm *parameters) ifsOf(text string) string {
	if !pm.torn() || !strings.ContainsAny(text, tornIFS[len(usualIFS):]) || strings.Contains(text, "://") {
		return pm.ifs()
	}
	return []string{usualIFS, tornIFS}[pm.in.alt.pick("IFS?", 2)]
}

// torn reports whether such a file may have set IFS.
func (pm *parameters) torn() bool {
	if !pm.in.vars.shaken {
		return false
	}
	v := pm.lookup("IFS")
	return v == nil || v.unset || v.shaken
}

// tearsUp reports whether a value that is written as one word may run as another command. What
// begins with a folder begins with it wherever it is split, and a plain name has no room for
// the words of another command.
func (pm *parameters) tearsUp(text string) bool {
	if len(text) < 2 {
		return false
	}
	return pm.tears() || pm.in.vars.shaken && text[0] != '.' && text[0] != '/' && text[0] != '-' && pm.torn() && isOneWord(text) && !isPlainName(text)
}

// separators is the value of IFS, if it has one.
func (pm *parameters) separators() (data, bool) {
	v := pm.lookup("IFS")
	switch {
	case v == nil || v.unset:
		return data{}, false
	case v.array:
		return v.element(data{text: "0"}), true
	case v.alts != nil: // it was assigned in a branch
		return v.alts[pm.in.alt.pick("IFS", len(v.alts))], true
	}
	return v.data, true
}

// tears reports whether nothing is known of IFS, so that what is written as one word may be
// several: a command then is another one than it is written as.
func (pm *parameters) tears() bool {
	d, ok := pm.separators()
	return ok && !d.known()
}

const marked = `(?:@\w+@|\{\{ ?[\w.]+ ?\}\}|__\w+__|%\w+%|\$\{\w+\}|<\w+>)`

// anyIFS is what separates them where it is not known.
const anyIFS = usualIFS + "!\"#$%&'()*+,:;<=>?@[]^_`{|}"

// tornIFS is what may separate them if a file set it: no sign that names have.
const tornIFS = usualIFS + "!#%&+,:;^|"

// usualIFS is what separates words where nobody said anything else.
const usualIFS = " \t\n"

// plainEdit is a command of sed that deletes lines, or puts a plain word in the place of
// something.
var plainEdit = regexp.MustCompile(`^(?:(?:\d+(?:,\d+)?|/(?:[^/\\\n]|\\.)*/)d` +
	`|s/(?:[^/\\\n]|\\.)*/[\w.:@%+=-]*/[gI]*|s\|(?:[^|\\\n]|\\.)*\|[\w./:@%+=-]*\|[gI]*|s#(?:[^#\\\n]|\\.)*#[\w./:@%+=-]*#[gI]*)$`)

// placeholder is a command of sed that puts a plain word in the place of a marked name: it
// says nothing that the template does not.
var placeholder = regexp.MustCompile(`^s(?:/` + marked + `/[\w.:@%+=-]+/|\|` + marked + `\|[\w./:@%+=-]+\||#` + marked + `#[\w./:@%+=-]+#)g?$`)

// splitting marks the bytes at which a value may be several words, or a pattern.
var splitting = func() (t [256]bool) {
	for _, c := range []byte("*?[" + usualIFS) {
		t[c] = true
	}
	return t
}()

// special marks the bytes for which a literal is not itself.
var special = func() (t [256]bool) {
	for _, c := range []byte("\\{*?[~") {
		t[c] = true
	}
	return t
}()

// verbatim is a word that is written without anything for the shell to expand.
func verbatim(w *syntax.Word) (string, bool) {
	if len(w.Parts) == 1 {
		if q, ok := w.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar {
			return q.Value, true
		}
	}
	text := w.Lit()
	return text, text != "" && isPlain(text)
}

// isPlain reports whether a word has nothing in it that a shell, or a reader, could take
// for more than a name, a number or an option.
func isPlain(word string) bool {
	for i := range len(word) {
		c := word[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("_./:=@%+,-", c) < 0 {
			return false
		}
	}
	return word != ""
}

// isPlainName reports whether a text is letters, digits and single signs between them, as names of
// programs are.
func isPlainName(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !isLetter(c) && (c < '0' || c > '9') && (c != '-' && c != '_' && c != '.' || i == 0 || text[i-1] == c) {
			return false
		}
	}
	return true
}

// isOneWord reports whether a value has none of them.
func isOneWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if splitting[s[i]] {
			return false
		}
	}
	return true
}

// isKnownWord reports whether all of a value is known, and it is one word.
func isKnownWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == effect.Unknown[0] || splitting[s[i]] {
			return false
		}
	}
	return true
}

func isLiteral(s string) bool {
	for i := 0; i < len(s); i++ {
		if special[s[i]] {
			return false
		}
	}
	return true
}

// isDescriptors reports whether a folder is that of the descriptors of this process, or
// may be: /proc/$$/fd.
func isDescriptors(folder string) bool {
	if folder == "/dev/fd/" {
		return true
	}
	rest, ok := strings.CutPrefix(folder, "/proc/")
	if !ok {
		return false
	}
	process, rest, _ := strings.Cut(rest, "/")
	if process != "self" && process != "thread-self" && effect.IsKnown(process) {
		return false
	}
	if _, thread, found := strings.Cut(rest, "task/"); found {
		_, rest, _ = strings.Cut(thread, "/")
	}
	return rest == "fd/"
}

// socket is the host and port of bash's /dev/tcp.
func socket(p string) (string, bool) {
	for _, kind := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(p, kind); ok {
			host, port, _ := strings.Cut(rest, "/")
			return host + ":" + port, true
		}
	}
	return "", false
}

// within reports whether a folder is the other one, or lies in it.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// anyFile is the kind of an execution of a file of whose path nothing is known.
func anyFile(path string) string {
	if folder := path[:strings.LastIndexByte(path, '/')+1]; isDescriptors(folder) && !effect.IsKnown(path[len(folder):]) {
		return "any"
	}
	if path != "" && strings.Trim(path, effect.Unknown+"./") == "" && !effect.IsKnown(path) {
		return "any"
	}
	return ""
}

// installed reports whether a program lies where only an installation puts one, or a
// package manager, so that it is what its name says. What is called git in another folder is taken for
// git, and for whatever else somebody put there.
func installed(file string) bool {
	for _, folder := range [...]string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/snap/bin/", "/System/", "/Library/", "/Applications/", "/home/linuxbrew/"} {
		if strings.HasPrefix(file, folder) {
			return true
		}
	}
	for _, folder := range [...]string{"/node_modules/.bin/", "/.venv/bin/", "/venv/bin/", "/.cargo/bin/", "/go/bin/", "/.local/bin/"} {
		if strings.Contains(file, folder) {
			return true
		}
	}
	return !strings.HasPrefix(file, "/") // not a path of this kind of machine
}

// covert reports whether a file lies where nobody looks: in memory, or hidden among
// temporary files.
func covert(p string) bool {
	return strings.HasPrefix(p, "/dev/shm/") || temporary(p) && strings.Contains(p, "/.")
}

// temporary reports whether a path lies in a folder in which everybody may write.
func temporary(p string) bool {
	for _, folder := range [...]string{"/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(p, folder) {
			return true
		}
	}
	return false
}
