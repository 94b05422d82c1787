package shell

// Parameters are the positional parameters of the shell, and how a word reads them and its
// variables.
type parameters struct {
	in *interp

	params   []data
	others   [][]data  // more than one list of parameters is possible
	grown    [2][]data // long lists of parameters that may be added to, see [parameters.listOf]
	oldest   int       // of these
	zero     data      // $0
	named    bool      // the first word after a script is $0
	iterates bool      // the words are taken one after the other: their order does not matter
}
