package content

import (
	"maps"
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
)

// A dockerfile is read line by line.
type dockerfile struct {
	*extractor
	lang     string            // of what follows RUN, as SHELL says
	defaults map[string]string // of ARG and ENV
	word     string            // the instruction whose input follows, up to a line with end
	command  string
	end      string
	body     strings.Builder
}

// docker yields what builds an image, and what its containers run.
func (x *extractor) docker(content string) {
	x.contained = true // an image publishes nothing
	d := dockerfile{extractor: x, lang: effect.Shell, defaults: map[string]string{}}
	if escapesWithBacktick().MatchString(content) {
		content = strings.ReplaceAll(strings.ReplaceAll(content, "\\\n", "\\ \n"), "`\n", "\\\n")
	}
	lines(withoutComments(content), "", d.line)
	if d.end != "" {
		x.hidden("a document in it that does not end")
	}
}

// escapesWithBacktick matches the directive by which a backtick continues a line.
var escapesWithBacktick = lazyregexp.New("(?im)\\A(?:#.*\n)*#\\s*escape\\s*=\\s*`")

func (d *dockerfile) line(line string) {
	switch {
	case d.end != "" && strings.TrimSpace(line) == d.end:
		d.document()
		return
	case d.end != "":
		d.body.WriteString(line + "\n")
		return
	}
	word, flags, rest := instruction(line)
	switch word {
	case "RUN", "COPY", "ADD":
		if d.end = heredocEnd(rest); d.end != "" {
			d.word, d.command = word, rest
			return
		}
		if word == "RUN" {
			d.builds(rest, !strings.Contains(flags, "--security"))
		}
	case "CMD", "ENTRYPOINT", "HEALTHCHECK":
		d.emit(effect.Shell, d.withDefaults(rest), "a Dockerfile's "+word)
	case "SHELL":
		first, _, _ := strings.Cut(rest, " ")
		if d.lang = Interpreter(strings.Trim(first, "'")); d.lang == "" {
			d.lang = effect.Shell
		}
		d.emit(effect.Shell, rest, "a Dockerfile's SHELL")
	case "ARG", "ENV":
		for _, m := range defaults().FindAllStringSubmatch(rest, maxDefaults) {
			if len(d.defaults) < maxDefaults && m[1] != "PATH" {
				d.defaults[m[1]] = m[2]
			}
		}
	}
}

const maxDefaults = 64 // of a Dockerfile

// defaults matches variables with their values. A value with other variables in it is not known.
var defaults = lazyregexp.New(`(\w+)=("[^"$\\]*"|'[^']*'|[^\s"'$\\]+)`)

// withDefaults puts the variables that a text uses before it.
func (d *dockerfile) withDefaults(text string) string {
	if len(d.defaults) == 0 || d.lang != effect.Shell || !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.defaults)) {
		if strings.Contains(text, "$"+name) || strings.Contains(text, "${"+name) {
			b.WriteString(name + "=" + d.defaults[name] + "\n")
		}
	}
	return b.String() + text
}

// endings are the languages of files that are put into an image.
var endings = map[string]string{".sh": effect.Shell, ".bash": effect.Shell, ".py": effect.Python,
	".js": effect.JavaScript, ".mjs": effect.JavaScript, ".rb": effect.Ruby, ".pl": effect.Perl, ".php": effect.PHP}

// document yields what the text is that follows an instruction.
func (d *dockerfile) document() {
	body := d.body.String()
	switch {
	case d.word != "RUN": // a file of the image, which its containers may run
		words := strings.Fields(d.command)
		lang := endings[path.Ext(words[len(words)-1])]
		if first, _, _ := strings.Cut(body, "\n"); strings.HasPrefix(first, "#!") {
			lang = Shebang(first)
		}
		if lang != "" {
			d.emit(lang, body, "a Dockerfile's "+d.word)
		}
	case heredoc().FindString(d.command) == d.command:
		d.builds(body, true) // nothing but the input: it is the command
	default:
		d.builds(d.command+"\n"+body+d.end, true)
	}
	d.word, d.command, d.end = "", "", ""
	d.body.Reset()
}

// builds yields what builds an image. It is no image if it may reach the machine that builds it.
func (d *dockerfile) builds(text string, image bool) {
	d.image = image
	d.emit(d.lang, d.withDefaults(text), "a Dockerfile's RUN")
	d.image = false
}

// heredocEnd returns the line that ends what follows a command, or nothing if nothing follows it.
func heredocEnd(command string) string {
	for i := 0; i < len(command); i++ {
		if !strings.HasPrefix(command[i:], "<<") {
			continue
		}
		before := command[:i]
		bare := strings.TrimRight(before, "0123456789")
		if m := heredoc().FindStringSubmatch(command[i:]); m != nil && strings.Count(before, `"`)%2 == 0 &&
			strings.Count(before, "'")%2 == 0 && (bare == "" || strings.TrimRight(bare, " \t") != bare) {
			return m[1] + m[2] + m[3]
		}
		i++
	}
	return ""
}

// heredoc matches the beginning of a heredoc.
var heredoc = lazyregexp.New(`^<<-?(?:"([^"]+)"|'([^']+)'|([^\s"'<>;&|()]+))`)

// instruction returns the word of a Dockerfile's line, its flags, and the shell text that follows them.
func instruction(line string) (word, flags, rest string) {
	word, rest = firstWord(line)
	if strings.EqualFold(word, "ONBUILD") {
		word, rest = firstWord(rest)
	}
	word = strings.ToUpper(word)
	for strings.HasPrefix(rest, "--") { // --mount=…
		var flag string
		flag, rest = firstWord(rest)
		flags += flag + " "
	}
	if word == "HEALTHCHECK" {
		rest = strings.TrimPrefix(rest, "CMD ")
	}
	if words, ok := jsonWords(rest); ok && strings.HasPrefix(rest, "[") {
		rest = shellJoin(words)
	}
	return word, flags, rest
}

func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}
