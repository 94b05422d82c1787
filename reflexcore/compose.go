package reflexcore

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// Bounds of what is read of a compose project.
const (
	maxComposeFile = 64 << 10
	maxComposeUp   = 16 // folders above the working folder
)

// composeNames are the files that compose looks for, and those that it adds to them.
var composeNames = [...]string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml",
	"compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"}

// composeVolumes reads which volumes a compose down deletes: if the project has none with a name that holds
// more than a cache, nothing is lost that is not made again. External volumes stay. What cannot be read, or
// may be changed by the call itself, stays a question.
func (e *Engine) composeVolumes(j *judgment, ef *effect.Effect) {
	if ef.Kind != effect.RemoteDelete || ef.Target != "volumes" || ef.What != effect.Scratch || ef.Dir == "" ||
		e.analyzer.Files == nil || !isPlainly(j.call.Text) || makesCompose(j.call.Text, ef.Dir) {
		return
	}
	names, ok := e.namedVolumes(ef.Dir)
	switch {
	case !ok:
	case len(names) == 0:
		ef.What = effect.Named
	default:
		ef.Target = "volumes " + effect.Short(strings.Join(names, " "))
	}
}

// makers are parts of a call that may write the files of a project.
var makers = []string{"git clone", "git pull", "git stash", "git reset", "git checkout", "curl", "wget", ".env"}

// makesCompose reports whether a call names a file of compose that it is not told to use: it may write it.
func makesCompose(text, file string) bool {
	named := strings.Count(text, "compose.y") + strings.Count(text, "compose.override")
	if !strings.HasSuffix(file, "/") {
		named -= strings.Count(path.Base(file), "compose.y")
	}
	return named > 0 || wordset.ContainsAny(text, makers...)
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
		return volumesOf(string(text))
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
			more, known := volumesOf(string(text))
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

// volumesOf reads the volumes at the top level of a compose file. It understands lists of names with
// indented settings, and reports false at anything else.
func volumesOf(text string) (names []string, ok bool) {
	inside, indent, name, external := false, -1, "", false
	done := func() {
		if name != "" && !external && !isCache(name) {
			names = append(names, name)
		}
		name, external = "", false
	}
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] == '#' {
			continue
		}
		at := strings.IndexByte(line, bare[0])
		key, value, found := strings.Cut(bare, ":")
		value = strings.TrimSpace(value)
		key = strings.Trim(strings.TrimSpace(key), `"'`)
		if strings.ContainsAny(key, "\t\\?{[*&") || at == 0 && wordset.Has("include extends <<", key) {
			return nil, false
		}
		switch {
		case at == 0:
			done()
			inside, indent = key == "volumes", -1
			if inside && value != "" && value[0] != '#' {
				return nil, false
			}
		case !inside:
		case indent < 0 || at == indent:
			done()
			indent, name = at, key
			if !found || value != "" && value[0] != '#' && value != "{}" && value != "null" {
				return nil, false
			}
		case at < indent:
			return nil, false
		case key == "external" && strings.HasPrefix(value, "true"):
			external = true
		}
	}
	done()
	return names, true
}

// isCache reports whether the name of a volume says that it is filled again by itself.
func isCache(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	for i, p := range parts {
		if wordset.Has("cache caches nodemodules gomod pip npm yarn pnpm cargo gradle tmp test tests", p) ||
			p == "modules" && i > 0 && parts[i-1] == "node" {
			return true
		}
	}
	return false
}
