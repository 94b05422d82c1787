package precedent

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

const (
	version   = 1
	maxRecord = 64 << 10 // bytes of a record
	maxWord   = 120      // bytes of a name in it
)

// An Answer is a person's answer to a call. Only a sketch and a hash of the call are stored.
type Answer struct {
	At                 time.Time // whole seconds
	Yes                bool
	By, Rule, Category string // the person, and the rule that had asked
	Text               Text
	Sketch             Sketch // of a denial; a yes has none
}

type stored struct {
	At       int64  `json:"t"`
	Yes      bool   `json:"y,omitempty"`
	By       string `json:"b,omitempty"`
	Rule     string `json:"r,omitempty"`
	Category string `json:"c,omitempty"`
	Text     string `json:"h"`
	Short    bool   `json:"s,omitempty"`
	Dims     string `json:"d,omitempty"` // little-endian, base64
}

type record struct {
	V       int      `json:"v"`
	Answers []stored `json:"answers"`
}

// encode encodes the record without the oldest answers that do not fit. It also returns the answers
// that fit.
func encode(list []Answer, most int) ([]byte, []Answer, error) {
	list = list[max(0, len(list)-most):]
	for {
		r := record{V: version, Answers: make([]stored, len(list))}
		for i, a := range list {
			dims := make([]byte, 0, 2*len(a.Sketch.Dims))
			for _, d := range a.Sketch.Dims {
				dims = binary.LittleEndian.AppendUint16(dims, d)
			}
			r.Answers[i] = stored{
				At: a.At.Unix(), Yes: a.Yes, By: a.By, Rule: a.Rule, Category: a.Category,
				Text:  base64.RawStdEncoding.EncodeToString(a.Text[:]),
				Short: a.Sketch.Short, Dims: base64.RawStdEncoding.EncodeToString(dims),
			}
		}
		b, err := json.Marshal(r)
		if err != nil || len(b) <= maxRecord {
			return b, list, err
		}
		list = list[len(list)/8+1:]
	}
}

// decode decodes a record; an empty one has no answers.
func decode(b []byte) ([]Answer, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if len(b) > maxRecord {
		return nil, fmt.Errorf("the precedents have %d bytes, more than %d", len(b), maxRecord)
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("the precedents: %w", err)
	}
	if r.V != version {
		return nil, fmt.Errorf("the precedents are in form %d, and this version reads %d", r.V, version)
	}
	list := make([]Answer, len(r.Answers))
	for i, s := range r.Answers {
		a, ok := s.answer()
		if !ok || i > 0 && a.At.Before(list[i-1].At) {
			return nil, fmt.Errorf("precedent %d is none", i)
		}
		list[i] = a
	}
	return list, nil
}

func (s stored) answer() (a Answer, ok bool) {
	text, err := base64.RawStdEncoding.Strict().DecodeString(s.Text)
	if err != nil || len(text) != len(a.Text) || s.At <= 0 || s.At > 1<<40 {
		return a, false
	}
	for _, word := range []string{s.By, s.Rule, s.Category} {
		if len(word) > maxWord || !utf8.ValidString(word) {
			return a, false
		}
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(s.Dims)
	if err != nil || len(raw)%2 != 0 || len(raw) > 2*maxWords || (len(raw) == 0) != s.Yes {
		return a, false
	}
	a = Answer{At: time.Unix(s.At, 0), Yes: s.Yes, By: s.By, Rule: s.Rule, Category: s.Category, Text: Text(text),
		Sketch: Sketch{Short: s.Short}}
	for i := 0; i < len(raw); i += 2 {
		d := binary.LittleEndian.Uint16(raw[i:])
		if d >= dimensions || i > 0 && d <= a.Sketch.Dims[len(a.Sketch.Dims)-1] {
			return a, false
		}
		a.Sketch.Dims = append(a.Sketch.Dims, d)
	}
	return a, true
}

// near returns the most similar denied call above the threshold; of equally similar ones it takes
// the latest. There is none if people have since allowed exactly this call.
func near(
	list []Answer, text Text, sketch Sketch, from time.Time, threshold float64,
) (found Answer, similarity float64) {
	var yes time.Time
	for i := range list {
		if a := &list[i]; a.Yes && a.Text == text {
			yes = a.At
		}
	}
	for i := range list {
		a := &list[i]
		if a.Yes || a.At.Before(from) || !a.At.After(yes) {
			continue
		}
		if s := Similarity(a.Sketch, sketch); s > threshold && s >= similarity {
			found, similarity = *a, s
		}
	}
	return found, similarity
}

// with returns the answers with one more, without those before a time. A yes removes the denial of
// exactly the same call; it is stored if the call is similar to another denied one. A no removes the
// yes. An answer that is older than a stored one changes nothing.
func with(list []Answer, add Answer, sketch Sketch, from time.Time, threshold float64) (out []Answer, changed bool) {
	for _, a := range list {
		if a.Text == add.Text && (a.At.After(add.At) || a.At.Equal(add.At) && a.Yes == add.Yes) {
			return list, false
		}
	}
	out = slices.DeleteFunc(slices.Clone(list), func(a Answer) bool { return a.Text == add.Text || a.At.Before(from) })
	changed = len(out) != len(list)
	if add.Yes {
		if _, similarity := near(out, add.Text, sketch, from, threshold); similarity == 0 {
			return out, changed
		}
	} else {
		add.Sketch = sketch
	}
	out = append(out, add)
	slices.SortStableFunc(out, func(a, b Answer) int { return a.At.Compare(b.At) })
	return out, true
}
