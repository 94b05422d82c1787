package approver_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestHouse holds docs/img/house.svg equal to the packages and their layers. make pictures
// draws it anew.
func TestHouse(t *testing.T) {
	floors := map[int]map[string]string{} // by layer, what each unit is
	for _, line := range goList(t, "-f", "{{.ImportPath}}\t{{.Doc}}", "./...") {
		pkg, doc, _ := strings.Cut(line, "\t")
		layer, unit := place(t, pkg)
		if strings.HasSuffix(unit, "test") || strings.HasSuffix(unit, "/internal") {
			continue
		}
		if floors[layer] == nil {
			floors[layer] = map[string]string{}
		}
		if rel := strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"); rel == unit {
			_, floors[layer][unit], _ = strings.Cut(strings.TrimSuffix(doc, "."), " ") // without the word Package or Command
		} else if _, known := floors[layer][unit]; !known {
			floors[layer][unit] = ""
		}
	}
	const file = "docs/img/house.svg"
	want := house(floors)
	if os.Getenv("APPROVER_PICTURES") == "write" {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s shows another house (%v): make pictures, and look at it", file, err)
	}
}

// house draws the layers from the top, with what each unit says of itself.
func house(floors map[int]map[string]string) []byte {
	const width, margin, row, gap, columns = 1000, 16, 22, 14, 112
	var b bytes.Buffer
	y := margin
	text := func(x, y int, more, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>`, x, y, more)
		_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
		b.WriteString("</text>\n")
	}
	layers := slices.Sorted(maps.Keys(floors))
	slices.Reverse(layers)
	for _, layer := range layers {
		units := slices.Sorted(maps.Keys(floors[layer]))
		height := len(units)*row + gap
		fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\" class=\"in\"/>\n",
			margin, y, width-2*margin, height)
		for i, unit := range units {
			what := floors[layer][unit]
			if cut := []rune(what); len(cut) > columns {
				what = string(cut[:columns-1]) + "…"
			}
			name := unit
			if name == "" {
				name = "*.go"
			}
			text(margin+14, y+row*(i+1), ` class="n"`, name)
			for _, own := range []string{name, path.Base(name)} {
				what = strings.TrimPrefix(what, own+" ")
			}
			text(margin+190, y+row*(i+1), "", what)
		}
		y += height + gap
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<style>
rect{fill:#fbfcfe;stroke:#9aa5b1}.in{fill:#eef1f5}text{fill:#1f2933}.n{fill:#1a56b0}.m{fill:#65727f}
@media (prefers-color-scheme:dark){rect{fill:#1e2430;stroke:#566074}.in{fill:#28303f}text{fill:#d8dee9}.n{fill:#8fbcff}
.m{fill:#9aa5b8}}
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
<g font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="13">
`, width, y+row, width-1, y+row-1)
	out.Write(b.Bytes())
	fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" class=\"m\">imports go downwards only, never sideways</text>\n"+
		"</g>\n</svg>\n", margin+14, y+6)
	return out.Bytes()
}
