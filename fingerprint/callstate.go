package fingerprint

import (
	"approver.example"
	"approver.example/fingerprint/disk"
	"approver.example/reflexcore"
)

// A Walker says what a call would run; see [reflexcore.Engine.Walk].
type Walker interface {
	Walk(approver.ToolCall) (reflexcore.Walk, error)
}

// A callState is what all readers of one call share, beside what is bound: readers of texts that a
// text runs have it too.
type callState struct {
	walker    Walker
	goCache   *goFileCache
	walks     int                          // texts that were walked
	writes    textWrites                   // what texts may write
	imported  map[string]goFile            // what files of Go import
	goTrees   []string                     // folders of Go that are bound without their content
	scriptsOf map[string][]string          // names of the scripts of a package.json
	inHooks   map[string][]string          // files of folders of hooks of git
	searches  map[string]disk.PathContents // what lies in the folders of a PATH
}

func newCallState(walker Walker, cache *goFileCache) *callState {
	return &callState{
		walker: walker, goCache: cache, writes: textWrites{}, imported: map[string]goFile{},
		scriptsOf: map[string][]string{}, inHooks: map[string][]string{}, searches: map[string]disk.PathContents{},
	}
}
