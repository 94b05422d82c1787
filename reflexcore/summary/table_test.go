package summary

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// known are the conditions that are no words.
var known = strings.Fields("rule tool what by target many mcp remote inside home milder somewhere everything")

var placeholder = regexp.MustCompile(`%.`)

// Every row has words that exist, and as many as its texts have room for.
func TestTables(t *testing.T) {
	source := wordNames(t)
	for _, table := range []*table{titles(), does()} {
		for _, r := range table.rows {
			for _, c := range r.conditions {
				if !slices.Contains(known, c.name) && !source[c.name] {
					t.Errorf("%q: there is no condition %q", r.text, c.name)
				}
			}
			for _, name := range r.args {
				if !source[name] {
					t.Errorf("%q: there is no word %q", r.text, name)
				}
			}
			if n := len(placeholder.FindAllString(r.text, -1)); n != len(r.args) {
				t.Errorf("%q has room for %d words and %d are given", r.text, n, len(r.args))
			}
			n := len(placeholder.FindAllString(r.many, -1))
			if r.many != "" && r.many != nothing && n != len(r.args)+1 && n != len(r.args) {
				t.Errorf("%q has room for %d words and %d are given", r.many, n, len(r.args)+1)
			}
		}
	}
	for _, r := range does().rows {
		if r.many == "" {
			t.Errorf("%q has no text for several", r.text)
		}
	}
	for _, text := range Texts() {
		if strings.ReplaceAll(placeholder.ReplaceAllString(text, ""), "%", "") != placeholder.ReplaceAllString(text, "") ||
			slices.ContainsFunc(placeholder.FindAllString(text, -1), func(p string) bool { return p != "%s" }) {
			t.Errorf("%q is no text with %%s only", text)
		}
	}
}

// Each cell of the tables is read: a row with a misspelled kind or bit would fit everything.
func TestTableWords(t *testing.T) {
	for _, text := range []string{titlesText, doesText} {
		all := rows(text)
		i := 0
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			r, words := &all[i], strings.Fields(strings.Split(line, "|")[0])
			i++
			if want := strings.Count(words[0], ",") + 1; words[0] != "*" && len(r.kinds) != want {
				t.Errorf("%s: an effect that does not exist", line)
			}
			for _, word := range words[1:] {
				name, _, _ := strings.Cut(word, ":")
				if name == "how" && r.bits == 0 || name == "from" && r.taint == 0 || name == "place" && r.place == 0 {
					t.Errorf("%s: %s does not exist", line, word)
				}
			}
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\r\u2028c\x00":              "a⏎b⏎⏎c ",
		strings.Repeat("é", 60):          strings.Repeat("é", 60),
		"head" + strings.Repeat("x", 90): "head" + strings.Repeat("x", 20) + "..." + strings.Repeat("x", 33),
		"\xff":                           "\ufffd",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// An address is shown without its password.
func TestHosts(t *testing.T) {
	for target, want := range map[string][2]string{
		"https://u:secret@h.example:8443/a?k=secret": {"h.example:8443", "h.example:8443/a"},
		"root@host:/etc/":                  {"host", "host:/etc"},
		"10.0.0.1:4444":                    {"10.0.0.1:4444", "10.0.0.1:4444"},
		"https://u:p@[2001:db8::1]:8443/a": {"[2001:db8::1]:8443", "[2001:db8::1]:8443/a"},
		"https://[::1]/a":                  {"[::1]", "[::1]/a"},
		"[2001:db8::1]:a":                  {"[2001:db8::1]", "[2001:db8::1]:a"},
		"http://[::1/a":                    {"", "[::1/a"},
		"\x00.example.com":                 {"....example.com", "....example.com"},
		"\x00/x":                           {"", ""},
		"the field Password":               {"", "the field Password"},
	} {
		if h, a := host(target), address(target); h != want[0] || a != want[1] {
			t.Errorf("%q: got %q and %q, want %q", target, h, a, want)
		}
	}
}

// An amount or a payee that stands there twice, and not in the same way, is not shown.
func TestDecoys(t *testing.T) {
	for args, want := range map[string][2]string{
		`{"amount":"$120.00","to":"eve"}`:                            {"$120.00", "eve"},
		`{"amount":"$1","transfer":{"amount":"$1000","to":"eve"}}`:   {"", "eve"},
		`{"payments":[{"amount":1,"to":"a"},{"amount":2,"to":"b"}]}`: {"", ""},
		`{"amount":1,"x":{"x":{"x":{"x":{"amount":2}}}}}`:            {"", ""},
		`{"amount":1,"total":1000,"currency":"usd"}`:                 {"", ""},
		`{"amount":12000,"currency":"usd","recipient":{"id":"x"}}`:   {"12000 USD", ""},
		`{"to":["a@example.com"],"recipient":"b"}`:                   {"", ""},
		`{"to":["a@example.com","b@example.com"]}`:                   {"", ""},
		`{"amount":{"value":"9.50","currency":"EUR"},"payee":"bob"}`: {"9.50 EUR", "bob"},
		`{"amount":1,"amount_total":9900000,"to":"a"}`:               {"", "a"},
		`{"amount":1,"amount":9900000,"to":"a","to":"b"}`:            {"", ""},
		`{"amount":1,"to":"Ann","destination_account":"acct_evil"}`:  {"1", ""},
		`{"amount":1,"from_account":"x","to_account":"y"}`:           {"1", "y"},
		`{"amount":1,"summary":"two","to":"a"}`:                      {"1", "a"},
		`{"amount":1,"iban":"friend","ibans":["evil"]}`:              {"", ""},
		`{"amount":1,"to":"Ann","to2":"Evil"}`:                       {"", ""},
		`{"amount":1,"to":"Ann","unit":"million"}`:                   {"", ""},
		`{"amount":1,"to":"Ann","repeat":"daily","count":1000}`:      {"", ""},
		`{"amount":100,"quantity":99000,"customer":"cus_1"}`:         {"", ""},
		`{"x":[{"amount":1,"to":"a"},{"amount":1,"to":"a"}]}`:        {"", ""},
		`{"amount":1,"to":"Ann","memo":"lunch","confirm":true}`:      {"1", "Ann"},
	} {
		c := &Call{}
		c.Args = []byte(args)
		if a, p := c.amount(), c.argument("payee"); a != want[0] || p != want[1] {
			t.Errorf("%s: got %q and %q, want %q", args, a, p, want)
		}
	}
}

// Where two arguments may name the thing, both are shown or none is.
func TestDecoysOfNames(t *testing.T) {
	for word, cases := range map[string]map[string]string{
		"repo": {
			`{"owner":"acme","repo":"shop"}`:                              "acme/shop",
			`{"full_name":"acme/shop","owner":"acme","name":"shop"}`:      "acme/shop",
			`{"repo":"acme/shop","branch":"x"}`:                           "acme/shop",
			`{"repo":"ann/scratch","owner":"acme","name":"billing"}`:      "",
			`{"repo":"scratch","repository":"billing","owner":"acme"}`:    "",
			`{"repo":"shop","owner":"acme","organization":"other"}`:       "",
			`{"repo":"shop","repo":"billing","owner":"acme"}`:             "",
			`{"x":{"repo":"shop"},"y":{"repo":"billing"},"owner":"acme"}`: "",
			`{"repositories":["shop","billing"],"owner":"acme"}`:          "",
			`{"repo":"scratch","owner":"ann","repos":["acme/billing"]}`:   "",
			`{"repo":"ann/scratch","target":"acme/billing"}`:              "",
			`{"repo":"ann/scratch","also":["acme/billing"]}`:              "",
			`{"repo":"acme/shop","pullNumber":1,"merge_method":"squash"}`: "acme/shop",
		},
		"which": {
			`{"id":"7"}`:                          "7",
			`{"id":"7","title":"Plan"}`:           "7, Plan",
			`{"id":"7","title":"Plan","key":"x"}`: "",
			`{"page_id":"7"}`:                     "7",
			`{"a_id":"1","b_id":"2","c_id":"3"}`:  "",
			`{"name":"a","items":[{"name":"b"}]}`: "",
			`{"name":"a","also":"b"}`:             "",
			`{"name":"a","region":"eu"}`:          "a",
			`{"volume_id":"a","target_id":"b"}`:   "b, a",
		},
		"role": {`{"role":"reader","permission":"admin"}`: "", `{"role":"admin"}`: "admin",
			`{"role":"reader","roles":["admin"]}`: "", `{"role":"admin","user":"ann"}`: "admin"},
		"number": {`{"owner":"acme","repo":"shop","pullNumber":12,"merge_method":"squash"}`: "12",
			`{"owner":"acme","repo":"shop","pullNumber":12,"and":13}`: ""},
	} {
		for args, want := range cases {
			c := &Call{}
			c.Args = []byte(args)
			if got := c.argument(word); got != want {
				t.Errorf("%s: the %s is %q, want %q", args, word, got, want)
			}
		}
	}
}

// wordNames reads the names of words from the source, where they are cases.
func wordNames(t *testing.T) map[string]bool {
	out := map[string]bool{}
	for _, file := range []string{"words.go", "arguments.go"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\tcase "(\w+)":$`).FindAllStringSubmatch(string(b), -1) {
			out[m[1]] = true
		}
	}
	return out
}

// A part is taken from the command only: what a parser made up is none.
func TestPartIsWritten(t *testing.T) {
	c := &Call{Effects: []effect.Effect{{Kind: effect.Delete, By: "rm", Target: "/a/bcd"}}}
	c.Command = "ls; rm /a/bcd"
	for text, want := range map[string]string{"rm /a/bcd": "rm /a/bcd", "rm  /a/bcd": "", "ls; rm /a/bcd": ""} {
		c.Pieces = []shell.Piece{{Text: "ls", Pipe: "ls"}, {Text: text, Pipe: text}}
		if got := c.Part(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
