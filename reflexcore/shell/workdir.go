package shell

// A workdir is the working directory of the shell, as far as it is known.
type workdir struct {
	dir    string
	may    string // what stands before the first slash of dir may be this folder, where that is not known
	before string // where it still is if the last cd failed; empty: it did not
	beside string // where it may still be if one of the last cd failed: a folder of settings
}
