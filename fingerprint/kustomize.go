package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"
)

// This file reads kustomizations: what they name need not lie below them, nor have an
// ending.

// A kustomizeReader reads kustomizations, and charts, for a command.
type kustomizeReader struct{ reading }

// bind binds the kustomizations of a folder and all that they name.
func (r kustomizeReader) bind(dir string, depth int) {
	if !r.once("kustomize", dir) {
		return
	}
	for name := range strings.FieldsSeq(kustomization) {
		file := filepath.Join(dir, name)
		if r.visit(file, code) || r.out[file] == "" {
			continue
		}
		r.isCoded(r.c, file)
		text, ok := r.textOf(file, "names")
		if !ok {
			continue
		}
		y, err := yamlOf(text)
		if err != nil || depth >= maxFollowed || y.deep || len(y.texts) > maxWords {
			r.unread(file, "names")
			continue
		}
		for _, w := range y.texts {
			r.kustomized(dir, w, depth)
		}
	}
}

// kustomized binds what one value of a kustomization names.
func (r kustomizeReader) kustomized(dir, value string, depth int) {
	if strings.Contains(value, "\n") || len(value) > maxPath {
		return // a patch, in the text itself
	}
	if _, after, ok := strings.Cut(value, "="); ok && !strings.Contains(value, "://") { // KEY=file
		value = after
	}
	if strings.Contains(value, "://") || strings.HasPrefix(value, "git@") || strings.HasPrefix(value, "github.com/") {
		r.named("what lies at %s", value)
		return
	}
	at := filepath.Clean(abs(dir, value))
	if value == "" || value == "." || at == dir {
		return
	}
	if !r.visit(at, code) {
		r.generator(at, dir)
		return
	}
	for name := range strings.FieldsSeq(kustomization) {
		if _, err := r.stat(filepath.Join(at, name)); r.look() && err == nil {
			r.bind(at, depth+1)
			return
		}
	}
	r.folder(at) // charts, openapi, and what else is given as a folder
}

// functionPath finds the programs of generators and transformers, and functionImage what else
// they run.
var (
	functionPath  = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*path:[ \t]*["']?([^"'\s#]+)`)
	functionImage = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*image:[ \t]*["']?([^"'\s#]+)`)
)

// generator binds the programs that a file of a kustomization runs.
func (r kustomizeReader) generator(file, dir string) {
	if r.out[file] == "" || !r.once("generator", file) {
		return
	}
	text, ok := r.textOf(file, "runs")
	if !ok || !strings.Contains(text, "config.kubernetes.io/function") {
		return
	}
	for _, m := range r.found(functionPath, file, text) {
		for _, from := range []string{dir, filepath.Dir(file)} {
			if at := filepath.Clean(abs(from, m[1])); !r.visit(at, code) {
				r.bindScript(at, from)
			}
		}
	}
	for _, m := range r.found(functionImage, file, text) {
		if !pinned(m[1]) {
			r.named("the image %s, which is not pinned by a digest", m[1])
		}
	}
}

// chart binds the charts that a chart takes from other folders here.
func (r kustomizeReader) chart(dir string, depth int) {
	file := filepath.Join(dir, "Chart.yaml")
	if !r.once("chart", dir) || !r.isThereAs(file) {
		return
	}
	if r.visit(file, code); depth > maxFollowed {
		r.unread(file, "names")
		return
	}
	text, _ := r.textOf(file, "names")
	settingsReader{reading: r.reading}.wholes(file, text, []string{dir})
	for _, m := range r.found(chartFolder, file, text) {
		r.chart(filepath.Clean(abs(dir, m[1])), depth+1)
	}
}

var chartFolder = regexp.MustCompile(`(?m)^[ \t-]*repository:[ \t]*["']?file://([^"'\s#]*)`)
