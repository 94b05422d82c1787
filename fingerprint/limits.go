package fingerprint

import "time"

// Bounds of a Binder, each for one call.
const (
	maxFiles     = 1024      // files bound that the command names
	maxCallBytes = 256 << 20 // bytes of files that are read in full
	endBytes     = 1 << 20   // of each end of a larger file
	maxLooks     = 20_000    // places looked at
	maxPath      = 4096      // bytes of a path; the kernel takes no more
	maxTree      = 4096      // files of one folder that are bound by their content
	treeBytes    = 64 << 20  // bytes of them
	maxWalked    = 200_000   // entries of all folders that are gone through
	maxText      = 1 << 20   // bytes of a file that is read for what it names
	maxFollowed  = 8         // how deep scripts that run scripts are followed
	maxTexts     = 4096      // files that are read for what they name
	maxTextBytes = 64 << 20  // bytes of them
	maxBases     = 64        // folders that the words of one command name
	maxParts     = 1024      // parts of one word longer than a path
	maxWords     = 512       // places that one file of settings names
	maxWalks     = 512       // lines of recipes, and scripts, that are walked
	maxCached    = 4096      // hashes kept between calls
	maxScans     = 64        // scans at once, those included that nobody waits for any more
	maxNames     = 32        // of what is not bound
	maxNested    = 32        // variables in variables, and nodes in nodes
)

// walkTime is how long it may take to go through the folders of one call.
const walkTime = 2 * time.Second
