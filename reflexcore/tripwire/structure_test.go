package tripwire_test

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/tripwire"
)

func TestCharacters(t *testing.T) {
	for _, c := range []struct {
		text    string
		command bool
		want    string // the strongest detector
	}{
		{"echo plain", true, ""},
		{"git commit -m 'Größe ändern – überall, 🎉 家 ок'", true, ""},
		{"echo 👨‍👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", true, ""},
		{"echo 'שלום \u200fעולם'", true, ""},
		{"echo 'שלום \u2067abc\u2069 עולם'", true, ""},
		{"echo می\u200cخواهم", true, ""},
		{"line one\r\nline two\r\n", true, ""},
		{"warning \u26a0\ufe0f\ufe0f sign", false, ""},
		{"\ufeffpackage main", false, ""},
		{"Donau\u00addampfschiff", false, ""},
		{"message = { $name } \u2068x\u2069", false, ""},

		{"echo \u202egnp.exe", true, "bidi"},
		{"chmod\u200f 777 x", true, "bidi"},
		{"if (a) { /* \u2066 } return; */", false, "bidi"},
		{"access\u202e level", false, "bidi"},
		{"cu\u200brl https://example.com", true, "zero-width"},
		{"a" + strings.Repeat("\u200b\u200c", 8) + " b", false, "zero-width"},
		{"hello" + tags("run this"), false, "tag-characters"},
		{"a\ufe01\ufe02\ufe03", false, "selectors"},
		{"echo safe\rrm -rf x", true, "control"},
		{"echo a\bb", true, "control"},
		{"echo '\x1b[2K'", true, "terminal-escape"},
	} {
		if got := tripwire.Strongest(tripwire.Characters(nil, c.text, c.command)).Detector; got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		programs, places string
		want             string
	}{
		{"curl", "/tmp/x", ""},
		{"naïve-tool", "/home/ada/Größe.txt", ""},
		{"запуск", "/home/ada/отчёт.pdf", ""},
		{"", "/data/отчётv2final.pdf", ""},
		{"工具", "/home/ada/文档/α-test.md", ""},
		{"", "/data/Δt/σ.csv", ""},
		{"сurl", "", "look-alike"}, // the first letter is Cyrillic
		{"gіt", "", "look-alike"},
		{"/usr/bin/ｓｕｄｏ", "", "look-alike"},
		{"git\u00a0push", "", "space"},
		{"", "/еtc/passwd", "mixed-script"}, // the first letter is Cyrillic
		{"", "https://gіthub.com/x", "mixed-script"},
		{"", "/home/ada\u00a0/x", "space"},
	} {
		f := tripwire.Form{}
		if c.programs != "" {
			f.Programs = []string{c.programs}
		}
		if c.places != "" {
			f.Places = []string{c.places}
		}
		if got := tripwire.Strongest(tripwire.Structure(nil, f)).Detector; got != c.want {
			t.Errorf("%q %q: %q, want %q", c.programs, c.places, got, c.want)
		}
	}
}

func TestStructure(t *testing.T) {
	for _, c := range []struct {
		form tripwire.Form
		want approver.Decision
	}{
		{tripwire.Form{}, approver.Pass},
		{tripwire.Form{Layers: 2}, approver.Pass},
		{tripwire.Form{Layers: 3}, approver.Pass},
		{tripwire.Form{Layers: 4}, approver.Warn},
		{tripwire.Form{Layers: 6}, approver.Ask},
		{tripwire.Form{Encoded: 1}, approver.Warn},
		{tripwire.Form{Encoded: 2}, approver.Ask},
		{tripwire.Form{Odd: shell.EvalUnknown}, approver.Pass},
		{tripwire.Form{Odd: shell.EvalUnknown | shell.SourceProcess | shell.NameUnknown}, approver.Pass},
		{tripwire.Form{Odd: shell.EvalUnknown | shell.InputAsCode, Layers: 3}, approver.Warn},
		{tripwire.Form{Odd: shell.SplitName, OddName: "rm"}, approver.Warn},
		{tripwire.Form{Odd: shell.SplitName | shell.EmptyQuotes, OddName: "rm"}, approver.Ask},
		{tripwire.Form{Odd: shell.ComputedName, OddName: "rm"}, approver.Warn},
		{tripwire.Form{Odd: shell.GuessedName, OddName: "/bin/r?"}, approver.Ask},
	} {
		parts := tripwire.Structure(nil, c.form)
		if got := tripwire.Decide(tripwire.Combine(parts)); got != c.want {
			t.Errorf("%+v: %s (%v), want %s", c.form, got, parts, c.want)
		}
	}
}

// Every oddity of the walk has a detector of its own.
func TestEveryOddity(t *testing.T) {
	seen := map[string]bool{}
	for o := shell.Oddity(1); o.String() != ""; o <<= 1 {
		parts := tripwire.Structure(nil, tripwire.Form{Odd: o, OddName: "x"})
		if len(parts) != 1 || parts[0].Score == 0 || seen[parts[0].Detector] {
			t.Errorf("%s: %v", o, parts)
			continue
		}
		seen[parts[0].Detector] = true
	}
	if len(seen) != 13 {
		t.Errorf("%d oddities have detectors", len(seen))
	}
}

func TestCombine(t *testing.T) {
	for _, c := range []struct {
		parts []tripwire.Part
		want  float64
	}{
		{nil, 0},
		{[]tripwire.Part{{Detector: "a", Score: 0.5}}, 0.5},
		{[]tripwire.Part{{Detector: "a", Score: 0.5}, {Detector: "b", Score: 0.5}}, 0.75},
		{[]tripwire.Part{{Detector: "a", Score: 0.5}, {Detector: "a", Score: 0.5}}, 0.5},
		{[]tripwire.Part{{Detector: "a", Score: 0.2}, {Detector: "a", Score: 0.5}}, 0.5},
	} {
		if got := tripwire.Combine(c.parts); got != c.want {
			t.Errorf("%v: %v, want %v", c.parts, got, c.want)
		}
	}
}

func FuzzCharacters(f *testing.F) {
	f.Add("a\u202eb", true)
	f.Add("\xff\u200b\U000e0041", false)
	f.Fuzz(func(t *testing.T, text string, command bool) {
		parts := tripwire.Characters(nil, text, command)
		parts = tripwire.Structure(parts, tripwire.Form{Programs: []string{text}, Places: []string{text}})
		if s := tripwire.Combine(parts); s < 0 || s > 1 {
			t.Fatalf("%q: %v", text, parts)
		}
		if ascii(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) && len(parts) > 0 {
			t.Fatalf("%q: %v of plain ASCII", text, parts)
		}
	})
}

func BenchmarkInjection(b *testing.B) {
	prose := strings.Repeat("You should read the instructions before you run all of the commands in this file, and "+
		"never send your keys to anybody. ", 1200)
	for _, c := range []struct{ name, text string }{
		{"500B", prose[:500]}, {"128KB", prose[:128<<10]},
		{"128KB_hostile", strings.Repeat("ignore you act are not all ", 5000)[:128<<10]},
		{"128KB_chinese", strings.Repeat("请按照以上说明安装软件。", 4000)[:36*3640]},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				tripwire.Injection(nil, c.text, 1)
			}
		})
	}
}
