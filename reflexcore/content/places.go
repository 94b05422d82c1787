package content

import (
	_ "embed"
	"strings"
)

// placesText is the table of places, with one line for each place. The format is explained at its
// top.
//
//go:embed places.txt
var placesText string

// A row is what a group of places is for.
type row struct {
	kind   Kind
	secret bool
	// Weak rows match only by an ending or a general name; they do not count in folders of test data
	// and documents.
	weak     bool
	name     string
	lang     string
	format   *format
	patterns []string
}

// readPlaces reads the table. A heading that it does not understand is a mistake in the
// program, and panics.
func readPlaces(table string) []row {
	var rows []row
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			rows = append(rows, heading(line))
		default:
			r := &rows[len(rows)-1]
			r.patterns = append(r.patterns, line)
		}
	}
	return rows
}

// heading reads a line such as "[keys secret format=ssh] what it is called".
func heading(line string) row {
	attributes, name, closed := strings.Cut(line[1:], "]")
	r := row{name: strings.TrimPrefix(name, " ")}
	for word := range strings.FieldsSeq(attributes) {
		key, value, _ := strings.Cut(word, "=")
		known := true
		switch key {
		case "secret":
			r.secret = true
		case "weak":
			r.weak = true
		case "lang":
			r.lang = value
		case "format":
			r.format, known = formats[value]
		default:
			r.kind, known = kindNamed(key)
		}
		if !known || !closed {
			panic("content: places.txt has the heading " + line)
		}
	}
	return r
}
