package fingerprint

import (
	"path/filepath"
	"strings"

	"approver.example"
	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// A scope says how a text is walked.
type scope struct {
	strict bool   // unknown code is reported
	words  bool   // data files in its words are bound too
	depth  int    // of nested texts
	of     string // the file that has the text; empty for the call
	sure   bool   // the text is certain to be for a shell
	unit   string // its name in textWrites; empty if its writes do not matter

	made *makefile // whose recipe the text is
}

// A reader binds files while one text is walked. The readers of all kinds of files are built on it.
type reader struct {
	*disk.Scan
	*callState
	scope
	call     approver.ToolCall // the walked text as a call
	path     string            // PATH, unless the text changes it
	stepPath string            // PATH of the command that is looked at
	step     int               // the command for which texts are read
}

// A command is one command of a walk.
type command struct {
	*shell.Step
	fed     bool            // it runs unknown code
	wrapped bool            // it runs other commands of the walk
	hasCode bool            // a file of what it runs or reads as code is bound, or has a name
	program string          // the file of its program, if one is found
	written map[string]bool // what it writes and does not read
}

// isFed reports whether a command runs unknown code.
func isFed(c command) bool { return c.fed }

// A reading is one command while its files are bound. The reader of each kind of program embeds one.
type reading struct {
	*reader
	c     *command
	name  string   // of its program, without the folder
	bases []string // the folders in which it may run
}

// reportUnbound reports code that is not bound, if the scope is strict.
func (r *reader) reportUnbound(format string, args ...any) {
	if r.strict {
		r.Name(format, args...)
	}
}

// unreadStrict is Unread if the scope is strict.
func (r *reader) unreadStrict(file, verb string) {
	if r.strict {
		r.Unread(file, verb)
	}
}

// unboundCommand reports a command that runs unknown code.
func (r *reader) unboundCommand(st *shell.Step) {
	in := ""
	if !effect.IsKnown(st.Dir) && st.May == "" {
		in = ", in a folder that is not known"
	}
	r.reportUnbound("%s%s", strings.Join(strings.Fields(st.Command), " "), in)
}

// noteCode notes for a command, which may be nil, that code was bound, if the file is bound.
func (r *reader) noteCode(c *command, file string) {
	if c != nil && !c.hasCode {
		c.hasCode = r.Bound[filepath.Clean(file)] != ""
	}
}

// upwards are a folder and its parents up to the root of a working tree or the home. Without
// either, it is the folder alone.
func (r *reader) upwards(dir string) []string {
	list := above(dir)
	for n, at := range list {
		if _, err := r.Stat(filepath.Join(at, ".git")); r.Look() && err == nil {
			return list[:n+1]
		}
		if at == filepath.Clean(r.call.Env["HOME"]) {
			return list[:max(n, 1)]
		}
	}
	return list[:min(len(list), 1)]
}

// matchesAndSelf returns the files that a path matches if it is a pattern, and the path itself.
func (r *reader) matchesAndSelf(file string) []string {
	if !disk.IsPattern(file) {
		return []string{file}
	}
	return append(r.BindMatches(file), file)
}

// folderOf is the folder in which a step runs, or that of the call.
func (r *reader) folderOf(st *shell.Step) string {
	if filepath.IsAbs(st.Dir) && effect.IsKnown(st.Dir) {
		return st.Dir
	}
	return r.call.Dir
}

// follow is the text of a bound file, unless the depth exceeds the limit.
func (r *reader) follow(file, verb string, depth int) (text string, ok bool) {
	if text, ok = r.TextOf(file, verb); ok && depth >= disk.MaxFollowed {
		r.Unread(file, verb)
		return "", false
	}
	return text, ok
}

// mappings are the mappings of a text of YAML. If some may be missing, the file is reported.
func (r *reader) mappings(file, text, verb string) []map[string][]string {
	y, err := yamlOf(text)
	if err != nil || y.deep || y.aliases {
		r.unreadStrict(file, verb)
	}
	return y.maps
}

// parts are a word and all paths that it may contain: the parts of --file=x, a:b,
// user@host, -fx and ~/x.
func (r *reader) parts(word string) []string {
	if len(word) > disk.MaxPath {
		return r.longParts(word)
	}
	out := []string{word}
	if _, file, ok := strings.Cut(word, "file://"); ok {
		out = append(out, strings.TrimPrefix(file, "localhost"))
	}
	if strings.ContainsAny(word, "=,:@{}") && !strings.Contains(word, "://") {
		out = append(out, splitAny(word, "=,:@{}")...)
	}
	if len(word) > 2 && word[0] == '-' && strings.ContainsAny(word, "./") {
		out = append(out, strings.TrimLeft(word, "-"))
		if word[2] != '-' {
			out = append(out, word[2:])
		}
	}
	home := r.call.Env["HOME"]
	for _, w := range out {
		if rest, ok := strings.CutPrefix(w, "~"); ok && (rest == "" || rest[0] == '/') && filepath.IsAbs(home) {
			out = append(out, home+rest)
		}
	}
	return out
}

// longParts are the parts of a word that is too long for a path, such as a list of files.
// If there are too many, the word is reported.
func (r *reader) longParts(word string) []string {
	if strings.Contains(word, "://") {
		word = strings.ReplaceAll(word, "://", " ")
	}
	var out []string
	for _, part := range splitAny(word, "=,:@{}") {
		part = strings.Trim(part, " \t\n\"'") // of JSON
		if part == "" || len(part) > disk.MaxPath || !strings.ContainsAny(part, "./") && strings.Contains(part, " ") {
			continue
		}
		if out = append(out, part); len(out) > disk.MaxParts {
			r.Name("the files that a word of %d bytes names", len(word))
			return out
		}
	}
	return out
}
