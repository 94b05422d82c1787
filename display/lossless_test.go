package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A reader writes the arguments of a call again from its blocks.
type reader struct {
	blocks []Block
	ends   string // the line breaks of the next code or diff
}

func (r *reader) next() Block {
	b := r.blocks[0]
	r.blocks = r.blocks[1:]
	return Block{b.Kind, unmarked(b.Label), b.Text}
}

// peek reports whether a line of approver's own with this label comes next.
func (r *reader) peek(label string) bool {
	return len(r.blocks) > 0 && r.blocks[0].Kind == Line && r.blocks[0].Label == label
}

// value returns what a block of an argument says.
func value(t *testing.T, b Block) any {
	text := unmarked(b.Text)
	if b.Kind == Code && !strings.HasSuffix(b.Label, " (JSON)") {
		return text
	}
	if v, ok := parsed(text); ok {
		return v
	}
	if b.Kind == Code {
		t.Errorf("%s is no JSON: %q", b.Label, text)
	}
	return text
}

func parsed(text string) (v any, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if !json.Valid([]byte(text)) || dec.Decode(&v) != nil {
		return nil, false
	}
	return v, true
}

var step = regexp.MustCompile(`^\.?("(?:[^"\\]|\\.)*"|[^.\[\]"]+)|^\[([0-9]+)\]`)

// put puts a value at a place such as a.b[0].
func put(t *testing.T, root map[string]any, label string, v any) {
	label = strings.TrimSuffix(label, " (JSON)")
	var set func(in any, rest string) any
	set = func(in any, rest string) any {
		if rest == "" {
			return v
		}
		m := step.FindStringSubmatch(rest)
		if m == nil {
			t.Fatalf("no place: %q in %q", rest, label)
		}
		rest = rest[len(m[0]):]
		if m[2] != "" {
			list, _ := in.([]any)
			i, _ := strconv.Atoi(m[2])
			for len(list) <= i {
				list = append(list, nil)
			}
			list[i] = set(list[i], rest)
			return list
		}
		key := m[1]
		if key[0] == '"' {
			if err := json.Unmarshal([]byte(key), &key); err != nil {
				t.Fatal(err)
			}
		}
		object, _ := in.(map[string]any)
		if object == nil {
			object = map[string]any{}
		}
		object[key] = set(object[key], rest)
		return object
	}
	set(root, label)
}

// arguments reads the blocks of arguments up to one of approver's own.
func (r *reader) arguments(t *testing.T, prefix string) map[string]any {
	args := map[string]any{}
	for len(r.blocks) > 0 && r.blocks[0].Kind != Diff && !slices.ContainsFunc([]string{"Tool", "Size", "Line ends",
		"End", "Path"}, r.peek) {
		b := r.next()
		switch label, ok := strings.CutPrefix(b.Label, prefix); {
		case b.Kind == Line && b.Label == "Replaces":
			args["replace_all"] = b.Text == "every occurrence"
		case b.Kind == Code && b.Label == "":
			t.Fatal("a text without a name")
		case !ok:
			r.blocks = append([]Block{b}, r.blocks...)
			return args
		default:
			put(t, args, label, value(t, b))
		}
	}
	return args
}

func (r *reader) breaks(text string) string {
	if r.ends != "" {
		text = strings.ReplaceAll(text, "\n", r.ends)
	}
	return text
}

// change reads a diff: what was before, and what is after.
func (r *reader) change() (before, after string) {
	if r.peek("Line ends") {
		r.next()
		r.ends = "\r\n"
	}
	d := r.next()
	var old, new []string
	if d.Text != "" {
		for line := range strings.SplitSeq(d.Text, "\n") {
			if line[0] != '+' {
				old = append(old, unmarked(line[1:]))
			}
			if line[0] != '-' {
				new = append(new, unmarked(line[1:]))
			}
		}
	}
	before, after = r.breaks(strings.Join(old, "\n")), r.breaks(strings.Join(new, "\n"))
	r.ends = ""
	for r.peek("End") {
		r.next()
	}
	return before, after
}

func generic(t *testing.T, fields []field) map[string]any {
	all := map[string]any{}
	for _, f := range fields {
		v, ok := parsed(string(f.raw))
		if !ok {
			t.Fatalf("%s", f.raw)
		}
		if f.key == "replaceAll" {
			f.key = "replace_all"
		}
		all[f.key] = v
	}
	return all
}

// checkLossless writes a call again from its blocks.
func checkLossless(t *testing.T, c Call) {
	t.Helper()
	blocks, _ := c.Body()
	for _, b := range blocks {
		if strings.Contains(b.Label+b.Text, hiddenWords) || strings.Contains(b.Text, "⟨U+2039⟩") {
			return // secrets are hidden
		}
	}
	for _, leaf := range leavesOf(c.Args, -100, nil) {
		if gaps().MatchString(leaf) || strings.Contains(leaf, "\v") {
			return // a note says how long each gap is
		}
	}
	r := &reader{blocks: blocks}
	fields, ok := c.fields()
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %s are read as\n%#v\nwant\n%#v\nfrom %q", what, c.Args, got, want, blocks)
		}
	}
	ch := change{}
	if ok {
		ch = c.changeOf(fields)
	}
	switch ch.kind {
	case noChange:
		for r.peek("Tool") && c.Command != "" {
			r.next()
		}
		if c.Command != "" {
			same("the command", unmarked(r.next().Text), c.Command)
		}
		if !ok {
			same("the arguments", unmarked(r.next().Text), indented(c.Args))
		} else {
			same("the arguments", r.arguments(t, ""), generic(t, fields))
		}
		return
	case patches:
		same("the patch", strings.TrimSuffix(patchFrom(t, r), "\n"), strings.TrimSuffix(ch.text, "\n"))
		same("the rest", r.arguments(t, ""), generic(t, ch.rest))
		return
	default:
		same("the path", value(t, r.next()), ch.path)
		same("the rest", r.arguments(t, ""), generic(t, ch.rest))
	}
	switch ch.kind {
	case noChange, patches: // see above
	case writes:
		r.next()
		if r.peek("Line ends") {
			r.next()
			r.ends = "\r\n"
		}
		same("the content", r.breaks(unmarked(r.next().Text)), ch.text)
	case inserts:
		_, after := r.change()
		same("the text", after, ch.text)
	case edits:
		for i, e := range ch.edit {
			prefix := ""
			if len(ch.edit) > 1 {
				prefix = fmt.Sprintf("Edit %d of %d, ", i+1, len(ch.edit))
			}
			before, after := r.change()
			same("the edit", []string{before, after}, []string{e.before, e.after})
			same("the rest of it", r.arguments(t, prefix), generic(t, e.rest))
		}
	}
}

// patchFrom writes a patch again from its blocks.
func patchFrom(t *testing.T, r *reader) string {
	if r.blocks[0].Kind == Code {
		return unmarked(r.next().Text)
	}
	text := "*** Begin Patch\n"
	file := ""
	for len(r.blocks) > 0 {
		b := r.blocks[0]
		does := map[string]string{"Add": "Add", "Delete": "Delete", "Path": "Update"}[b.Label]
		switch {
		case b.Kind == Line && does != "":
			file = does
			text += "*** " + does + " File: " + unmarked(b.Text) + "\n"
		case b.Kind == Line && b.Label == "Move to":
			text += "*** Move to: " + unmarked(b.Text) + "\n"
		case b.Kind == Line && b.Label == "End":
			text += "*** End of File\n"
		case b.Kind == Diff:
			if file == "Update" {
				text += cmp.Or(unmarked(b.Label), "@@") + "\n"
			}
			for line := range strings.SplitSeq(b.Text, "\n") {
				if line != "" {
					text += line[:1] + unmarked(line[1:]) + "\n"
				}
			}
		default:
			return text + "*** End Patch"
		}
		r.next()
	}
	t.Helper()
	return text + "*** End Patch"
}

func TestNothingIsLostInBlocks(t *testing.T) {
	for _, r := range recordedCalls(t) {
		if !r.Question {
			checkLossless(t, r.call())
			checkBlocks(t, r.call())
		}
	}
}

// checkBlocks holds what every block keeps: nothing in it is invisible, a line is one line, and the
// lines of a diff have a sign.
func checkBlocks(t *testing.T, c Call) {
	t.Helper()
	blocks, _ := c.Body()
	for _, b := range blocks {
		text := b.Label + b.Text
		if strings.ContainsFunc(text, func(r rune) bool { return isHidden(r) && r != '⟨' && r != '⟩' }) {
			t.Errorf("%s: %q has characters that cannot be seen", c.Args, text)
		}
		if strings.ContainsAny(b.Label, "\n\t") || b.Kind == Line && strings.ContainsAny(b.Text, "\n\t") {
			t.Errorf("%s: %q is no line", c.Args, text)
		}
		for line := range strings.SplitSeq(b.Text, "\n") {
			if b.Kind == Diff && b.Text != "" && (line == "" || strings.IndexByte("+- ", line[0]) < 0) {
				t.Errorf("%s: %q has no sign", c.Args, line)
			}
		}
	}
}

// fuzzedTools have all forms of blocks.
var fuzzedTools = []string{"mcp__github__create", "Write", "Edit", "MultiEdit", "apply_patch", "fs_write",
	"NotebookEdit", "Other", "Bash"}

func FuzzBody(f *testing.F) {
	for i := range fuzzedTools {
		f.Add(uint8(i), `{"path":"a\u202eb","content":"x \r\n\ty","k.l":{"a":[1,null,"",{"b":"true"}]},"d":"\"q\""}`)
		f.Add(uint8(i), `{"path":"a","old_string":"x \ny\n","new_string":"x\ny","replace_all":true,"edits":[]}`)
		f.Add(uint8(i), `{"path":"a","edits":[{"old_str":"a","new_str":"b\r\n"},{"old_str":"","new_str":"","x":[]}]}`)
		f.Add(uint8(i), `{"command":"create","path":"x","file_text":"a","description":"d","new_source":" "}`)
		f.Add(uint8(i), `{"input":"*** Begin Patch\n*** Update File: a\n@@ f\n x\n-y\n+z\n*** End of File\n*** End Patch"}`)
		f.Add(uint8(i), `{"password":"hunter2hunter2","url":"https://u:hunter2hunter2@x","t":"ghp_`+
			`0123456789abcdefghijklmnopqrstuvwxyzAB"}`)
		f.Add(uint8(i), `[1,{"a":1,"a":2}]`)
		f.Add(uint8(i), `{"a":"\ud800","b":{"a":1,"a":2},"Path":"x"}`)
	}
	f.Fuzz(func(t *testing.T, kind uint8, args string) {
		tool := fuzzedTools[int(kind)%len(fuzzedTools)]
		c := Call{Tool: tool, Args: []byte(args), OwnShell: tool == "Bash"}
		if fields, ok := fieldsOf(c.Args); ok {
			if command := textAt(fields, "command"); tool == "Bash" || tool == "fs_write" || tool == "apply_patch" {
				c.Command = command
			}
		} else if !json.Valid(c.Args) || bytes.IndexByte(c.Args, 0) >= 0 {
			return // no agent's adapter lets it through
		}
		checkBlocks(t, c)
		checkLossless(t, c)
		if shown := said(c.Title()); strings.ContainsAny(shown, "\n\t") {
			t.Errorf("%q is the title of %s", shown, args)
		}
	})
}

// A key that the arguments as JSON hide is hidden in every block and in the title, and the reverse.
func FuzzSecretsInBlocks(f *testing.F) {
	for i := range fuzzedTools {
		for _, text := range []string{"§", "TOKEN=§", "# §", "a\n§\nb", "https://§@x", `{"token":"§"}`, "'§'", "x\u200b§",
			"-§-"} {
			f.Add(uint8(i), text, "b")
			f.Add(uint8(i), "b", text)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, one, two string) {
		const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
		one, two = strings.ReplaceAll(one, "§", key), strings.ReplaceAll(two, "§", key)
		args, err := json.Marshal(map[string]string{"path": one, "old_string": two, "new_string": one, "content": two,
			"input": "*** Begin Patch\n*** Add File: " + one + "\n+" + two + "\n*** End Patch"})
		if err != nil {
			t.Fatal(err)
		}
		c := Call{Tool: fuzzedTools[int(kind)%len(fuzzedTools)], Args: args}
		shown, _ := c.Shown()
		blocks, obscured := c.Body()
		var b strings.Builder
		for _, block := range blocks {
			b.WriteString(shownBlock(block))
		}
		inShown, inBlocks := strings.Contains(shown, key), strings.Contains(b.String(), key)
		switch {
		case !inShown && (inBlocks || strings.Contains(said(c.Title()), key)):
			t.Errorf("hidden in\n%s\nbut not in\n%s", shown, b.String())
		case inShown && !inBlocks && !strings.Contains(shown, hiddenWords) && !obscured:
			t.Errorf("hidden in\n%s\nand nobody is told:\n%s", b.String(), shown)
		}
	})
}
