package display

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Title says in words what the call would do, as far as the call itself says it. It is for a card
// without a better title of a judge. It has nothing that [Call.Body] hides.
func (c Call) Title() Phrase { return c.Hidden().Phrase(c.title()) }

func (c Call) title() Phrase {
	fields, isObject := c.fields()
	if c.Question {
		return c.ownTitle()
	}
	if isObject {
		if p := c.changeOf(fields).title(); !p.IsZero() {
			return p
		}
	}
	server, verb := serverTool(c.Tool)
	if c.Command != "" {
		p := firstLine(c.Command)
		switch {
		case c.OwnShell || c.Tool == askTool:
		case server != "":
			p = Phrase{Text: "%s: %s " + p.Text, Args: append([]string{server, verb}, p.Args...)}
		default:
			p = Phrase{Text: "%s: " + p.Text, Args: append([]string{c.Tool}, p.Args...)}
		}
		return p
	}
	object := telling(c.Tool, fields)
	switch {
	case server != "" && object != "":
		return Phrase{Text: "%s: %s %s", Args: []string{server, verb, object}}
	case server != "":
		return Phrase{Text: "%s: %s", Args: []string{server, verb}}
	case object != "":
		return Phrase{Text: "%s %s", Args: []string{c.Tool, object}}
	}
	return Phrase{Text: "%s", Args: []string{c.Tool}}
}

// title says what is done to a file.
func (ch change) title() Phrase {
	switch ch.kind {
	case writes:
		return Phrase{Text: "Write %s", Args: []string{ch.path}}
	case edits, inserts:
		return Phrase{Text: "Edit %s", Args: []string{ch.path}}
	case patches:
		files, ok := patchOf(ch.text)
		if !ok {
			return Phrase{Text: "Apply a patch"}
		}
		text := map[string]string{"Add": "Write %s", "Delete": "Delete %s", "Update": "Edit %s"}[files[0].does]
		switch n := len(files) - 1; n {
		case 0:
			return Phrase{Text: text, Args: []string{files[0].path}}
		case 1:
			return Phrase{Text: text + ", and change %s", Args: []string{files[0].path, files[1].path}}
		default:
			return Phrase{Text: text + ", and change %s more files", Args: []string{files[0].path, strconv.Itoa(n)}}
		}
	case noChange:
	}
	return Phrase{}
}

// firstLine is the title of a command: its first line with words, and how many more there are.
func firstLine(command string) Phrase {
	lines := slices.DeleteFunc(strings.Split(command, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	switch n := len(lines); n {
	case 0:
		return Phrase{Text: "%s", Args: []string{command}}
	case 1:
		return Phrase{Text: "%s", Args: []string{strings.TrimSpace(lines[0])}}
	case 2:
		return Phrase{Text: "%s (and 1 more line)", Args: []string{strings.TrimSpace(lines[0])}}
	default:
		return Phrase{Text: "%s (and %s more lines)", Args: []string{strings.TrimSpace(lines[0]), strconv.Itoa(n - 1)}}
	}
}

// serverTool returns the server of an MCP tool, and what the tool does in words. The server is empty
// for any other tool.
func serverTool(tool string) (server, verb string) {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, tool, ok = strings.Cut(rest, "__")
		if !ok || server == "" {
			return "", ""
		}
		if server == "unknown" { // the agent does not say it
			server = "MCP"
		}
	} else if server, tool, ok = strings.Cut(tool, "."); !ok || server == "" {
		return "", ""
	}
	return server, inWords(tool)
}

// inWords writes a name such as delete_repository or deleteRepository in words.
func inWords(name string) string {
	var b strings.Builder
	small := false
	for _, r := range name {
		switch {
		case strings.ContainsRune("_-./", r):
			r = ' '
		case unicode.IsUpper(r) && small:
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		small = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// tellingKeys are the arguments that say most about a call, the best first.
var tellingKeys = []string{"amount", "repo", "repository", "project", "full_name", "name", "database", "table",
	"bucket", "channel", "pattern", "query", "sql", "path", "file_path", "filePath", "url", "uri", "id", "to", "recipient",
	"email", "title"}

// otherKeys say something about a call that has none of these.
var otherKeys = []string{"description", "skill", "message", "prompt", "reason", "status"}

// Limits of the arguments in a title.
const (
	maxTelling     = 2
	maxTellingText = 60 // characters
)

// telling returns the most telling arguments of a call, at most two.
func telling(tool string, fields []field) string {
	var all []string
	for _, key := range tellingKeys {
		text := textAt(fields, key)
		if text == "" || len(all) == maxTelling {
			continue
		}
		if owner := textAt(fields, "owner"); owner != "" && strings.HasPrefix(key, "repo") && !strings.Contains(text, "/") {
			text = owner + "/" + text
		}
		if key == "amount" {
			text = Amount(tool, key, text, textAt(fields, "currency"))
		}
		all = append(all, short(text))
	}
	for i := 0; i < len(otherKeys) && len(all) == 0; i++ {
		if text := textAt(fields, otherKeys[i]); text != "" {
			all = append(all, short(text))
		}
	}
	return strings.Join(all, ", ")
}

// short returns the first line of a text, and cuts it visibly.
func short(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if utf8.RuneCountInString(line) > maxTellingText {
		line, more = string([]rune(line)[:maxTellingText]), true
	}
	if more {
		return line + "..." // three letters: … in a text of others is marked
	}
	return line
}

// textAt returns the text or the number of an argument, and "" if there is none.
func textAt(fields []field, key string) string {
	for _, f := range fields {
		if f.key != key {
			continue
		}
		if text, ok := textOf(f.raw); ok {
			return text
		}
		if len(f.raw) > 0 && f.raw[0] >= '0' && f.raw[0] <= '9' {
			return string(f.raw)
		}
	}
	return ""
}
