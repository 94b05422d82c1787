package fingerprint

import (
	"approver.example"
	"approver.example/fingerprint/disk"
	"approver.example/reflexcore"
)

// A Walker analyzes what a call would run; see [reflexcore.Engine.Walk].
type Walker interface {
	Walk(approver.ToolCall) (reflexcore.Walk, error)
}

// A callState is shared by all readers of one call, also by those of nested texts.
type callState struct {
	walker    Walker
	goCache   *disk.Cache[goFile]          // parsed Go files, for all calls
	walks     int                          // texts walked so far
	writes    textWrites                   // what texts may write
	imported  map[string]goFile            // parsed Go files
	goTrees   []string                     // Go folders that are bound by metadata
	scriptsOf map[string][]string          // by package.json: names of its scripts
	inHooks   map[string][]string          // by folder of git hooks: its files
	searches  map[string]disk.PathContents // by PATH: contents of its folders
}

func newCallState(walker Walker, cache *disk.Cache[goFile]) *callState {
	return &callState{
		walker: walker, goCache: cache, writes: textWrites{}, imported: map[string]goFile{},
		scriptsOf: map[string][]string{}, inHooks: map[string][]string{}, searches: map[string]disk.PathContents{},
	}
}
