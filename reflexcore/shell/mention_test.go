package shell

import (
	"testing"

	"approver.example/reflexcore/grammar"
)

// FuzzMentions: whatever a command and its input are, looking for names of files in them ends,
// and the number of names is bounded.
func FuzzMentions(f *testing.F) {
	for _, s := range []string{"sqlite3 x '.output .claude/settings.json'", "curl -w '%output{.a/b}' -d=.c",
		"foo -o.claude/x.gz --out=~/.x/ 'http://a/.b/c' exists('.d", "x ./ ../ .. . ~ -", "ed <<< 'w .claude/settings.json'",
		"wget -x http://", "a .\xff/\x00"} {
		f.Add(s)
	}
	table, err := grammar.Default()
	if err != nil {
		f.Fatal(err)
	}
	a := &Analyzer{Table: table, Limits: DefaultLimits}
	f.Fuzz(func(t *testing.T, src string) {
		var out Result
		a.Analyze(src, Context{Dir: "/home/ada/.x"}, &out)
		if len(out.Mentions) > maxMentions {
			t.Fatalf("%d names", len(out.Mentions))
		}
		for _, m := range out.Mentions {
			if m.Path == "" || m.By == "" && src == "" {
				t.Fatalf("an empty name: %+v", m)
			}
		}
	})
}
