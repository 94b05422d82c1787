package fingerprint

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example"
	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// bindScript binds the files that a shell script runs by a literal name. It does not
// report other code in the script: a script may do anything. It does report a script
// that was not read.
func (r *reader) bindScript(file, dir string) {
	file = filepath.Clean(file)
	if r.Bound[file] == "" || strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/bin/") {
		return
	}
	r.runsText(file)
	if !r.Once("script", file, dir) {
		return
	}
	text, all := r.Contents(file)
	r.interpreter(file, text, dir)
	shell, sure := shellScript(file, text)
	if !shell {
		if text == "" && !all {
			r.Unread(file, "runs")
		}
		return
	}
	if !all || r.depth >= disk.MaxFollowed {
		r.Unread(file, "runs")
		return
	}
	call := r.call
	call.Command, call.Args, call.Raw = text, nil, nil
	if filepath.IsAbs(dir) && !strings.Contains(dir, "\x00") {
		call.Dir = dir
	}
	// A script finds files next to it through $0.
	call.Command = expandOwnPath(call.Command, file)
	r.writes.entry(file).read = true
	r.walk(call, scope{depth: r.depth + 1, of: file, sure: sure, unit: file})
}

// executes binds a file, and the files that it runs as a script. It reports whether the
// path is a folder.
func (r *reader) executes(file, dir string) (folder bool) {
	if folder = r.Visit(file, disk.Code); !folder {
		r.bindScript(file, dir)
	}
	return folder
}

// ownPathForm matches the ways in which a shell script writes its own path.
const ownPathForm = `(?:\$0|\$\{0\}|\$BASH_SOURCE|\$\{BASH_SOURCE(?:\[0\])?\}|\$\{BASH_SOURCE(?:\[0\])?:-\$0\})`

var (
	ownPath  = regexp.MustCompile(`\$\(\s*(?:readlink\s+-[efmn]+|realpath)(?:\s+--)?\s+"?` + ownPathForm + `"?\s*\)`)
	ownPlace = regexp.MustCompile(`\$\(\s*dirname(?:\s+--)?\s+"?(?:` + ownPathForm +
		`|\x00)"?\s*\)|\$\{0%/\*\}|\$\{BASH_SOURCE(?:\[0\])?%/\*\}`)
	ownPlaces = regexp.MustCompile(
		`\$\(\s*(?:CDPATH=\S*\s+)?(?:cd(?:\s+-[PLe]+)?(?:\s+--)?\s+"?(\x01[^"$()\x00\s]*)"?` +
			`(?:\s*[&12]*>\s*(?:/dev/null|&1))*\s*(?:&&|;)\s*pwd(?:\s+-[PL])?|` +
			`(?:readlink\s+-[efmn]+|realpath)(?:\s+--)?\s+"?(\x01[^"$()\x00\s]*)"?)\s*\)`)
)

// expandOwnPath replaces expressions for a script's own path or folder by their value.
func expandOwnPath(text, file string) string {
	if strings.ContainsAny(text, "\x00\x01") {
		return text
	}
	text = ownPath.ReplaceAllString(text, "\x00")
	text = ownPlace.ReplaceAllString(text, "\x01")
	text = ownPlaces.ReplaceAllString(text, "$1$2")
	return strings.NewReplacer("\x00", file, "\x01", filepath.Dir(file)).Replace(text)
}

// shellScript reports whether a text is a shell script. sure is false if the text does not
// say so, and may be for another program.
func shellScript(file, text string) (is, sure bool) {
	if line, ok := strings.CutPrefix(text, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		words := strings.Fields(line)
		for _, w := range words {
			if slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}, filepath.Base(w)) {
				return true, true
			}
		}
		return len(words) > 0 && strings.HasSuffix(words[0], "sh"), false // another shell
	}
	switch filepath.Ext(file) {
	case ".sh", ".bash", ".ksh", ".zsh":
		return true, true
	case "":
		return !strings.Contains(text[:min(len(text), 4096)], "\x00"), false
	}
	return false, false
}

// walk binds the files that a call, or a text that it runs, executes.
func (r *reader) walk(call approver.ToolCall, in scope) {
	if call.Command == "" && in.depth > 0 || r.Err != nil {
		return
	}
	if r.walks++; r.walks > disk.MaxWalks {
		r.Name("further recipes and scripts")
		return
	}
	w, err := r.walker.Walk(call)
	if err != nil {
		r.Fail(err)
		return
	}
	inner := &reader{Scan: r.Scan, callState: r.callState, scope: in, call: call, path: effect.Unknown}
	if v, ok := call.Env["PATH"]; ok {
		inner.path = v
	}
	(&pass{flow: newFlow(inner, w)}).bind()
}

// runs walks a text that runs in a folder, one level deeper. A nil env means the present variables.
func (r *reader) runs(text, dir string, env map[string]string, in scope) {
	call := r.call
	call.Command, call.Dir, call.Args, call.Raw = text, dir, nil, nil
	if env != nil {
		call.Env = env
	}
	in.depth = r.depth + 1
	r.walk(call, in)
}

// starts binds the files of a command that settings start in a folder.
func (r *reader) starts(command, dir, file string) {
	if !r.Once("starts", command, dir) {
		return
	}
	if r.depth >= disk.MaxFollowed {
		r.Unread(file, "starts")
		return
	}
	r.runs(command, dir, nil, scope{strict: r.strict, words: true, of: file, sure: true})
}

// runsText notes that the walked text runs another one.
func (r *reader) runsText(unit string) {
	from := r.unit
	if r.depth == 0 {
		from = stepUnit(r.step)
	}
	if from == "" || isChecker(unit) {
		return
	}
	if w := r.writes.entry(from); !slices.Contains(w.texts, unit) {
		w.texts = append(w.texts, unit)
	}
}

// interpreter binds the program in the first line of a script, unless it is in a system
// folder.
func (r *reader) interpreter(file, text, dir string) {
	line, ok := strings.CutPrefix(text, "#!")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(path.Base(w), "python") }) {
		r.importsBeside("", path.Dir(file), false)
	}
	if path.Base(words[0]) == "env" {
		for n, w := range words[1:] {
			if name, value, given := strings.Cut(w, "="); given && operand(w) {
				r.AddValue(name, value)
			} else if operand(w) {
				if strings.Contains(w, "/") {
					words = words[n+1:]
					break
				}
				r.interpreterByName(w, dir)
				return
			}
		}
	}
	if name := words[0]; !disk.InSystemFolder(name) && (filepath.IsAbs(name) || filepath.IsAbs(dir)) {
		r.executes(abs(dir, name), dir)
	}
	for _, w := range words[1:] { // #!/usr/bin/node --require=./x
		if filepath.IsAbs(dir) && strings.Contains(w, "/") {
			for _, part := range r.parts(w) {
				r.Visit(abs(dir, part), disk.Code)
			}
		}
	}
}

// interpreterByName finds the program in the first line of a script through PATH and binds
// it, unless a system folder comes first.
func (r *reader) interpreterByName(name, dir string) {
	list := r.stepPath
	if list == "" || list == effect.Unknown {
		list = r.path
	}
	if list == effect.Unknown {
		return // the system's
	}
	if !effect.IsKnown(list) {
		r.reportUnbound("%s, where PATH is not known", name)
		list = strings.ReplaceAll(list, effect.Unknown, "")
	}
	for _, at := range filepath.SplitList(list) {
		file := filepath.Join(abs(dir, at), name)
		if !filepath.IsAbs(file) || disk.InSystemFolder(file) && r.IsProgram(file) {
			return
		}
		if r.IsProgram(file) {
			r.Visit(file, disk.Code)
			r.bindScript(file, dir)
			return
		}
	}
}
