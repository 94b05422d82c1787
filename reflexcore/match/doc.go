// Package match tests many regular expressions on a short text in one pass.
package match
