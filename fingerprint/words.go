package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// bindWords binds the files that the words of a command name. It returns the folders in
// which they may be: the working folders, and each folder that a word names.
func (p *pass) bindWords(i int, bases []string) []string {
	st := &p.Steps[i]
	if st.Shell && quietly[first(st)] {
		return bases
	}
	known, as := st.Program != "" || st.Shell, disk.Code
	switch {
	case known && (p.words || p.applies(i)):
		as = disk.Data
	case known: // only the folders matter
		as = disk.Unseen
	}
	inner := map[string]bool{}
	if known && p.commands[i].wrapped {
		p.wordsBelow(i, inner)
	}
	var words []string
	for n, w := range st.Argv[1:] {
		switch {
		case inner[w] || onlyWritten(st, n+1):
		case effect.IsKnown(w):
			words = append(words, p.parts(w)...)
		case !known && !slices.ContainsFunc(st.Argv[1:n+1], operand): // it may be a script
			p.unboundCommand(st)
		}
	}
	if len(bases) == 0 && !known && slices.ContainsFunc(words, operand) {
		p.unboundCommand(st)
	}
	if source := first(st) == "source" || first(st) == "."; source && st.Shell && len(st.Argv) > 1 &&
		!strings.Contains(st.Argv[1], "/") {
		p.lookup(st, st.Argv[1])
	}
	if !known { // a wrapper, perhaps
		for _, w := range words {
			if operand(w) && !strings.Contains(w, "/") {
				p.lookup(st, w)
			}
		}
	}
	return p.bindFiles(i, as, words, bases)
}

// onlyWritten reports whether a word of a step is an output flag or its value.
func onlyWritten(st *shell.Step, n int) bool {
	flags := outputs[first(st)]
	name, _, joined := strings.Cut(st.Argv[n], "=")
	return joined && wordset.Has(flags, name) || n > 1 && wordset.Has(flags, st.Argv[n-1])
}

// bindFiles binds the files that words name, relative to each folder. A folder that a word
// names becomes one more base: make -C sub.
func (p *pass) bindFiles(i int, as disk.Level, words, bases []string) []string {
	absolute := true
	if len(bases) == 0 {
		bases = []string{""} // for what is absolute
	}
	known, runs, start := map[string]bool{}, interprets(first(&p.Steps[i])), bases[0]
	for n := 0; n < len(bases) && p.Err == nil; n++ { // grows
		for _, word := range words {
			if filepath.IsAbs(word) && !absolute || !filepath.IsAbs(word) && bases[n] == "" {
				continue
			}
			file := abs(bases[n], word)
			for _, file := range p.matchesAndSelf(file) {
				if p.isLeftOut(i, file) {
					continue
				}
				folder, is := filepath.Clean(file), p.leadsTo(file, as)
				if !is && !runs { // there it may be data
					p.noteCode(&p.commands[i], file)
				}
				if is && tooHigh(folder, start, words) {
					continue
				}
				if is && !known[folder] {
					if len(bases) >= disk.MaxBases {
						p.Name("what lies in more than %d folders", disk.MaxBases)
						return bases
					}
					p.BindLink(folder) // terraform -chdir=link
					known[folder] = true
					bases = append(bases, folder)
				}
			}
		}
		absolute = false
	}
	if bases[0] == "" {
		bases = bases[1:]
	}
	return bases
}

// tooHigh reports whether a folder is further above start than all words together lead. A word
// .. counts once, and not again from each folder to which it led.
func tooHigh(folder, start string, words []string) bool {
	if folder == start || !strings.HasPrefix(start, strings.TrimSuffix(folder, "/")+"/") {
		return false
	}
	levels := strings.Count(strings.TrimPrefix(start, strings.TrimSuffix(folder, "/")), "/")
	for _, w := range words {
		if !filepath.IsAbs(w) {
			levels -= strings.Count(w, "..")
		} else if filepath.Clean(w) == folder {
			return false
		}
	}
	return levels > 0
}

// leadsTo binds a path, unless as is Unseen, and reports whether it is a folder.
func (p *pass) leadsTo(file string, as disk.Level) bool {
	if as != disk.Unseen {
		return p.Visit(file, as)
	}
	if strings.ContainsRune(file, 0) || p.TooLong(file) || !p.Look() {
		return false
	}
	info, err := p.Stat(file)
	return err == nil && info.IsDir()
}

// isLeftOut reports whether a file is not bound: because the command only writes it, because
// the build makes it, or because it is a log that the command only deletes.
func (p *pass) isLeftOut(i int, file string) bool {
	clean := filepath.Clean(file)
	if p.commands[i].written[clean] || p.changesItself(i, clean) || p.isPlanned(i, clean) {
		return true
	}
	if rel, err := filepath.Rel(filepath.Clean(p.call.Dir),
		clean); p.made != nil && err == nil && objects[filepath.Ext(rel)] && p.made.makes(rel) {
		return true // the build writes it: what it is made of is not bound either
	}
	if !strings.HasSuffix(clean, ".log") || p.flows || !p.isA(i, wordset.Of("rm")) {
		return false
	}
	info, err := p.Stat(clean)
	return err == nil && info.Mode()&0o111 == 0
}

// wordsBelow adds the words of the steps below a step.
func (f *flow) wordsBelow(i int, words map[string]bool) {
	within := map[int]bool{i: true}
	for n := i + 1; n < len(f.Steps); n++ {
		if st := &f.Steps[n]; within[st.Parent] {
			within[n] = true
			if !st.Remote {
				for _, w := range st.Argv {
					words[w] = true
				}
			}
		}
	}
}
