package display

import "fmt"

// said is a phrase in English, as a card shows it.
func said(p Phrase) string {
	args := make([]any, len(p.Args))
	for i, a := range p.Args {
		args[i] = SafeLine(a)
	}
	return fmt.Sprintf(p.Text, args...)
}
