// Package sidecar runs a classifier in a separate program, and asks it for scores. The
// program (cmd/approver-classifier) loads a model that a person installed. It uses cgo
// and a large library, so it is a process of its own: a crash, hang or leak there does
// not affect the daemon.
//
// # What a score means
//
// As in package classifier: a reason to look closer, never one to allow and
// never alone one to block.
//
// # Failing closed
//
// [Sidecar.Score] gives a score from 0 to 1 or an error that is [ErrUnavailable]:
// the program is missing, crashed, hangs or is too slow; its answer has another id, is
// one too many, or is no number from 0 to 1; its model has another manifest than the
// configuration says, or other scores for the manifest's texts. The caller then goes on
// to the next tier, and never allows.
//
// A program that breaks the protocol or does not answer in time is killed and started
// again, after a pause that doubles each time up to a minute. It gets no environment and
// only the model's arguments. It ends when its standard input ends, so that it does not
// outlive the daemon. [Status] has the end of its standard error.
package sidecar
