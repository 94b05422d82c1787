//go:build ignore

// This program writes foldtable.txt from Unicode's confusables.txt
// (https://www.unicode.org/Public/security/latest/confusables.txt):
//
//	go run foldgen.go confusables.txt
package main

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const header = `# Written by foldgen.go from confusables.txt %s and the compatibility
# decompositions of Unicode %s: what each character is folded to, and the character.
#
# The data is Unicode's: © Unicode, Inc., under the Unicode License v3
# (https://www.unicode.org/license.txt). UNICODE, INC. PROVIDES IT "AS IS",
# WITHOUT WARRANTY OF ANY KIND.

`

// byHand are letters that neither table has: small capitals, and letters in
// squares and circles.
var byHand = map[rune]string{}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run foldgen.go confusables.txt")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	alike, version := parse(string(text))
	for i, r := range []rune("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡ_ʏᴢ") {
		if r != '_' {
			byHand[r] = string(rune('a' + i))
		}
	}
	for i := range rune(26) {
		for _, first := range []rune{0x249c, 0x1f110, 0x1f150, 0x1f170, 0x1f1e6} {
			byHand[first+i] = string('a' + i)
		}
	}
	table := map[rune]string{}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if to, ok := fold(r, alike); ok {
			table[r] = to
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, header, version, norm.Version)
	for _, r := range slices.Sorted(maps.Keys(table)) {
		to := table[r]
		if to == "" || len(to) > 8 || strings.Contains(to[1:], " ") || to[0] == ' ' && len(to) > 1 {
			log.Fatalf("%U: %q does not fit into a row", r, to)
		}
		fmt.Fprintf(&b, "%-8s %06x\n", to, r)
	}
	if err := os.WriteFile("foldtable.txt", b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// parse returns what each character looks like.
func parse(text string) (alike map[rune]string, version string) {
	alike = map[rune]string{}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, "# Version: "); ok {
			version = strings.TrimSpace(v)
		}
		fields := strings.Split(line, ";")
		if strings.HasPrefix(line, "#") || len(fields) < 3 {
			continue
		}
		var to strings.Builder
		for hex := range strings.FieldsSeq(fields[1]) {
			to.WriteRune(point(hex))
		}
		alike[point(strings.TrimPrefix(strings.TrimSpace(fields[0]), "\ufeff"))] = to.String()
	}
	return alike, version
}

func point(hex string) rune {
	r, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return rune(r)
}

// fold returns what a character is folded to, if it is to ASCII.
func fold(r rune, alike map[rune]string) (to string, ok bool) {
	if to, ok := byHand[r]; ok {
		return to, true
	}
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return "", false // dropped
	case unicode.IsSpace(r), unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp), r == 0x2800:
		return " ", true
	case unicode.Is(unicode.Pd, r):
		return "-", true
	}
	to, ok = ascii(norm.NFKD.String(string(r)), alike)
	if !ok || to == " " || to == "" { // a mark that stands alone is no space
		to, ok = drawn(r, alike)
	}
	if letter := strings.Trim(to, "'"); unicode.IsLetter(r) && len(letter) == 1 {
		to = letter // its hook is drawn as an apostrophe
	}
	if lower := unicode.ToLower(r); (!ok || to == "") && lower != r && lower >= 0x80 {
		return fold(lower, alike)
	}
	return to, ok && to != ""
}

// ascii folds each character of a decomposition.
func ascii(s string, alike map[rune]string) (string, bool) {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(unicode.ToLower(r))
		} else if !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			to, ok := drawn(r, alike)
			if !ok {
				return "", false
			}
			b.WriteString(to)
		}
	}
	return b.String(), true
}

// drawn returns the ASCII that a character looks like. confusables.txt names
// one prototype for what looks alike: l for I, 1 and |, rn for m.
func drawn(r rune, alike map[rune]string) (string, bool) {
	like, ok := alike[r]
	switch like {
	case "rn":
		return "m", true
	case "''":
		return `"`, true
	case "l":
		switch {
		case unicode.IsUpper(r):
			return "i", true
		case unicode.IsSymbol(r):
			return "|", true
		case unicode.IsNumber(r):
			return "1", true
		}
	case "O":
		if unicode.IsNumber(r) {
			return "0", true
		}
	}
	if !ok {
		return "", false
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(like) {
		if r < 0x80 {
			b.WriteRune(unicode.ToLower(r))
		} else if !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			return "", false
		}
	}
	return b.String(), !strings.ContainsFunc(b.String(), unicode.IsControl)
}
