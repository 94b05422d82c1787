// Package shape tells secrets by the look of a value and by the name before it.
//
// It is shared by the mask and by what finds the places of credentials in a command:
// values.go tells random values from words, names.go has what secrets are called,
// programs.go has the programs and variables that people know, and text.go reads
// characters and quotes.
package shape
