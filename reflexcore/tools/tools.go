// Package tools says what a call of a tool that is no shell would do: files that
// are written and read, requests, messages, statements of databases, pages of a
// browser, and whatever an MCP server offers.
//
// [Effects] goes by meaning. The words of the tool's name are verbs (delete,
// send, run …) and nouns (file, email, database …); the names of its arguments
// say what each value is (a path, a URL, a command, recipients). Where a name
// says nothing, the value's shape does: a URL, an absolute path, JSON inside a
// string. A tool whose name and arguments say nothing has no effect here.
//
// What runs is not judged here: commands, scripts, statements in a page and the
// executable parts of files come back as payloads in their language. Paths are
// given twice if a symbolic link leads elsewhere, and are known in part only
// (effect.Partial) if it could not be seen where. Money that moves is
// effect.Publish, because it cannot be taken back either.
package tools

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/sqltext"
)

// Limits bound the work on one call. The zero value reads nothing, and says so
// as an opaque effect.
type Limits struct {
	Bytes   int // of arguments
	Args    int // values in them
	Depth   int // of lists and objects, and of JSON in strings
	Paths   int // that are followed through links
	Bulk    int // ids, recipients or files from which on an effect is effect.Bulk
	File    int // bytes of a file that an edit changes
	Content content.Limits
	SQL     sqltext.Limits
}

// DefaultLimits suit a hook.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 20, Args: 4096, Depth: 16, Paths: 64, Bulk: 20, File: 1 << 20, Content: content.DefaultLimits(), SQL: sqltext.DefaultLimits()}
}

// A Result is what a call would do.
type Result struct {
	Effects  []effect.Effect
	Payloads []effect.Payload
	// Count is how many things of a kind the call names: the longest list of ids,
	// recipients or files.
	Count int
}

// Effects says what a call would do. A nil FS follows no links, and then every
// path is only known in part.
func Effects(call approver.ToolCall, lim Limits, fs FS) Result {
	j := &judge{call: call, lim: lim, fs: fs}
	j.name()
	if !j.read() {
		j.add(effect.Opaque, "", effect.Partial)
		return j.result
	}
	j.actions()
	j.result.Count = j.longest()
	j.judge()
	return j.result
}

// A judge holds one call.
type judge struct {
	call   approver.ToolCall
	lim    Limits
	fs     FS
	tool   string // the name without its server
	verbs  verbs
	nouns  nouns
	args   []arg
	lists  []list
	paths  int
	result Result
}

func (j *judge) add(kind effect.Kind, target string, bits effect.Bits) {
	j.addTainted(kind, target, bits, 0)
}

func (j *judge) addTainted(kind effect.Kind, target string, bits effect.Bits, taint effect.Taint) {
	e := effect.Effect{Kind: kind, Target: target, Bits: bits, Taint: taint, By: j.tool}
	for _, have := range j.result.Effects {
		if have == e {
			return
		}
	}
	j.result.Effects = append(j.result.Effects, e)
}

func (j *judge) payload(p effect.Payload) {
	if strings.TrimSpace(p.Text) == "" && p.Lang != "" {
		return
	}
	for _, have := range j.result.Payloads {
		if have == p {
			return
		}
	}
	j.result.Payloads = append(j.result.Payloads, p)
}

// bulk is Bulk if the call names many things, or all of them.
func (j *judge) bulk() effect.Bits {
	if j.result.Count >= max(j.lim.Bulk, 1) {
		return effect.Bulk
	}
	for _, a := range j.args {
		switch a.role {
		case roleText, roleContent, rolePath, roleURL, roleSQL, roleCommand, roleCode:
			continue
		default:
		}
		switch strings.ToLower(a.text) {
		case "*", "all", "everything", "_all":
			return effect.Bulk
		case "true":
			if strings.HasPrefix(a.key, "all") || a.key == "everything" || strings.HasPrefix(a.key, "deleteall") {
				return effect.Bulk
			}
		}
	}
	if j.nouns&nounAll != 0 {
		return effect.Bulk
	}
	return 0
}

// judge turns arguments into effects.
func (j *judge) judge() {
	if j.verbs&verbPatch != 0 && j.patch() {
		return
	}
	j.commands()
	j.statements()
	j.files()
	j.requests()
	j.messages()
	j.browser()
	j.rest()
}

// commands hands out what runs: the command of any tool, the code of one that
// runs code.
func (j *judge) commands() {
	runs := j.verbs&verbExec != 0
	given := false
	if len(j.args) == 0 && j.call.Command != "" {
		j.payload(effect.Payload{Lang: effect.Shell, Text: j.call.Command, Why: "command of " + j.tool})
		given = true
	}
	for i := 0; i < len(j.args); i++ {
		a := j.args[i]
		switch {
		case a.role == roleCommand && j.verbs&verbEditor == 0:
			text := a.text
			// A list is one command, word by word, and so is a program with a list of
			// arguments after it.
			if a.item >= 0 {
				var words []string
				for ; i < len(j.args) && j.args[i].key == a.key && j.args[i].item >= 0; i++ {
					words = append(words, j.args[i].text)
				}
				i--
				text = j.join(a.key, words)
			}
			if more := j.words("args", "arguments", "argv"); a.item < 0 && len(more) > 0 {
				text += " " + quoteWords(more)
			}
			lang := effect.Shell
			switch {
			case j.nouns&nounPowerShell != 0:
				lang = effect.PowerShell
			case j.nouns&nounDatabase != 0 && j.dialect() == "redis":
				j.result.Effects = sqltext.RedisText(j.result.Effects, text, j.lim.SQL)
				continue
			}
			j.payload(effect.Payload{Lang: lang, Text: text, Why: a.key + " of " + j.tool})
			given = true
		case a.role == roleCode && (runs || j.verbs&verbWrite == 0):
			j.payload(effect.Payload{Lang: j.language(a), Text: a.text, Why: a.key + " of " + j.tool})
			given = true
		case runs && (a.role == roleText || a.role == roleContent) && j.nouns&(nounShell|nounCode) != 0 && (a.key == "input" || a.key == "text" || a.key == "content"):
			j.payload(effect.Payload{Lang: j.language(a), Text: a.text, Why: a.key + " of " + j.tool})
			given = true
		}
	}
	if runs && !given && j.nouns&(nounShell|nounCode) != 0 && !j.has(rolePath) && !j.has(roleSQL) {
		j.add(effect.Opaque, "", effect.Partial)
	}
}

// join makes one command of a list: words of one, or several commands.
func (j *judge) join(key string, words []string) string {
	if key == "commands" || key == "cmds" {
		return strings.Join(words, "\n")
	}
	return quoteWords(words)
}

// quoteWords writes words as a shell reads them back.
func quoteWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w != "" && !strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()*?[]{}~#!") {
			b.WriteString(w)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}

// language is what a piece of code is written in.
func (j *judge) language(a arg) string {
	for _, l := range j.values("language", "lang", "runtime", "interpreter", "kernel") {
		if lang := content.Shebang("#!" + l); lang != "" {
			return lang
		}
		switch strings.ToLower(l) {
		case "javascript", "typescript", "js", "ts":
			return effect.JavaScript
		case "shell":
			return effect.Shell
		case "py", "ipython":
			return effect.Python
		}
	}
	if strings.HasPrefix(a.text, "#!") {
		line, _, _ := strings.Cut(a.text, "\n")
		return content.Shebang(line)
	}
	switch {
	case a.key == "python" || j.nouns&nounPython != 0:
		return effect.Python
	case a.key == "javascript" || a.key == "js" || a.key == "expression" || a.key == "function" || a.key == "pagefunction" || j.nouns&(nounBrowser|nounScript) != 0:
		return effect.JavaScript
	case j.nouns&nounPowerShell != 0:
		return effect.PowerShell
	case j.nouns&nounShell != 0 || a.key == "bash":
		return effect.Shell
	}
	return "" // some language
}

// dialect is the database that the tool or its server is named after.
func (j *judge) dialect() string {
	name := strings.ToLower(j.call.Tool)
	for _, d := range [...]string{"postgres", "mysql", "mariadb", "sqlite", "mssql", "sqlserver", "oracle", "redis", "mongo", "psql", "duckdb"} {
		if strings.Contains(name, d) {
			return d
		}
	}
	return ""
}

// statements looks at texts for databases.
func (j *judge) statements() {
	for _, a := range j.args {
		switch {
		case a.role == roleSQL, a.role == roleQuery && (j.nouns&nounDatabase != 0 || j.verbs&verbQuery != 0 || j.verbs&verbExec != 0) && j.verbs&verbWeb == 0, a.role == roleQuery && j.verbs&(verbWeb|verbSearch) == 0 && looksSQL(a.text):
			j.result.Effects = sqltext.Effects(j.result.Effects, j.dialect(), a.text, j.lim.SQL, j.payload)
		case a.role == roleDSN:
			j.url(a.text, false)
		}
	}
	if j.nouns&nounDatabase != 0 && j.verbs&verbDelete != 0 && !j.has(roleSQL) && !j.has(roleQuery) {
		for _, a := range j.args {
			if (a.role == roleOther || a.role == roleText) && (a.key == "filter" || a.key == "where" || a.key == "condition") {
				return
			}
		}
		j.add(effect.RemoteDelete, j.subject(), j.bulk())
	}
}

// looksSQL reports whether a text begins like a statement.
func looksSQL(s string) bool {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(s, " \t\r\n(;/*-")), " ")
	switch word {
	case "drop", "delete", "truncate", "alter", "grant", "revoke", "update", "insert", "select", "with", "exec", "execute", "copy", "merge", "create", "attach":
		return strings.Contains(strings.TrimSpace(s), " ")
	}
	return false
}

// files looks at paths.
func (j *judge) files() {
	if j.verbs&verbMove != 0 || j.verbs&verbCopy != 0 {
		j.move()
		return
	}
	text, hasText := j.body()
	for _, a := range j.args {
		if a.role != rolePath && a.role != roleSource && a.role != roleDestination && a.role != rolePattern {
			continue
		}
		kind, bits := j.fileKind(a, hasText)
		if a.role == rolePattern {
			j.pattern(a.text)
			continue
		}
		if kind == effect.Delete && (j.flag("recursive", "force") || j.nouns&nounFolder != 0) {
			bits |= effect.Recursive
		}
		if kind == effect.Delete || kind == effect.Write {
			bits |= j.bulk()
		}
		if kind == effect.Permission {
			if modes := j.values("mode", "permissions", "permission", "owner", "acl"); len(modes) > 0 {
				j.permission(a.text, modes[0])
				continue
			}
		}
		j.file(kind, a.text, bits)
		if kind == effect.Write {
			j.written(a.text, text, hasText)
		}
		if j.verbs&(verbSend|verbUpload) != 0 && kind == effect.Read {
			j.addTainted(effect.NetOut, j.subject(), 0, secretOf(a.text)|effect.File)
		}
	}
}

// permission says the mode with the path.
func (j *judge) permission(p, mode string) {
	bits := effect.Bits(0)
	// Set-uid and set-gid, or writable by everybody.
	if m, err := strconv.ParseUint(mode, 8, 32); err == nil && (m&0o6000 != 0 || m&0o002 != 0) || strings.Contains(mode, "+s") || strings.Contains(mode, "s") && strings.ContainsAny(mode, "+=") || strings.Contains(mode, "o+w") || strings.Contains(mode, "a+w") {
		bits |= effect.Force
	}
	if j.flag("recursive") {
		bits |= effect.Recursive
	}
	paths, partial := j.locate(p)
	for _, target := range paths {
		e := effect.Effect{Kind: effect.Permission, Target: target, Bits: bits | partial, By: j.tool + " " + mode}
		j.result.Effects = append(j.result.Effects, e)
	}
}

// fileKind is what the verbs do to a path.
func (j *judge) fileKind(a arg, hasText bool) (effect.Kind, effect.Bits) {
	switch v := j.verbs; {
	case a.role == roleDestination, strings.HasPrefix(a.key, "output") || strings.HasPrefix(a.key, "save") || strings.HasPrefix(a.key, "out"):
		return effect.Write, 0
	case v&verbDelete != 0:
		return effect.Delete, 0
	case v&verbGrant != 0:
		return effect.Permission, 0
	case v&verbAppend != 0:
		return effect.Write, effect.Append
	case v&verbUpload != 0, a.role == roleSource:
		return effect.Read, 0
	case v&verbWrite != 0, v&verbDownload != 0:
		return effect.Write, 0
	case v&verbExec != 0 && v&verbRead == 0:
		return effect.Exec, 0
	case v&(verbRead|verbSearch|verbSend) != 0:
		return effect.Read, 0
	case hasText:
		return effect.Write, 0
	}
	return effect.Read, effect.Partial
}

// move reads a source and writes a destination; a move also takes the source
// away.
func (j *judge) move() {
	var from, to []string
	for _, a := range j.args {
		switch a.role {
		case roleSource:
			from = append(from, a.text)
		case roleDestination:
			to = append(to, a.text)
		case rolePath:
			if len(from) == 0 {
				from = append(from, a.text)
			} else {
				to = append(to, a.text)
			}
		default:
		}
	}
	for _, p := range from {
		j.file(effect.Read, p, j.bulk())
		if j.verbs&verbMove != 0 {
			j.file(effect.Delete, p, j.bulk())
		}
	}
	for _, p := range to {
		j.file(effect.Write, p, 0)
		j.written(p, "", false)
	}
}

// file gives the effect on a path, as it is named and as links lead.
func (j *judge) file(kind effect.Kind, p string, bits effect.Bits) {
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		p = rest
	}
	taint := effect.Taint(0)
	if strings.ContainsAny(p, "*?[{") {
		bits |= effect.Glob
	}
	paths, partial := j.locate(p)
	bits |= partial
	for _, target := range paths {
		if kind == effect.Read || kind == effect.NetOut {
			taint = secretOf(target)
		}
		j.addTainted(kind, target, bits, taint)
	}
}

func secretOf(p string) effect.Taint {
	if content.Classify(p).Secret {
		return effect.Secret
	}
	return 0
}

// pattern is what a search looks for: names of files, or texts in them.
func (j *judge) pattern(p string) {
	if j.nouns&nounText != 0 || j.verbs&verbSearch != 0 && strings.ContainsAny(p, `\()+^$|"' `) || secretText(p) {
		if secretText(p) {
			j.addTainted(effect.Read, "texts that match "+p, effect.Glob, effect.Secret)
		}
		return
	}
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") {
		for _, a := range j.args {
			if a.role == rolePath {
				p = path.Join(a.text, p)
				break
			}
		}
	}
	j.file(effect.Read, p, effect.Glob)
}

// written says what of a content runs, and that it will.
func (j *judge) written(p, text string, known bool) {
	paths, _ := j.locate(p)
	for _, target := range paths {
		s := content.Classify(target)
		before := len(j.result.Payloads)
		switch {
		case known && !j.edits():
			content.Payloads(target, text, j.lim.Content, j.payload)
		case j.edits():
			j.edited(target)
		case s.Kind.RunsLater():
			j.payload(effect.Payload{Why: s.Name, Path: target, Later: true})
		}
		// Settings in which nothing runs are settings.
		if s.Kind.RunsLater() && s.Kind != content.Build && (!s.Parts() || len(j.result.Payloads) > before) {
			j.add(effect.Persist, target, 0)
		}
	}
	if j.nouns&nounNotebook != 0 && !strings.EqualFold(strings.Join(j.values("celltype"), ""), "markdown") {
		j.payload(effect.Payload{Lang: effect.Python, Text: strings.Join(j.values("newsource"), "\n"), Why: "a cell of a notebook", Path: p, Later: true})
	}
}

// edits reports whether the call changes a part of a file.
func (j *judge) edits() bool {
	for _, a := range j.args {
		if a.role == roleNew {
			return true
		}
	}
	return false
}

// edited applies the edits to the file, as far as it can be read, and hands out
// what runs now and did not before. If it cannot be read, the new texts are
// looked at by themselves.
func (j *judge) edited(target string) {
	var before string
	readable := false
	if j.fs != nil {
		if b, err := j.fs.ReadFile(target, j.lim.File); err == nil {
			before, readable = string(b), true
		}
	}
	after, old, fresh := before, "", ""
	for _, a := range j.args {
		switch a.role {
		case roleOld:
			old = a.text
		case roleNew:
			fresh += a.text + "\n"
			switch {
			case old == "" || !strings.Contains(after, old):
				readable = readable && old == "" && before == ""
				after += a.text
			case j.flag("replaceall"):
				after = strings.ReplaceAll(after, old, a.text)
			default:
				after = strings.Replace(after, old, a.text, 1)
			}
			if len(after) > 4*max(j.lim.File, j.lim.Bytes) {
				after, readable = fresh, false
			}
			old = ""
		default:
		}
	}
	if !readable {
		content.Payloads(target, fresh, j.lim.Content, j.payload)
		return
	}
	known := map[effect.Payload]bool{}
	content.Payloads(target, before, j.lim.Content, func(p effect.Payload) { known[p] = true })
	content.Payloads(target, after, j.lim.Content, func(p effect.Payload) {
		if !known[p] {
			j.payload(p)
		}
	})
}

// body is the text that a call writes or sends.
func (j *judge) body() (text string, ok bool) {
	for _, a := range j.args {
		if a.role == roleContent {
			return a.text, true
		}
	}
	for _, a := range j.args {
		if (a.role == roleText || a.role == roleCode) && j.verbs&verbWrite != 0 {
			return a.text, true
		}
	}
	return "", false
}

// patch reads the files of a patch: apply_patch's own form and unified diffs.
func (j *judge) patch() bool {
	text := ""
	for _, a := range j.args {
		if strings.Contains(a.text, "*** ") || strings.Contains(a.text, "+++ ") {
			text = a.text
		}
	}
	if text == "" {
		text = j.call.Command
	}
	var file, added strings.Builder
	found := false
	done := func() {
		if file.Len() > 0 && added.Len() > 0 {
			paths, _ := j.locate(file.String())
			for _, target := range paths {
				content.Payloads(target, added.String(), j.lim.Content, j.payload)
				if s := content.Classify(target); s.Kind.RunsLater() && s.Kind != content.Build {
					j.add(effect.Persist, target, 0)
				}
			}
		}
		file.Reset()
		added.Reset()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		kind, p := patchLine(line)
		if p != "" {
			found = true
			if kind == effect.Delete {
				j.file(kind, p, 0)
				continue
			}
			done()
			file.WriteString(p)
			j.file(kind, p, 0)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "+"); ok && !strings.HasPrefix(line, "+++ ") {
			added.WriteString(rest + "\n")
		}
	}
	done()
	if !found {
		j.add(effect.Write, effect.Unknown, effect.Partial)
	}
	return true
}

func patchLine(line string) (effect.Kind, string) {
	for _, p := range [...]struct {
		prefix string
		kind   effect.Kind
	}{{"*** Add File: ", effect.Write}, {"*** Update File: ", effect.Write}, {"*** Move to: ", effect.Write}, {"*** Delete File: ", effect.Delete}, {"+++ ", effect.Write}, {"rename to ", effect.Write}, {"copy to ", effect.Write}, {"rename from ", effect.Delete}} {
		if rest, ok := strings.CutPrefix(line, p.prefix); ok {
			rest, _, _ = strings.Cut(rest, "\t")
			if rest = strings.TrimSpace(rest); p.prefix == "+++ " {
				rest = strings.TrimPrefix(rest, "b/")
			}
			if rest != "/dev/null" {
				return p.kind, strings.Trim(rest, `"`)
			}
		}
	}
	return effect.Opaque, ""
}

// subject is what a call is about, for people: the first telling values.
func (j *judge) subject() string {
	var b strings.Builder
	for _, a := range j.args {
		switch a.role {
		case roleContent, roleText, roleCode, roleHeader, roleSecret, roleOld, roleNew, roleMethod:
			continue
		default:
		}
		if a.text == "" || len(a.text) > 200 || b.Len() > 200 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
	}
	if b.Len() == 0 {
		return j.tool
	}
	return b.String()
}

// raw reports whether a value is JSON.
func raw(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']') && json.Valid([]byte(s))
}
