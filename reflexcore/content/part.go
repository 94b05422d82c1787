package content

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// Part yields what runs of a text that is put into an unknown content at a path. A part of a
// document may lack the key that makes it run. So if nothing else is found in it, every line that
// looks like a command line counts as one.
func Part(path, text string, lim Limits, yield func(effect.Payload)) {
	found := false
	Payloads(path, text, lim, func(p effect.Payload) {
		found = found || p.Lang != ""
		yield(p)
	})
	s := Classify(path)
	if s.Prompts() && IsPrompt(path) && !found && strings.ContainsAny(text, "`!{") {
		yield(effect.Payload{Why: "a part of " + s.Name, Path: path, Later: true}) // it may be half of a command
	}
	if found || len(text) > lim.Bytes || s.format == nil || !s.format.lines {
		return
	}
	x := &extractor{sink: s, path: path, lim: lim, yield: yield}
	for line := range strings.Lines(text) {
		if line = bare(line); strings.ContainsAny(line, "|;&`") || strings.Contains(line, "$(") {
			x.emit(effect.Shell, line, "a part of "+s.Name)
		}
	}
}

// bare returns a line without a key before it, and without quotes and commas around it.
func bare(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "@- ")
	for _, sign := range [...]string{":", "="} {
		if key, rest, ok := strings.Cut(line, sign); ok && key != "" && !strings.ContainsAny(key, " \t|;&$(") &&
			(rest == "" || strings.IndexByte(" \t\"", rest[0]) >= 0) {
			line = rest
			break
		}
	}
	return strings.TrimRight(strings.TrimLeft(line, " \t\"'[|>"), "\",")
}
