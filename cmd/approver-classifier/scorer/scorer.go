// Package scorer is the classifier program without the model's arithmetic: it cuts a
// text into windows of tokens, lets a [Runner] compute each, and serves the protocol.
// It needs no cgo, so its tests need no runtime.
//
// # Windows
//
// A text that is longer than the model's window is scored in several windows that
// overlap by a quarter. The highest score counts, so that no text around an injection
// lowers it. Of a text with more than [MaxWindows], only these are scored, and the
// result is marked as truncated.
package scorer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"approver.example/cmd/approver-classifier/tokenizer"
	"approver.example/shieldcore/modeldir"
	"approver.example/shieldcore/sidecar/protocol"
)

// MaxWindows is how many windows of a text are scored.
const MaxWindows = 32

// A Runner computes a model: the logits of all labels for one sequence of ids.
type Runner interface {
	Logits(ids []int) ([]float32, error)
}

// A Scorer scores texts with a model. It is not safe for concurrent use.
type Scorer struct {
	Model  *Model
	Runner Runner
}

// A Score is how much a text resembles what the model looks for.
type Score struct {
	Value     float64 // 0 to 1, the probability of the model's label in the strongest window
	Truncated bool    // there is text beyond the last window
	Windows   int
}

// Score scores a text.
func (s Scorer) Score(text string) (Score, error) {
	ids, err := s.Model.Tokenizer.Encode(text)
	if err != nil {
		return Score{}, err
	}
	before, after := s.Model.Tokenizer.Special()
	room := s.Model.Manifest.Window - len(before) - len(after)
	if room < 2 {
		return Score{}, errors.New("the window has no room for text")
	}
	var out Score
	for start := 0; ; start += room - room/4 {
		if out.Windows == MaxWindows {
			out.Truncated = true
			return out, nil
		}
		end := min(start+room, len(ids))
		window := append(append(append(make([]int, 0, room+len(before)+len(after)), before...), ids[start:end]...), after...)
		value, err := s.window(window)
		if err != nil {
			return Score{}, err
		}
		out.Value = max(out.Value, value)
		out.Windows++
		if end == len(ids) {
			return out, nil
		}
	}
}

// window is the probability of the label in one window.
func (s Scorer) window(ids []int) (float64, error) {
	logits, err := s.Runner.Logits(ids)
	if err != nil {
		return 0, err
	}
	if len(logits) != len(s.Model.Labels) {
		return 0, fmt.Errorf("the model has %d outputs, and config.json %d labels", len(logits), len(s.Model.Labels))
	}
	highest := math.Inf(-1)
	for _, x := range logits {
		highest = max(highest, float64(x))
	}
	sum := 0.0
	for _, x := range logits {
		sum += math.Exp(float64(x) - highest)
	}
	p := math.Exp(float64(logits[s.Model.Target])-highest) / sum
	if !(p >= 0 && p <= 1) { // NaN is neither
		return 0, errors.New("the model's output is not a number")
	}
	return p, nil
}

// Serve answers requests until in ends. runtime names the library that runs the model.
// An error means that the other side does not follow the protocol, or is gone.
func (s Scorer) Serve(in io.Reader, out io.Writer, runtime string) error {
	m := s.Model.Manifest
	if err := protocol.Write(out, protocol.Hello{Protocol: protocol.Version, Manifest: s.Model.Sum, Label: m.Label,
		Window: m.Window, Runtime: runtime}); err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := protocol.ReadLine(r, protocol.MaxRequest)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		q, err := protocol.ParseRequest(line)
		if err != nil {
			return err
		}
		reply := protocol.Reply{ID: q.ID}
		if score, err := s.Score(q.Text); err != nil {
			reply.Error = err.Error()
		} else {
			reply.Score, reply.Truncated, reply.Windows = &score.Value, score.Truncated, score.Windows
		}
		if err := protocol.Write(out, reply); err != nil {
			return err
		}
	}
}

// A Model is a model's directory whose tokenizer is known.
type Model struct {
	*modeldir.Model
	Tokenizer *tokenizer.Tokenizer
}

// Open checks a model's directory and reads its tokenizer. It refuses a tokenizer with
// any unknown part.
func Open(dir string) (*Model, error) {
	m, err := modeldir.Open(dir)
	if err != nil {
		return nil, err
	}
	tok, err := tokenizer.Load(m.TokenizerJSON)
	if err != nil {
		return nil, err
	}
	m.TokenizerJSON = nil // it was read
	return &Model{m, tok}, nil
}
