package shell

// Readings are the ways in which one command is walked: for each combination of what its
// variables may be, and once more for what is not known of its words being nothing.
type readings struct {
	in *interp

	omits    omission
	saw      unsure
	start    start    // what the present command begins with
	below    []string // what stands below unknown folders that the environment names, see [markRooted]
	founded  []string // all that was in below, for [interp.withNothing]
	chose    bool     // and whether one of the folders was chosen by the call
	leaner   bool     // a lean walk may see what this one does not
	lean     bool     // all of the text is walked with what is not known taken for nothing
	forks    int      // commands that may print one thing or another
	first    bool     // the first of these counts, see [readings.fork]
	partings int      // commands that may be others, or set other parameters, see [readings.parted]
}
