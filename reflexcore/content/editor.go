package content

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// editorPrograms finds the settings of an editor by which it starts a file that a project brings: it does so
// when the folder is opened, without being asked. Where tools are installed they are meant as such.
func (x *extractor) editorPrograms(v any, key string, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			name := strings.ToLower(k)
			if strings.HasPrefix(key, "terminal.integrated.") || key == "go.alternatetools" {
				name = key + "." + name
			}
			x.editorPrograms(v[k], name, depth+1)
		}
	case []any:
		for _, item := range v {
			x.editorPrograms(item, key, depth+1)
		}
	case string:
		if startsProgram(key) && isBrought(v) {
			x.yield(effect.Payload{Text: v, Path: x.path, Why: key + " of " + x.sink.Name, Later: true, Starts: true})
		}
	}
}

// startsProgram reports whether the value of a setting is the path of a program that the editor starts.
func startsProgram(key string) bool {
	extension, name, _ := strings.Cut(key, ".")
	switch {
	case extension == "terminal" || extension == "go" && strings.HasPrefix(name, "alternatetools"):
		return strings.HasSuffix(name, ".path") && !strings.HasPrefix(name, "integrated.env.") || extension == "go" ||
			strings.Contains(name, "integrated.shell.")
	case name == "path": // git.path
		return true
	case extension == "python" && strings.HasSuffix(name, "path"):
		return !strings.Contains(name, "venv")
	}
	for _, ending := range editorEndings {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// editorEndings are the ends of the names of such settings.
var editorEndings = strings.Fields("executablepath executable interpreterpath interpreter nodepath serverpath " +
	"server.path binarypath binary tsdk runtime runtimepath commandpath lspath")

// isBrought reports whether a program is one of the folder or a temporary one, and not of the tools that are
// installed there.
func isBrought(file string) bool {
	file = strings.ToLower(file)
	if !wordset.HasAnyPrefix(file, "./", "../", "${workspace", "/tmp/", "/var/tmp/", "/dev/shm/") {
		return false
	}
	return !wordset.ContainsAny(file, "venv", "/env/", "node_modules/", ".yarn/", "conda", "/bin/python", "/.tox/", "/sdk",
		"/.direnv/", "/.devenv/", "/vendor/bin/", "/.pixi/", "/scripts/python")
}
