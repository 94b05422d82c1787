package keystrokes_test

import (
	"testing"

	"approver.example/internal/keystrokes"
)

func TestText(t *testing.T) {
	for typed, want := range map[string][2]string{
		"":                               {"", ""},
		"ls":                             {"ls", ""},
		"rm -rf ~{enter}":                {"rm -rf ~\n", ""},
		"a{Enter}b{RETURN}":              {"a\nb\n", ""},
		"{up}{enter}":                    {"\n", "{up}"},
		"rm{left}{ctrl+c} x{unknown}":    {"rm x", "{left}{ctrl+c}{unknown}"},
		"echo ${HOME} {a,b} {} { x; } {": {"echo ${HOME} {a,b} {} { x; } {", ""},
		"# a\rrm -rf ~\r\n":              {"# a\nrm -rf ~\n\n", ""},
		"echo '\x15rm -rf ~\n":           {"echo 'rm -rf ~\n", "\x15"},
		"\x1b[A{enter}\x03cat /etc/s\t":  {"[A\ncat /etc/s", "\x1b\x03\t"},
		"{{enter}":                       {"{\n", ""},
		"f() { ls; }{enter}":             {"f() { ls; }\n", ""},
	} {
		if plain, keys := keystrokes.Text(typed); plain != want[0] || keys != want[1] {
			t.Errorf("%q: %q and %q", typed, plain, keys)
		}
	}
}
