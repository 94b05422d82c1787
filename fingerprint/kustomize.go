package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"
)

// This file reads kustomizations: what they name need not lie below them, nor have an
// ending.

// kustomize binds the kustomizations of a folder and all that they name.
func (p *pass) kustomize(i int, dir string, depth int) {
	if !p.once("kustomize", dir) {
		return
	}
	for name := range strings.FieldsSeq(kustomization) {
		file := filepath.Join(dir, name)
		if p.visit(file, code) || p.out[file] == "" {
			continue
		}
		p.isCoded(i, file)
		text, ok := p.text(file, "names")
		if !ok {
			continue
		}
		y, err := yamlOf(text)
		if err != nil || depth >= maxFollowed || y.deep || len(y.texts) > maxWords {
			p.unread(file, "names")
			continue
		}
		for _, w := range y.texts {
			p.kustomized(i, dir, w, depth)
		}
	}
}

// kustomized binds what one value of a kustomization names.
func (p *pass) kustomized(i int, dir, value string, depth int) {
	if strings.Contains(value, "\n") || len(value) > maxPath {
		return // a patch, in the text itself
	}
	if _, after, ok := strings.Cut(value, "="); ok && !strings.Contains(value, "://") { // KEY=file
		value = after
	}
	if strings.Contains(value, "://") || strings.HasPrefix(value, "git@") || strings.HasPrefix(value, "github.com/") {
		p.named("what lies at %s", value)
		return
	}
	at := filepath.Clean(abs(dir, value))
	if value == "" || value == "." || at == dir {
		return
	}
	if !p.visit(at, code) {
		p.generator(at, dir)
		return
	}
	for name := range strings.FieldsSeq(kustomization) {
		if _, err := p.stat(filepath.Join(at, name)); p.look() && err == nil {
			p.kustomize(i, at, depth+1)
			return
		}
	}
	p.folder(at) // charts, openapi, and what else is given as a folder
}

// functionPath finds the programs of generators and transformers, and functionImage what else
// they run.
var (
	functionPath  = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*path:[ \t]*["']?([^"'\s#]+)`)
	functionImage = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*image:[ \t]*["']?([^"'\s#]+)`)
)

// generator binds the programs that a file of a kustomization runs.
func (p *pass) generator(file, dir string) {
	if p.out[file] == "" || !p.once("generator", file) {
		return
	}
	text, ok := p.text(file, "runs")
	if !ok || !strings.Contains(text, "config.kubernetes.io/function") {
		return
	}
	for _, m := range p.found(functionPath, file, text) {
		for _, from := range []string{dir, filepath.Dir(file)} {
			if at := filepath.Clean(abs(from, m[1])); !p.visit(at, code) {
				p.script(at, from)
			}
		}
	}
	for _, m := range p.found(functionImage, file, text) {
		if !pinned(m[1]) {
			p.named("the image %s, which is not pinned by a digest", m[1])
		}
	}
}

// chart binds the charts that a chart takes from other folders here.
func (p *pass) chart(dir string, depth int) {
	file := filepath.Join(dir, "Chart.yaml")
	if !p.once("chart", dir) || !p.isThereAs(file) {
		return
	}
	if p.visit(file, code); depth > maxFollowed {
		p.unread(file, "names")
		return
	}
	text, _ := p.text(file, "names")
	p.wholes(file, text, []string{dir})
	for _, m := range p.found(chartFolder, file, text) {
		p.chart(filepath.Clean(abs(dir, m[1])), depth+1)
	}
}

var chartFolder = regexp.MustCompile(`(?m)^[ \t-]*repository:[ \t]*["']?file://([^"'\s#]*)`)
