package settings

import (
	"reflect"
	"strings"
	"testing"
)

var (
	entry   = JSON5Change{Key: []string{"plugins", "entries", "approver", "enabled"}, Value: true}
	allowed = JSON5Change{Key: []string{"plugins", "allow"}, Value: "approver", Listed: true}
)

// The settings of OpenClaw are written by people, too. Their comments, names without quotes and ends of
// lines stay.
func TestJSON5InAndOut(t *testing.T) {
	for name, tt := range map[string]struct {
		change     JSON5Change
		text, want string
	}{
		"no file":      {entry, "", `{"plugins": {"entries": {"approver": {"enabled": true}}}}` + "\n"},
		"empty object": {entry, "{}\n", `{"plugins": {"entries": {"approver": {"enabled": true}}}}` + "\n"},
		"one line":     {entry, `{a: 1}`, `{a: 1, "plugins": {"entries": {"approver": {"enabled": true}}}}`},
		"one line, with a comma": {entry, `{a: 1,}`,
			`{a: 1, "plugins": {"entries": {"approver": {"enabled": true}}},}`},
		"lines": {entry, "// mine\n{\n\tplugins: {\n\t\tentries: {\n\t\t\tx: {}, // a note\n\t\t},\n\t},\n}\n",
			"// mine\n{\n\tplugins: {\n\t\tentries: {\n\t\t\tx: {}, // a note\n" +
				"\t\t\t\"approver\": {\"enabled\": true},\n\t\t},\n\t},\n}\n"},
		"JSON stays JSON": {entry, "{\n  \"plugins\": {\n    \"enabled\": true\n  }\n}\n",
			"{\n  \"plugins\": {\n    \"enabled\": true,\n    \"entries\": {\"approver\": {\"enabled\": true}}\n  }\n}\n"},
		"a note behind the last": {entry, "{\n  a: 'x' // of a\n}", "{\n  a: 'x', // of a\n" +
			"  \"plugins\": {\"entries\": {\"approver\": {\"enabled\": true}}}\n}"},
		"a long note": {entry, "{\n  a: .5 /* of\n a */\n}", "{\n  a: .5,\n" +
			"  \"plugins\": {\"entries\": {\"approver\": {\"enabled\": true}}} /* of\n a */\n}"},
		"ends of Windows": {entry, "{\r\n  a: 0xF,\r\n}\r\n",
			"{\r\n  a: 0xF,\r\n  \"plugins\": {\"entries\": {\"approver\": {\"enabled\": true}}},\r\n}\r\n"},
		"it is there": {entry, `{plugins:{entries:{'approver':{enabled:true}}}}`, ""},
		"it is off": {entry, `{plugins:{entries:{approver:{enabled:false}}}}`,
			`{plugins:{entries:{approver:{enabled:true}}}}`},
		"a mark": {entry, "\ufeff{a:1}",
			"\ufeff{a:1, \"plugins\": {\"entries\": {\"approver\": {\"enabled\": true}}}}"},
		"in a list":       {allowed, `{plugins:{allow:['x','y']}}`, `{plugins:{allow:['x','y', "approver"]}}`},
		"a list of lines": {allowed, "{plugins:{allow:[\n  'x',\n]}}", "{plugins:{allow:[\n  'x',\n  \"approver\",\n]}}"},
		"no list":         {allowed, `{plugins:{}}`, ""},
		"an empty list":   {allowed, `{plugins:{allow:[]}}`, ""},
		"it is listed":    {allowed, `{plugins:{allow:["approver"]}}`, ""},
	} {
		if tt.want == "" {
			tt.want = tt.text
		}
		got, err := tt.change.In([]byte(tt.text))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, tt.want)
			continue
		}
		if again, err := tt.change.In(got); err != nil || string(again) != string(got) {
			t.Errorf("%s: once more: %v\n%s", name, err, again)
		}
		before, _ := ReadJSON5([]byte(tt.text))
		after, err := ReadJSON5(tt.change.Out(got))
		if tt.text != tt.want && name != "it is off" && (err != nil || !reflect.DeepEqual(before, after)) {
			t.Errorf("%s: taken out: %v\n%s", name, err, tt.change.Out(got))
		}
	}
}

// What is taken out leaves the bytes that were there, in the forms in which people write.
func TestJSON5OutLeavesTheBytes(t *testing.T) {
	for _, text := range []string{
		"{}\n", "{a: 1}", "{a: 1,}", "{\n  a: 1,\n}\n", "{\n  a: 1\n}\n", "{\r\n  a: 1,\r\n  b: [1, 2],\r\n}\r\n",
		"{\n  a: 1, // of a\n}\n", "{\n  plugins: {\n    entries: {x: {}},\n    allow: ['x'],\n  },\n}\n",
	} {
		for _, c := range []JSON5Change{entry, allowed} {
			in, err := c.In([]byte(text))
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			if out := c.Out(in); string(out) != text {
				t.Errorf("%q became %q, and then %q", text, in, out)
			}
		}
	}
}

// A text that two readers read differently, or that is no JSON5, is never changed.
func TestJSON5Refuses(t *testing.T) {
	for _, text := range []string{
		"[]", "x", "{", "{a}", "{a:}", "{a:1 b:2}", "{a:1}}", "{a:1,a:2}", "{'a':1,\"\\x61\":2}", "{a:'\n'}", "{a:01x}",
		"{a:'\\u00'}", "{/*", "{a:'x}", "{plugins: []}", "{plugins: {entries: 1}}", "{plugins: {$include: 1, entries: null}}",
		strings.Repeat("{a:", 300) + "1" + strings.Repeat("}", 300), "{a:undefined}", "{,}", "{a:'\\9'}",
	} {
		if got, err := entry.In([]byte(text)); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzJSON5(f *testing.F) {
	for _, text := range []string{
		"", "{}", "{a: 1, // x\n}", "{'a': [.5, -0xF, 'it\\'s', null,],\r\n}", "\ufeff{\"plugins\": {}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := ReadJSON5([]byte(text))
		in, changeErr := entry.In([]byte(text))
		if err != nil || changeErr != nil {
			if err != nil && changeErr == nil {
				t.Fatalf("%q was changed, and cannot be read", text)
			}
			return
		}
		after, err := ReadJSON5(in)
		if err != nil || At(after, entry.Key...) != true {
			t.Fatalf("%q became %q: %v", text, in, err)
		}
		if At(before, entry.Key...) != nil {
			return
		}
		out, err := ReadJSON5(entry.Out(in))
		take(after, entry.Key)
		if err != nil || !reflect.DeepEqual(out, after) {
			t.Fatalf("%q became %q, and then %q", text, in, entry.Out(in))
		}
	})
}
