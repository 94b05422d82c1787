// Package loop detects that an agent is stuck: it repeats the same calls with the same results,
// tries one thing after the other against the same error, reads what it has already read, or prints
// the same text over and over.
//
// It looks at a [Window], the last calls of one session. It is pure: it reads no clock and does no
// I/O. It stores hashes and numbers of a call, no text.
//
// Progress is what counts. Honest work repeats itself: a test runs after every edit, a deployment is
// polled, a file is read page by page. So a repetition counts only if the result was the same as
// before, and a new edit resets the count. See docs/loopbreaker.md.
//
// Read loop.go, describe.go and detect.go.
package loop

import (
	"fmt"
	"slices"
)

// A Kind is what a call is for. The zero value is a call whose purpose is not known.
type Kind uint8

// The kinds.
const (
	Run  Kind = iota // something runs
	Read             // only looks
	Edit             // changes files that are not temporary
	Wait             // waits, or asks for the state of what it waits for
)

// A Call is one call in a window.
type Call struct {
	Seq  uint64 `json:"n"`           // counts the calls of the window, from 1
	Tool string `json:"t,omitempty"` // its name, for sentences
	Hash uint64 `json:"h"`           // of the tool and its arguments, see [Describe]
	Kind Kind   `json:"k,omitempty"`
	// Words are hashes of the first words, for comparing calls.
	Words []uint16 `json:"w,omitempty"`

	Done bool `json:"d,omitempty"` // it ran, and what follows is known
	Output

	// Makes are the files that did not exist before the call.
	Makes []string `json:"m,omitempty"`
}

// A Said is what was reported about one loop.
type Said struct {
	Loop uint64 `json:"l"` // which loop
	Ask  bool   `json:"a,omitempty"`
	Seq  uint64 `json:"n"` // of which call
}

// A Window is the last calls of a session, oldest first. The zero value is empty.
type Window struct {
	Next  uint64 `json:"next"` // the number of the last call
	Calls []Call `json:"calls"`
	Said  []Said `json:"said,omitempty"`
}

// Limits are the thresholds. The zero value finds nothing; start from [DefaultLimits].
type Limits struct {
	Window  int `yaml:"window"`  // calls that are looked at
	Repeat  int `yaml:"repeat"`  // times that one call gives the same, in a row
	Grams   int `yaml:"grams"`   // times that two or three calls in the same order give the same
	Spiral  int `yaml:"spiral"`  // different calls that fail with the same error
	Reads   int `yaml:"reads"`   // reads in a row that bring nothing new
	Outputs int `yaml:"outputs"` // outputs of which the entropy is taken
	// Entropy is the threshold below which an output is repetitive, in thousandths of a bit per byte.
	Entropy int `yaml:"entropy"`
}

// DefaultLimits are what the engine uses.
var DefaultLimits = Limits{Window: 50, Repeat: 3, Grams: 3, Spiral: 3, Reads: 8, Outputs: 20, Entropy: 3500}

// Faults lists the problems by their keys. A threshold of 1 would warn about every call, and one
// above the window would never warn.
func (l Limits) Faults() []error {
	var errs []error
	for _, t := range []struct {
		key               string
		have, least, most int
	}{
		{"loop.window", l.Window, 10, 100},
		{"loop.repeat", l.Repeat, 2, 20},
		{"loop.grams", l.Grams, 2, 20},
		{"loop.spiral", l.Spiral, 2, 20},
		{"loop.reads", l.Reads, 3, 50},
		{"loop.outputs", l.Outputs, 5, 50},
		{"loop.entropy", l.Entropy, 100, 8000},
	} {
		if t.have < t.least || t.have > t.most {
			errs = append(errs, fmt.Errorf("%s must be %d to %d", t.key, t.least, t.most))
		}
	}
	return errs
}

// A Finding is what to report about a call. The zero value is nothing.
type Finding struct {
	Rule   string  // such as "loop.repeat"
	Ask    bool    // before a person; else it is a warning for the agent
	Score  float64 // 0 to 1.5; from 1 on a person is asked if the agent was warned
	Since  uint64  // the number of the call that it began with
	Count  int     // how often
	Reason string  // one sentence for the agent, with what to do instead
}

// Add adds a call to the window before it runs, and returns its number. A call that comes again
// before it ran, from a retry or a second courier, is the same call.
func (w *Window) Add(c Call, l Limits) uint64 {
	if i := w.pending(c.Hash); i >= 0 && i == len(w.Calls)-1 {
		return w.Calls[i].Seq
	}
	w.Next++
	c.Seq = w.Next
	w.Calls = append(w.Calls, c)
	w.trim(l.Window)
	return c.Seq
}

// trim drops the oldest calls, and what was reported about them.
func (w *Window) trim(most int) {
	if over := len(w.Calls) - most; over > 0 {
		w.Calls = append(w.Calls[:0:0], w.Calls[over:]...)
	}
	w.Said = slices.DeleteFunc(w.Said, func(s Said) bool { return len(w.Calls) == 0 || s.Seq < w.Calls[0].Seq })
}

// Ran records the result of a call and returns the call; nil if no such call is waiting.
func (w *Window) Ran(hash uint64, out Output) *Call {
	i := w.pending(hash)
	if i < 0 {
		return nil
	}
	c := &w.Calls[i]
	c.Done, c.Output = true, out
	return c
}

// pending returns the index of the newest call that has not run yet; -1 if there is none.
func (w *Window) pending(hash uint64) int {
	for i := len(w.Calls) - 1; i >= 0; i-- {
		if c := &w.Calls[i]; c.Hash == hash && !c.Done {
			return i
		}
	}
	return -1
}

// The weights of the detectors. Entropy is wrong most often, so that alone it stays well below 1.
var weights = map[string]float64{
	"loop.repeat": 1, "loop.alternate": 1, "loop.ngram": 1, "loop.spiral": 1, "loop.read_spiral": 0.9, "loop.entropy": 0.5,
}

// A sign is the result of one detector. The zero value is nothing.
type sign struct {
	rule   string
	loop   uint64 // which loop: the same for detectors that see the same
	count  int
	need   int // from which count on it is one
	step   int // how many more weigh as much as one repetition
	since  uint64
	reason string
}

// score is 0.5 at the threshold and a quarter more with every repetition.
func (s sign) score() float64 {
	if s.need == 0 || s.count < s.need {
		return 0
	}
	return weights[s.rule] * min(1.5, 0.5+0.25*float64(s.count-s.need)/float64(max(1, s.step)))
}

// Judge checks whether a call, which is not in the window yet, continues a loop. It remembers its
// reports: the agent is warned once about a loop, and then a person is asked.
func (w *Window) Judge(now Call, l Limits) Finding {
	at := w.Next + 1
	if i := w.pending(now.Hash); i >= 0 && i == len(w.Calls)-1 {
		at = w.Calls[i].Seq
	}
	h := newHistory(w.Calls, l)
	var best sign
	for _, detect := range [...]func(*history, Call) sign{repeat, alternate, grams, spiral, reads} {
		if s := detect(h, now); s.score() > best.score() {
			best = s
		}
	}
	score := best.score()
	if s := entropy(h, now); s.score() > 0 {
		if best.rule == "" {
			best = s
		}
		score += s.score() / 2
	}
	if score == 0 {
		return Finding{}
	}
	ask, say := w.report(best, score, at)
	if !say {
		return Finding{}
	}
	return Finding{Rule: best.rule, Ask: ask, Score: score, Since: best.since, Count: best.count, Reason: best.reason}
}

// report decides what to report about a loop, and remembers it.
func (w *Window) report(s sign, score float64, at uint64) (ask, say bool) {
	i := slices.IndexFunc(w.Said, func(said Said) bool { return said.Loop == s.loop })
	if i < 0 {
		w.Said = append(w.Said, Said{Loop: s.loop, Seq: at})
		return false, true
	}
	said := &w.Said[i]
	switch {
	case said.Seq == at: // the same call once more
		return said.Ask, true
	case said.Seq < s.since: // of an earlier loop of the same kind
		*said = Said{Loop: s.loop, Seq: at}
		return false, true
	case !said.Ask:
		if score < 1 {
			return false, false
		}
	case w.ran(said.Seq) && at < said.Seq+uint64(2*max(1, s.step)):
		return false, false // a person let it go on
	}
	*said = Said{Loop: s.loop, Ask: true, Seq: at}
	return true, true
}

func (w *Window) ran(seq uint64) bool {
	return slices.ContainsFunc(w.Calls, func(c Call) bool { return c.Seq == seq && c.Done })
}

// times writes a number of repetitions.
func times(n int) string { return fmt.Sprintf("%d times", n) }

// Bounds of a stored window.
const (
	maxWindow = 100
	maxMakes  = 8
)

// Check returns what is impossible in a window.
func (w *Window) Check() error {
	if len(w.Calls) > maxWindow || len(w.Said) > maxWindow {
		return fmt.Errorf("a window of %d calls and %d warnings is longer than %d", len(w.Calls), len(w.Said), maxWindow)
	}
	last := uint64(0)
	for i := range w.Calls {
		c := &w.Calls[i]
		switch {
		case c.Seq <= last || c.Seq > w.Next:
			return fmt.Errorf("call %d of the window has the number %d after %d", i, c.Seq, last)
		case len(c.Words) > maxWords || len(c.Tool) > maxTool || len(c.Makes) > maxMakes || c.Size < 0 || c.Bits < 0 ||
			c.Bits > 8000 || c.Kind > Wait:
			return fmt.Errorf("call %d of the window is none", i)
		}
		last = c.Seq
	}
	return nil
}

// Merge adds the calls of another copy of the window after number from, up to which both are the
// same. It also merges what was reported.
func (w *Window) Merge(other Window, from uint64) {
	renamed := map[uint64]uint64{}
	for _, c := range other.Calls {
		if c.Seq > from {
			w.Next++
			renamed[c.Seq] = w.Next
			c.Seq = w.Next
			w.Calls = append(w.Calls, c)
			continue
		}
		for i := range w.Calls {
			if have := &w.Calls[i]; have.Seq == c.Seq && have.Hash == c.Hash && !have.Done {
				*have = c
			}
		}
	}
	w.Calls = w.Calls[max(0, len(w.Calls)-maxWindow):]
	for _, s := range other.Said {
		if seq, ok := renamed[s.Seq]; ok {
			s.Seq = seq
		}
		found := false
		for i := range w.Said {
			if w.Said[i].Loop == s.Loop {
				w.Said[i].Ask, found = w.Said[i].Ask || s.Ask, true
			}
		}
		if !found && len(w.Said) < maxWindow {
			w.Said = append(w.Said, s)
		}
	}
}
