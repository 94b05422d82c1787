package tools

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/display"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// partsOfFiles are words for what an edit takes out of a file.
const partsOfFiles = "line lines text range import imports symbol"

// files adds the effects on paths.
func (j *judge) files() {
	if j.is(verbMove | verbCopy) {
		j.move()
		return
	}
	text, hasText := j.body()
	for _, a := range j.in.args {
		switch a.role {
		case rolePath, roleSource, roleDestination:
		case rolePattern:
			j.pattern(a)
			continue
		default:
			continue
		}
		kind, bits := j.fileKind(a, hasText)
		if kind == effect.Delete && j.near("git") && (j.says("reset unstage") || wordset.Has(repositoryKeys, a.key)) {
			continue // it says in which repository; what is lost there is read as the command line
		}
		if kind == effect.Delete && j.says(partsOfFiles) && !j.is(nounFile|nounFolder) {
			kind = effect.Write
		}
		if kind == effect.Delete && (j.in.flag("recursive", "force") || j.is(nounFolder) || j.deletesAnything()) {
			bits |= effect.Recursive
		}
		if kind == effect.Delete || kind == effect.Write {
			bits |= j.bulk()
		}
		if kind == effect.Permission {
			if modes := j.in.values("mode", "permissions", "permission", "owner", "acl"); len(modes) > 0 {
				j.permission(a.text, modes[0])
				continue
			}
		}
		j.file(kind, a.text, bits)
		if kind == effect.Write {
			j.written(a.text, text, hasText || j.empty())
		}
		if j.is(verbSend|verbUpload) && kind == effect.Read {
			j.addTainted(effect.NetOut, j.subject(), 0, secretOf(a.text)|effect.File)
		}
	}
}

// deletesAnything reports whether a tool may delete a folder as well as a file, by its name.
func (j *judge) deletesAnything() bool {
	return !j.is(nounFile) && (len(j.words) == 1 || j.says("path item entry tree"))
}

// empty reports whether a call that writes a file has no content to write, only a path. Tools that
// save or unpack get the content from another place.
func (j *judge) empty() bool {
	return len(j.in.args) == 1 && wordset.ContainsAny(strings.ToLower(j.call.Tool), "write", "create")
}

// permission adds a changed mode of a path.
func (j *judge) permission(p, mode string) {
	bits, what := effect.Bits(0), ""
	m, err := strconv.ParseUint(mode, 8, 32)
	octal := err == nil
	switch {
	case octal && m&0o6000 != 0, !octal && strings.Contains(mode, "s") && strings.ContainsAny(mode, "+="):
		bits, what = effect.Force, "setuid"
	case octal && m&0o002 != 0, strings.Contains(mode, "o+w"), strings.Contains(mode, "a+w"):
		bits, what = effect.Force, "world"
	}
	if j.in.flag("recursive") {
		bits |= effect.Recursive
	}
	paths, partial := j.locate(p)
	for _, target := range paths {
		j.effects = append(j.effects, effect.Effect{Kind: effect.Permission, Target: target, What: what,
			Bits: bits | partial, By: j.tool + " " + mode})
	}
}

// leaves returns what a move does to its source. What is moved is only elsewhere, as with mv, if a file keeps it.
func (j *judge) leaves(to []string) effect.Kind {
	gone := func(p string) bool { return wordset.HasAnyPrefix(p, "/dev/") || p == "" }
	if len(to) == 0 || slices.ContainsFunc(to, gone) || j.is(verbDelete) || !effect.Moves(&effect.Effect{By: j.tool}) {
		return effect.Delete
	}
	return effect.Write
}

// move reads a source and writes a destination. A move also takes the source away.
func (j *judge) move() {
	var from, to []string
	for _, a := range j.in.args {
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
		if j.is(verbMove) {
			j.file(j.leaves(to), p, j.bulk())
		}
	}
	for _, p := range to {
		j.file(effect.Write, p, 0)
		if !j.loads(p, from) {
			j.written(p, "", false)
		}
	}
}

// loads yields what runs if files become texts that an agent loads; false if they do not, or cannot
// be read.
func (j *judge) loads(to string, from []string) bool {
	paths, _ := j.locate(to)
	if j.fs == nil || len(from) == 0 || !slices.ContainsFunc(paths,
		func(p string) bool { return content.Classify(j.contentPath(p)).Prompts() }) {
		return false
	}
	if j.is(nounURL) || strings.Contains(strings.ToLower(j.call.Tool), "link") {
		return false // what it leads to can change
	}
	for _, p := range from {
		sources, _ := j.locate(p)
		b, err := j.fs.ReadFile(sources[len(sources)-1], j.lim.File)
		if err != nil {
			return false
		}
		for _, target := range paths {
			content.Payloads(j.contentPath(target), string(b), j.lim.Content, j.payload)
		}
	}
	return true
}

// file adds the effect on a path, under its name and under the name that links lead to.
func (j *judge) file(kind effect.Kind, p string, bits effect.Bits) {
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		p = rest
	}
	if strings.ContainsAny(p, "*?[{") {
		bits |= effect.Glob
	}
	paths, partial := j.locate(p)
	for _, target := range paths {
		taint := effect.Taint(0)
		if kind == effect.Read || kind == effect.NetOut {
			taint = secretOf(target)
		}
		j.addTainted(kind, target, bits|partial, taint)
	}
}

func secretOf(p string) effect.Taint {
	if content.Classify(p).Secret {
		return effect.Secret
	}
	return 0
}

// pattern adds what a search reads: files by name, or texts in them.
func (j *judge) pattern(a arg) {
	p := a.text
	switch {
	case display.HoldsKey(p):
		j.addTainted(effect.Read, "texts that match "+p, effect.Glob, effect.Secret)
		return
	case strings.Contains(a.key, "glob"), strings.HasPrefix(a.key, "include"): // which files a search is in
	case j.is(nounText), j.is(verbSearch) && strings.ContainsAny(p, `\()+^$|"' `):
		return
	}
	if i := j.in.find(rolePath); i >= 0 && !wordset.HasAnyPrefix(p, "/", "~") {
		p = path.Join(j.in.args[i].text, p)
	}
	if paths, _ := j.locate(p); strings.EqualFold(j.tool, "glob") && len(paths) == 1 && j.inside(paths[0]) {
		return // it tells names, as ls does
	}
	j.file(effect.Read, p, effect.Glob)
}

// inside reports whether a path is below the folder of the call.
func (j *judge) inside(p string) bool {
	dir := strings.TrimSuffix(j.call.Dir, "/")
	return strings.HasPrefix(dir, "/") && strings.HasPrefix(p, dir+"/")
}

// written yields what of a written content runs, and when.
func (j *judge) written(p, text string, known bool) {
	paths, _ := j.locate(p)
	for _, target := range paths {
		as := j.contentPath(target)
		s := content.Classify(as)
		before := len(j.result.Payloads)
		switch {
		case known && !j.in.has(roleNew):
			j.result.Wrote = append(j.result.Wrote, Wrote{target, text})
			content.Payloads(as, text, j.lim.Content, j.payload)
		case j.in.has(roleNew):
			j.edited(target, as)
		case s.Kind.RunsLater(), s.Prompts() && content.IsPrompt(as):
			j.payload(effect.Payload{Why: s.Name, Path: as, Later: true})
		}
		// Settings in which nothing runs are only settings.
		if s.Kind.RunsLater() && s.Kind != content.Build && (!s.Parts() || len(j.result.Payloads) > before) {
			j.add(effect.Persist, target, 0)
		}
	}
	if j.is(nounNotebook) && !strings.EqualFold(strings.Join(j.in.values("celltype"), ""), "markdown") {
		j.payload(effect.Payload{Lang: effect.Python, Text: strings.Join(j.in.values("newsource"), "\n"),
			Why: "a cell of a notebook", Path: p, Later: true})
	}
}

// contentPath returns the path by which the content of a file is read. Texts and lists of a plugin
// are recognized by their content, wherever the plugin lies.
func (j *judge) contentPath(target string) string {
	if j.fs == nil {
		return target
	}
	if as, ok := content.PluginText(j.fs, target); ok {
		return as
	}
	return target
}

// edited applies the edits to the file, and yields what runs now and did not run before. If the file
// cannot be read, it looks at the new texts alone. as is the path by which the content is read.
func (j *judge) edited(target, as string) {
	var before string
	readable := false
	if j.fs != nil {
		if b, err := j.fs.ReadFile(target, j.lim.File); err == nil {
			before, readable = string(b), true
		}
	}
	after, old, fresh := before, "", ""
	for _, a := range j.in.replacements() {
		switch a.role {
		case roleOld:
			old = a.text
		case roleNew:
			fresh += a.text + "\n"
			j.result.Wrote = append(j.result.Wrote, Wrote{target, a.text})
			switch {
			case old == "" || !strings.Contains(after, old):
				readable = readable && old == "" && before == ""
				after += a.text
			case j.in.flag("replaceall"):
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
		content.Part(as, fresh, j.lim.Content, j.payload)
		return
	}
	known := map[effect.Payload]bool{}
	content.Payloads(as, before, j.lim.Content, func(p effect.Payload) { known[p] = true })
	content.Payloads(as, after, j.lim.Content, func(p effect.Payload) {
		if !known[p] {
			j.payload(p)
		}
	})
}

// body returns the text that a call writes or sends.
func (j *judge) body() (text string, ok bool) {
	i := j.in.find(roleContent)
	if i < 0 && j.is(verbWrite) {
		i = j.in.find(roleText, roleCode)
	}
	if i < 0 {
		return "", false
	}
	return j.in.args[i].text, true
}

// patch reads the files of each patch, in apply_patch's format or as a unified diff. Which argument an
// agent reads is not known, so all of them count.
func (j *judge) patch() {
	var texts []string
	for _, a := range j.in.args {
		if strings.Contains(a.text, "*** ") || strings.Contains(a.text, "+++ ") {
			texts = append(texts, a.text)
		}
	}
	if len(texts) == 0 {
		texts = []string{j.call.Command}
	}
	found := false
	for _, text := range texts {
		found = j.patchText(text) || found
	}
	if !found {
		j.add(effect.Opaque, "a patch that names no file", 0)
	}
}

// patchText reads one patch; false if it names no file.
func (j *judge) patchText(text string) (found bool) {
	file := ""
	var added strings.Builder
	done := func() {
		if file != "" && added.Len() > 0 {
			paths, _ := j.locate(file)
			for _, target := range paths {
				j.result.Wrote = append(j.result.Wrote, Wrote{target, added.String()})
				content.Payloads(j.contentPath(target), added.String(), j.lim.Content, j.payload)
				if s := content.Classify(target); s.Kind.RunsLater() && s.Kind != content.Build {
					j.add(effect.Persist, target, 0)
				}
			}
		}
		file = ""
		added.Reset()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		kind, p := patchLine(line)
		if p != "" {
			found = true
			if kind != effect.Delete {
				done()
				file = p
			}
			j.file(kind, p, 0)
		} else if rest, ok := strings.CutPrefix(line, "+"); ok && !strings.HasPrefix(line, "+++ ") {
			added.WriteString(rest + "\n")
		}
	}
	done()
	return found
}

// patchLine returns the file that a line names, and what becomes of it. Agents read the headers of
// their own format with white space before them, and some without a space behind the colon. A path in
// it may have a tab, behind which a unified diff has the time.
func patchLine(line string) (effect.Kind, string) {
	if own := strings.TrimSpace(line); strings.HasPrefix(own, "*** ") {
		for _, p := range [...]struct {
			prefix string
			kind   effect.Kind
		}{{"*** Add File:", effect.Write}, {"*** Update File:", effect.Write}, {"*** Move to:", effect.Write},
			{"*** Delete File:", effect.Delete}} {
			if rest, ok := strings.CutPrefix(own, p.prefix); ok {
				return p.kind, strings.Trim(strings.TrimSpace(rest), `"`)
			}
		}
		return effect.Opaque, ""
	}
	for _, p := range [...]struct {
		prefix string
		kind   effect.Kind
	}{{"+++ ", effect.Write}, {"rename to ", effect.Write}, {"copy to ", effect.Write}, {"rename from ", effect.Delete}} {
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

// fileKind returns what the verbs do to a path.
func (m meaning) fileKind(a arg, hasText bool) (effect.Kind, effect.Bits) {
	switch {
	case a.role == roleDestination, strings.HasPrefix(a.key, "output") || strings.HasPrefix(a.key, "save") ||
		strings.HasPrefix(a.key, "out"):
		return effect.Write, 0
	case m.is(verbDelete):
		return effect.Delete, 0
	case m.is(verbGrant), m.is(verbWrite) && m.is(nounAccess) && !hasText: // set_permissions
		return effect.Permission, 0
	case m.is(verbAppend):
		return effect.Write, effect.Append
	case m.is(verbUpload), a.role == roleSource:
		return effect.Read, 0
	case m.is(verbWrite), m.is(verbDownload):
		return effect.Write, 0
	case m.is(verbExec) && !m.is(verbRead):
		return effect.Exec, 0
	case m.is(verbRead | verbSearch | verbSend):
		return effect.Read, 0
	case hasText:
		return effect.Write, 0
	}
	return effect.Read, effect.Partial
}
