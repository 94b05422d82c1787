// Package words writes numbers, times and shell words for people, the same way everywhere.
package words

import (
	"fmt"
	"strings"
	"time"
)

// PairExample is the command that hints name to somebody who has no chat, behind approver.
const PairExample = "pair telegram"

// Count is a number with its noun.
func Count(n uint64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// CountWere is counted as the subject of a sentence.
func CountWere(n uint64, noun string) string {
	if n == 1 {
		return Count(n, noun) + " was"
	}
	return Count(n, noun) + " were"
}

// Days writes whole days as days.
func Days(d time.Duration) string {
	if n := d / (24 * time.Hour); n > 0 && d%(24*time.Hour) == 0 {
		return Count(uint64(n), "day")
	}
	return d.String()
}

// Minute is a time without its seconds.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// ShellWord writes a text so that a shell takes it for one word.
func ShellWord(s string) string { return quotedUnless(s, "/._-+:@%") }

// ShellLine writes words so that a shell would read the same words.
func ShellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = quotedUnless(w, "/._-+=:,@%")
	}
	return strings.Join(words, " ")
}

// quotedUnless quotes a word unless it has letters, digits and these signs alone.
func quotedUnless(s, plain string) string {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(plain, r)
	}
	if s != "" && !strings.ContainsFunc(s, odd) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
