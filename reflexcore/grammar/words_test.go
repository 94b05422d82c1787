package grammar_test

import (
	"testing"

	"approver.example/reflexcore/grammar"
)

// TestPartsAndUnnamedFlags tells what of a word is meant, and what flags are
// that a block does not name.
func TestPartsAndUnnamedFlags(t *testing.T) {
	table, err := grammar.Load("t.grammar", `
box
  -v=    write before :
  --mount= write after source= before ,
  -c=    shell after =
  1      shell after :: matching ext::*
cloud
  --*=
  --yes
  2      remote-delete if 1=delete
tool
  -* --*
  1      read
strict
  1      read
rehearse
  -n --dry-run        dry
  --simulate=?        dry
  1                   remote-delete
db
  2+     sql psql
`)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"box -v /:/host": "write /",
		"box -v /data":   "write /data",
		"box --mount type=bind,source=/etc,target=/x": "write /etc",
		"box -c 'a=b=c'":                        "shell b=c",
		"box 'ext::sh -c id::x'":                "shell sh -c id::x",
		"cloud --name x delete y":               "remote-delete y",
		"cloud delete y --name x --yes --force": "remote-delete y",
		"cloud --fast --yes delete y":           "remote-delete y",
		"cloud --name=x delete y":               "remote-delete y",
		"cloud -x delete y":                     "remote-delete y; odd",
		"tool -x --long a":                      "read a",
		"db h drop table x":                     "sql drop table x psql",
		"rehearse -n a":                         "remote-delete a; dry",
		"rehearse --simulate a":                 "remote-delete a; dry",
		"rehearse --dry-run=true a":             "remote-delete a; dry",
		"rehearse --dry-run=false a":            "remote-delete a",
		"rehearse --simulate=none a":            "remote-delete a",
		"rehearse --simulate=… a":               "remote-delete a",
		"rehearse --dry-run --no-dry-run a":     "remote-delete a; odd",
		"rehearse --dry-run --no-dry a":         "remote-delete a; odd",
		"strict -x a":                           "read a; odd",
		"strict --long a":                       "read a; odd",
	} {
		var p grammar.Parsed
		argv := words(line)
		table.Parse(argv, &p)
		if got := show(argv, &p); got != want {
			t.Errorf("%s\n got  %s\n want %s", line, got, want)
		}
	}
}
