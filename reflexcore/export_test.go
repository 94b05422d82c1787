package reflexcore

import (
	"io/fs"

	"approver.example"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/tools"
)

// onlyLinks is a file system of which no more is known than where links lead.
type onlyLinks struct{ tools.FS }

func (onlyLinks) Lstat(string) (fs.FileInfo, error)          { return nil, fs.ErrPermission }
func (onlyLinks) ReadDir(string, int) ([]string, error)      { return nil, fs.ErrPermission }
func (onlyLinks) Entries(string, int) ([]fs.DirEntry, error) { return nil, fs.ErrPermission }

// On puts the engine on another file system.
func (e *Engine) On(files tools.FS) {
	e.analyzer.On(onlyLinks{files})
}

// With gives the engine a memory for all calls.
func (e *Engine) With(m *memory.Memory) *Engine {
	e.Memory = func(approver.ToolCall) *memory.Memory { return m }
	return e
}
