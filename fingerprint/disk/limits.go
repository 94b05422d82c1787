package disk

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

// Bounds of a Binder, each for one call.
const (
	MaxFiles     = 1024      // files bound that the command names
	MaxCallBytes = 256 << 20 // bytes of files that are read in full
	endBytes     = 1 << 20   // of each end of a larger file
	maxLooks     = 20_000    // places looked at
	MaxPath      = 4096      // bytes of a path; the kernel takes no more
	MaxTree      = 4096      // files of one folder that are bound by their content
	treeBytes    = 64 << 20  // bytes of them
	maxWalked    = 200_000   // entries of all folders that are gone through
	MaxText      = 1 << 20   // bytes of a file that is read for what it names
	MaxFollowed  = 8         // how deep scripts that run scripts are followed
	maxTexts     = 4096      // files that are read for what they name
	maxTextBytes = 64 << 20  // bytes of them
	MaxBases     = 64        // folders that the words of one command name
	MaxParts     = 1024      // parts of one word longer than a path
	MaxWords     = 512       // places that one file of settings names
	MaxWalks     = 512       // lines of recipes, and scripts, that are walked
	maxCached    = 4096      // hashes kept between calls
	MaxScans     = 64        // scans at once, those included that nobody waits for any more
	maxNames     = 32        // of what is not bound
	MaxNested    = 32        // variables in variables, and nodes in nodes
)

// walkTime bounds the walk through the folders of one call.
const walkTime = 2 * time.Second

// unboundNames are texts for people about what is not bound.
type unboundNames struct{ Unbound []string }

// Name reports something that is not bound. The texts are for people, and mostly from the agent.
func (o *unboundNames) Name(format string, args ...any) {
	// Cards escape the character ….
	what := cut(strings.NewReplacer("…", "...", effect.Unknown, "...").Replace(fmt.Sprintf(format, args...)))
	switch {
	case len(o.Unbound) < maxNames:
		o.Unbound = append(o.Unbound, what)
	case len(o.Unbound) == maxNames:
		o.Unbound = append(o.Unbound, "more that is not listed")
	}
}

// cut shortens a name that would fill a card.
func cut(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
