package fingerprint

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file reads the settings of git, and binds the programs that they name.

// A gitOption is one setting: its name in small letters, such as core.hookspath, and
// its value. What stands in quotes in the name keeps its letters in git; here it is
// only compared. Quoted is that part as it is written.
type gitOption struct{ key, value, quoted string }

// config binds a file of settings, those that it includes, and what they name.
func (g *gitCall) config(file string, depth int) {
	file = filepath.Clean(file)
	if g.visit(file, code) || g.out[file] == "" || !g.once("git", file, g.root, g.sub) {
		return
	}
	text, ok := g.text(file, "names")
	if !ok {
		return
	}
	options, err := gitOptions(text)
	if err != nil || depth >= maxFollowed {
		g.unread(file, "names")
	}
	for _, o := range options {
		g.option(o, filepath.Dir(file), file, depth)
	}
}

// gitPrograms are the last parts of settings whose value is a command.
var gitPrograms = strings.Fields("clean smudge process command textconv external driver helper program cmd fsmonitor sshcommand editor pager askpass gitproxy uploadpack receivepack packobjectshook difffilter tocmd cccmd headercmd smtpserver sendmailcmd alternaterefscommand update")

// option binds what one setting names; in is the folder of the file that it stands in.
func (g *gitCall) option(o gitOption, in, of string, depth int) {
	first, last := o.key, o.key
	if n := strings.IndexByte(o.key, '.'); n >= 0 {
		first, last = o.key[:n], o.key[strings.LastIndexByte(o.key, '.')+1:]
	}
	value := o.value
	if !effect.IsKnown(value) {
		g.named("the setting %s of git", effect.Show(o.key))
		return
	}
	switch {
	case (first == "include" || first == "includeif") && last == "path":
		if file, ok := g.expanded(value, in, of); ok && depth < maxFollowed {
			g.config(file, depth+1)
		}
	case o.key == "core.hookspath":
		if dir, ok := g.expanded(value, g.root, of); ok && value != "" {
			g.hooks(filepath.Clean(dir))
		}
	case o.key == "core.attributesfile":
		if file, ok := g.expanded(value, g.root, of); ok {
			g.visit(file, code)
		}
	case first == "alias":
		if strings.EqualFold(strings.TrimPrefix(o.key, "alias."), g.sub) || strings.EqualFold(o.key, "alias."+g.sub+".command") {
			g.alias(value, of)
		}
	case first == "url" || last == "url" || last == "pushurl" || last == "vcs":
		g.transport(o, of)
	case o.key == "init.templatedir":
		g.template(value)
	case first == "pager" || slices.Contains(gitPrograms, last):
		if first == "credential" && value != "" && !strings.ContainsAny(value[:1], "!/~") {
			value = "git-credential-" + value
		}
		g.filters = g.filters || first == "filter" && ownFilter(value)
		if first == "submodule" && !strings.HasPrefix(value, "!") {
			return
		}
		g.runs(strings.TrimPrefix(value, "!"), g.root, of)
	case last == "path" && first != "submodule": // difftool.x.path
		g.runs(value, g.root, of)
	}
}

// expanded is the path that a value of a setting names.
func (g *gitCall) expanded(value, in, of string) (file string, ok bool) {
	home := g.call.Env["HOME"]
	switch rest, tilde := strings.CutPrefix(value, "~/"); {
	case tilde && filepath.IsAbs(home):
		value = filepath.Join(home, rest)
	case strings.HasPrefix(value, "~") || strings.HasPrefix(value, "%("):
		g.unread(of, "names")
		return "", false
	}
	if !filepath.IsAbs(value) && !filepath.IsAbs(in) {
		return "", false
	}
	return abs(in, value), true
}

// ownFilter reports whether the command of a filter may be more than an installed program
// with words of its own.
func ownFilter(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && (strings.Contains(command, "/") || slices.Contains(shells, words[0]) || languageOf(words[0]) != nil)
}

// alias walks what an alias means, as one of the shell or as words of git.
func (g *gitCall) alias(value, of string) {
	command, shell := strings.CutPrefix(strings.TrimSpace(value), "!")
	if !shell {
		command = "git " + command
	}
	g.runs(command, g.root, of)
}

// transport binds the program that an address names: ext::sh -c x, or foo::address.
func (g *gitCall) transport(o gitOption, of string) {
	for _, text := range []string{o.value, strings.TrimPrefix(o.key, "url.")} {
		name, rest, ok := strings.Cut(text, "::")
		switch {
		case !ok || name == "" || strings.ContainsAny(name, " /:@\""):
		case name == "ext":
			g.runs(rest, g.root, of)
		default:
			g.runs("git-remote-"+name, g.root, of)
		}
	}
	g.receiver(o.value)
	if strings.HasPrefix(o.key, "url.") {
		g.receiver(o.quoted)
	}
	if strings.HasSuffix(o.key, ".vcs") {
		g.runs("git-remote-"+o.value, g.root, of)
	}
}

// runs binds what a command that git starts by itself runs.
func (g *gitCall) runs(command, dir, of string) {
	switch strings.ToLower(strings.TrimSpace(command)) {
	case "", "true", "false", "yes", "no", "on", "off", "0", "1", "cat", ":": // no command, or one that does nothing
		return
	}
	if !g.once("git runs", command, dir) {
		return
	}
	if g.depth >= maxFollowed {
		g.unread(of, "runs")
		return
	}
	call := g.call
	call.Command, call.Args, call.Raw, call.Dir = command, nil, nil, dir
	g.walk(call, scope{strict: g.strict, words: true, depth: g.depth + 1, of: of})
}

// errGitConfig says that settings are not what git takes.
var errGitConfig = errors.New("no settings of git")

// gitOptions are the settings in a text, in order. What cannot be read is an error; what
// comes before it is returned.
func gitOptions(text string) (options []gitOption, err error) {
	r := gitReader{text: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	section := ""
	for {
		switch c := r.peek(); {
		case c == 0 && r.at >= len(r.text):
			return options, nil
		case c == ' ' || c == '\t' || c == '\n':
			r.at++
		case c == '#' || c == ';':
			r.line()
		case c == '[':
			if section, err = r.section(); err != nil {
				return options, err
			}
		case letter(c) && section != "":
			o := gitOption{key: section + "." + strings.ToLower(r.name()), quoted: r.quoted}
			if o.value, err = r.value(); err != nil {
				return options, err
			}
			options = append(options, o)
		default:
			return options, errGitConfig
		}
	}
}

type gitReader struct {
	text   string
	at     int
	quoted string // of the section
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (r *gitReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *gitReader) line() {
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		r.at++
	}
}

func (r *gitReader) name() string {
	start := r.at
	for c := r.peek(); letter(c) || c >= '0' && c <= '9' || c == '-'; c = r.peek() {
		r.at++
	}
	return r.text[start:r.at]
}

// section reads [a], [a.b] or [a "b"].
func (r *gitReader) section() (string, error) {
	line, _, _ := strings.Cut(r.text[r.at:], "\n")
	head, rest, quoted := strings.Cut(line, "\"")
	end := strings.IndexByte(head, ']')
	if !quoted || end >= 0 {
		if end < 0 || strings.TrimSpace(head[1:end]) == "" {
			return "", errGitConfig
		}
		r.at += end + 1
		r.quoted = ""
		return strings.ToLower(strings.TrimSpace(head[1:end])), nil
	}
	var sub strings.Builder
	for n := 0; n < len(rest); n++ {
		switch {
		case rest[n] == '\\' && n+1 < len(rest):
			n++
			sub.WriteByte(rest[n])
		case rest[n] == '"':
			if !strings.HasPrefix(rest[n+1:], "]") {
				return "", errGitConfig
			}
			r.at += len(head) + 1 + n + 2
			r.quoted = sub.String()
			return strings.ToLower(strings.TrimSpace(head[1:]) + "." + sub.String()), nil
		default:
			sub.WriteByte(rest[n])
		}
	}
	return "", errGitConfig
}

// value reads what stands behind a name: nothing, or "= value".
func (r *gitReader) value() (string, error) {
	for c := r.peek(); c == ' ' || c == '\t'; c = r.peek() {
		r.at++
	}
	switch r.peek() {
	case '=':
		r.at++
	case '\n', 0, '#', ';':
		r.line()
		return "true", nil
	default:
		return "", errGitConfig
	}
	var b strings.Builder
	quoted, kept := false, 0 // kept is what a space at the end does not belong to
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case c == '\n' && quoted:
			return "", errGitConfig
		case c == '\n' || (c == '#' || c == ';') && !quoted:
			r.line()
			return strings.TrimLeft(b.String()[:kept], " \t"), nil
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case c == '\\':
			if r.at++; r.at >= len(r.text) {
				return "", errGitConfig
			}
			switch e := r.text[r.at]; e {
			case '\n':
				continue
			case 'n', 't', 'b':
				b.WriteByte(map[byte]byte{'n': '\n', 't': '\t', 'b': '\b'}[e])
			case '"', '\\':
				b.WriteByte(e)
			default:
				return "", errGitConfig
			}
		default:
			b.WriteByte(c)
			if !quoted && (c == ' ' || c == '\t') {
				continue
			}
		}
		kept = b.Len()
	}
	if quoted {
		return "", errGitConfig
	}
	return strings.TrimLeft(b.String()[:kept], " \t"), nil
}
