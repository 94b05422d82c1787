package shell

import "strings"

// An arena keeps the texts that a walk makes in one piece of memory.
type arena struct {
	texts strings.Builder // what words are made of, in one piece of memory
}
