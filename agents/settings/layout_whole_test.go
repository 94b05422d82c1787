package settings

import (
	"bytes"
	"strings"
	"testing"
)

const hook = `[{"matcher":"*","hooks":[{"type":"command","command":"/x/approver-hook --agent droid","timeout":20}]}]`

// droidLayout is that of an agent whose hooks file has the events at its top, and which ignores the
// whole file if something in it is wrong.
var droidLayout = Layout{Agent: "droid", Commented: true, Whole: true, Top: "hooks.json"}

// The hooks are put where the agent reads them, twice without a change, and taken out to the byte.
func TestHooksAtTheTopOfAFile(t *testing.T) {
	want, err := droidLayout.Read("/h/hooks.json", []byte(`{"PreToolUse":`+hook+`}`))
	if err != nil || len(want["PreToolUse"]) != 1 {
		t.Fatalf("%v, %v", want, err)
	}
	for path, text := range map[string]string{
		"/h/hooks.json":    "// mine\r\n{\r\n  \"showHookOutput\": true,\r\n  \"Stop\": [] // none\r\n}\r\n",
		"/g/hooks.json":    `{}`,
		"/h/settings.json": "{\n  \"model\": \"m\" // mine\n}\n",
	} {
		with, err := droidLayout.With(path, []byte(text), want)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if below := bytes.Contains(with, []byte(`"hooks":{"PreToolUse"`)); below == (droidLayout.above(path) == "") {
			t.Errorf("%s: %s", path, with)
		}
		if again, err := droidLayout.With(path, with, want); err != nil || !bytes.Equal(again, with) {
			t.Errorf("%s: a second time it is\n%s\nafter\n%s\n%v", path, again, with, err)
		}
		if back, err := droidLayout.With(path, with, nil); err != nil || string(back) != text {
			t.Errorf("%s: taken out it is %q, it was %q, %v", path, back, text, err)
		}
	}
}

// The story: Droid and Copilot ignore a file of hooks in silence if it has a trailing comma, a byte order
// mark, or one event that is not right. approver's hooks stood in such a file, and nobody was asked.
func TestFilesThatAnAgentIgnores(t *testing.T) {
	plain := Layout{Agent: "copilot", Flat: true, Whole: true}
	marked := Layout{Agent: "qwen", Commented: true, Marked: true}
	for name, c := range map[string]struct {
		layout Layout
		text   string
		want   string // in the error; empty: it is read
	}{
		"a comment":                      {droidLayout, "// c\n{}", ""},
		"a comment, plain":               {plain, "// c\n{}", "a comment"},
		"a trailing comma":               {droidLayout, `{"PreToolUse":` + hook + `,}`, "a trailing comma"},
		"a trailing comma deeper":        {droidLayout, `{"PreToolUse":[{"hooks":[],}]}`, "a trailing comma"},
		"a trailing comma after a space": {droidLayout, `{"a":[] , }`, "a trailing comma"},
		"a byte order mark":              {droidLayout, "\ufeff{}", "byte order mark"},
		"a byte order mark, plain":       {plain, "\ufeff{}", "byte order mark"},
		"a byte order mark that is read": {marked, "\ufeff{ // c\n}", ""},
		"a trailing comma after all":     {marked, "\ufeff{ // c, c\n\"a\": 1,}", "2:7: there is a trailing comma"},
		"a switch":                       {droidLayout, `{"hooksDisabled":false}`, ""},
		"an event without a list":        {droidLayout, `{"PostToolUse":{"a":1}}`, "no list"},
		"an event that is null":          {droidLayout, `{"PostToolUse":null}`, "no list"},
		"a hook of another type":         {droidLayout, `{"PostToolUse":[{"hooks":[{"type":"x"}]}]}`, "another type"},
		"plain, an event without a list": {plain, `{"version":1,"hooks":{"postToolUse":{}}}`, "no list"},
		"plain, good":                    {plain, `{"version":1,"hooks":{"postToolUse":[]}}`, ""},
	} {
		_, err := c.layout.Read("/h/hooks.json", []byte(c.text))
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
