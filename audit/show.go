package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrNoRecord means that no record matches.
var ErrNoRecord = errors.New("no record")

// Show writes the records of one call, each with its reasoning chain. what is a seq, a
// call id, or a request's id. Those of a call go on with its request, whose yes may have been
// released to another call that is the same. A format other than Human writes the lines as they are.
// ErrNoRecord means that nothing matches.
func Show(ctx context.Context, dir, what string, w io.Writer, format Format) error {
	p := &showPrinter{Writer: bufio.NewWriter(w), raw: format != Human, what: what}
	s := shower{what: what}
	if err := errors.Join(s.show(ctx, dir, p), p.Flush()); err != nil {
		return fmt.Errorf("show: %w", err)
	}
	if !p.found {
		return fmt.Errorf("%w has the seq, call or request %q", ErrNoRecord, what)
	}
	return nil
}

// A shower finds the records that Show prints. It decodes only lines that have the bytes of an id. So it stops
// at a line that is no line of a log, but not at one that was changed inside: Verify does.
type shower struct {
	what string

	mu       sync.Mutex
	requests []string // those of the call, as far as they are known; at most one more than maxNeedles
}

func (s *shower) show(ctx context.Context, dir string, p printer) error {
	walk, err := newWalker(dir)
	if err != nil {
		return err
	}
	for c, err := range inOrder(ctx, walk, s.candidates) {
		if c.file != nil && c.known < s.known() { // this chunk or another has one more request of the call
			c, err = s.candidates(c.chunk)
		}
		for _, line := range c.lines {
			if err := p.print(line); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The candidates are lines of a chunk that may have to be printed.
type candidates struct {
	chunk
	known int // how many requests of the call were looked for
	lines [][]byte
}

// candidates finds the candidates of a chunk, up to a line that is no line of a log.
func (s *shower) candidates(c chunk) (candidates, error) {
	out := candidates{chunk: c, known: s.known()}
	err := c.find(s.needles(), func(l Line, text []byte) {
		out.lines = append(out.lines, text)
		if s.what == l.Call && l.Request != "" {
			s.learn(l.Request)
		}
	})
	return out, err
}

func (s *shower) known() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *shower) learn(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) <= maxNeedles && !slices.Contains(s.requests, request) {
		s.requests = append(s.requests, request)
	}
}

// maxNeedles is how many texts are looked for. A call with more requests has every line of a request decoded.
const maxNeedles = 8

// needles returns texts of which every line to print has at least one.
func (s *shower) needles() (all [][]byte) {
	if _, err := strconv.ParseUint(s.what, 10, 64); err == nil {
		all = append(all, []byte(seqTag+s.what+","))
	}
	all = append(all, needle(s.what))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) > maxNeedles {
		return append(all, []byte(`"request":"`))
	}
	for _, r := range s.requests {
		all = append(all, needle(r))
	}
	return all
}

// needle is a text that the log writes wherever a member has a value. Of the characters that JSON can write in
// more than one way it has none.
func needle(value string) []byte {
	plain := func(c rune) bool { return c >= ' ' && c <= '~' && !strings.ContainsRune(`"\/<>&`, c) }
	if value != "" && strings.TrimFunc(value, plain) == "" {
		return []byte(`"` + value + `"`)
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return !plain(c) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return []byte(longest)
}

// find calls f for every record that has one of the texts, in order, up to a line that is no line of a log.
func (c chunk) find(texts [][]byte, f func(l Line, text []byte)) error {
	has := map[int]bool{} // by where lines start
	for _, f := range finders(texts) {
		for at := f.next(c.text, 0); at >= 0; {
			has[bytes.LastIndexByte(c.text[:at], '\n')+1] = true
			at = f.next(c.text, at+bytes.IndexByte(c.text[at:], '\n')+1)
		}
	}
	for at, text := range c.lines() {
		odd := !shaped(text)
		if odd {
			if _, err := timeOf(text); err != nil {
				return c.badLine(at, err)
			}
		}
		if !odd && !has[at] || isCheckpoint(text) {
			continue
		}
		l, err := ParseLine(text)
		if err != nil {
			return c.badLine(at, err)
		}
		if has[at] {
			f(l, text)
		}
	}
	return nil
}

// shaped reports whether a line begins and ends as a line of a log does.
func shaped(line []byte) bool {
	cut := len(line) - tailLength
	if cut < 0 || !bytes.HasPrefix(line, []byte(`{"v":1,`)) && !isCheckpoint(line) ||
		!bytes.HasSuffix(line, []byte(lineEnd)) {
		return false
	}
	_, rest, ok := readDigest(line[cut:], prevTag)
	return ok && bytes.HasPrefix(rest, []byte(`"`+hashTag))
}

type showPrinter struct {
	*bufio.Writer
	raw   bool
	what  string
	asked map[string]bool // the requests of the call
	found bool
	last  string // the last body that was written in full
}

func (p *showPrinter) print(line []byte) error {
	l, ok, err := recordOf(line)
	if !ok {
		return err
	}
	if p.what == "" || p.what != strconv.FormatUint(l.Seq, 10) && p.what != l.Call && p.what != l.Request &&
		!p.asked[l.Request] {
		return nil
	}
	p.found = true
	if p.what == l.Call && l.Request != "" {
		if p.asked == nil {
			p.asked = map[string]bool{}
		}
		p.asked[l.Request] = true
	}
	if p.raw {
		return rawPrinter{p.Writer}.print(line)
	}
	head, body := l.headAndBody()
	if body != "" && body == p.last {
		body = "    as the record before says\n"
	} else {
		p.last = body
	}
	_, err = p.WriteString(head + body)
	return err
}
