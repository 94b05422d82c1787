// Package shape recognizes secrets by the form of a value and by the name before it.
//
// The mask and package places share it. values.go tells random values from words, names.go has the
// names of secrets, programs.go has the known programs and variables, and text.go reads
// characters and quotes.
package shape
