package shell

// A filesystem is what the text wrote, copied, linked and connected, as far as later commands
// read or run it. What it does not know lies on the disk, and is not looked at.
type filesystem struct {
	in *interp

	list    []virtual
	links   int // how many files are links
	procs   int
	written int // how often files were written
}
