// Package words formats numbers, times and shell words for people, the same way everywhere.
package words

import (
	"fmt"
	"strings"
	"time"
)

// PairExample is the command, without the program's name, that hints show to somebody who has
// no chat.
const PairExample = "pair telegram"

// Count returns a number with its noun, which gets an s unless the number is 1.
func Count(n uint64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Rules counts rules, and the heuristics behind them if there are any.
func Rules(rules, heuristics int) string {
	text := Count(uint64(rules), "rule")
	if heuristics > 0 {
		text += fmt.Sprintf(", %d heuristics", heuristics)
	}
	return text
}

// CountWere is [Count] followed by was or were.
func CountWere(n uint64, noun string) string {
	if n == 1 {
		return Count(n, noun) + " was"
	}
	return Count(n, noun) + " were"
}

// Days formats whole days as days, and other durations like [time.Duration.String].
func Days(d time.Duration) string {
	if n := d / (24 * time.Hour); n > 0 && d%(24*time.Hour) == 0 {
		return Count(uint64(n), "day")
	}
	return d.String()
}

// Minute formats a time in UTC without its seconds.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// ShellWord quotes a text, if needed, so that a shell reads it as one word.
func ShellWord(s string) string { return quotedUnless(s, "/._-+:@%") }

// ShellLine joins words and quotes them, if needed, so that a shell reads the same words.
func ShellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = quotedUnless(w, "/._-+=:,@%")
	}
	return strings.Join(words, " ")
}

// quotedUnless quotes a word unless it consists of letters, digits and the characters in
// plain.
func quotedUnless(s, plain string) string {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(plain, r)
	}
	if s != "" && !strings.ContainsFunc(s, odd) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
