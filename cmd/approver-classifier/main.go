// Command approver-classifier runs a classifier model for approver: it loads a
// model's directory with onnxruntime and answers one text after another on its
// standard input and output (package protocol). approver starts it; it opens no
// connection and writes no file.
//
// It is a module of its own, as it is built with cgo:
//
//	cd cmd/approver-classifier && go build -o /usr/local/bin/approver-classifier
//
// libonnxruntime, 1.24 or later, is loaded when it starts and is not part of it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"approver.example/cmd/approver-classifier/scorer"
	"approver.example/shieldcore/sidecar/protocol"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("approver-classifier", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(),
			"usage: approver-classifier --model DIR [--library FILE] [--threads N]\n"+
				"approver starts this program itself: see docs/classifier.md")
		flags.PrintDefaults()
	}
	model := flags.String("model", "", "`DIR` of the model, with its manifest.json")
	library := flags.String("library", defaultLibrary(),
		"libonnxruntime, 1.24 or later: a `FILE`, or a name that the system finds")
	threads := flags.Int("threads", 1, "threads to compute with")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *model == "" || flags.NArg() > 0 || *threads < 1 {
		flags.Usage()
		return 2
	}
	if err := serve(*model, *library, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "approver-classifier:", err)
		return 1
	}
	return 0
}

// serve loads the model and answers requests. An error before the first answer is also
// sent to the other side.
func serve(dir, library string, threads int) error {
	in := exitAtEOF(os.Stdin) // from the start: the daemon may end while a model is loaded
	s, version, err := load(dir, library, threads)
	if err != nil {
		_ = protocol.Write(os.Stdout, protocol.Hello{Error: err.Error()}) // the exit status says it too
		return err
	}
	return s.Serve(in, os.Stdout, version)
}

func load(dir, library string, threads int) (scorer.Scorer, string, error) {
	// Check the model before the library is loaded.
	m, err := scorer.Open(dir)
	if err != nil {
		return scorer.Scorer{}, "", err
	}
	if filepath.Base(library) != library && !filepath.IsAbs(library) {
		return scorer.Scorer{}, "", fmt.Errorf("library %s must be an absolute path, or a name", library)
	}
	r, version, err := newRunner(m.ONNX, library, threads)
	if err != nil {
		return scorer.Scorer{}, "", err
	}
	m.ONNX = nil // the runtime has its own
	return scorer.Scorer{Model: m, Runner: r}, version, nil
}

// finalTimeout is how long a text may still be computed when nobody asks any more.
const finalTimeout = 2 * time.Second

// exitAtEOF passes in on, and ends the program when it ends, also while a text is
// computed: it must not outlive the daemon.
func exitAtEOF(in io.Reader) io.Reader {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		_ = w.CloseWithError(err) // of a pipe in memory: it cannot fail
		time.Sleep(finalTimeout)
		os.Exit(0)
	}()
	return r
}
