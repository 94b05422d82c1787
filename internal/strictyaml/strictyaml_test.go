package strictyaml_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/internal/secret"
	"approver.example/internal/strictyaml"
)

type inner struct {
	ID   string `yaml:"id"`
	Size int8   `yaml:"size"`
}

type shared struct {
	Host string `yaml:"host"`
}

type sample struct {
	Name     string            `yaml:"name"`
	Wait     time.Duration     `yaml:"wait"`
	On       bool              `yaml:"on"`
	Count    uint16            `yaml:"count"`
	Ratio    float64           `yaml:"ratio"`
	Token    secret.Text       `yaml:"token"`
	Level    approver.Severity `yaml:"level"`
	List     []string          `yaml:"list"`
	Items    []inner           `yaml:"items"`
	Part     *inner            `yaml:"part"`
	Env      map[string]string `yaml:"env"`
	Plain    string
	Hidden   string `yaml:"-"`
	shared   `yaml:",inline"`
	Embedded `yaml:",inline"`
}

type Embedded struct {
	Port int `yaml:"port"`
}

func decode(t *testing.T, text string) (sample, error) {
	t.Helper()
	s := sample{Name: "kept", Count: 7}
	f, err := strictyaml.Parse("f.yaml", []byte(text))
	if err != nil {
		return s, err
	}
	f.Decode(&s)
	return s, f.Err()
}

func TestDecode(t *testing.T) {
	s, err := decode(t, "\ufeff# a comment\r\nwait: 1m30s\r\non: true\nratio: 0.5\ntoken: abc\nlevel: high\n"+
		"list: [a, 'b c', \"d\\n\"]\nitems:\n  - id: 10042\n    size: -3\n  - {id: x}\npart:\n  id: |\n    two\n    lines\n"+
		"env: {A: 1, b.c: two}\nport: 80\nplain: yes\n")
	if err != nil {
		t.Fatal(err)
	}
	want := sample{
		Name: "kept", Count: 7, Wait: 90 * time.Second, On: true, Ratio: 0.5, Token: secret.New("abc"), Level: approver.High,
		List: []string{"a", "b c", "d\n"}, Items: []inner{{"10042", -3}, {"x", 0}}, Part: &inner{ID: "two\nlines\n"},
		Env: map[string]string{"A": "1", "b.c": "two"}, Plain: "yes", Embedded: Embedded{Port: 80},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func TestEmptyFileKeepsDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n# nothing\n", "\n\n"} {
		s, err := decode(t, text)
		if err != nil || s.Name != "kept" || s.Count != 7 {
			t.Errorf("%q: got %+v, %v", text, s, err)
		}
	}
}

// Each text has exactly the problems listed, told in full.
func TestProblems(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown key": {"nam: x\n", "f.yaml:1:1: unknown key \"nam\": did you mean \"name\"?\n    nam: …\n    ^"},
		"unknown, far": {"zzzzzz: 1\n",
			"f.yaml:1:1: unknown key \"zzzzzz\": the keys here are name, wait, on, count, ratio, token, level, list, items, " +
				"part, env, plain, port\n    zzzzzz: …\n    ^"},
		"excluded field": {"Hidden: x\n",
			"f.yaml:1:1: unknown key \"Hidden\": the keys here are name, wait, on, count, ratio, token, level, list, items, " +
				"part, env, plain, port\n    Hidden: …\n    ^"},
		"nested unknown": {"items:\n  - id: a\n    siez: 3\n",
			"f.yaml:3:5: unknown key \"siez\": did you mean \"size\"?\n        siez: …\n        ^"},
		"duplicate": {"name: a\non: true\nname: b\n",
			"f.yaml:3:1: key \"name\" is already given in line 1: keep one\n    name: …\n    ^"},
		"duplicate in map": {"env: {A: 1, A: 2}\n",
			"f.yaml:1:13: key \"A\" is already given in line 1: keep one\n    env: {A: 1, A: …\n                ^"},
		"null": {"name:\n", "f.yaml:1:1: name has no value: fill it in or remove the line\n    name:\n    ^"},
		"text not number": {"count: many\n",
			"f.yaml:1:8: count must be a whole number, not a text\n    count: many\n           ^"},
		"quoted number": {"count: '3'\n",
			"f.yaml:1:8: count must be a whole number, not a text\n    count: '3'\n           ^"},
		"too large": {"count: 65536\n",
			"f.yaml:1:8: count must be a plain decimal number within its range\n    count: 65536\n           ^"},
		"negative": {"count: -1\n",
			"f.yaml:1:8: count must be a plain decimal number within its range\n    count: -1\n           ^"},
		"hexadecimal": {"count: 0x10\n",
			"f.yaml:1:8: count must be a plain decimal number within its range\n    count: 0x10\n           ^"},
		"octal": {"port: 010_0\n",
			"f.yaml:1:7: port must be a plain decimal number within its range\n    port: 010_0\n          ^"},
		"bool as text": {"name: true\n",
			"f.yaml:1:7: name must be a text, not true or false: put it in quotes if that is meant\n    name: true\n" +
				"          ^"},
		"float as text": {"name: 1.10\n",
			"f.yaml:1:7: name must be a text, not a number: put it in quotes if that is meant\n    name: 1.10\n          ^"},
		"yes is no bool": {"on: yes\n", "f.yaml:1:5: on must be true or false, not a text\n    on: yes\n        ^"},
		"number as duration": {"wait: 90\n",
			"f.yaml:1:7: wait must be a duration: write it like 90s or 2m\n    wait: 90\n          ^"},
		"bad duration": {"wait: soon\n",
			"f.yaml:1:7: wait must be a duration: write it like 90s or 2m\n    wait: soon\n          ^"},
		"scalar as list": {"list: a\n",
			"f.yaml:1:7: list must be a list, not a text: write it like [a, b]\n    list: a\n          ^"},
		"list as text": {"name: [a]\n",
			"f.yaml:1:7: name must be a text, not a list: put it in quotes if that is meant\n    name: [a]\n          ^"},
		"map as text": {"name:\n  a: b\n",
			"f.yaml:2:3: name must be a text, not a group of keys: put it in quotes if that is meant\n      a: b\n      ^"},
		"list as group": {"part: [a]\n",
			"f.yaml:1:7: part must be a group of \"key: value\" lines, not a list\n    part: [a]\n          ^"},
		"whole file a list": {"- a\n", "f.yaml:1:1: the file must be a group of \"key: value\" lines, not a list"},
		"null element": {"list:\n  - a\n  -\n",
			"f.yaml:3:5: list[1] has no value: fill it in or remove the line\n      -\n       ^"},
		"bad word": {"level: hihg\n",
			"f.yaml:1:8: level: unknown severity \"hihg\": high or catastrophic\n    level: hihg\n           ^"},
		"no number": {"ratio: high\n",
			"f.yaml:1:8: ratio must be a number, not a text\n    ratio: high\n           ^"},
		"anchor": {"name: &x a\n",
			"f.yaml:1:7: an anchor is not allowed: write the value out, or quote the text if it starts with a literal &\n   " +
				" name: &x a\n          ^"},
		"alias": {"list: [*]\n",
			"f.yaml:1:8: an alias is not allowed: write the value out, or quote the text if it starts with a literal *\n    " +
				"list: [*]\n           ^"},
		"tag": {"name: !!str a\n",
			"f.yaml:1:7: a tag is not allowed: remove it, or quote the text if it starts with a literal !\n    name: !!str " +
				"a\n          ^"},
		"directive": {"%YAML 1.2\n---\nname: a\n",
			"f.yaml:1:1: a directive is not allowed: remove it, or quote the text if it starts with a literal %\n    %YAML " +
				"1.2\n    ^"},
		"explicit key": {"? name\n: a\n",
			"f.yaml:1:1: an explicit key is not allowed: write \"key: value\", or quote the text if it starts with a " +
				"literal ?\n    ? name\n    ^"},
		"second document": {"name: a\n---\nname: b\n",
			"f.yaml:3:1: a second document is not allowed: keep everything in one\n    name: b\n    ^"},
		"syntax": {"name: 'a\n",
			"f.yaml:1:7: could not find end character of single-quoted text: check indentation, quotes and brackets around " +
				"here\n    name: 'a\n          ^"},
		"tab": {"part:\n\tid: x\n",
			"f.yaml:2:1: found character '\t' that cannot start any token: check indentation, quotes and brackets around " +
				"here\n     id: x\n    ^"},
		"not UTF-8": {"name: a\xffb\n",
			"f.yaml:1:8: not UTF-8 text: save the file as UTF-8\n    name: a�b\n           ^"},
		"invisible": {"name: pay\u200bpal\n",
			"f.yaml:1:10: invisible character U+200B: remove it, or write it as \\u200B in double quotes\n    name: " +
				"pay⟨U+200B⟩pal\n             ^"},
		"bidi in a comment": {"# \u202e x\n",
			"f.yaml:1:3: invisible character U+202E: remove it, or write it as \\u202E in double quotes\n    # ⟨U+202E⟩ " +
				"x\n      ^"},
		"two at once, in order": {"on: 3\nnam: x\n",
			"f.yaml:1:5: on must be true or false, not a number\n    on: 3\n        ^\n" +
				"f.yaml:2:1: unknown key \"nam\": did you mean \"name\"?\n    nam: …\n    ^"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode(t, tt.text)
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %q\nwant %q", err.Error(), tt.want)
			}
			var bad *strictyaml.FileError
			if !errors.As(err, &bad) || bad.Problems[0].Pos.Line == 0 {
				t.Errorf("%T has no positions", err)
			}
		})
	}
}

// What stands behind a key that may hold a secret is never shown, whatever is
// wrong with it.
func TestSecretsStayHidden(t *testing.T) {
	const secret = "123456789:AAhunter2hunter2hunter2hunter2hunte"
	for _, text := range []string{
		"token: [" + secret + "]\n",
		"token:\n  - " + secret + "\n",
		"token:\n  " + secret + ": x\n",
		"tokn: " + secret + "\n",
		"pasword: " + secret + "\n",
		"token: a\ntoken: " + secret + "\n",
		"token: '" + secret + "\n",
		"token: \"" + secret + "\\q\"\n",
		"token: &x " + secret + "\n",
		"token: !x " + secret + "\n",
		"token: a\n  b: " + secret + "\n",
		"part: {token: " + secret + "\n",
		"part: {size: 999, token: " + secret + "}\n",
		"telegram_bot_token_x: " + secret + " ]\n",
		"on: " + secret + "\n",
		"api_key: " + secret + "\u200b\n",
	} {
		_, err := decode(t, text)
		if err == nil {
			t.Errorf("%q: no error", text)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q shows the secret:\n%s", text, err)
		}
	}
}

// A file cannot make the reader work for long or fall over.
func TestBounds(t *testing.T) {
	var keys, steps strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for i := range 1_000 {
		steps.WriteString(strings.Repeat(" ", i) + "env:\n")
	}
	for name, tt := range map[string]struct{ text, want string }{
		"bad line": {strings.Repeat("\xbc", 500_000), "not UTF-8"},
		"bad file": {strings.Repeat("\xbc\n", 500_000), "not UTF-8"},
		"size":     {strings.Repeat("#", strictyaml.MaxBytes+1), "the limit is 1048576"},
		"keys":     {keys.String(), "the file is too long"},
		"flow":     {"list: " + strings.Repeat("[", 500_000), "nested more than 32 levels"},
		"flow map": {strings.Repeat("{a: ", 200_000), "nested more than 32 levels"},
		"dashes":   {strings.Repeat("- ", 500_000) + "a", "nested more than 32 levels"},
		"indented": {steps.String(), "env must be a text"},
		"anchors":  {strings.Repeat("a: &a\n", 20_000), "an anchor is not allowed"},
		"laughs":   {"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "an alias is not allowed"},
		"merge":    {"name: x\n<<: {on: true}\n", "a merge key is not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := decode(t, tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.300v, want %q", err, tt.want)
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("took %v", d)
			}
			if err != nil && len(err.Error()) > 50_000 {
				t.Errorf("the text of the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "unknown%d: v\n", i)
	}
	_, err := decode(t, b.String())
	if err == nil || !strings.HasSuffix(err.Error(), "\nand 30 more") {
		t.Errorf("got ...%.80s", err.Error()[max(len(err.Error())-80, 0):])
	}
}

func TestReports(t *testing.T) {
	f, err := strictyaml.Parse("p.yaml", []byte("name: x\nitems:\n  - id: 'a(b'\n    size: 1\n  - id: c\n"))
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	f.Decode(&s)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	if got := f.Position("items[1]").String(); got != "p.yaml:5:5" {
		t.Errorf("position of an element: %s", got)
	}
	if got := f.Position("nowhere").String(); got != "p.yaml:1:1" {
		t.Errorf("position of what is not there: %s", got)
	}
	if !f.Good("items[0].id") || f.Good("items[0].other") || f.Has("items[2]") {
		t.Error("Good or Has is wrong")
	}
	f.ReportPart("items[0].id", "(b", "open")
	f.Report("items[1].size", "missing") // not in the file: the element above
	f.ReportKey("items", "at the key")
	f.Report("token", "not in the file at all")
	want := "p.yaml:1:1: not in the file at all\n" +
		"p.yaml:2:1: at the key\n    items:\n    ^\n" +
		"p.yaml:3:11: open\n      - id: 'a(b'\n              ^\n" +
		"p.yaml:5:5: missing\n      - id: c\n        ^"
	if got := f.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLongLinesAreCutAroundTheCaret(t *testing.T) {
	_, err := decode(t, "list: ["+strings.Repeat("aaaa, ", 60)+"*x, "+strings.Repeat("bbbb, ", 60)+"]\n")
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || len([]rune(lines[1])) > 120 || !strings.HasPrefix(strings.TrimSpace(lines[1]), "…") ||
		!strings.HasSuffix(lines[1], "…") {
		t.Fatalf("got\n%s", err)
	}
	if caret := strings.IndexByte(lines[2], '^'); string([]rune(lines[1])[caret:caret+2]) != "*x" {
		t.Errorf("the caret is not below the alias:\n%s\n%s", lines[1], lines[2])
	}
}

func TestKeys(t *testing.T) {
	want := "name wait on count ratio token level list items[].id items[].size part.id part.size env.* plain port"
	if got := strings.Join(strictyaml.Keys(reflect.TypeFor[sample]()), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"decision", "severity", "ttl", "tools"}
	for word, want := range map[string]string{
		"desicion": "decision", "Decision": "decision", "severty": "severity", "tll": "ttl", "tool": "tools",
		"x": "", "content": "", strings.Repeat("d", 1000): "",
	} {
		if got := strictyaml.Nearest(word, names); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
}

// Whatever the bytes, reading ends, and what was read without a problem reads
// the same again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"name: x\nwait: 3s\n", "items:\n- id: 1\n  size: 2\n- {id: x}\n", "env: {a: b}\nlist: [a, b]\n", "a: |\n x\n",
		"name: \"\\u00e9\"\n",
		"? a\n: b\n", "- - - a", "name: &a [*a]", "%T\n---\n", "part:\n  id: >-\n   a\n   b\n", "name: 'a''b'\n",
		"\ttoken: x", "{name: x, on: true}",
		"name: x\n...\n", "x: [a: b, c]\n", "part: {id: x}\n# c\n\n", "token: \"abc", "list:\n- a\n-\n", "name: ~\n", "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func() (sample, error) {
			var s sample
			file, err := strictyaml.Parse("f", data)
			if err != nil {
				return s, err
			}
			file.Decode(&s)
			return s, file.Err()
		}
		a, errA := read()
		b, errB := read()
		if !reflect.DeepEqual(a, b) && a.Ratio == a.Ratio || (errA == nil) != (errB == nil) {
			t.Fatalf("read twice: %+v (%v), %+v (%v)", a, errA, b, errB)
		}
		if errA != nil && errA.Error() == "" {
			t.Fatal("an error without a text")
		}
	})
}
