package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
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
		tree, err := parser.ParseBytes([]byte(text), 0)
		if err != nil || depth >= maxFollowed {
			p.unread(file, "names")
			continue
		}
		var words []string
		for _, doc := range tree.Docs {
			if doc.Body != nil {
				words = append(words, scalars(doc.Body, 0)...)
			}
		}
		if len(words) > maxWords {
			p.unread(file, "names")
			continue
		}
		for _, w := range words {
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
	if value == "" || value == "." || at == dir || !p.visit(at, code) {
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

// scalars are all texts in a tree of YAML that are no keys.
func scalars(n ast.Node, depth int) (list []string) {
	if depth > maxNested {
		return slices.Repeat([]string{""}, maxWords+1) // too deep: it is named
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			list = append(list, scalars(v.Value, depth+1)...)
		}
	case *ast.MappingValueNode:
		return scalars(n.Value, depth+1)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			list = append(list, scalars(v, depth+1)...)
		}
	case *ast.AnchorNode:
		return scalars(n.Value, depth+1)
	case *ast.TagNode:
		return scalars(n.Value, depth+1)
	case *ast.AliasNode, nil:
	case ast.ScalarNode:
		list = append(list, scalar(n))
	}
	return list
}
