package content

import (
	"errors"
	"strings"
)

// A GitSetting is one setting of git: its name in lower case, such as core.hookspath, and its
// value. Quoted is the part between the first and the last dot: what is in quotes as it is written, because git does
// not ignore its case, and in lower case what is not.
type GitSetting struct{ Key, Value, Quoted string }

var errGitSettings = errors.New("no settings of git")

// GitSettings returns the settings in a text, in order, as git reads them. If a part cannot be
// read, it returns an error and the settings before it. It accepts some settings that git refuses.
func GitSettings(text string) (settings []GitSetting, err error) {
	text, _, nul := strings.Cut(text, "\x00") // git reads on in some places
	r := gitReader{text: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	section := ""
	for {
		switch c := r.peek(); {
		case r.at >= len(r.text) && nul:
			return settings, errGitSettings
		case r.at >= len(r.text):
			return settings, nil
		case isGitSpace(c) || c == '\n':
			r.at++
		case c == '#' || c == ';':
			r.line()
		case c == '[':
			if section, err = r.section(); err != nil {
				return settings, err
			}
		case letter(c) && section != "":
			s := GitSetting{Key: section + "." + strings.ToLower(r.name()), Quoted: r.quoted}
			if s.Value, err = r.value(); err != nil {
				return settings, err
			}
			settings = append(settings, s)
		default:
			return settings, errGitSettings
		}
	}
}

// A gitReader reads a text of settings.
type gitReader struct {
	text   string
	at     int
	quoted string // of the section: behind its first dot
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isGitSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// peek returns the next byte, 0 at the end.
func (r *gitReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// line goes to the end of the line.
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
			return "", errGitSettings
		}
		r.at += end + 1
		name := strings.ToLower(strings.TrimSpace(head[1:end]))
		_, r.quoted, _ = strings.Cut(name, ".")
		return name, nil
	}
	var sub strings.Builder
	for n := 0; n < len(rest); n++ {
		switch {
		case rest[n] == '\\' && n+1 < len(rest):
			n++
			sub.WriteByte(rest[n])
		case rest[n] == '"':
			if !strings.HasPrefix(rest[n+1:], "]") {
				return "", errGitSettings
			}
			r.at += len(head) + 1 + n + 2
			name := strings.ToLower(strings.TrimSpace(head[1:])) + "." + sub.String()
			_, r.quoted, _ = strings.Cut(name, ".")
			return strings.ToLower(name), nil
		default:
			sub.WriteByte(rest[n])
		}
	}
	return "", errGitSettings
}

// value reads what follows a name: nothing, or "= value". The end of the file is the end of a line.
func (r *gitReader) value() (string, error) {
	for isGitSpace(r.peek()) {
		r.at++
	}
	switch r.peek() {
	case '=':
		r.at++
	case '\n', 0, '#', ';':
		r.line()
		return "true", nil
	default:
		return "", errGitSettings
	}
	var b strings.Builder
	quoted, kept := false, 0 // kept is what a space at the end does not belong to
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case c == '\n' && quoted:
			return "", errGitSettings
		case c == '\n' || (c == '#' || c == ';') && !quoted:
			r.line()
			return b.String()[:kept], nil
		case isGitSpace(c) && !quoted:
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			if r.at++; r.at >= len(r.text) {
				return "", errGitSettings
			}
			switch e := r.text[r.at]; e {
			case '\n':
			case 'n', 't', 'b':
				b.WriteByte(map[byte]byte{'n': '\n', 't': '\t', 'b': '\b'}[e])
			case '"', '\\':
				b.WriteByte(e)
			default:
				return "", errGitSettings
			}
		default:
			b.WriteByte(c)
		}
		kept = b.Len()
	}
	if quoted {
		return "", errGitSettings
	}
	return b.String()[:kept], nil
}
