package content

import (
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// toml yields the values that run: servers and programs of agents, tasks and hooks of mise. A part of a document
// is read line by line.
func (x *extractor) toml(content string) {
	if deep(content, x.lim.Depth) {
		x.hidden("a document with more levels than are read")
		return
	}
	var doc map[string]any
	if toml.Unmarshal([]byte(content), &doc) == nil {
		x.preloads(doc)
		x.walkTOML(doc, "", "", "", 0)
		return
	}
	x.tomlLines(content)
}

// preloads yields the files that Bun loads before each program, of an agent too, that is started in the folder.
// Those of [test] are only for tests.
func (x *extractor) preloads(doc map[string]any) {
	files, _ := split(doc["preload"])
	if file, ok := doc["preload"].(string); ok {
		files = append(files, file)
	}
	if len(files) > 0 && wordset.Has("bunfig.toml .bunfig.toml", strings.ToLower(path.Base(x.path))) {
		x.emit(effect.Shell, "export "+shellJoin([]string{"BUN_OPTIONS=--preload " + strings.Join(files, " ")}),
			"files that Bun loads")
	}
}

// walkTOML yields the texts at keys that run, below a key and the one above it.
func (x *extractor) walkTOML(v any, key, parent, lang string, depth int) {
	if depth > x.lim.Depth {
		x.hidden("a document with more levels than are read")
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if command, ok := v["command"].(string); ok {
			words, _ := split(v["args"])
			x.emit(effect.Shell, strings.TrimSpace(command+" "+shellJoin(words)), "a server that an agent starts")
		}
		if shell, ok := v["shell"].(string); ok {
			if lang = Shebang("#!" + shell); lang == "" {
				lang = "?"
			}
			x.emit(effect.Shell, shell, "the shell of a task")
		}
		for _, name := range sortedKeys(v) {
			if name != "command" {
				x.walkTOML(v[name], strings.ToLower(name), key, lang, depth+1)
			}
		}
	case []any:
		words, rest := split(v)
		switch {
		case key == "notify":
			x.emit(effect.Shell, shellJoin(words), "an agent's notify")
		case len(words) > 0 && runsIn(key, parent):
			x.run(strings.Join(words, "\n"), key, lang)
		}
		for _, item := range rest {
			x.walkTOML(item, key, parent, lang, depth+1)
		}
	case string:
		switch {
		case runsIn(key, parent):
			x.run(v, key, lang)
		case key == "source":
			x.emit(effect.Shell, ". "+shellJoin([]string{v}), "a file that is sourced")
		case key == "file" && strings.Contains(v, "://"):
			x.emit(effect.Shell, "curl "+shellJoin([]string{v})+" | sh", "a task from elsewhere")
		case strings.Contains(v, "exec("): // of a template
			x.hidden("a template that runs a command")
		}
	}
}

// runsIn reports whether the text at a key runs, or at any key of a table of tasks.
func runsIn(key, parent string) bool {
	return runKeys[key] || parent == "tasks" || parent == "hooks" || wordset.Has("run_windows preinstall postinstall "+
		"unix_default_inline_shell_args unix_default_file_shell_args windows_default_inline_shell_args", key)
}

// split returns the texts of a list, and what else is in it.
func split(v any) (words []string, rest []any) {
	list, _ := v.([]any)
	for _, item := range list {
		if s, ok := item.(string); ok {
			words = append(words, s)
		} else {
			rest = append(rest, item)
		}
	}
	return words, rest
}

// tomlLines yields the values that run of a part of a document, line by line: command, args, notify, run.
func (x *extractor) tomlLines(content string) {
	var command string
	for line := range strings.Lines(content) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			continue
		}
		switch key {
		case "command":
			x.emit(effect.Shell, command, "a server that an agent starts")
			command = strings.Trim(value, `"'`)
		case "args":
			if words, ok := jsonWords(value); ok {
				command += " " + shellJoin(words)
			} else {
				command += " " + effect.Unknown
			}
		case "notify":
			if words, ok := jsonWords(value); ok {
				x.emit(effect.Shell, shellJoin(words), "an agent's notify")
			}
		case "run":
			x.emit(effect.Shell, strings.Trim(value, `"'`), "run: of "+x.sink.Name)
		}
	}
	x.emit(effect.Shell, command, "a server that an agent starts")
}
