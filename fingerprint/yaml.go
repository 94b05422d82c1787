package fingerprint

import (
	"strings"

	"approver.example/fingerprint/disk"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A yamlText is the content of a text of YAML, whatever the order of its keys.
type yamlText struct {
	texts   []string              // all values
	maps    []map[string][]string // all mappings: for each key the values below it
	aliases bool                  // it has aliases, whose values are missing in maps
	deep    bool                  // it is nested too deeply, or has an unknown node
}

// yamlOf reads a text of YAML, or of JSON.
func yamlOf(text string) (y yamlText, err error) {
	parsed, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return y, err
	}
	for _, doc := range parsed.Docs {
		y.add(yamlNode(doc.Body, 0))
	}
	return y, nil
}

func (y *yamlText) add(part yamlText) {
	y.texts, y.maps = append(y.texts, part.texts...), append(y.maps, part.maps...)
	y.deep, y.aliases = y.deep || part.deep, y.aliases || part.aliases
}

func yamlNode(n ast.Node, depth int) (y yamlText) {
	if depth > disk.MaxNested {
		return yamlText{deep: true}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		of := map[string][]string{}
		for _, v := range n.Values {
			part, key := yamlNode(v.Value, depth+1), scalar(v.Key)
			of[key] = append(of[key], part.texts...)
			y.add(part)
		}
		y.maps = append(y.maps, of)
	case *ast.MappingValueNode:
		part := yamlNode(n.Value, depth+1)
		y.add(part)
		y.maps = append(y.maps, map[string][]string{scalar(n.Key): part.texts})
	case *ast.SequenceNode:
		for _, v := range n.Values {
			y.add(yamlNode(v, depth+1))
		}
	case *ast.AnchorNode:
		return yamlNode(n.Value, depth+1)
	case *ast.TagNode:
		return yamlNode(n.Value, depth+1)
	case *ast.AliasNode: // the text stands where the anchor is
		y.aliases = true
	case *ast.CommentGroupNode, nil:
	case ast.ScalarNode:
		y.texts = append(y.texts, scalar(n))
	default:
		y.deep = true
	}
	return y
}

// scalar is the text of a key or a value.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingKeyNode: // "? key"
		return scalar(n.Value)
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value)
	case *ast.AnchorNode:
		return scalar(n.Value)
	case *ast.TagNode:
		return scalar(n.Value)
	}
	if n == nil {
		return ""
	}
	return n.GetToken().Value
}
