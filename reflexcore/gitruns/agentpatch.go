package gitruns

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// Coding agents have a tool that applies a patch of their own form, and a program of that name for
// their shell. A patch that is typed into a shell changes the same files as one that is given to the
// tool, and is judged like it.

// patchFlag makes a coding agent's own program apply the patch that follows.
const patchFlag = "--codex-run-as-apply-patch"

// isAgentPatch reports whether a program applies such a patch.
func isAgentPatch(name string) bool { return name == "apply_patch" || name == "applypatch" }

// AgentPatches judges the patches that a command line gives to such a program.
func (g *Reader) AgentPatches() {
	if g.ToolCall.Command == "" || !strings.Contains(g.Text, "apply_patch") && !strings.Contains(g.Text, "applypatch") &&
		!strings.Contains(g.Text, patchFlag) {
		return
	}
	explained := g.Place
	explained.Explain = true
	var result shell.Result
	g.Analyzer.Shell.Analyze(g.ToolCall.Command, explained, &result)
	for i := range result.Steps {
		s := &result.Steps[i]
		flag := slices.Index(s.Argv, patchFlag)
		if len(s.Argv) == 0 || s.Remote || flag < 0 && !isAgentPatch(path.Base(s.Argv[0])) {
			continue
		}
		text := strings.Join(s.Argv[max(flag, 0)+1:], "\n")
		if text == "" && s.Fed {
			text = s.Input
		}
		if !strings.Contains(text, "*** ") || !effect.IsKnown(text) || !path.IsAbs(s.Dir) || !effect.IsKnown(s.Dir) {
			g.Unseen("a patch that cannot be read")
			continue
		}
		args, err := json.Marshal(map[string]string{"input": text})
		if err != nil {
			g.Unseen("a patch that cannot be read")
			continue
		}
		call := g.ToolCall
		call.Tool, call.Command, call.Args, call.Dir, call.Paths = "apply_patch", "", args, s.Dir, nil
		g.ReadAs(call, g.Place)
	}
}
