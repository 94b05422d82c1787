package heuristics

import "strings"

// stripData returns a command without its data: comments, messages of commits and
// pull requests, arguments of echo and grep, and here documents. If anything in the
// command could run the data, or the quotes do not match, it returns the whole command.
func stripData(command string) string {
	if !strings.ContainsAny(command, "'\"#") && !strings.Contains(command, "<<") {
		return command
	}
	c := stripper{in: command, first: true}
	if !c.read() || !c.stripped {
		return command
	}
	if out := c.out.String(); !mayRunText(out) {
		return out
	}
	return command
}

// interpreters run text that they are given.
var interpreters = set("sh bash zsh dash ksh fish ash csh tcsh busybox python python2 python3 perl ruby node deno " +
	"bun php lua pwsh powershell cmd osascript awk gawk eval source xargs parallel exec ssh at batch psql mysql mariadb " +
	"sqlite3 sqlcmd mongosh redis-cli docker podman kubectl su script expect tclsh make vim ed crontab " +
	"systemd-run watch elixir iex ghci runghc rscript julia groovy groovysh scala clojure clj bb luajit swift jshell " +
	"kotlin kotlinc racket guile emacs nvim vi ex gdb lldb tsx ts-node deno nu xonsh")

// textPrograms never run their arguments and input.
var textPrograms = set("echo printf grep egrep fgrep rg ag ack logger say notify-send banner figlet cowsay " +
	"test [ [[ jq")

// messageFlags are flags whose value is prose.
var messageFlags = set("--message --body --title --description --notes --comment --subject --text --grep " +
	"--release-notes --annotation --reason --summary --head-comment")

// versionControl are programs whose -m takes prose.
var versionControl = set("git hg svn jj gh glab fossil bzr bd yadm dcg br")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// mayRunText reports whether a command has a program or a shell construct that runs text.
func mayRunText(command string) bool {
	if strings.Contains(command, "<(") || strings.Contains(command, "<<<") || strings.Contains(command, "`") ||
		strings.Contains(command, "$(") || sourcesFile(command) {
		return true
	}
	for w := range strings.FieldsFuncSeq(command,
		func(r rune) bool { return strings.ContainsRune(" \t\n\r;&|(){}'\"<>=!", r) }) {
		if interpreters[strings.TrimSuffix(w[strings.LastIndexAny(w, `/\`)+1:], ".exe")] {
			return true
		}
	}
	return false
}

// sourcesFile reports whether a command is a dot, which runs a file in the shell. Elsewhere a dot is
// a folder.
func sourcesFile(command string) bool {
	for at := 0; at+1 < len(command); at++ {
		if command[at] != '.' || command[at+1] != ' ' && command[at+1] != '\t' {
			continue
		}
		before := strings.TrimRight(command[:at], " \t")
		if before == "" || strings.IndexByte("\n;&|({", before[len(before)-1]) >= 0 {
			return true
		}
		word := before[strings.LastIndexAny(before, " \t\n;")+1:]
		if at > len(before) && (word == "then" || word == "do" || word == "else" || word == "!") {
			return true
		}
	}
	return false
}

// A stripper copies a command without its data, in one pass.
type stripper struct {
	in       string
	at       int
	out      strings.Builder
	stripped bool // data was left out
	first    bool // the next word is a program's name

	program string
	word    int    // where the word begins in out
	last    string // the word before it
	ends    []end  // of documents that begin at the next line
}

// An end is the line that ends a here document. In a plain one the shell expands nothing.
type end struct {
	line        string
	tabs, plain bool
}

// read copies the command; false if its quotes do not match.
func (c *stripper) read() bool {
	for c.at < len(c.in) {
		switch b := c.in[c.at]; {
		case b == '\\' && c.at+1 < len(c.in):
			c.out.WriteString(c.in[c.at : c.at+2])
			c.at += 2
		case b == '\'' || b == '"':
			if !c.quoted(b) {
				return false
			}
		case b == '#' && c.out.Len() == c.word:
			c.stripped = true
			for c.at < len(c.in) && c.in[c.at] != '\n' {
				c.at++
			}
		case strings.HasPrefix(c.in[c.at:], "<<<"):
			c.endWord()
			c.copy(3)
		case strings.HasPrefix(c.in[c.at:], "<<"):
			c.endWord()
			c.document()
		case b == '\n':
			c.endWord()
			c.copy(1)
			if !c.documents() {
				return false
			}
			c.first = true
		case strings.IndexByte(";&|(){}", b) >= 0:
			c.endWord()
			c.copy(1)
			c.first = true
		case b == ' ' || b == '\t' || b == '\r':
			c.endWord()
			c.copy(1)
		default:
			c.out.WriteByte(b)
			c.at++
		}
	}
	return len(c.ends) == 0
}

func (c *stripper) copy(n int) {
	c.out.WriteString(c.in[c.at : c.at+n])
	c.at += n
	c.word = c.out.Len()
}

// endWord notes the word that ends here.
func (c *stripper) endWord() {
	word := c.out.String()[c.word:]
	c.word = c.out.Len()
	if word == "" {
		return
	}
	name, _, assigned := strings.Cut(word, "=")
	switch {
	case !c.first, assigned && !strings.ContainsAny(name, "/-"):
	case word == "sudo" || word == "env" || word == "time" || word == "command" || word == "then" || word == "do" ||
		word == "else" || word == "if" || word == "!":
	default:
		c.program, c.first = word[strings.LastIndexByte(word, '/')+1:], false
	}
	c.last = word
}

// quoted copies a quoted text, or only its quotes if it is data.
func (c *stripper) quoted(quote byte) bool {
	end := c.at + 1
	for ; ; end++ {
		if end >= len(c.in) {
			return false
		}
		if c.in[end] == quote {
			break
		}
		if quote == '"' && c.in[end] == '\\' {
			end++
		}
	}
	inner := c.in[c.at+1 : end]
	if len(inner) > 0 && c.isData() && (quote == '\'' || plain(inner)) {
		c.stripped = true
		inner = ""
	}
	c.out.WriteByte(quote)
	c.out.WriteString(inner)
	c.out.WriteByte(quote)
	c.at = end + 1
	return true
}

// plain reports whether a text in double quotes has no command substitution.
func plain(text string) bool { return !strings.Contains(text, "$(") && !strings.Contains(text, "`") }

// isData reports whether a quoted text that begins here is data to the program.
func (c *stripper) isData() bool {
	if c.first {
		return false
	}
	flag := c.last
	if c.out.Len() > c.word { // --message="…"
		word := c.out.String()[c.word:]
		if !strings.HasSuffix(word, "=") {
			return textPrograms[c.program]
		}
		flag = strings.TrimSuffix(word, "=")
	}
	short := len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && strings.HasSuffix(flag, "m")
	return textPrograms[c.program] || messageFlags[flag] || versionControl[c.program] && short
}

// document notes a here document that begins at the next line: <<EOF, <<-'EOF'.
func (c *stripper) document() {
	i := c.at + 2
	e := end{}
	if i < len(c.in) && c.in[i] == '-' {
		e.tabs = true
		i++
	}
	for i < len(c.in) && (c.in[i] == ' ' || c.in[i] == '\t') {
		i++
	}
	from := i
	for i < len(c.in) && strings.IndexByte(" \t\r\n;&|<>()", c.in[i]) < 0 {
		i++
	}
	name := c.in[from:i]
	e.line = strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(name)
	e.plain = e.line != name
	if e.line != "" {
		c.ends = append(c.ends, e)
	}
	c.copy(i - c.at)
}

// documents leaves out the here documents that begin here; false if one does not end.
func (c *stripper) documents() bool {
	for _, e := range c.ends {
		from := c.at
		for {
			if c.at >= len(c.in) {
				return false
			}
			line, rest, more := strings.Cut(c.in[c.at:], "\n")
			begin := c.at
			c.at = len(c.in) - len(rest)
			if e.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") != e.line {
				if !more {
					return false
				}
				continue
			}
			if body := c.in[from:begin]; e.plain || plain(body) {
				c.stripped = c.stripped || body != ""
				c.out.WriteString(line)
			} else {
				c.out.WriteString(c.in[from:c.at])
			}
			c.out.WriteByte('\n')
			break
		}
	}
	c.ends = c.ends[:0]
	c.word = c.out.Len()
	return true
}
