package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"approver.example/reflexcore/loop"
)

// A player makes calls and remembers what was said of them.
type player struct {
	w loop.Window
	l loop.Limits
}

func newPlayer() *player { return &player{l: loop.DefaultLimits} }

func (p *player) make(c loop.Call, output string, failed bool) loop.Finding {
	f := p.w.Judge(c, p.l)
	p.w.Add(c, p.l)
	p.w.Ran(c.Hash, loop.Measure(output, failed))
	return f
}

func run(text string) loop.Call  { return loop.Describe("Bash", text, nil, loop.Run) }
func read(text string) loop.Call { return loop.Describe("Read", text, nil, loop.Read) }
func edit(text string) loop.Call { return loop.Describe("Edit", text, nil, loop.Edit) }
func wait(text string) loop.Call { return loop.Describe("Bash", text, nil, loop.Wait) }

// A script is one letter for each call: r runs the same, R runs another each time,
// f and F the same and they fail, e makes a new edit, E the same edit, l looks at
// the same, L at something new, w waits, a and b are two calls that take turns.
func play(script string) (first, asked int, rule string) {
	p := newPlayer()
	for i, letter := range script {
		var f loop.Finding
		switch letter {
		case 'r':
			f = p.make(run("make"), "ok", false)
		case 'R':
			f = p.make(run(fmt.Sprint("run ", i)), fmt.Sprint("out ", i), false)
		case 'f':
			f = p.make(run("make check"), "error: no rule", true)
		case 'F':
			f = p.make(run(fmt.Sprint("make all with ", i)), "error: no rule", true)
		case 'n':
			f = p.make(run(fmt.Sprint("make all with ", i)), "Exit code 1", true)
		case 'e':
			f = p.make(edit(fmt.Sprint("edit ", i)), "ok", false)
		case 'E':
			f = p.make(edit("edit"), "ok", false)
		case 'l':
			f = p.make(read("a.go"), "text", false)
		case 'L':
			f = p.make(read(fmt.Sprint(i, ".go")), fmt.Sprint("text ", i), false)
		case 'w':
			f = p.make(wait("sleep 5; status"), "pending", false)
		case 'a':
			f = p.make(run("a"), "A", false)
		case 'b':
			f = p.make(run("b"), "B", false)
		case 'c':
			f = p.make(run("c"), "C", false)
		}
		if f.Rule != "" && first == 0 {
			first, rule = i+1, f.Rule
		}
		if f.Ask && asked == 0 {
			asked = i + 1
		}
	}
	return first, asked, rule
}

func TestDetectors(t *testing.T) {
	for _, c := range []struct {
		script       string
		first, asked int
		rule         string
	}{
		{"rrr", 0, 0, ""},
		{"rrrr", 4, 0, "loop.repeat"},
		{"rrrrrr", 4, 6, "loop.repeat"},
		{"ffffff", 4, 6, "loop.repeat"},
		{"rrRrrRrrRrr", 0, 0, ""}, // something new in between
		{"rrererererer", 0, 0, ""},
		{"fefefefefefefefe", 0, 0, ""},             // an edit that is new each time
		{"fEfEfEfEfEfEfE", 5, 9, "loop.alternate"}, // the same edit is none
		{"wwwwwwwww", 0, 0, ""},                    // waiting is what polling is
		{"wwwwwwwwww", 10, 0, ""},                  // but not for ever
		{"abab", 0, 0, ""},                         //
		{"ababa", 5, 0, "loop.alternate"},          //
		{"abeabeabe", 0, 0, ""},                    // an edit in each round
		{"abRabRab", 0, 0, ""},                     // something new in each
		{"ababababab", 5, 9, "loop.alternate"},
		{"abcabcab", 8, 0, "loop.ngram"},
		{"abcabcabcabcabc", 8, 14, "loop.ngram"},
		{"abcabceabc", 0, 0, ""}, // an edit starts anew
		{"abcabcLabc", 10, 0, "loop.ngram"},
		{"abLcabLcabLc", 0, 0, ""},
		{"abLcabLcabLcabLcabLc", 18, 0, "loop.ngram"}, // news in each round make it two rounds more
		{"FFF", 0, 0, ""},
		{"FFFF", 4, 0, "loop.spiral"},
		{"FFFFFF", 4, 6, "loop.spiral"},
		{"FLFLFLF", 7, 0, "loop.spiral"},
		{"FeFeFeFeFeFe", 0, 0, ""},
		{"nnnnnnnn", 0, 0, ""},               // they do not say what is wrong
		{"FFFL", 0, 0, ""},                   // looking helps
		{"FFFe", 0, 0, ""},                   // and so does a change
		{"FFfffff", 4, 0, ""},                // and then the same again
		{"llllllll", 4, 6, "loop.repeat"},    //
		{"LLLLLLLLLLLLLLLLLLLL", 0, 0, ""},   //
		{"rrrrerrrr", 4, 0, ""},              // a new loop after an edit is warned of again
		{strings.Repeat("r", 120), 4, 6, ""}, // longer than the window
	} {
		first, asked, rule := play(c.script)
		if first != c.first || asked != c.asked || c.rule != "" && rule != c.rule {
			t.Errorf("%s: warned at %d (%s), asked at %d; want %d %s, %d", c.script, first, rule, asked, c.first, c.rule,
				c.asked)
		}
	}
}

// A person's yes lasts for two more repetitions; a no for none.
func TestAskingAgain(t *testing.T) {
	p := newPlayer()
	for i := 1; i <= 5; i++ {
		p.make(run("make"), "ok", false)
	}
	for range 3 { // a no each time: the call does not run
		if f := p.w.Judge(run("make"), p.l); !f.Ask {
			t.Fatalf("a call that was refused is %+v, want an ask", f)
		}
		p.w.Add(run("make"), p.l)
	}
	if f := p.make(run("make"), "ok", false); !f.Ask {
		t.Fatalf("want an ask, have %+v", f)
	}
	if f := p.make(run("make"), "ok", false); f.Rule != "" {
		t.Errorf("right after a yes there is %+v", f)
	}
	if f := p.make(run("make"), "ok", false); !f.Ask {
		t.Errorf("two after a yes there is %+v, want an ask", f)
	}
}

// A no holds for the whole loop: the next of its calls, in other words, is asked
// about as well.
func TestARefusalHolds(t *testing.T) {
	p := newPlayer()
	try := func(i int) loop.Call { return run(fmt.Sprint("make all with ", i)) }
	for i := range 5 {
		p.make(try(i), "error: no rule", true)
	}
	for i := 5; i < 8; i++ {
		if f := p.w.Judge(try(i), p.l); !f.Ask {
			t.Fatalf("try %d is %+v, want an ask", i, f)
		}
		p.w.Add(try(i), p.l) // and it does not run
	}
}

// What was said of a loop that ended is not held against the next one.
func TestANewLoop(t *testing.T) {
	p := newPlayer()
	said := ""
	for i, letter := range "rrrrrerrrrrr" {
		c := run("make")
		if letter == 'e' {
			c = edit("x")
		}
		if f := p.make(c, "ok", false); f.Ask {
			said += fmt.Sprint(i+1, " asked ")
		} else if f.Rule != "" {
			said += fmt.Sprint(i+1, " warned ")
		}
	}
	if want := "4 warned 10 warned 12 asked "; said != want {
		t.Errorf("%s, want %s", said, want)
	}
}

// The same call may be judged twice before it runs: by a prompt, or because a
// courier lost its line. It counts once, and hears the same.
func TestJudgedTwice(t *testing.T) {
	p := newPlayer()
	for range 3 {
		p.make(run("make"), "ok", false)
	}
	a := p.w.Judge(run("make"), p.l)
	first := p.w.Add(run("make"), p.l)
	b := p.w.Judge(run("make"), p.l)
	if again := p.w.Add(run("make"), p.l); a != b || a.Rule == "" || again != first {
		t.Errorf("first %+v as %d, then %+v as %d", a, first, b, again)
	}
}

func TestDescribe(t *testing.T) {
	for name, c := range map[string]struct {
		a, b loop.Call
		same bool
	}{
		"white space":   {run("make  test\n"), run("make test"), true},
		"errors joined": {run("make test 2>&1"), run("make test"), true},
		"another word":  {run("make test"), run("make check"), false},
		"no space":      {run("a b"), run("ab"), false},
		"a description": {loop.Describe("X", "", []byte(`{"a":1,"description":"x"}`), 0),
			loop.Describe("X", "", []byte(`{"description":"y","a":1}`), 0), true},
		"the order": {loop.Describe("X", "", []byte(`{"a":1,"b":2}`), 0),
			loop.Describe("X", "", []byte(`{"b":2,"a":1}`), 0), true},
		"an offset": {loop.Describe("Read", "", []byte(`{"f":"x","offset":1}`), 0),
			loop.Describe("Read", "", []byte(`{"f":"x","offset":201}`), 0), false},
		"another tool":          {loop.Describe("A", "", []byte(`{}`), 0), loop.Describe("B", "", []byte(`{}`), 0), false},
		"the end of a long one": {run(strings.Repeat("x ", 50_000) + "1"), run(strings.Repeat("x ", 50_000) + "2"), false},
	} {
		if (c.a.Hash == c.b.Hash) != c.same {
			t.Errorf("%s: the same is %v, want %v", name, !c.same, c.same)
		}
	}
	if c := loop.Describe("Bad\nname\x1b[31m"+strings.Repeat("x", 200), "ls", nil, 0); len(c.Tool) > 64 ||
		strings.ContainsAny(c.Tool, "\n\x1b") {
		t.Errorf("the tool's name is %q", c.Tool)
	}
}

func TestMeasure(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"how long it took":    {"ok shop 0.113s", "ok shop 2.500s", true},
		"milliseconds":        {"✓ adds (3 ms)", "✓ adds (17 ms)", true},
		"the time of day":     {"12:30:01 started", "12:31:44 started", true},
		"a date":              {"2026-01-31 started", "2026-02-01 started", true},
		"a date and a time":   {"2026-01-31T12:30:01Z x", "2026-02-01T01:02:03Z x", true},
		"how many failed":     {"3 failed", "2 failed", false},
		"a version":           {"v1.2.3", "v1.2.4", false},
		"how old a pod is":    {"web 1/1 Running 45s", "web 1/1 Running 50s", false},
		"a share":             {"12.5% done", "13.5% done", false},
		"a line end":          {"ok\n", "ok", true},
		"a size with seconds": {"1.5 shops", "2.5 shops", true}, // accepted: a unit is looked for loosely
	} {
		if a, b := loop.Measure(c.a, false), loop.Measure(c.b, false); (a.Result == b.Result) != c.same {
			t.Errorf("%s: the same is %v, want %v", name, !c.same, c.same)
		}
	}
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"numbers and paths": {"x.go:12:3: undefined: foo", "x.go:99:1: undefined: foo", true},
		"another folder":    {"error: cannot open /a/b/c", "error: cannot open /d/e", true},
		"an address":        {"panic: invalid pointer 0xc0000140a0", "panic: invalid pointer 0xc000a2b3c4", true},
		"a commit":          {"fatal: bad object 0a1b2c3d4e", "fatal: bad object 99aabbccdd", true},
		"another word":      {"error: undefined: foo", "error: undefined: bar", false},
		"what comes first":  {"building\nerror: no rule", "compiling\nerror: no rule", true},
		"the end of a traceback": {"Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'",
			"Traceback (most recent call last):\n  File \"b.py\", line 3\nKeyError: 'x'", true},
		"another traceback": {"Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'",
			"Traceback (most recent call last):\n  File \"a.py\"\nValueError: x", false},
		"an exit code before it":  {"Exit code 1\nerror: no rule", "Exit code 2\nerror: no rule", true},
		"a frame around a report": {"=====\nE assert failed", "-----\nE assert failed", true},
	} {
		if a, b := loop.Signature(c.a), loop.Signature(c.b); (a == b) != c.same || a == 0 || b == 0 {
			t.Errorf("error, %s: the same is %v, want %v", name, a == b, c.same)
		}
	}
	for _, text := range []string{"", "Exit code 1", "Error: Exit code 1\n", "exit status 2", "====\n----"} {
		if loop.Signature(text) != 0 {
			t.Errorf("%q says what is wrong", text)
		}
	}
	if e := loop.Entropy([]byte("aabb")); e != 1 {
		t.Errorf("the entropy of two letters is %v, want 1", e)
	}
	if out := loop.Measure(strings.Repeat("wall ", 1<<20), false); out.Size != 5<<20 || out.Bits > 2500 {
		t.Errorf("a wall is %+v", out)
	}
}

// By itself, entropy never brings a person in.
func TestEntropyAlone(t *testing.T) {
	p := newPlayer()
	warned := 0
	for i := range 60 {
		f := p.make(run(fmt.Sprint("sim ", i)), strings.Repeat("=", 300)+fmt.Sprint(i), false)
		if f.Ask {
			t.Fatalf("call %d is asked about: %+v", i, f)
		}
		if f.Rule == "loop.entropy" {
			warned++
		}
	}
	if warned == 0 || warned > 3 {
		t.Errorf("warned %d times, want once in a window", warned)
	}
	p = newPlayer()
	for i := range 60 {
		if f := p.make(run(fmt.Sprint("sim ", i)), fmt.Sprint(i), false); f.Rule != "" {
			t.Fatalf("small outputs are walls: %+v", f)
		}
	}
}

// Other thresholds are kept to.
func TestLimits(t *testing.T) {
	p := newPlayer()
	p.l.Repeat = 5
	for i := 1; i <= 6; i++ {
		if f := p.make(run("make"), "ok", false); (f.Rule != "") != (i == 6) {
			t.Errorf("call %d: %+v", i, f)
		}
	}
	p = &player{}
	for i := range 30 {
		if f := p.make(run("make"), "ok", false); f.Rule != "" {
			t.Errorf("without limits, call %d: %+v", i, f)
		}
	}
}

// Whatever is called with whatever result: the window stays within its bounds and
// in order, nobody is asked who was not warned, and one call hears one thing.
func FuzzWindow(f *testing.F) {
	f.Add([]byte("rrrrrrrr"), "error: x")
	f.Add([]byte("ababababababab"), "Exit code 1")
	f.Add([]byte("FFFFFFFFFF"), "Traceback\nx")
	f.Fuzz(func(t *testing.T, script []byte, output string) {
		p := newPlayer()
		warned := false
		for _, b := range script[:min(len(script), 300)] {
			c := loop.Describe("T"+fmt.Sprint(b%3), output[:min(len(output), int(b))]+fmt.Sprint(b%11), nil, loop.Kind(b>>3%4))
			f := p.w.Judge(c, p.l)
			if f.Ask && !warned || f.Score < 0 || f.Score > 2 || f.Rule != "" && (f.Reason == "" || len(f.Reason) > 500) {
				t.Fatalf("%+v", f)
			}
			warned = warned || f.Rule != ""
			p.w.Add(c, p.l)
			if b%5 != 0 {
				p.w.Ran(c.Hash, loop.Measure(output[:min(len(output), int(b)%7)], b%2 == 0))
			}
			if err := p.w.Check(); err != nil || len(p.w.Calls) > p.l.Window {
				t.Fatalf("%d calls: %v", len(p.w.Calls), err)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	p := newPlayer()
	for i := range 50 {
		p.make(run(fmt.Sprintf("make all %d with many words %s", i%7, strings.Repeat("w ", 40))), "error: no rule to make it",
			i%2 == 0)
	}
	c := run("make all 3 with many words " + strings.Repeat("w ", 40))
	for b.Loop() {
		p.w.Judge(c, p.l)
	}
}

func BenchmarkDescribe(b *testing.B) {
	text := strings.Repeat("word ", 2000)
	for b.Loop() {
		run(text)
	}
}
