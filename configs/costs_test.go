package configs_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// An agent made a value, a list or a file long with a few commands, and then used a little of it
// hundreds of times. Each use took the whole length, and some the square of it: `dirs` behind many
// `pushd` took 75 seconds and 262 GB for 13 KB of text. Each use now costs its length.
func TestLongValuesCostTheirLength(t *testing.T) {
	judge := verdicts(t)
	const (
		value  = "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; "
		double = `x="$x$x"; `
		list   = "{1..8000}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		lines  = "x='ab\n'; "
		words  = "x='a '; "
	)
	long, file := strings.Repeat(double, 13), strings.Repeat(double, 15)+`echo "$x" > f; `
	for _, c := range []struct{ before, use string }{
		{strings.Repeat("pushd a; ", 1400), "dirs; "},
		{value + long, ": ${x:0:1}; "}, {value + long, `y="$y${x:0:1}"; `}, {value + long, ": ${!x}; "},
		{value + long, ": ${x@a}; "}, {value + long, ": $((x)); "}, {lines + strings.Repeat(double, 16), "echo $x; "},
		{"a=(" + list + "); ", ": ${a[$q]}; "}, {"a=(" + list + "); ", "a[$q]=1; "}, {"a=(" + list + "); ", `: "${a[*]}"; `},
		{"a=(" + list + "); ", `x="${a[@]}"; `}, {"a=(" + list + "); ", ": ${a[@]@K}; "},
		{"a=(" + list + "); ", "a[$q]+=x; "},
		{"a=([5]=x " + list + "); ", ": ${a[@]:$q}; "}, {"set -- " + list + "; ", "x=$*; "},
		{"parallel echo {1}", " ::: a b"}, {"parallel rm", " ::: a"},
		{words + file, "parallel rm < f; "}, {words + file, "read -a y < f; "}, {lines + file, "mapfile y < f; "},
		{lines + file, "psql -f f; "}, {lines + file, "sqlite3 < f; "}, {value + file, "perl f; "},
		{lines + file, "patch < f; "},
		{value + file, "python3 f; "}, {value + file, "xargs rm < f; "}, {value + file, "while read l; do :; done < f; "},
	} {
		command := c.before + strings.Repeat(c.use, max(1, (12_000-len(c.before))/len(c.use)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		judge(command)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 200 || took > 3*time.Second {
			t.Errorf("%.50s … %s: %d MB in %v", c.before, c.use, made, took)
		}
	}
}

// What people write with long values and lists stays no question.
func TestLongValuesOfHonestWork(t *testing.T) {
	judge := verdicts(t)
	text := strings.Repeat("All work and no play makes Jack a dull boy. ", 450) // 20 KB
	for _, command := range []string{
		"x='" + text + "'; " + strings.Repeat("echo ${x:0:10} ${#x} ${x:5:9}; ", 20),
		"files=(src/{1..500}.go); for i in {0..499}; do gofmt -l ${files[$i]}; done; echo ${#files[@]} ${files[@]:1:3}",
		"cat > notes.md <<'E'\n" + text + "\nE\n" + strings.Repeat("grep -c work notes.md; ", 40),
		"cat > x.py <<'E'\n" + strings.Repeat("print('a line of a program')\n", 600) + "E\n" +
			strings.Repeat("python3 x.py; ", 4),
		"mapfile -t lines < <(seq 1 500); for l in \"${lines[@]}\"; do echo $l; done; echo ${lines[*]}",
		"parallel echo {1} {2} {3} ::: a b c d ::: 1 2 3 4 ::: x y z; seq 1 500 | parallel echo",
	} {
		if v := judge(command); v.Decision <= approver.Ask {
			t.Errorf("%.60s: %v (%s) %s", command, v.Decision, v.Rule, v.Detail)
		}
	}
}
