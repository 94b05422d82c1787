package decode

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html"
	"io"
	"maps"
	"mime/quotedprintable"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// MaxOutput is the limit, in bytes, of what a decoder may produce if the caller gives none.
const MaxOutput = 64 << 10

// maxRatio is how many times its input a decompressor may produce, above ratioFree bytes: scripts
// shrink to a fifth, bombs to a thousandth.
const maxRatio, ratioFree = 200, 4096

var errInput = errors.New("not in this encoding")

// decoders are the named decoders. Apply checks the limit afterwards, so each may exceed it by a
// small factor, but not more.
var decoders = map[string]func(in string, limit int) (string, error){
	"base64":    func(in string, _ int) (string, error) { return decodeBase64(in) },
	"base32":    func(in string, _ int) (string, error) { return decodeBase32(in) },
	"hex":       func(in string, _ int) (string, error) { return decodeHex(in) },
	"ascii85":   func(in string, _ int) (string, error) { return decodeASCII85(in) },
	"uu":        func(in string, _ int) (string, error) { return decodeUU(in) },
	"url":       func(in string, _ int) (string, error) { return url.PathUnescape(in) },
	"form":      func(in string, _ int) (string, error) { return url.QueryUnescape(in) },
	"escape":    func(in string, _ int) (string, error) { return Unescape(in), nil },
	"html":      func(in string, _ int) (string, error) { return html.UnescapeString(in), nil },
	"rot13":     func(in string, _ int) (string, error) { return strings.Map(rot13, in), nil },
	"rot47":     func(in string, _ int) (string, error) { return strings.Map(rot47, in), nil },
	"rev":       func(in string, _ int) (string, error) { return reverse(in), nil },
	"utf16le":   func(in string, _ int) (string, error) { return decodeUTF16(in) },
	"quoted":    func(in string, limit int) (string, error) { return drain(quoted(in), len(in), limit) },
	"gzip":      func(in string, limit int) (string, error) { return decompress(in, limit, gzipReader) },
	"deflate":   func(in string, limit int) (string, error) { return decompress(in, limit, flateReader) },
	"zlib":      func(in string, limit int) (string, error) { return decompress(in, limit, zlib.NewReader) },
	"bzip2":     func(in string, limit int) (string, error) { return decompress(in, limit, bzip2Reader) },
	"base64url": func(in string, _ int) (string, error) { return decodeBase64(in) },
}

// Names returns the decoders that [Apply] knows, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(decoders))
}

// Apply decodes a text with a decoder, one of [Names]. It returns false if there is no such decoder,
// if the text is not in that encoding, or if the result is longer than limit bytes ([MaxOutput] if
// limit is 0 or less). A partial result would be misleading.
func Apply(name, in string, limit int) (string, bool) {
	limit = orDefault(limit, MaxOutput)
	decoder := decoders[name]
	if decoder == nil || len(in) > 16*limit {
		return "", false
	}
	out, err := decoder(in, limit)
	if err != nil || len(out) > limit {
		return "", false
	}
	return out, true
}

// withoutSpace removes white space, which wrapped encodings have.
func withoutSpace(in string) string {
	if strings.IndexFunc(in, isSpace) < 0 {
		return in
	}
	return strings.Map(func(r rune) rune {
		if isSpace(r) {
			return -1
		}
		return r
	}, in)
}

func isSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

var toStd = strings.NewReplacer("-", "+", "_", "/")

// decodeBase64 decodes the standard and the URL-safe alphabet, with or without padding.
func decodeBase64(in string) (string, error) {
	in = strings.TrimRight(withoutSpace(in), "=")
	if strings.ContainsAny(in, "-_") {
		in = toStd.Replace(in)
	}
	if len(in)%4 == 1 {
		return "", errInput
	}
	out, err := base64.RawStdEncoding.DecodeString(in)
	return string(out), err
}

func decodeBase32(in string) (string, error) {
	in = strings.TrimRight(withoutSpace(in), "=")
	out, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(in))
	return string(out), err
}

// decodeHex decodes plain digits, and bytes written as 0x41, \x41 or separated by spaces, colons or
// commas.
func decodeHex(in string) (string, error) {
	digits := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		prefix := i+1 < len(in) && in[i+1]|0x20 == 'x' // 0x or \x
		switch c := in[i]; {
		case prefix && (c == '0' || c == '\\'):
			i++
		case hexDigit(c) < 16:
			digits = append(digits, c)
		case isSpace(rune(c)), c == ':', c == ',':
		default:
			return "", errInput
		}
	}
	n, err := hex.Decode(digits, digits)
	return string(digits[:n]), err
}

func decodeASCII85(in string) (string, error) {
	in = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(in), "<~"), "~>")
	out := make([]byte, 4*len(in)+4)
	n, _, err := ascii85.Decode(out, []byte(in), true)
	return string(out[:n]), err
}

// decodeUU decodes the lines of a uuencoded text, with or without begin and end.
func decodeUU(in string) (string, error) {
	var out []byte
	for line := range strings.SplitSeq(in, "\n") {
		line = strings.TrimRight(line, "\r")
		if line == "" || line == "end" || strings.HasPrefix(line, "begin ") {
			continue
		}
		n, body := int(line[0]-' ')&63, line[1:]
		if line[0] < ' ' || line[0] > '`' || len(body) < (n+2)/3*4 {
			return "", errInput
		}
		start := len(out)
		for i := 0; i+3 < len(body) && len(out)-start < n; i += 4 {
			a, b, c, d := uuBits(body[i]), uuBits(body[i+1]), uuBits(body[i+2]), uuBits(body[i+3])
			out = append(out, a<<2|b>>4, b<<4|c>>2, c<<6|d)
		}
		out = out[:min(len(out), start+n)]
	}
	return string(out), nil
}

func uuBits(c byte) byte { return (c - ' ') & 63 }

// decodeUTF16 decodes little-endian UTF-16, which PowerShell's encoded commands use.
func decodeUTF16(in string) (string, error) {
	if len(in)%2 != 0 {
		return "", errInput
	}
	units := make([]uint16, 0, len(in)/2)
	for i := 0; i < len(in); i += 2 {
		units = append(units, uint16(in[i])|uint16(in[i+1])<<8)
	}
	return strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"), nil
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

func rot47(r rune) rune {
	if r >= '!' && r <= '~' {
		return '!' + (r-'!'+47)%94
	}
	return r
}

func reverse(in string) string {
	runes := []rune(in)
	slices.Reverse(runes)
	return string(runes)
}

func quoted(in string) io.Reader { return quotedprintable.NewReader(strings.NewReader(in)) }

func gzipReader(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func flateReader(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }

func bzip2Reader(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }

func decompress(in string, limit int, open func(io.Reader) (io.ReadCloser, error)) (string, error) {
	r, err := open(strings.NewReader(in))
	if err != nil {
		return "", err
	}
	return drain(r, len(in), limit)
}

// drain reads everything, and fails above the limit or the ratio.
func drain(r io.Reader, size, limit int) (string, error) {
	limit = min(limit, ratioFree+maxRatio*size)
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(r, int64(limit)+1))
	if err == nil && n > int64(limit) {
		err = errors.New("decodes to more than the limit")
	}
	return out.String(), err
}
