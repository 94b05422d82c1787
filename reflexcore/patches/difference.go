package patches

import (
	"encoding/base64"
	"strconv"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/disk"
)

// A Change is what a patch does to one file.
type Change struct {
	Names []string // as they are written, without quotes
	Fresh bool     // the file is new, and its text is all that stands there
	whole bool     // all that changes is known
	Hunks []Hunk
}

// A Hunk is a part of a file before and after the change.
type Hunk struct{ before, After string }

const maxChanges = 512 // files of one difference

var (
	// nameLine matches the files that a patch names, wherever the line is.
	nameLine = lazyregexp.New(
		`(?m)^(?:\+\+\+ |--- |\*\*\* |rename (?:to|from) |copy (?:to|from) |Index: )([^\r\n]+)`)
	// hunkLine matches the header of a hunk with its numbers of lines.
	hunkLine = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
	// transferEncoding matches the encoding of the body of a mail.
	transferEncoding = lazyregexp.New(`(?mi)^Content-Transfer-Encoding:\s*([\w-]+)`)
	charset          = lazyregexp.New(`(?mi)charset\s*=\s*"?([\w-]+)`)
	// base64Lines matches lines of base64, and escapedLetter an encoded letter of quoted-printable.
	base64Lines   = lazyregexp.New(`(?m)(?:^[A-Za-z0-9+/=]+\r?\n?)+`)
	escapedLetter = lazyregexp.New(`=(?:\r?\n|[0-9A-Fa-f]{2})`)
)

// unquoteName undoes the C quotes in which git writes a name, and removes what follows it. It
// returns false if the name cannot be read.
func unquoteName(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		s, _, _ = strings.Cut(s, "\t")
		return s, true
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return s, false
	}
	name, err := strconv.Unquote(quoted)
	return name, err == nil
}

// Names returns all names in a patch; false if one of them cannot be read.
func Names(text string) (out []string, ok bool) {
	ok = true
	add := func(s string) {
		name, readable := unquoteName(s)
		out, ok = append(out, name), ok && readable
	}
	for _, m := range nameLine().FindAllStringSubmatch(text, disk.MaxListed) {
		add(m[1])
	}
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(line, "diff --git "); is && len(out) < 2*disk.MaxListed {
			for _, name := range gitNames(strings.TrimRight(rest, "\r\n")) {
				add(name)
			}
		}
	}
	return out, ok
}

// gitNames returns the two names of a line diff --git.
func gitNames(s string) []string {
	if quoted, err := strconv.QuotedPrefix(s); err == nil && strings.HasPrefix(s, `"`) {
		return []string{quoted, strings.TrimSpace(s[len(quoted):])}
	}
	if i := strings.Index(s, ` "`); i >= 0 {
		return []string{s[:i], s[i+1:]}
	}
	if i := strings.LastIndex(s, " b/"); i >= 0 {
		return []string{s[:i], s[i+1:]}
	}
	return strings.Fields(s)
}

// Decode returns a mail with its body decoded; false if the encoding is not supported.
func Decode(text string) (string, bool) {
	for _, m := range charset().FindAllStringSubmatch(text, disk.MaxListed) {
		switch c := strings.ToLower(m[1]); {
		case c == "utf-8", c == "utf8", c == "us-ascii":
		case strings.HasPrefix(c, "iso-8859-"), strings.HasPrefix(c, "windows-125"):
		default:
			return text, false
		}
	}
	out := text
	for _, m := range transferEncoding().FindAllStringSubmatch(text, disk.MaxListed) {
		switch strings.ToLower(m[1]) {
		case "7bit", "8bit", "binary":
		case "quoted-printable":
			out += "\n" + escapedLetter().ReplaceAllStringFunc(text, func(s string) string {
				c, err := strconv.ParseUint(s[1:], 16, 8)
				if err != nil {
					return "" // the end of a line that goes on
				}
				return string([]byte{byte(c)})
			})
		case "base64":
			for _, block := range base64Lines().FindAllString(text, disk.MaxListed) {
				if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(block), "")); err == nil {
					out += "\n" + string(b)
				}
			}
		default:
			return text, false
		}
		if len(out) > 4*analysis.MaxText {
			return text, false
		}
	}
	return out, true
}

// Changes returns the files that a patch changes; back reverses the patch.
func Changes(text string, back bool) (out []Change) {
	var now *Change
	begin := func() {
		if now = nil; len(out) < maxChanges {
			out = append(out, Change{whole: true})
			now = &out[len(out)-1]
		}
	}
	lines := strings.SplitAfter(text, "\n")
	header := false // the lines are those before the hunks of a file
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		switch m := hunkLine().FindStringSubmatch(line); {
		case m != nil && now != nil:
			h, next, ok := readHunk(lines[i+1:], count(m[2]), count(m[3]))
			i, header = i+next, false
			now.whole = now.whole && ok
			now.Fresh = now.Fresh || m[1] == "0" && m[2] == "0" && !back
			if back {
				h.before, h.After = h.After, h.before
			}
			now.Hunks = append(now.Hunks, h)
		case strings.HasPrefix(line, "diff --git "):
			begin()
			if header = true; now != nil {
				now.name(gitNames(line[len("diff --git "):])...)
			}
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			if !header {
				begin()
			}
			if now != nil {
				from, to := line[4:], strings.TrimRight(lines[i+1], "\r\n")[4:]
				now.Fresh = now.Fresh || strings.HasPrefix(from, "/dev/null") && !back || strings.HasPrefix(to, "/dev/null") && back
				now.name(from, to)
			}
			i++
			header = false
		case now == nil || !header:
		case strings.HasPrefix(line, "new file mode") && !back, strings.HasPrefix(line, "deleted file mode") && back:
			now.Fresh = true
		case strings.HasPrefix(line, "rename "), strings.HasPrefix(line, "copy "),
			strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files"):
			now.whole = false
		}
	}
	return out
}

func (c *Change) name(names ...string) {
	for _, s := range names {
		n, _ := unquoteName(s)
		if first, _, ok := strings.Cut(n, " "); ok { // patch ends a name there, unless a tab follows
			c.Names = append(c.Names, first)
		}
		if n != "/dev/null" && n != "" {
			c.Names = append(c.Names, n)
		}
	}
}

// count parses the number of lines of a hunk; the default is one.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// readHunk reads the lines of a hunk; false if their number differs from the header.
func readHunk(lines []string, before, after int) (h Hunk, next int, ok bool) {
	var was, is strings.Builder
	for ; next < len(lines) && (before > 0 || after > 0); next++ {
		line := lines[next]
		switch {
		case line == "":
			return Hunk{was.String(), is.String()}, next, false
		case line[0] == ' ', line[0] == '\n', line[0] == '\r':
			line = strings.TrimPrefix(line, " ")
			was.WriteString(line)
			is.WriteString(line)
			before, after = before-1, after-1
		case line[0] == '-':
			was.WriteString(line[1:])
			before--
		case line[0] == '+':
			is.WriteString(line[1:])
			after--
		case line[0] != '\\':
			return Hunk{was.String(), is.String()}, next, false
		}
	}
	return Hunk{was.String(), is.String()}, next, before == 0 && after == 0
}

// Applied returns a text after the change; false if the hunks do not match it.
func (c *Change) Applied(text string) (string, bool) {
	if !c.whole {
		return "", false
	}
	for _, h := range c.Hunks {
		if h.before == "" || strings.Count(text, h.before) != 1 {
			return "", false
		}
		text = strings.Replace(text, h.before, h.After, 1)
	}
	return text, true
}

// Text returns the content of a new file.
func (c *Change) Text() (string, bool) {
	var b strings.Builder
	for _, h := range c.Hunks {
		b.WriteString(h.After)
	}
	return b.String(), c.whole
}
