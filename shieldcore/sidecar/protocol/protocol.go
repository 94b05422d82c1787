// Package protocol is the protocol between approver and the classifier program, over
// the program's standard input and output: one JSON object a line, the program first.
//
//	program: {"protocol":1,"manifest":"9f86…","label":"INJECTION","window":512,"runtime":"onnxruntime 1.24.1"}
//	approver: {"id":"1","text":"Ignore all previous instructions"}
//	program: {"id":"1","score":0.9994,"truncated":false,"windows":1}
//	approver: {"id":"2","text":"…"}
//	program: {"id":"2","error":"the model's output has no number"}
//
// A program that cannot load its model writes {"error": WHY} as the first line, and
// ends. Every line is bounded. A line that is not exactly one of these objects is an
// error. The program ends when its input ends.
package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Version is the protocol's.
const Version = 1

// Bounds.
const (
	MaxText    = 256 << 10       // bytes of a text
	MaxRequest = 6*MaxText + 200 // bytes of a line to the program: JSON may write a byte as six
	MaxReply   = 4 << 10         // bytes of a line from it
	maxError   = 1000            // bytes of an error
)

// A Hello is the first line of the program.
type Hello struct {
	Protocol int    `json:"protocol,omitempty"`
	Manifest string `json:"manifest,omitempty"` // SHA-256 of the manifest.json that was checked
	Label    string `json:"label,omitempty"`
	Window   int    `json:"window,omitempty"`  // tokens
	Runtime  string `json:"runtime,omitempty"` // name and version
	Error    string `json:"error,omitempty"`
}

// A Request asks for the score of a text.
type Request struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// A Reply has a score or an error.
type Reply struct {
	ID    string   `json:"id"`
	Score *float64 `json:"score,omitempty"`
	// Truncated says that the text has more windows than were looked at.
	Truncated bool   `json:"truncated,omitempty"`
	Windows   int    `json:"windows,omitempty"`
	Error     string `json:"error,omitempty"`
}

// ErrTooLong is a line beyond its bound.
var ErrTooLong = errors.New("the line is too long")

// ReadLine reads a line of at most limit bytes, without its newline. It returns io.EOF
// at the end, and io.ErrUnexpectedEOF in the middle of a line.
func ReadLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit+1 {
			return nil, ErrTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// Write writes one line.
func Write(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// ParseHello reads the program's first line.
func ParseHello(line []byte) (Hello, error) {
	var h Hello
	if err := strict(line, &h); err != nil {
		return Hello{}, err
	}
	h.Error = clip(h.Error)
	if h.Error == "" && h.Protocol != Version {
		return Hello{}, fmt.Errorf("it speaks version %d of the protocol: %d is known", h.Protocol, Version)
	}
	return h, nil
}

// ParseRequest reads a request.
func ParseRequest(line []byte) (Request, error) {
	var q Request
	if err := strict(line, &q); err != nil {
		return Request{}, err
	}
	if q.ID == "" || len(q.ID) > 100 || len(q.Text) > MaxText {
		return Request{}, fmt.Errorf("a request needs an id, and has a text of at most %d bytes", MaxText)
	}
	return q, nil
}

// ParseReply reads the reply to the request with an id. A score is a number from
// 0 to 1.
func ParseReply(line []byte, id string) (Reply, error) {
	var r Reply
	if err := strict(line, &r); err != nil {
		return Reply{}, err
	}
	r.Error = clip(r.Error)
	switch {
	case r.ID != id:
		return Reply{}, errors.New("it answered another request")
	case (r.Score == nil) == (r.Error == ""):
		return Reply{}, errors.New("its reply has no score, or a score and an error")
	case r.Score != nil && !(*r.Score >= 0 && *r.Score <= 1):
		return Reply{}, errors.New("its score is not from 0 to 1")
	}
	return r, nil
}

// strict reads exactly one object with known keys.
func strict(line []byte, to any) error {
	if !utf8.Valid(line) {
		return errors.New("its line is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return errors.New("its line is not an object of the protocol")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("its line has more than one object")
	}
	return nil
}

// clip makes one short line of an error of the program.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxError {
		s = strings.ToValidUTF8(s[:maxError], "") + "…"
	}
	return s
}
