package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// A kustomizeReader reads kustomizations and charts. The files that these name can be
// anywhere, and need no ending.
type kustomizeReader struct{ reading }

// bind binds the kustomizations of a folder and all files that they name.
func (r kustomizeReader) bind(dir string, depth int) {
	if !r.Once("kustomize", dir) {
		return
	}
	for name := range strings.FieldsSeq(kustomization) {
		file := filepath.Join(dir, name)
		if !r.BindCode(file) {
			continue
		}
		r.noteCode(r.c, file)
		text, ok := r.TextOf(file, "names")
		if !ok {
			continue
		}
		y, err := yamlOf(text)
		if err != nil || depth >= disk.MaxFollowed || y.deep || len(y.texts) > disk.MaxWords {
			r.Unread(file, "names")
			continue
		}
		for _, w := range y.texts {
			r.kustomized(dir, w, depth)
		}
	}
}

// kustomized binds the file or folder that one value of a kustomization names.
func (r kustomizeReader) kustomized(dir, value string, depth int) {
	if strings.Contains(value, "\n") || len(value) > disk.MaxPath {
		return // a patch, in the text itself
	}
	if _, after, ok := strings.Cut(value, "="); ok && !strings.Contains(value, "://") { // KEY=file
		value = after
	}
	if strings.Contains(value, "://") || strings.HasPrefix(value, "git@") || strings.HasPrefix(value, "github.com/") {
		r.reportUnbound("what lies at %s", value)
		return
	}
	at := filepath.Clean(abs(dir, value))
	if value == "" || value == "." || at == dir {
		return
	}
	if !r.Visit(at, disk.Code) {
		r.generator(at, dir)
		return
	}
	for name := range strings.FieldsSeq(kustomization) {
		if _, err := r.Stat(filepath.Join(at, name)); r.Look() && err == nil {
			r.bind(at, depth+1)
			return
		}
	}
	r.BindFolder(at) // charts, openapi, and what else is given as a folder
}

// functionPath finds the programs of generators and transformers, and functionImage their
// images.
var (
	functionPath  = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*path:[ \t]*["']?([^"'\s#]+)`)
	functionImage = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*image:[ \t]*["']?([^"'\s#]+)`)
)

// generator binds the programs that a file of a kustomization runs.
func (r kustomizeReader) generator(file, dir string) {
	if r.Bound[file] == "" || !r.Once("generator", file) {
		return
	}
	text, ok := r.TextOf(file, "runs")
	if !ok || !strings.Contains(text, "config.kubernetes.io/function") {
		return
	}
	for _, m := range r.FindAll(functionPath, file, text) {
		for _, from := range []string{dir, filepath.Dir(file)} {
			r.executes(filepath.Clean(abs(from, m[1])), from)
		}
	}
	for _, m := range r.FindAll(functionImage, file, text) {
		if !pinned(m[1]) {
			r.reportUnbound("the image %s, which is not pinned by a digest", m[1])
		}
	}
}

// chart binds the charts that a chart takes from other local folders.
func (r kustomizeReader) chart(dir string, depth int) {
	file := filepath.Join(dir, "Chart.yaml")
	if !r.Once("chart", dir) || !r.IsFileOrHidden(file) {
		return
	}
	if r.Visit(file, disk.Code); depth > disk.MaxFollowed {
		r.Unread(file, "names")
		return
	}
	text, _ := r.TextOf(file, "names")
	settingsReader{reading: r.reading}.bindPathSettings(file, text, []string{dir})
	for _, m := range r.FindAll(chartFolder, file, text) {
		r.chart(filepath.Clean(abs(dir, m[1])), depth+1)
	}
}

var chartFolder = regexp.MustCompile(`(?m)^[ \t-]*repository:[ \t]*["']?file://([^"'\s#]*)`)

// fromFiles are flags of kubectl create whose value is a file.
const fromFiles = "-f --filename -k --kustomize --from-file --from-env-file --cert --key --hard-file"

// saysAll reports whether kubectl creates something from its words alone.
func saysAll(name string, words []string) bool {
	if name != "kubectl" && name != "oc" {
		return false
	}
	at := slices.Index(words, "create")
	if at < 0 || slices.ContainsFunc(words, func(w string) bool {
		_, is := flagValue(w, fromFiles)
		return is || !effect.IsKnown(w) || wordset.Has("apply replace", w)
	}) {
		return false
	}
	kind := slices.IndexFunc(words[at+1:], operand)
	return kind >= 0 && inWords[words[at+1+kind]]
}

// A clusterReader binds the folders that commands for clusters read, and reports what they run elsewhere.
type clusterReader struct{ reading }

// fromFolders binds all files of the folders from which kubectl makes a config map or a secret.
func (r clusterReader) fromFolders() {
	if r.name != "kubectl" && r.name != "oc" {
		return
	}
	for _, value := range flagValues(r.c.Step, "--from-file") {
		if _, path, is := strings.Cut(value, "="); is {
			value = path
		}
		for _, base := range r.bases {
			if at := filepath.Clean(abs(base, value)); r.Visit(at, disk.Code) && len(r.BindTree(at, true, nil)) > 0 {
				r.c.hasCode = true
			}
		}
	}
}

// nameEntered reports a command that a step runs below another root, or in an unknown container.
func (r clusterReader) nameEntered() {
	name, st := r.name, r.c.Step
	flags, is := entering[name]
	if is && (flags == "" || slices.ContainsFunc(st.Argv[1:], func(w string) bool {
		_, has := flagValue(w, flags)
		return has || !effect.IsKnown(w) || grouped(w, flags)
	})) && slices.ContainsFunc(st.Argv[1:], operand) {
		r.reportUnbound("what %s runs below another root: %s", name, strings.Join(strings.Fields(st.Command), " "))
		return
	}
	if (name == "kubectl" || name == "oc") && has(st, "exec") && fromFile(st) {
		r.reportUnbound("what %s runs elsewhere: %s", name, strings.Join(strings.Fields(st.Command), " "))
	}
}

// grouped reports whether a word is a group of letters one of which is a flag: -rm.
func grouped(word, flags string) bool {
	if len(word) < 2 || word[0] != '-' || word[1] == '-' {
		return false
	}
	return strings.ContainsFunc(letters(word[1:]), func(r rune) bool { return wordset.Has(flags, "-"+string(r)) })
}

// fromFile reports whether a file says where kubectl exec runs a command.
func fromFile(st *shell.Step) bool {
	return slices.ContainsFunc(st.Argv[1:], func(w string) bool {
		_, is := flagValue(w, "-f --filename")
		return is
	})
}
