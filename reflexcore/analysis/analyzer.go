// Package analysis finds out what a call would do, before it is judged.
//
// A [Call] is read from top to bottom in read.go: a command by one walk of package shell, another
// tool by its arguments, and then each payload that was found on the way. Read analyzer.go, call.go
// and read.go first. languages.go connects the readers of other languages to the walk, and files.go
// looks at the files that a call names.
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

// Limits bound the analysis of one call. A zero field has its default.
type Limits struct {
	Shell  shell.Limits
	Code   code.Limits
	Decode decode.Limits
	SQL    sqltext.Limits
	Tools  tools.Limits
}

// An Analyzer finds out what calls would do. It is safe for concurrent use.
type Analyzer struct {
	Shell   shell.Analyzer
	Limits  Limits
	Files   disk.Disk
	Git     *gitrepo.Reader
	Paths   *places.Cache
	aliases filenames.Cache
}

// On makes the analyzer read another file system.
func (z *Analyzer) On(d disk.Disk) { z.Files, z.Git = d, &gitrepo.Reader{Disk: d} }
