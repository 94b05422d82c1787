package settings

import (
	"errors"
	"strings"
	"testing"
)

// The story: install refused a file with "json: cannot unmarshal array into Go value of type
// map[string]json.RawMessage". Each error names the file, the place, what is wrong, and what to do.
func TestRefusalsAreForPeople(t *testing.T) {
	list, script := List{Agent: "kiro"}, Script{Agent: "cline", Template: "#!/bin/sh\nx=$(" + Slot + ")\n", Event: "e"}
	layout, want := Layout{Agent: "gemini"}, Hooks{"Stop": nil, "Pre": {{Matcher: "*"}}}
	for text, c := range map[string]struct {
		with func(path string, text []byte, want Hooks) ([]byte, error)
		says string
	}{
		"[]":                              {layout.With, "/h/f:1:1: the whole of it is a list"},
		"{\n \"hooks\": []}":              {layout.With, "/h/f:2:11: \"hooks\" is a list"},
		"{\"hooks\": \"x\"}":              {layout.With, "/h/f:1:11: \"hooks\" is a text"},
		"{\"hooks\": 1}":                  {layout.With, "/h/f:1:11: \"hooks\" is a number"},
		"{\"hooks\": {\n\"Pre\": [{}":     {layout.With, "/h/f:2:11: "},
		"{} x":                            {layout.With, "/h/f:1:4: invalid character 'x' after top-level value"},
		"{\"hooks\":{\n\n \"Pre\": {} }}": {layout.With, "/h/f:3:9: what stands at \"Pre\" is no list of hooks"},
		"{\"hooks\": {\n\"Pre\":[], \"Pre\":[]}}": {layout.With, "/h/f:2:11: the key \"Pre\" stands there twice"},
		"{\"hooks\":{},\n\n \"hooks\": {}}":       {layout.With, "/h/f:3:2: the key \"hooks\" stands there twice"},
		"\ufeff{}":                                {layout.With, "/h/f:1:1: there is a byte order mark, with which"},
		"{ // mine\n}":                            {layout.With, "/h/f:1:3: there is a comment"},
		"{\"a\": [1],\r\n /* x */}":               {layout.With, "/h/f:1:10: there is a trailing comma"},
		"[ ]":                                     {list.With, "/h/f is not as install writes it: remove the file"},
		"{\"hooks\":":                             {list.With, "/h/f:1:10: "},
		"#!/bin/bash\n":                           {script.With, "/h/f was not written by approver: rename it, or remove it"},
	} {
		_, err := c.with("/h/f", []byte(text), want)
		r := (*RefusalError)(nil)
		if !errors.As(err, &r) || !strings.HasPrefix(err.Error(), c.says) ||
			r.Cure == "" ||
			!strings.HasSuffix(err.Error(), r.Cure+"; nothing was changed") || strings.Contains(err.Error(), "json: ") {
			t.Errorf("%q: %v\nwant %s", text, err, c.says)
		}
		if strings.HasSuffix(c.says, "the whole of it is a list") || strings.Contains(c.says, "after top-level") {
			_, keys := (Source{Path: "/h/f", Text: []byte(text)}).Keys()
			if keys == nil || keys.Error() != err.Error() {
				t.Errorf("%q: its keys: %v", text, keys)
			}
		}
	}
}

// A second install puts the hook where it was, so that no other hook has another place.
func TestReplacedHooksKeepTheirPlace(t *testing.T) {
	layout := Layout{Agent: "droid"}
	text := `{"hooks":{"PreToolUse":[` + hook[1:len(hook)-1] + `, {"hooks":[{"command":"/mine"}]}]}}`
	longer := strings.Replace(text, `"timeout":20`, `"timeout":90`, 1)
	want, err := layout.Read("f", []byte(longer))
	if err != nil {
		t.Fatal(err)
	}
	want["PreToolUse"] = want["PreToolUse"][:1]
	if out, err := layout.With("f", []byte(text), want); err != nil || string(out) != longer {
		t.Errorf("%s, %v\nwant %s", out, err, longer)
	}
}

// Where the events are below a key, a switch for all hooks is written as false, and goes with the hooks.
func TestTheSwitchIsHeld(t *testing.T) {
	layout := droidLayout
	layout.Off = "hooksDisabled"
	want, err := layout.Read("/h/hooks.json", []byte(`{"PreToolUse":`+hook+`}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, held := range map[string]bool{"/etc/settings.json": true, "/h/hooks.json": false} {
		for _, text := range []string{"{\"a\": true}\n", "{}\n"} {
			out, err := layout.With(path, []byte(text), want)
			if err != nil || strings.Contains(string(out), `"hooksDisabled":false`) != held {
				t.Errorf("%s: %s, %v", path, out, err)
			}
			if again, err := layout.With(path, out, want); err != nil || string(again) != string(out) {
				t.Errorf("%s: a second time: %s, %v", path, again, err)
			}
			if back, err := layout.With(path, out, nil); err != nil || string(back) != text {
				t.Errorf("%s: taken out: %s, %v", path, back, err)
			}
		}
		whole, err := layout.TextAt(path, want)
		if err != nil || strings.Contains(string(whole), `"hooksDisabled": false`) != held {
			t.Errorf("%s: a new file is %s, %v", path, whole, err)
		}
	}
	// A file of an earlier install gets it, too.
	old := []byte(`{"hooks":{"PreToolUse":` + hook + `}}`)
	out, err := layout.With("/etc/settings.json", old, want)
	if err != nil || !strings.Contains(string(out), "hooksDisabled") {
		t.Errorf("%s, %v", out, err)
	}
}

// The story: of two events that were wrong now one was named and now the other. The daemon took each for
// something new, and raised an alarm every two seconds.
func TestTheSameRefusalEachTime(t *testing.T) {
	layout := droidLayout
	text := []byte(`{"Stop":"x","Start":"x","Pre":"x","Post":"x"}`)
	_, first := layout.Read("/h/hooks.json", text)
	for range 30 {
		if _, err := layout.Read("/h/hooks.json", text); err == nil || err.Error() != first.Error() {
			t.Fatalf("%v, and then %v", first, err)
		}
	}
}
