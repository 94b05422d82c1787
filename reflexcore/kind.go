package reflexcore

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// kind classifies a call for loop detection. A call that changes files of the project is an edit,
// whatever else it does.
func (j *judgment) kind() loop.Kind {
	looks := true
	for i := range j.call.Effects {
		e := &j.call.Effects[i]
		switch e.Kind {
		case effect.Write, effect.Delete, effect.Discard:
			if e.Bits&effect.Remote == 0 && j.call.Around.Folder(e.Target, e.Target)&places.Temp == 0 {
				return loop.Edit
			}
			looks = false
		case effect.Read, effect.NetIn:
		default:
			looks = false
		}
	}
	switch {
	case j.isWait():
		return loop.Wait
	case looks && j.isRead():
		return loop.Read
	}
	return loop.Run
}

// waitWords are words of commands that wait or poll.
var waitWords = strings.Fields("sleep wait --wait watch --watch rollout checks Start-Sleep")

func (j *judgment) isWait() bool {
	if j.call.ToolCall.Command == "" {
		name := strings.ToLower(j.call.ToolCall.Tool)
		return name == "bashoutput" || name == "taskoutput" || name == "monitor" || strings.Contains(name, "wait") ||
			strings.Contains(name, "poll") || strings.Contains(name, "status")
	}
	for word := range strings.FieldsSeq(j.call.ToolCall.Command[:min(len(j.call.ToolCall.Command), 4096)]) {
		if slices.Contains(waitWords, strings.Trim(word, ";&|()")) {
			return true
		}
	}
	return false
}

// These programs, git commands and parts of tool names only read.
var (
	readPrograms = strings.Fields("ls cat head tail grep egrep rg ag find fd tree wc stat file less pwd which type jq " +
		"du df ps echo printf cd sort uniq cut diff test [ nl bat awk sed true")
	readGit   = strings.Fields("status log diff show blame grep ls-files branch rev-parse remote")
	readTools = strings.Fields("read grep glob search list get fetch view find")
)

// isRead reports whether a call without other effects only reads. A program whose effects are not
// known may do anything.
func (j *judgment) isRead() bool {
	if j.call.ToolCall.Command == "" {
		name := strings.ToLower(j.call.ToolCall.Tool)
		return name == "ls" || wordset.ContainsAny(name, readTools...)
	}
	start, git := true, false
	for word := range strings.FieldsSeq(j.call.ToolCall.Command[:min(len(j.call.ToolCall.Command), 4096)]) {
		switch {
		case word == "|" || word == "&&" || word == "||" || word == ";":
			start, git = true, false
			continue
		case git && !strings.HasPrefix(word, "-"):
			if !slices.Contains(readGit, strings.TrimRight(word, ";")) {
				return false
			}
			git = false
		case start && word == "git":
			git = true
		case start && !slices.Contains(readPrograms, word):
			return false
		}
		start = strings.HasSuffix(word, ";")
	}
	return true
}
