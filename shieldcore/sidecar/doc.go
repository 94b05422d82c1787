// Package sidecar runs a classifier that is a program of its own, and asks it
// for scores. The program (cmd/approver-classifier) loads a model that a person
// brought; it is built with cgo and a large library, so it is kept out of this
// process: what crashes, hangs or leaks there ends there.
//
// # What a score means
//
// As in package classifier: a reason to look closer, never one to allow and
// never alone one to block.
//
// # Closed at every seam
//
// [Sidecar.Score] gives a score from 0 to 1 or an error that is [ErrUnavailable]:
// the program is missing, crashed, hangs or is too slow; it answers another
// request, more than was asked, or something that is no number from 0 to 1; its
// model has another manifest than the configuration says, or gives the texts of
// the manifest other scores. Whoever asks goes on to the next tier then, never to
// an allow.
//
// A program that broke the protocol or did not answer in time is killed and
// started again, after a pause that doubles each time up to a minute. It gets no
// environment, no arguments but the model's, and ends when its standard input
// does, so that it does not outlive the daemon. What it writes to its standard
// error is kept up to a bound, for [Status].
package sidecar
