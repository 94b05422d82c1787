package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A charsmap is SentencePiece's precompiled_charsmap: a double-array trie
// (Darts-clone) from keys to offsets in a text of replacements, each ended by a
// zero byte. The layout is that of darts.h, class DoubleArrayUnit: bit 8 tells a
// leaf, bits 0 to 7 are the label, bits 10 to 30 are the offset, shifted by 8 if
// bit 9 is set; in a value unit bits 0 to 30 are the value.
type charsmap struct {
	units []uint32
	texts string
}

const maxCharsmap = 16 << 20 // bytes

func (l *loader) precompiled(at string, raw json.RawMessage) (normalizer, error) {
	var encoded string
	if err := object(at, raw, keys{"type": nil, "precompiled_charsmap": need(&encoded)}); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, wrong(at+".precompiled_charsmap", "it is not base64")
	}
	m, err := newCharsmap(at+".precompiled_charsmap", data)
	if err != nil {
		return nil, err
	}
	return m.normalize, nil
}

// newCharsmap checks everything that normalize relies on.
func newCharsmap(at string, data []byte) (*charsmap, error) {
	if len(data) < 4 || len(data) > maxCharsmap {
		return nil, wrong(at, "it has %d bytes: 4 to %d are possible", len(data), maxCharsmap)
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; size == 0 || size%4 != 0 || size > uint64(len(data)) {
		return nil, wrong(at, "its trie should have %d bytes, and it has %d in all", size, len(data))
	}
	m := &charsmap{units: make([]uint32, size/4), texts: string(data[size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	if !utf8.ValidString(m.texts) || m.texts == "" || m.texts[len(m.texts)-1] != 0 {
		return nil, wrong(at, "its replacements are not text that ends in a zero byte")
	}
	return m, nil
}

// normalize replaces, at each place of s, the longest key that begins there.
func (m *charsmap) normalize(s string) string {
	var b strings.Builder
	for s != "" {
		n, text := m.longest(s)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			text = s[:n]
		}
		b.WriteString(text)
		s = s[n:]
	}
	return b.String()
}

// longest returns the length of the longest key at the start of s, 0 for none, and its
// replacement.
func (m *charsmap) longest(s string) (n int, text string) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(m.units[0])
	for i := range len(s) {
		c := s[i]
		at ^= uint32(c)
		if c == 0 || uint64(at) >= uint64(len(m.units)) {
			break
		}
		unit := m.units[at]
		if unit&(1<<31|0xff) != uint32(c) {
			break
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if uint64(at) >= uint64(len(m.units)) {
			break
		}
		value := m.units[at] & (1<<31 - 1)
		if uint64(value) >= uint64(len(m.texts)) || !boundary(s, i+1) || !utf8.RuneStart(m.texts[value]) {
			continue
		}
		text, _, _ = strings.Cut(m.texts[value:], "\x00")
		n = i + 1
	}
	return n, text
}

// boundary reports whether a character of s ends before i.
func boundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
