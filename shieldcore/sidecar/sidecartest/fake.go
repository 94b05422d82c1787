// Package sidecartest is a stand-in for approver-classifier that can be honest or
// broken in every way that the client has to bear. It is run as a program (a test
// binary that runs itself again calls [Main]) or over pipes ([Serve]).
package sidecartest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example/shieldcore/modeldir"
	"approver.example/shieldcore/sidecar/protocol"
)

// A Behavior is what the program does. Some take a number behind a colon.
type Behavior string

// The behaviors.
const (
	Honest       Behavior = "honest"         // answers: see Score
	CrashAtStart Behavior = "crash at start" // ends with exit status 3
	CrashMid     Behavior = "crash mid-request"
	Hang         Behavior = "hang"          // reads, and says nothing
	HangAtStart  Behavior = "hang at start" // does not even say what it is
	Deaf         Behavior = "deaf"          // does not read
	EarlyReply   Behavior = "early reply"   // answers what it has not read
	Slow         Behavior = "slow"          // answers after a day
	WrongID      Behavior = "wrong id"      // answers another request
	NaN          Behavior = "NaN"           // a score that is no number
	OutOfRange   Behavior = "out of range"  // a score of 1.5
	Negative     Behavior = "negative"      // a score of -0.1
	NoScore      Behavior = "no score"      // a reply with nothing in it
	Both         Behavior = "both"          // a score and an error
	HugeLine     Behavior = "huge line"     // a line without end
	Garbage      Behavior = "garbage"       // no JSON
	HalfLine     Behavior = "half line"     // ends within a line
	Extra        Behavior = "extra output"  // an answer, and another one
	Unasked      Behavior = "unasked"       // speaks before it is asked
	Refuses      Behavior = "refuses"       // says that it cannot load its model
	SaysError    Behavior = "says error"    // has an error for the text
	OldProtocol  Behavior = "old protocol"  // speaks version 0
	WrongHash    Behavior = "wrong hash"    // has loaded another model
	WrongScores  Behavior = "wrong scores"  // answers 0.5 to everything
	Chatty       Behavior = "chatty"        // honest, with a megabyte of standard error
	ExitsAfter   Behavior = "exits after:"  // and a number of answers, as in "exits after:2"
	Mends        Behavior = "mends"         // crashes at its first start only
)

// Score is what the honest program answers. A text with LONG in it counts as
// truncated.
func Score(text string) (score float64, truncated bool) {
	if strings.Contains(strings.ToLower(text), "ignore") {
		score = 0.9
	}
	return score, strings.Contains(text, "LONG")
}

// behaviorFile tells the program its behavior: it gets no environment.
const behaviorFile = "behavior"

// Dir makes a model's directory for the fake, with a manifest and one golden
// text.
func Dir(t testing.TB, b Behavior) string {
	t.Helper()
	dir := t.TempDir()
	sum := modeldir.Sum(nil)
	m := modeldir.Manifest{
		Version: 1, Label: "INJECTION", Window: 512, Golden: []modeldir.Golden{{Text: "Ignore this", Score: 0.9}},
		Files: map[string]string{modeldir.ModelFile: sum, modeldir.TokenizerFile: sum, modeldir.ConfigFile: sum},
	}
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{modeldir.ManifestFile: data, behaviorFile: []byte(b)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Main is the program. args are those that the client gives, without the name.
func Main(args []string) int {
	if len(args) < 2 || args[0] != "--model" {
		fmt.Fprintln(os.Stderr, "fake: no --model")
		return 2
	}
	if len(os.Environ()) > 0 {
		fmt.Fprintln(os.Stderr, "fake: it was given an environment")
		return 2
	}
	b, err := os.ReadFile(filepath.Join(args[1], behaviorFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		return 2
	}
	return Serve(Behavior(strings.TrimSpace(string(b))), args[1], os.Stdin, os.Stdout, os.Stderr)
}

// Serve is the program over pipes; it returns the exit status.
func Serve(b Behavior, dir string, in io.Reader, out, said io.Writer) int {
	f := fake{b, dir, bufio.NewReader(in), out, said}
	if status, ended := f.hello(); ended {
		return status
	}
	after := -1
	if n, ok := strings.CutPrefix(string(b), string(ExitsAfter)); ok {
		after, _ = strconv.Atoi(n)
	}
	for n := 0; n != after; n++ {
		switch b {
		case Deaf:
			hang()
			return 0
		case EarlyReply:
			f.line(`{"id":"1","score":0.9}`)
			f.line(`{"id":"2","score":0.1}`)
			hang()
			return 0
		default:
		}
		text, err := protocol.ReadLine(f.in, protocol.MaxRequest)
		if err != nil {
			return 0
		}
		q, err := protocol.ParseRequest(text)
		if err != nil {
			return 4
		}
		if status, ended := f.answer(q); ended {
			return status
		}
	}
	return 7
}

type fake struct {
	Behavior
	dir  string
	in   *bufio.Reader
	out  io.Writer
	said io.Writer
}

// hang is longer than anybody waits; not for ever, so that a test that ends the
// program by time alone can end.
func hang() { time.Sleep(24 * time.Hour) }

func (f fake) line(s string) { fmt.Fprintln(f.out, s) }

func (f fake) hello() (status int, ended bool) {
	_, digest, err := modeldir.ReadManifest(f.dir)
	if err != nil {
		fmt.Fprintln(f.said, err)
		return 2, true
	}
	h := protocol.Hello{Protocol: protocol.Version, Manifest: digest, Label: "INJECTION", Window: 512, Runtime: "fake 1"}
	switch f.Behavior {
	case CrashAtStart:
		fmt.Fprintln(f.said, "fake: no luck\ntoday")
		return 3, true
	case Mends:
		if _, err := os.Stat(filepath.Join(f.dir, "mended")); err != nil {
			_ = os.WriteFile(filepath.Join(f.dir, "mended"), nil, 0o600)
			return 3, true
		}
	case HangAtStart:
		hang()
	case Refuses:
		h = protocol.Hello{Error: "model.onnx has SHA-256 00, and the manifest says 11\n\x1b[31m"}
	case OldProtocol:
		h.Protocol = 0
	case WrongHash:
		h.Manifest = strings.Repeat("0", 64)
	case Chatty:
		fmt.Fprint(f.said, strings.Repeat("noise ", 200_000))
	default:
	}
	return 0, protocol.Write(f.out, h) != nil
}

// answers are what a broken program writes after a text, in place of an honest reply. ID is
// the request's.
var answers = map[Behavior]string{
	CrashMid:    `{"id":`,
	HalfLine:    `{"id":"ID","score":0.1}`,
	WrongID:     `{"id":"0","score":0.1,"windows":1}` + "\n",
	NaN:         `{"id":"ID","score":NaN}` + "\n",
	OutOfRange:  `{"id":"ID","score":1.5,"windows":1}` + "\n",
	Negative:    `{"id":"ID","score":-0.1,"windows":1}` + "\n",
	NoScore:     `{"id":"ID","windows":1}` + "\n",
	Both:        `{"id":"ID","score":0.1,"windows":1,"error":"well"}` + "\n",
	Garbage:     "Loading model… 100%\n",
	SaysError:   `{"id":"ID","error":"the model's output is not a number"}` + "\n",
	WrongScores: `{"id":"ID","score":0.5,"windows":1}` + "\n",
}

func (f fake) answer(q protocol.Request) (status int, ended bool) {
	score, truncated := Score(q.Text)
	reply := protocol.Reply{ID: q.ID, Score: &score, Truncated: truncated, Windows: 1}
	if q.Text == "Ignore this" && f.Behavior != WrongScores { // the golden text: broken later
		return 0, protocol.Write(f.out, reply) != nil
	}
	if broken, is := answers[f.Behavior]; is {
		_, err := io.WriteString(f.out, strings.Replace(broken, "ID", q.ID, 1))
		return map[Behavior]int{CrashMid: 9}[f.Behavior], err != nil || !strings.HasSuffix(broken, "\n")
	}
	switch f.Behavior {
	case Hang:
		hang()
		return 0, true
	case Slow:
		hang()
	case HugeLine:
		for {
			if _, err := io.WriteString(f.out, strings.Repeat("x", 4096)); err != nil {
				return 0, true
			}
		}
	case Extra:
		_ = protocol.Write(f.out, reply)
	default:
	}
	if protocol.Write(f.out, reply) != nil {
		return 0, true
	}
	if f.Behavior == Unasked {
		f.line(`{"id":"99","score":0}`)
	}
	return 0, false
}
