// Command confusables writes the table of characters that look like ASCII ones, display/alikes.txt,
// from a file of the Unicode Consortium:
//
//	go run ./internal/confusables confusables.txt > display/alikes.txt
//
// The file is https://www.unicode.org/Public/security/latest/confusables.txt, the data of UTS #39.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: confusables confusables.txt > display/alikes.txt")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err == nil {
		err = write(os.Stdout, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "confusables:", err)
		os.Exit(1)
	}
}

// write writes one row for each ASCII text: its characters, and those that look like it, in
// hexadecimal digits.
func write(w io.Writer, r io.Reader) error {
	forms := map[rune]string{} // what the characters of the file look like, in its own terms
	version := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		if v, ok := strings.CutPrefix(line, "# Version: "); ok {
			version = v
		}
		line, _, _ = strings.Cut(line, "#")
		parts := strings.Split(line, ";")
		if len(parts) < 2 {
			continue
		}
		from, err := characters(parts[0])
		if err != nil {
			return err
		}
		to, err := characters(parts[1])
		if err != nil {
			return err
		}
		forms[[]rune(from)[0]] = to
	}
	if err := lines.Err(); err != nil || version == "" {
		return cmp.Or(err, fmt.Errorf("no version"))
	}
	ascii := map[string]string{} // the form of an ASCII character is sometimes another text
	for c := rune('~'); c > ' '; c-- {
		ascii[cmp.Or(forms[c], string(c))] = string(c)
	}
	rows := map[string][]rune{}
	for r, form := range forms {
		if like := cmp.Or(ascii[form], form); r >= utf8.RuneSelf && isASCII(like) {
			rows[like] = append(rows[like], r)
		}
	}
	fmt.Fprintf(w, "# Characters that look like ASCII ones: the data of UTS #39, version %s,\n"+
		"# https://www.unicode.org/Public/security/, © Unicode, Inc., under the Unicode License V3.\n"+
		"# Written by internal/confusables.\n", version)
	for _, like := range slices.Sorted(maps.Keys(rows)) {
		slices.Sort(rows[like])
		fmt.Fprintf(w, "%s:%s\n", strings.TrimSpace(digits([]rune(like))), digits(rows[like]))
	}
	return nil
}

// characters reads characters in hexadecimal digits.
func characters(text string) (string, error) {
	var all []rune
	for field := range strings.FieldsSeq(text) {
		n, err := strconv.ParseUint(field, 16, 21)
		if err != nil {
			return "", err
		}
		all = append(all, rune(n))
	}
	if len(all) == 0 {
		return "", fmt.Errorf("no character in %q", text)
	}
	return string(all), nil
}

func digits(all []rune) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, " %04X", r)
	}
	return b.String()
}

// isASCII reports whether a text has only ASCII characters that are seen.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
