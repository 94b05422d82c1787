package decode

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// Limits bound [Layers]. A field that is 0 has its default.
type Limits struct {
	Depth  int `yaml:"depth"`  // how many encodings may lie inside one another: 4
	Bytes  int `yaml:"bytes"`  // how many bytes all layers together may have: 64 KiB
	Layers int `yaml:"layers"` // how many layers there may be: 64
}

// A Layer is a decoded text from inside another text.
type Layer struct {
	Text string
	// Via names the encodings from the outside in, joined by +, such as "base64+gzip+escape".
	Via string
	// Depth is the number of searches that led here, from 1.
	Depth int
	// More says that a limit ended the search here, so that the text, or what is encoded in it, is
	// not complete.
	More bool
}

// minRun is the shortest run of base64, base32 or hex digits that is decoded: 12 bytes, of which
// noise is printable once in 100,000 times.
const minRun = 16

// Classes of bytes that the scan stops at.
const (
	digit64 byte = 1 << iota // a digit of base64 in either alphabet
	opens                    // begins an escape: \ % &
)

var classes = func() (t [256]byte) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		t[c] = digit64
	}
	t['\\'], t['%'], t['&'] = opens, opens, opens
	return t
}()

// Layers appends the texts that are encoded in text, and in what was decoded, in the order in which
// they are found.
func Layers(dst []Layer, text string, lim Limits) []Layer {
	lim.Depth, lim.Bytes, lim.Layers = orDefault(lim.Depth, 4), orDefault(lim.Bytes, MaxOutput), orDefault(lim.Layers, 64)
	p := peeler{layers: dst, left: lim.Bytes, most: len(dst) + lim.Layers, depth: lim.Depth}
	p.scan(text, "", 1)
	for i := len(dst); i < len(p.layers) && !p.full; i++ {
		p.scan(p.layers[i].Text, p.layers[i].Via, p.layers[i].Depth+1)
	}
	if p.full && len(p.layers) > len(dst) {
		p.layers[len(p.layers)-1].More = true
	} else if p.full {
		p.layers = append(p.layers, Layer{Depth: 1, More: true})
	}
	return p.layers
}

// orDefault returns a limit, or its default if it is none.
func orDefault(limit, or int) int {
	if limit <= 0 {
		return or
	}
	return limit
}

// A peeler collects layers within the limits.
type peeler struct {
	layers            []Layer
	left, most, depth int
	full              bool // a limit was reached
}

func (p *peeler) add(text, via, name string, depth int) {
	if len(text) > p.left || len(p.layers) >= p.most || depth > p.depth {
		p.full = true
		return
	}
	p.left -= len(text)
	if via != "" {
		name = via + "+" + name
	}
	p.layers = append(p.layers, Layer{Text: text, Via: name, Depth: depth})
}

// scan looks at each byte once. It measures runs of digits and collects escapes.
func (p *peeler) scan(text, via string, depth int) {
	for i := 0; i < len(text) && !p.full; {
		switch classes[text[i]] {
		case digit64:
			end := i + 1
			for end < len(text) && classes[text[end]] == digit64 {
				end++
			}
			if end-i >= minRun {
				end = wrapped(text, i, end)
				p.digits(text[i:end], via, depth)
			}
			i = end
		case opens:
			i = p.escapes(text, i, via, depth)
		default:
			i++
		}
	}
}

// wrapped extends a run of digits over line ends, because encoders wrap long texts.
func wrapped(text string, start, end int) int {
	line := end - start
	for line >= 48 {
		next := end
		if next < len(text) && text[next] == '\r' {
			next++
		}
		if next >= len(text) || text[next] != '\n' {
			break
		}
		next++
		stop := next
		for stop < len(text) && classes[text[stop]] == digit64 {
			stop++
		}
		if stop == next || stop-next > line {
			break
		}
		line, end = stop-next, stop
	}
	return end
}

// digits tries a run as hex, base32 and base64; each alphabet is a part of the next one.
func (p *peeler) digits(run, via string, depth int) {
	if len(run) > minRun+2 && (run[:2] == "0x" || run[:2] == "0X") {
		run = run[2:]
	}
	isHex, is32 := true, true
	for i := 0; i < len(run) && (isHex || is32); i++ {
		c := run[i]
		if c == '\n' || c == '\r' {
			continue
		}
		isHex = isHex && hexDigit(c) < 16
		is32 = is32 && (c >= 'A' && c <= 'Z' || c >= '2' && c <= '7')
	}
	if isHex && looksHex(run) {
		if out, err := decodeHex(run); err == nil && p.payload(out, via, "hex", depth) {
			return
		}
	}
	if is32 && looks32(run) {
		if out, err := decodeBase32(run); err == nil && p.payload(out, via, "base32", depth) {
			return
		}
	}
	for skip := 0; skip < 4 && len(run)-skip >= minRun; skip++ {
		if !looks64(run[skip:]) {
			continue
		}
		text := withoutSpace(run[skip:])
		if len(text)%4 == 1 {
			text = text[:len(text)-1]
		}
		if out, err := decodeBase64(text); err == nil && p.payload(out, via, "base64", depth) {
			return
		}
	}
}

// sample is how much of a run is decoded at first.
const sample = 32

// firstDigits collects the digits that a run begins with: at most a sample, without line ends, and a
// multiple of the number that decode together. The URL-safe alphabet of base64 becomes the standard
// one.
func firstDigits(digits *[sample]byte, run string, together int) []byte {
	n := 0
	for i := 0; i < len(run) && n < sample; i++ {
		switch c := run[i]; c {
		case '\r', '\n':
			continue
		case '-':
			digits[n] = '+'
		case '_':
			digits[n] = '/'
		default:
			digits[n] = c
		}
		n++
	}
	return digits[:n-n%together]
}

func looksHex(run string) bool {
	var digits, out [sample]byte
	first := firstDigits(&digits, run, 2)
	n, err := hex.Decode(out[:], first)
	return err == nil && len(first) >= minRun && looksDecoded(out[:n])
}

func looks32(run string) bool {
	var digits, out [sample]byte
	first := firstDigits(&digits, run, 8)
	n, err := base32.StdEncoding.Decode(out[:], first)
	return err == nil && len(first) >= minRun && looksDecoded(out[:n])
}

func looks64(run string) bool {
	var digits, out [sample]byte
	first := firstDigits(&digits, run, 4)
	n, err := base64.StdEncoding.Decode(out[:], first)
	return err == nil && len(first) >= minRun && looksDecoded(out[:n])
}

// looksDecoded reports whether bytes begin like a text or like a known file format.
func looksDecoded(b []byte) bool {
	if magic(b) != "" || wide(b) {
		return true
	}
	text := 0
	for _, c := range b {
		if c >= ' ' && c < 0x7f || c == '\t' || c == '\n' || c == '\r' || c == 0x1b {
			text++
		}
	}
	return len(b) > 0 && text*10 >= len(b)*9
}

// wide reports whether bytes are western text in little-endian UTF-16.
func wide(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	for i := 0; i+1 < len(b); i += 2 {
		if b[i+1] != 0 || b[i] < '\t' || b[i] > '~' {
			return false
		}
	}
	return true
}

// magic returns the file format of bytes: one of the compressions, or "file" for a program.
func magic(b []byte) string {
	switch {
	case len(b) < 4:
	case b[0] == 0x1f && b[1] == 0x8b && b[2] == 8:
		return "gzip"
	case b[0] == 'B' && b[1] == 'Z' && b[2] == 'h' && b[3] >= '1' && b[3] <= '9':
		return "bzip2"
	case b[0] == 0x78 && (b[1] == 0x01 || b[1] == 0x5e || b[1] == 0x9c || b[1] == 0xda):
		return "zlib"
	case string(b[:4]) == "\x7fELF":
		return "file"
	}
	return ""
}

// payload adds the text that a run decodes to, and what that decompresses to. It returns false if
// the result is no text.
func (p *peeler) payload(out, via, name string, depth int) bool {
	head := []byte(out[:min(len(out), sample)])
	switch kind := magic(head); {
	case kind == "file":
	case kind != "":
		plain, ok := Apply(kind, out, max(1, min(p.left, MaxOutput)))
		if !ok {
			// Four bytes are no proof. The data must also decompress.
			return false
		}
		out, name = plain, name+"+"+kind
	case wide(head):
		plain, err := decodeUTF16(out)
		if err != nil {
			return false
		}
		out, name = plain, name+"+utf16le"
	case !looksDecoded([]byte(out)):
		return false
	}
	p.add(out, via, name, depth)
	return true
}

// An escaping is a family of escapes.
type escaping struct {
	name  string
	first byte
	one   func(string) (rune, int)
	bytes bool
	// hides reports whether an escape of this character is suspicious, because nobody needs to escape
	// it.
	hides func(rune) bool
}

func printable(r rune) bool { return r > ' ' && r < 0x7f }

func unreserved(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' ||
		r == '~'
}

var escapings = [...]escaping{
	{"escape", '\\', escaped, true, printable},
	{"url", '%', percent, true, unreserved},
	{"html", '&', entity, false, unreserved},
}

// maxGap is how many plain bytes may be between two escapes of one stretch.
const maxGap = 16

// escapes decodes a stretch of escapes of one family, from i on, with the words around it. At least
// two of them must be suspicious. It returns where the search continues.
func (p *peeler) escapes(text string, i int, via string, depth int) int {
	family := &escapings[0]
	for f := range escapings {
		if escapings[f].first == text[i] {
			family = &escapings[f]
		}
	}
	r, n := family.one(text[i:])
	if n == 0 {
		return i + 1
	}
	told, end := 0, i
	for n > 0 {
		if family.hides(r) {
			told++
		}
		end += n
		if end < len(text) && text[end] != family.first {
			gap := strings.IndexByte(text[end:min(len(text), end+maxGap)], family.first)
			if gap < 0 || strings.IndexByte(text[end:end+gap], '\n') >= 0 {
				break
			}
			if _, m := family.one(text[end+gap:]); m == 0 {
				break
			}
			end += gap
		}
		r, n = family.one(text[end:])
	}
	if told < 2 {
		return end
	}
	start := i
	for start > 0 && i-start < 4*maxGap && inWord(text[start-1]) {
		start--
	}
	stop := end
	for stop < len(text) && stop-end < 4*maxGap && inWord(text[stop]) && text[stop] != family.first {
		stop++
	}
	p.add(replace(text[start:stop], family.bytes, family.one), via, family.name, depth)
	return stop
}

func inWord(c byte) bool { return c > ' ' && c != '"' && c != '\'' && c != '`' }
