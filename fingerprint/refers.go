package fingerprint

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
)

// bind binds the files that a settings file names, in any language: each word that is the
// name of a code or settings file, and, for a folder (./modules/x), the tool's files in it.
func (r settingsReader) bind(file, dir string, depth int) {
	if !r.Once("refers", file, dir) {
		return
	}
	text, ok := r.TextOf(file, "names")
	if !ok || text == "" {
		return
	}
	if depth >= disk.MaxFollowed {
		r.Unread(file, "names")
		return
	}
	text = r.namedModules(file, text, dir)
	places := r.places(file, text, dir)
	r.loadsOf(file, text, places, depth)
	r.bindPathSettings(file, text, places)
	looked := 0
	for n := 0; n < len(places); n++ { // grows
		for _, word := range r.references(text, places[n]) {
			if n > 0 && !r.liesThere(places[n], word) {
				continue // in a folder that the file names, of what is not there nothing is known
			}
			if looked++; looked > disk.MaxWords {
				r.Unread(file, "names")
				return
			}
			if r.Err != nil {
				return
			}
			at := r.reference(file, word, places[n], depth)
			if at == "" || n > 0 || !r.tool.plainly() || slices.Contains(disk.ToolFolders, filepath.Base(at)) ||
				slices.Contains(places, at) {
				continue
			}
			if len(places) >= disk.MaxBases {
				r.Unread(file, "names")
				return
			}
			places = append(places, at)
		}
	}
	if isPython(file) {
		r.pythonNames(text, places)
	}
}

// places are the folders from which a settings file may name others: its own, and for files
// in .cargo or .mvn the one above. bind adds folders that the file names.
func (r settingsReader) places(file, text, dir string) []string {
	places := []string{dir}
	if strings.HasPrefix(filepath.Base(dir), ".") && dir == filepath.Dir(file) {
		places = append(places, filepath.Dir(dir))
	}
	if isRuby(file) {
		for _, value := range flagValues(r.c.Step, "-I --libdir") {
			places = append(places, filepath.Clean(abs(dir, value)))
		}
		for _, value := range flagValues(r.c.Step, "-r --require") {
			for _, ending := range []string{"", ".rb"} {
				r.Visit(filepath.Clean(abs(dir, value))+ending, disk.Code)
			}
		}
	}
	if r.tool.plainly() && (isRuby(file) || strings.HasSuffix(file, ".py")) { // what these load by a plain name
		for _, word := range r.references(text, dir) {
			at := filepath.Clean(abs(dir, word))
			if slices.Contains(places, at) || !r.IsDir(at) {
				continue
			}
			if len(places) >= disk.MaxBases {
				r.Unread(file, "names")
				break
			}
			places = append(places, at)
		}
	}
	return places
}

// liesThere reports whether a folder has what a word names.
func (r settingsReader) liesThere(dir, word string) bool {
	if strings.HasPrefix(word, "/") {
		return false
	}
	word = strings.TrimPrefix(word, "./")
	first, _, deep := strings.Cut(word, "/")
	if first == ".." || !r.HasEntry(dir, first) {
		return false
	}
	if !deep {
		return true
	}
	_, err := r.Stat(filepath.Join(dir, word))
	return r.Look() && (err == nil || !disk.IsAbsent(err))
}

// plainly reports whether the files of a tool may name others by words without a dot.
// Recipes and packages have readers of their own.
func (t *tool) plainly() bool { return t.Recipes == "" }

// reference binds a file that a word of a file of settings names; if the word names a
// folder, that is returned.
func (r settingsReader) reference(file, word, dir string, depth int) (folder string) {
	at := abs(dir, word)
	info, err := r.Stat(at)
	if !r.Look() {
		return ""
	}
	if err != nil {
		if !disk.IsAbsent(err) && byName(word) {
			r.Visit(at, disk.Code) // which names it
		}
		return ""
	}
	clean := filepath.Clean(at)
	switch {
	case info.IsDir():
		if clean == filepath.Clean(dir) ||
			!r.tool.plainly() && !strings.HasPrefix(word, "./") && !strings.HasPrefix(word, "../") {
			return ""
		}
		for _, pattern := range append(strings.Fields(r.tool.Files), strings.Fields(kustomization)...) {
			for _, found := range r.BindMatching(clean, pattern) {
				r.bind(found, clean, depth+1)
			}
		}
		return clean
	case info.Mode().IsRegular() && (decides(word, clean, info) || r.tool.plainly() && isPlainText(clean) ||
		disk.Like(filepath.Base(file), startersOf)):
		r.BindListed(clean)
		r.bindScript(clean, dir)
		presets := strings.Contains(r.tool.Programs, "cmake") && filepath.Ext(word) == ".json"
		if presets || furthers[filepath.Ext(word)] || r.tool.plainly() && filepath.Ext(word) == "" {
			r.bind(clean, filepath.Dir(clean), depth+1)
		}
	}
	return ""
}

// startersOf are settings files in which names of files count with any ending, because they
// name programs and plugins.
var startersOf = strings.Fields("jvm.config maven.config config.toml .bazelrc .yarnrc .yarnrc.yml .npmrc ansible.cfg")

// isPlainText reports whether a file without an ending is a text, as a script may be.
func isPlainText(file string) bool {
	base := filepath.Base(file)
	if filepath.Ext(base) != "" || plainDocuments[base] {
		return false
	}
	head, err := headOf(file, 512)
	return err != nil || !bytes.ContainsRune(head, 0)
}

// references are the words of a text that may be names of files, once each. A word without
// a slash must be in the listing of dir, which avoids a stat for words such as aws_vpc.main.
func (r settingsReader) references(text, dir string) (words []string) {
	seen := map[string]bool{}
	add := func(word string) {
		word = strings.TrimRight(strings.TrimPrefix(word, "@"), ".")
		if at := strings.LastIndex(word, "%/"); at >= 0 { // %workspace%/x
			word = word[at+2:]
		}
		if word == "" || len(word) > disk.MaxPath || word == "./" || seen[word] ||
			!strings.ContainsAny(word, "./") && !r.tool.plainly() || len(word) < 2 && !r.tool.plainly() {
			return
		}
		seen[word] = true
		if strings.Contains(word, "/") || r.HasEntry(dir, word) {
			words = append(words, word)
		}
	}
	cuts := func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>|&;,=:$#*?!^\\", r) }
	beyond := func(r rune) bool { return r > '~' }
	for word := range strings.FieldsFuncSeq(text, cuts) {
		add(word)
		if strings.HasPrefix(word, "/") { // behind a variable for the folder itself
			add(strings.TrimLeft(word, "/"))
		}
		if strings.IndexFunc(word, beyond) >= 0 { // a name in another script, or quoted so
			for part := range strings.FieldsFuncSeq(word, beyond) {
				add(part)
			}
		}
	}
	return words
}

// decides reports whether a file is code or settings.
func decides(word, file string, info fs.FileInfo) bool {
	return byName(word) || info.Mode()&0o111 != 0 && isScript(file)
}

func byName(word string) bool {
	return decidingEndings[filepath.Ext(word)] || strings.HasPrefix(filepath.Base(word), ".env")
}

// isScript reports whether a file begins with #!, or cannot be read.
func isScript(file string) bool {
	head, err := headOf(file, 2)
	return err != nil || string(head) == "#!"
}

// headOf reads the first bytes of a file, at most size.
func headOf(file string, size int) ([]byte, error) {
	f, _, err := disk.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, size)
	n, err := f.Read(head)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}
