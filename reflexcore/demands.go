package reflexcore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/wordset"
)

// RecordDemands remembers the names in texts that a call returned and that speak to a model. A later
// call that uses one of these names, and does more than read, becomes a question. After an error, or
// without a memory, the model should not read the texts.
func (e *Engine) RecordDemands(ctx context.Context, call approver.ToolCall, texts []string) error {
	past := e.recall(ctx, call)
	if past == nil {
		return errors.New("there is no memory for what a result demands")
	}
	var names []uint64
	for _, text := range texts {
		for _, word := range wordsOf(text) {
			for _, n := range demandedNames(word) {
				if h := nameHash(n); !slices.Contains(names, h) {
					names = append(names, h)
				}
			}
		}
	}
	for part := range slices.Chunk(names, memory.MaxNames) {
		if err := past.AddDemand(memory.Demand{At: call.At.Unix(), Tool: call.Tool, Names: part}); err != nil {
			return err
		}
	}
	return nil
}

// matchDemands finds a call that uses a name from a text that a tool returned and that speaks to a
// model.
func (j *judgment) matchDemands() {
	if j.call.Past == nil || j.onlyReads() {
		return
	}
	told := j.call.Past.Demands(j.call.ToolCall.At)
	if len(told) == 0 {
		return
	}
	by := map[uint64]*memory.Demand{}
	for i := range told {
		for _, n := range told[i].Names {
			by[n] = &told[i]
		}
	}
	find := func(text string) bool {
		for _, word := range wordsOf(text) {
			for _, name := range usedNames(word) {
				if d := by[nameHash(name)]; d != nil {
					what := fmt.Sprintf("a text that %s returned, and that speaks to a model, names %q too", display.OneLine(d.Tool),
						name)
					j.addTrip(trip{rule: tripRule(demandRule, approver.Ask), score: 1, what: what})
					return true
				}
			}
		}
		return false
	}
	for i := range j.call.Effects {
		if find(j.call.Effects[i].Target) {
			return
		}
	}
	if !j.call.Acts() && !j.call.Hidden() {
		return // what is written to a file may well be a report of it
	}
	if find(j.call.Text) {
		return
	}
	for i := range j.call.Layers {
		if find(j.call.Layers[i].Text) {
			return
		}
	}
}

// onlyReads reports whether the call only reads.
func (j *judgment) onlyReads() bool {
	for i := range j.call.Effects {
		if e := &j.call.Effects[i]; e.Kind != effect.Read &&
			(e.Kind != effect.Exec || e.Target != e.By || e.Bits&effect.Partial != 0) {
			return false
		}
	}
	return true
}

// wordsOf splits a text into names and other words.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') &&
			!strings.ContainsRune("._~/@:+-", r)
	})
}

func nameHash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(name)))
	return h.Sum64()
}

// demandedNames returns the names in a word of a returned text that point to something specific: an
// address, its host, or a path. Words that occur in any text give none.
func demandedNames(word string) []string {
	word, scheme := bareWord(word)
	if word == "" {
		return nil
	}
	if scheme || strings.Contains(word, "@") {
		return hostNames(word)
	}
	switch {
	case strings.HasPrefix(word, "~/"), strings.HasPrefix(word, "./"):
		return longName(word[2:])
	case strings.HasPrefix(word, "/"):
		if strings.Count(word, "/") < 2 ||
			wordset.HasAnyPrefix(word, commonFolders...) {
			return nil
		}
		return longName(word[1:])
	case strings.HasPrefix(word, "."):
		return longName(word)
	}
	host, _, _ := strings.Cut(word, "/")
	host, _, _ = strings.Cut(host, ":")
	i := strings.LastIndexByte(host, '.')
	switch {
	case i <= 0:
	case strings.Count(host, ".") == 3 && strings.Trim(host, "0123456789.") == "":
		return hostNames(word)
	case len(host)-i > 2 && strings.Trim(host, "0123456789.") != "" && !fileEndings[strings.ToLower(host[i+1:])]:
		return hostNames(word)
	}
	return nil
}

// commonFolders are paths that honest calls name all the time.
var commonFolders = []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/dev/", "/proc/self/"}

// fileEndings are file extensions that could be mistaken for a top-level domain.
var fileEndings = wordset.Of("md txt json js ts jsx tsx mjs cjs py go yml yaml sh bash html htm css toml lock " +
	"log cfg ini xml java rs cpp hpp rb php sql csv png jpg jpeg svg gif pdf conf env mod sum gz tgz zip tar lua " +
	"swift kt scala pl ps1 bat exe dll so vue proto tf rst adoc ipynb parquet db sqlite test spec min map")

// bareWord strips the scheme and trailing punctuation from a word.
func bareWord(word string) (rest string, scheme bool) {
	if i := strings.Index(word, "://"); i >= 0 {
		word, scheme = word[i+3:], true
	}
	return strings.TrimRight(word, ".:,/-+"), scheme
}

// hostNames returns the host of an address, and the address if it has a path.
func hostNames(address string) []string {
	host, _, path := strings.Cut(address, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	if !strings.Contains(host, ".") {
		return nil
	}
	names := []string{host}
	if path {
		names = append(names, address)
	}
	return names
}

// longName returns the name if it is long enough to be specific.
func longName(name string) []string {
	if len(name) < 4 {
		return nil
	}
	return []string{name}
}

// usedNames returns the names in a word of a call: the host of an address, and each suffix of a
// path, because the text may name it relative to another folder.
func usedNames(word string) []string {
	word, _ = bareWord(word)
	names := append(hostNames(word), word)
	for i := 0; i < len(word); i++ {
		if word[i] == '/' && i+1 < len(word) {
			names = append(names, word[i+1:])
		}
	}
	return names
}
