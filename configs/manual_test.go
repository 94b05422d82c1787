package configs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/config.md is the commented default configuration as a page.
func TestManual(t *testing.T) {
	const page = "../docs/config.md"
	want := manual(string(defaultYAML(t)))
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/config.md is not what approver.default.yaml says: run go generate ./configs")
	}
}

// manual turns the default configuration into Markdown: a chapter for every
// "##" line, an entry for every setting with the comment above it.
func manual(text string) string {
	var out strings.Builder
	var prose, names, values []string
	var stack []struct {
		indent int
		name   string
	}
	flush := func() {
		if len(names) > 0 {
			fmt.Fprintf(&out, "### `%s`\n\n", strings.Join(names, "`, `"))
		}
		if len(prose) > 0 {
			out.WriteString(strings.Join(prose, "\n") + "\n\n")
		}
		if len(values) > 0 {
			out.WriteString(strings.Join(values, "  \n") + "\n\n")
		}
		prose, names, values = nil, nil, nil
	}
	for i, line := range strings.Split(text, "\n") {
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		comment, isComment := strings.CutPrefix(body, "# ")
		switch {
		case i == 0:
			fmt.Fprintf(&out, "<!-- Made from configs/approver.default.yaml by go generate ./configs. -->\n\n# %s\n\n"+
				"One YAML file. Every setting may be left out. An example stands where a\nsetting has no default.\n\n", comment)
		case strings.HasPrefix(body, "## "):
			flush()
			out.WriteString(body + "\n\n")
		case body == "" || body == "#":
			if len(prose) > 0 && strings.HasPrefix(prose[0], "This file is the manual") {
				prose = nil // how to read the file, not the page
			}
			flush()
		case isComment:
			if len(names) > 0 {
				flush()
			}
			prose = append(prose, comment)
		default:
			setting, omitted := strings.CutPrefix(body, "#")
			if item, ok := strings.CutPrefix(setting, "- "); ok {
				setting, indent = item, indent+2
				stack[len(stack)-1].name = strings.TrimSuffix(stack[len(stack)-1].name, "[]") + "[]"
			}
			name, value, _ := strings.Cut(setting, ":")
			for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
				stack = stack[:len(stack)-1]
			}
			stack = append(stack, struct {
				indent int
				name   string
			}{indent, name})
			var path []string
			for _, s := range stack {
				path = append(path, s.name)
			}
			names = append(names, strings.Join(path, "."))
			if value != "" {
				label := "Default"
				if omitted {
					label = "Example"
				}
				values = append(values, fmt.Sprintf("%s: `%s`", label, setting))
			}
		}
	}
	flush()
	return strings.TrimRight(out.String(), "\n") + "\n"
}
