package reflexcore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Bounds of what is read of a compose project.
const (
	maxComposeFile = 64 << 10
	maxComposeUp   = 16 // folders above the working folder

	maxComposeLines = 1000 // the time of the parser grows with their square
)

// composeNames are the files that compose looks for, and those that it adds to them.
var composeNames = [...]string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml",
	"compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"}

// composeVolumes reads which volumes a compose down deletes: if the project has none with a name that holds
// more than a cache, nothing is lost that is not made again. External volumes stay. What cannot be read, or
// may be changed by the call itself, stays a question, even if its name says that it is for tests.
func (e *Engine) composeVolumes(j *judgment, ef *effect.Effect) {
	if ef.Kind != effect.RemoteDelete || ef.Dir == "" || e.analyzer.Files == nil {
		return
	}
	switch {
	case ef.What == effect.Named && ef.Target != "volumes":
		if e.isLinked(ef.Dir) {
			ef.What = ""
		}
	case ef.Target != "volumes" || ef.What != effect.Scratch && ef.What != effect.Named:
	case !isPlainly(j.call.Text) || mayWriteBefore(j.call.Text):
		ef.What = effect.Scratch
	case ef.What == effect.Named:
		if !e.keepsToItsName(ef.Dir) {
			ef.What = effect.Scratch
		}
	default:
		switch names, ok := e.namedVolumes(ef.Dir); {
		case !ok:
		case len(names) == 0:
			ef.What = effect.Named
		default:
			ef.Target = "volumes " + effect.Short(strings.Join(names, " "))
		}
	}
}

// isLinked reports whether a file, or one of the folders above it, is a link. What a temporary folder is, is
// the system's.
func (e *Engine) isLinked(file string) bool {
	for range maxComposeUp {
		if file == "/" || file == "." || wordset.Has("/tmp /var/tmp", file) {
			return false
		}
		info, err := e.analyzer.Files.Lstat(file)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		file = path.Dir(file)
	}
	return true
}

// keepsToItsName reports whether a compose file that is named for tests has volumes of its own only: none that
// has another name, and none that the folder's usual files have, too.
func (e *Engine) keepsToItsName(at string) bool {
	folder := path.Dir(at) + "/"
	if _, err := e.analyzer.Files.Lstat(path.Dir(at)); errors.Is(err, fs.ErrNotExist) {
		return true // there is nothing to read
	}
	names, ok := e.namedVolumes(at)
	if strings.HasSuffix(at, "/") {
		return ok // a project's own
	}
	if _, err := e.analyzer.Files.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return true // compose fails
	}
	others, known := e.namedVolumes(folder)
	return ok && known && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(others, n) })
}

// mayWriteBefore reports whether a call runs another program than compose before the first down: it may write
// the files of the project.
func mayWriteBefore(text string) bool {
	before, _, found := strings.Cut(text, " down")
	if !found || strings.ContainsAny(before, "<>`$(){}&|*\\") && !onlyJoined(before) {
		return true
	}
	for part := range strings.FieldsFuncSeq(before, func(r rune) bool { return strings.ContainsRune(";&|\n", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && isAssignment(words[0]) {
			words = words[1:]
		}
		switch {
		case len(words) == 0:
		case wordset.Has("docker docker-compose", words[0]):
			if slices.ContainsFunc(words, func(w string) bool { return wordset.Has("run exec cp build watch", w) }) {
				return true
			}
		case !wordset.Has("cd export sleep true set", words[0]):
			return true
		}
	}
	return false
}

// onlyJoined reports whether a text has no operators but those that join commands.
func onlyJoined(text string) bool {
	text = strings.NewReplacer("2>&1", "", ">/dev/null", "", "> /dev/null", "").Replace(text)
	return !strings.ContainsAny(text, "<>`$(){}*\\")
}

// isAssignment reports whether a word sets a variable.
func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && strings.ToUpper(name) == name && !strings.ContainsAny(name, "-/.'\"")
}

// namedVolumes returns the named volumes of a compose file, or of those in a folder or above it, that are
// neither external nor a cache. It reports false if they are not known.
func (e *Engine) namedVolumes(at string) (names []string, ok bool) {
	dir, isFolder := strings.CutSuffix(at, "/")
	if text, err := e.analyzer.Files.ReadFile(path.Dir(at)+"/.env", maxComposeFile); err == nil &&
		strings.Contains(string(text), "COMPOSE_") || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false // it may name other files, and another project
	}
	if !isFolder {
		text, err := e.analyzer.Files.ReadFile(at, maxComposeFile)
		if err != nil {
			return nil, false
		}
		return volumesOf(text)
	}
	if info, err := e.analyzer.Files.Lstat(dir); err != nil || !info.IsDir() {
		return nil, false
	}
	for range maxComposeUp {
		found := false
		for _, name := range composeNames {
			text, err := e.analyzer.Files.ReadFile(dir+"/"+name, maxComposeFile)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, false
			}
			more, known := volumesOf(text)
			if !known {
				return nil, false
			}
			names, found = append(names, more...), true
		}
		if found {
			return names, true
		}
		if dir == "" {
			return nil, true // there is no project, so nothing is deleted
		}
		dir = strings.TrimSuffix(path.Dir(dir), "/")
	}
	return nil, false
}

// volumesOf reads the volumes at the top level of a compose file that keep more than a cache. It reports false
// for what it does not understand: references, other files, and volumes that have another name than their key.
func volumesOf(text []byte) (names []string, ok bool) {
	if len(text) > maxComposeFile || bytes.ContainsAny(text, "\r\v\f\x00\x85\ufeff\u2028\u2029") && !isWindows(text) ||
		bytes.Count(text, []byte("\n")) > maxComposeLines || bytes.ContainsAny(text, "&*!%") && refers(text) {
		return nil, false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.UseOrderedMap())
	var doc, second any
	if err := decoder.Decode(&doc); err != nil {
		return nil, errors.Is(err, io.EOF)
	}
	top, isMap := doc.(yaml.MapSlice)
	if decoder.Decode(&second) == nil || !isMap {
		return nil, false
	}
	for _, item := range top {
		switch key, isText := item.Key.(string); {
		case !isText || wordset.Has("include extends <<", key):
			return nil, false
		case key != "volumes" || item.Value == nil:
			continue
		}
		volumes, isMap := item.Value.(yaml.MapSlice)
		if !isMap {
			return nil, false
		}
		for _, v := range volumes {
			name, isText := v.Key.(string)
			external, known := isExternal(v.Value)
			if !isText || !known {
				return nil, false
			}
			if !external && !isCache(name) {
				names = append(names, name)
			}
		}
	}
	return names, true
}

// isWindows reports whether a text has no odd character but line ends of two.
func isWindows(text []byte) bool {
	return !bytes.ContainsAny(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\r\v\f\x00\x85\ufeff\u2028\u2029")
}

// refers reports whether a file has a reference, a tag or a directive where a value or a key begins.
func refers(text []byte) bool {
	for i, c := range text {
		if strings.IndexByte("&*!%", c) >= 0 && (i == 0 || strings.IndexByte(" \t\n-[,{:", text[i-1]) >= 0) &&
			i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '&' {
			return true
		}
	}
	return false
}

// isExternal reports whether the settings of a volume say that it is not the project's own; known is false if
// they say what may be another volume.
func isExternal(settings any) (external, known bool) {
	if settings == nil {
		return false, true
	}
	all, isMap := settings.(yaml.MapSlice)
	if !isMap {
		return false, false
	}
	named := false
	for _, s := range all {
		switch s.Key {
		case "external":
			if external, known = s.Value.(bool); !known {
				return false, false
			}
		case "name":
			named = true
		case "labels":
		case "driver":
			if s.Value != "local" {
				return false, false
			}
		default:
			return false, false
		}
	}
	return external, external || !named
}

// isCache reports whether the name of a volume says that it is filled again by itself.
func isCache(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return wordset.Has("cache caches nodemodules", last) ||
		last == "modules" && len(parts) > 1 && parts[len(parts)-2] == "node" ||
		len(parts) == 1 && wordset.Has("gomod pip npm yarn pnpm cargo gradle tmp", last)
}

// isOverridden reports whether another file of compose lies beside one that the call writes: that may
// publish the ports of what this one describes.
func (e *Engine) isOverridden(j *judgment) bool {
	for i := range j.call.Effects {
		ef := &j.call.Effects[i]
		base := path.Base(ef.Target)
		if ef.Kind != effect.Write || !strings.HasPrefix(strings.TrimPrefix(base, "docker-"), "compose.") {
			continue
		}
		for _, name := range overrides {
			if _, err := e.analyzer.Files.Lstat(path.Join(path.Dir(ef.Target), name)); err == nil {
				return true
			}
		}
	}
	return false
}

// overrides are the files that compose reads beside the usual one.
var overrides = strings.Fields("compose.override.yaml compose.override.yml docker-compose.override.yaml " +
	"docker-compose.override.yml")
