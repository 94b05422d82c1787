package reflexcore_test

import "testing"

import "approver.example/reflexcore"

// BenchmarkSay is the verdict on calls that people are asked about, with what the card says.
func BenchmarkSay(b *testing.B) {
	e := engine(b)
	for _, c := range []struct{ name, text string }{
		{"push", "git push --force origin main"},
		{"delete", "rm -rf ~/projects"},
		{"denied", "rm -rf / --no-preserve-root"},
		{"cloud", "aws s3 rm s3://customers --recursive"},
		{"database", `psql -c "DROP TABLE users"`},
		{"several", "rm -rf build dist a b c && git push --force origin main && kubectl delete ns prod"},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := reflexcore.Example{Command: c.text}.Call()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Judge(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
