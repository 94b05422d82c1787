package term

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// TypedYes asks for the whole word yes. Somebody who types y meant it, and is told once
// more which word it takes; anything else, and no answer, is a no.
func TypedYes(in io.Reader, out io.Writer, question string) bool {
	const tries = 3
	lines := bufio.NewReader(in)
	for range tries {
		_, _ = fmt.Fprint(out, question+" Type yes: ") // whoever cannot read it types nothing
		line, _ := lines.ReadString('\n')
		typed := strings.TrimSpace(line)
		if typed == "yes" {
			return true
		}
		if lower := strings.ToLower(typed); lower != "y" && lower != "yes" {
			return false
		}
		question = "Only the whole word counts, in small letters."
	}
	return false
}
