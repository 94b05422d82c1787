package agenttexts

import (
	"slices"
	"strings"
	"testing"
)

// The prompt of a start is one of its words, whatever they are.
func FuzzPromptOf(f *testing.F) {
	f.Add("-p\x01--model\x01opus\x01hi")
	f.Add("--\x01-x")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, "\x01")
		prompt, ok := promptOf(words)
		if ok && (prompt == "" || !slices.Contains(words, prompt)) || !ok && prompt != "" && prompt != "-" {
			t.Errorf("%q: %q %v", words, prompt, ok)
		}
		addedFolders(words, "/home")
	})
}
