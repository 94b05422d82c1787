package code_test

import (
	"strings"
	"testing"

	"approver.example/reflexcore/code"
)

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct{ name, lang, src string }{
		{"python60", "python", `import json,sys; print(json.load(sys.stdin)['items'][0]['x'])`},
		{"pythonSystem", "python", `import os; os.system("rm -rf /tmp/x")`},
		{"pythonDecoded", "python", `import base64; exec(base64.b64decode('aW1wb3J0IG9zO29zLnN5c3RlbSgnaWQnKQ=='))`},
		{"node", "node", `console.log(require('./package.json').version)`},
		{"perl", "perl", `s/(\d+)/$1+1/ge; print if /x/`},
		{"awk", "awk", `BEGIN {FS=":"; OFS=","} NR>1 {print $1,$2} END {print s+0}`},
		{"sed", "sed", `s/foo/bar/g;1,5p`},
		{"powershell", "powershell", `Get-Process | Where-Object { $_.CPU -gt 5 } | Select-Object -First 3`},
		{"python10K", "python", strings.Repeat("def f(a, b):\n    c = a + b['x'] # note\n    return g(c, 'text', key=1)\n",
			140)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.src)))
			for b.Loop() {
				code.Scan(c.lang, c.src, code.Limits{}, func(code.Found) bool { return true })
			}
		})
	}
}
