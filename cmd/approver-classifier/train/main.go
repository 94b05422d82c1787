// Command train makes the weights of package classifier.
//
//	go run ./train --data FILE                    write the weights
//	go run ./train --data FILE --report           measure across sources
//	go run ./train --data FILE --hold-out garak   measure on these sources
//
// FILE has lines of JSON: {"source": "…", "label": "injection" or "benign", "text": "…"}. No
// text of it is written to a file. The output is weights.bin, with hashed weights, and sums.go,
// with their SHA-256 and the scores of a dozen texts of our own. A line may have "found": true
// for a text that rules find; --report then also prints the recall of rules and model together.
// The trainer adds generated texts to the corpus (folder grammar).
//
// Two runs over one file give the same bytes, on every machine of one GOARCH
// with one release of Go: there is one goroutine per model, a fixed order and a
// fixed seed. Between architectures math.Exp may differ in its last bit.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/shieldcore/classifier"
)

// options are those of the command line.
type options struct {
	data, out, cases string
	holdOut          []string
	report           bool
	without          uint    // kinds of features, a bit each
	generated        float64 // how much of the generator's texts
}

// kinds are the names of the features for --without, in the order of classifier's.
var kinds = []string{"word", "parted", "pair", "skip1", "skip2", "class", "classpair", "classtrio", "classword", "trio"}

func main() {
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	var holdOut, without string
	fs := flag.NewFlagSet("train", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.StringVar(&o.data, "data", "", "`FILE` with the corpus")
	fs.StringVar(&o.out, "out", "",
		"`FILE` to write; without --report and --hold-out it is ../../shieldcore/classifier/weights.bin")
	fs.StringVar(&holdOut, "hold-out", "",
		"`SOURCE,...` to leave out of the training and to measure on: sources, or groups such as garak")
	fs.BoolVar(&o.report, "report", false, "measure across groups of sources, on the cases of our own, and the time")
	fs.StringVar(&o.cases, "cases", "../../shieldcore/classifier/testdata",
		"`DIR` with the cases of our own, for --report")
	fs.StringVar(&without, "without", "", "`KIND,...` of features to leave out: "+strings.Join(kinds, ", "))
	fs.Float64Var(&o.generated, "generated", 1, "how much of the generator's texts to add, as a share; 0 is none")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.data == "" || fs.NArg() > 0 {
		return o, errors.New("give the corpus with --data FILE, and no other arguments")
	}
	for kind := range strings.SplitSeq(without, ",") {
		if i := slices.Index(kinds, kind); i >= 0 {
			o.without |= 1 << i
		} else if kind != "" {
			return o, fmt.Errorf("--without: there is no kind %q; there are %s", kind, strings.Join(kinds, ", "))
		}
	}
	if holdOut != "" {
		o.holdOut = strings.Split(holdOut, ",")
	}
	if o.out == "" && !o.report && o.holdOut == nil {
		o.out = "../../shieldcore/classifier/weights.bin"
	}
	return o, nil
}

func run(args []string, w io.Writer) error {
	o, err := parse(args, w)
	if err != nil {
		return err
	}
	f, err := os.Open(o.data)
	if err != nil {
		return err
	}
	defer f.Close()
	corpus, err := readCorpus(o.data, f, o.without)
	if err != nil {
		return err
	}
	own, err := generate(o.generated, o.without)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s of the corpus, %s generated\n", counts(corpus), counts(own))
	if o.holdOut != nil {
		if err := reportHeldOut(w, corpus, own, o.holdOut); err != nil {
			return err
		}
	}
	if !o.report && o.out == "" {
		return nil
	}
	train := slices.DeleteFunc(slices.Clone(corpus), func(t *text) bool { return held(t, o.holdOut) })
	weights := fit(append(train, own...)).quantized()
	if weights.Default, weights.Strict, err = thresholds(corpus, own); err != nil {
		return err
	}
	if o.report {
		if err := report(w, corpus, own, weights, o.cases); err != nil {
			return err
		}
	}
	if o.out != "" {
		return write(w, o.out, weights)
	}
	return nil
}

// held reports a text of one of the sources, or of one of the groups.
func held(t *text, sources []string) bool {
	return slices.Contains(sources, t.source) || slices.Contains(sources, group(t.source))
}

func counts(texts []*text) string {
	attacks := 0
	for _, t := range texts {
		attacks += t.label()
	}
	return fmt.Sprintf("%d injections and %d benign texts", attacks, len(texts)-attacks)
}

// write writes the weights and sums.go, which has the values that Load checks.
func write(w io.Writer, name string, weights *classifier.Weights) error {
	m, err := classifier.New(weights)
	if err != nil {
		return err
	}
	file := weights.Encode()
	sum := sha256.Sum256(file)
	var b bytes.Buffer
	fmt.Fprintf(&b,
		"// Code generated by cmd/approver-classifier/train; DO NOT EDIT.\n\npackage classifier\n\n"+
			"const weightsSHA256 = \"%x\"\n\nvar goldenSums = [...]int32{", sum)
	for _, text := range classifier.Golden() {
		s, err := m.Score(text)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%d, ", s.Sum)
	}
	b.WriteString("}\n")
	sums, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, file, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(name), "sums.go"), sums, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s and sums.go: %d bytes, SHA-256 %x\n", name, len(file), sum)
	return nil
}
