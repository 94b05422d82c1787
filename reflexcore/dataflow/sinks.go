package dataflow

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// This file maps what a call does to the sinks of information flow.

// sink returns the sink that an effect brings data to.
func (f *Flow) sink(i int) (flow.Sink, bool) {
	e := &f.call.Effects[i]
	switch e.Kind {
	case effect.NetOut, effect.Publish, effect.NetIn:
		return flow.External, e.Kind != effect.NetIn || !places.IsPackage(e)
	case effect.Exec, effect.Persist:
		return flow.Exec, true
	case effect.Write:
		at := places.Place(0)
		if i < len(f.places) {
			at = f.places[i]
		}
		if at&(places.Content<<content.Instructions|places.Content<<content.Agent) != 0 || isMemoryFile(e.Target) {
			return flow.Memory, true
		}
		return flow.WorkspaceWrite, true
	case effect.Read:
		return flow.Read, e.Bits&effect.Later == 0
	default: // data does not get anywhere by the others
		return 0, false
	}
}

// isMemoryFile reports whether a path is one where agents keep their memories.
func isMemoryFile(p string) bool {
	base := strings.ToLower(path.Base(p))
	if base == "memory.md" || base == "memories.md" || base == "memory.json" || base == "memory.jsonl" {
		return true
	}
	for folder := range protected.AgentFolders {
		if i := strings.Index(p, "/"+folder+"/"); i >= 0 &&
			(strings.Contains(p[i:], "/memory/") || strings.Contains(p[i:], "/memories/")) {
			return true
		}
	}
	return false
}

// writesMemory reports whether a tool, by its name, writes into an agent's memory.
func writesMemory(tool string) bool {
	tool = strings.ToLower(tool)
	return wordset.ContainsAny(tool, "memor", "remember", "knowledge") &&
		!wordset.ContainsAny(tool, "read", "search", "get", "list", "open", "view", "recall", "query", "find", "delete")
}

// serverOf returns the MCP server of a tool, empty for none, and whether the tool's name says that
// it passes data on. Where a server keeps data is not known.
func serverOf(tool string) (server string, writes bool) {
	tool, ok := strings.CutPrefix(strings.ToLower(tool), "mcp__")
	server, name, is := strings.Cut(tool, "__")
	if !ok || !is || len(server) > 100 {
		return "", false
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if forwardingWords[word] {
			return server, true
		}
	}
	return server, false
}

// forwardingWords are words of tools that pass data on.
var forwardingWords = wordset.Of("create add post send publish upload comment submit share reply update append " +
	"insert put push message mail email notify broadcast tweet invite export sync save store")

// copyPrograms are programs that copy what they read to another place and print none of it.
var copyPrograms = wordset.Of("cp mv install rsync scp tar bsdtar zip 7z gzip xz bzip2 zstd ln dd")

// reachesModel reports whether the model sees what an effect reads. It sees everything except what a
// program is known only to copy.
func (f *Flow) reachesModel(i int) bool {
	by, _, _ := strings.Cut(f.call.Effects[i].By, " ")
	switch {
	case intoRepository(f.call.Effects[i].By):
		return false
	case !copyPrograms[by]:
		return true
	}
	return !slices.ContainsFunc(f.call.Effects, func(e effect.Effect) bool {
		return e.By == f.call.Effects[i].By &&
			(e.Kind == effect.NetOut || e.Kind == effect.Write && !strings.HasPrefix(e.Target, "/dev/"))
	})
}

// mayCarryData reports whether the address of a fetch may carry data out.
func mayCarryData(e *effect.Effect, flags urls.Flags) bool {
	if e.Taint&(effect.Labels|effect.Secret) != 0 || flags&(urls.SecretQuery|urls.LongLabel) != 0 {
		return true
	}
	if len(e.Target) < minEncoded {
		return false
	}
	_, rest, _ := strings.Cut(e.Target, "://")
	return slices.ContainsFunc(strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/?&=:#.,;", r) }),
		looksEncoded)
}

// minEncoded is the least length, in bytes, of a part of an address that may be encoded data.
const minEncoded = 24

// looksEncoded reports whether a part of an address looks like encoded data: long, of letters and
// digits, and not written like a word.
func looksEncoded(part string) bool {
	if len(part) < minEncoded {
		return false
	}
	digits, dashes := 0, 0
	for _, c := range part {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == '_':
			dashes++
		}
	}
	return digits >= 3 && dashes*8 <= len(part)
}
