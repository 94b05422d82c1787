// Package analysis finds out what a call would do, before anybody judges it.
//
// A [Call] is read from top to bottom in read.go: its command by one walk of package shell,
// another tool by its arguments, and each payload that is found on the way. Read
// analyzer.go, call.go and read.go; languages.go hands code of other languages to the walk,
// and files.go looks at the files that a call names.
package analysis

import (
	"approver.example/reflexcore/code"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/filenames"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/tools"
)

// Limits bound the analysis of one call. A field that is zero has its default.
type Limits struct {
	Shell  shell.Limits
	Code   code.Limits
	Decode decode.Limits
	SQL    sqltext.Limits
	Tools  tools.Limits
}

// An Analyzer finds out what calls would do. It can be shared.
type Analyzer struct {
	Shell   shell.Analyzer
	Limits  Limits
	Files   disk.Disk
	Git     *gitrepo.Reader
	Paths   *places.Cache
	aliases filenames.Cache
}

// On puts it on another file system.
func (z *Analyzer) On(d disk.Disk) { z.Files, z.Git = d, &gitrepo.Reader{Disk: d} }
