package reflexcore

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"approver.example/reflexcore/disk"
)

// A change is what a difference says of one file.
type change struct {
	names []string // as they are written, without quotes
	fresh bool     // the file is new, and its text is all that stands there
	whole bool     // all that changes is known
	hunks []hunk
}

// A hunk is a part of a file before and after.
type hunk struct{ before, after string }

const maxChanges = 512 // files of one difference

var (
	// named finds the files that a difference names, wherever the line stands.
	named = regexp.MustCompile(`(?m)^(?:\+\+\+ |--- |\*\*\* |rename (?:to|from) |copy (?:to|from) |Index: )([^\r\n]+)`)
	// hunkLine finds how many lines a hunk has.
	hunkLine = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
	// encoding finds how the body of a message is written.
	encoding = regexp.MustCompile(`(?mi)^Content-Transfer-Encoding:\s*([\w-]+)`)
	charset  = regexp.MustCompile(`(?mi)charset\s*=\s*"?([\w-]+)`)
	// packed finds lines of base64, and escaped a letter of quoted-printable.
	packed  = regexp.MustCompile(`(?m)(?:^[A-Za-z0-9+/=]+\r?\n?)+`)
	escaped = regexp.MustCompile(`=(?:\r?\n|[0-9A-Fa-f]{2})`)
)

// unquoteName undoes the quotes of C in which git writes a name, and cuts what stands
// behind it. False: it cannot be read.
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

// namesIn are all the names that a difference has; false if one of them cannot be read.
func namesIn(text string) (out []string, ok bool) {
	ok = true
	add := func(s string) {
		name, readable := unquoteName(s)
		out, ok = append(out, name), ok && readable
	}
	for _, m := range named.FindAllStringSubmatch(text, disk.MaxListed) {
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

// gitNames are the two names of a line diff --git.
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

// decoded is a message with its body as it is applied; false if it is written in a way
// that is not read.
func decoded(text string) (string, bool) {
	for _, m := range charset.FindAllStringSubmatch(text, disk.MaxListed) {
		switch c := strings.ToLower(m[1]); {
		case c == "utf-8", c == "utf8", c == "us-ascii":
		case strings.HasPrefix(c, "iso-8859-"), strings.HasPrefix(c, "windows-125"):
		default:
			return text, false
		}
	}
	out := text
	for _, m := range encoding.FindAllStringSubmatch(text, disk.MaxListed) {
		switch strings.ToLower(m[1]) {
		case "7bit", "8bit", "binary":
		case "quoted-printable":
			out += "\n" + escaped.ReplaceAllStringFunc(text, func(s string) string {
				c, err := strconv.ParseUint(s[1:], 16, 8)
				if err != nil {
					return "" // the end of a line that goes on
				}
				return string([]byte{byte(c)})
			})
		case "base64":
			for _, block := range packed.FindAllString(text, disk.MaxListed) {
				if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(block), "")); err == nil {
					out += "\n" + string(b)
				}
			}
		default:
			return text, false
		}
		if len(out) > 4*maxPatch {
			return text, false
		}
	}
	return out, true
}

// changes are the files that a difference changes, backwards if it is taken back.
func changes(text string, back bool) (out []change) {
	var now *change
	begin := func() {
		if now = nil; len(out) < maxChanges {
			out = append(out, change{whole: true})
			now = &out[len(out)-1]
		}
	}
	lines := strings.SplitAfter(text, "\n")
	header := false // the lines are those before the hunks of a file
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		switch m := hunkLine.FindStringSubmatch(line); {
		case m != nil && now != nil:
			h, next, ok := readHunk(lines[i+1:], count(m[2]), count(m[3]))
			i, header = i+next, false
			now.whole = now.whole && ok
			now.fresh = now.fresh || m[1] == "0" && m[2] == "0" && !back
			if back {
				h.before, h.after = h.after, h.before
			}
			now.hunks = append(now.hunks, h)
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
				now.fresh = now.fresh || strings.HasPrefix(from, "/dev/null") && !back || strings.HasPrefix(to, "/dev/null") && back
				now.name(from, to)
			}
			i++
			header = false
		case now == nil || !header:
		case strings.HasPrefix(line, "new file mode") && !back, strings.HasPrefix(line, "deleted file mode") && back:
			now.fresh = true
		case strings.HasPrefix(line, "rename "), strings.HasPrefix(line, "copy "),
			strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files"):
			now.whole = false
		}
	}
	return out
}

func (c *change) name(names ...string) {
	for _, s := range names {
		n, _ := unquoteName(s)
		if first, _, ok := strings.Cut(n, " "); ok { // patch ends a name there, unless a tab follows
			c.names = append(c.names, first)
		}
		if n != "/dev/null" && n != "" {
			c.names = append(c.names, n)
		}
	}
}

// count is how many lines a hunk says that it has; none said is one.
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

// readHunk reads the lines of a hunk; false if they are not as many as it says.
func readHunk(lines []string, before, after int) (h hunk, next int, ok bool) {
	var was, is strings.Builder
	for ; next < len(lines) && (before > 0 || after > 0); next++ {
		line := lines[next]
		switch {
		case line == "":
			return hunk{was.String(), is.String()}, next, false
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
			return hunk{was.String(), is.String()}, next, false
		}
	}
	return hunk{was.String(), is.String()}, next, before == 0 && after == 0
}

// applied is a text after the hunks of a change; false if they do not fit it.
func (c *change) applied(text string) (string, bool) {
	if !c.whole {
		return "", false
	}
	for _, h := range c.hunks {
		if h.before == "" || strings.Count(text, h.before) != 1 {
			return "", false
		}
		text = strings.Replace(text, h.before, h.after, 1)
	}
	return text, true
}

// text is what a new file has in it.
func (c *change) text() (string, bool) {
	var b strings.Builder
	for _, h := range c.hunks {
		b.WriteString(h.after)
	}
	return b.String(), c.whole
}
