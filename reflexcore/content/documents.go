package content

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/tailscale/hujson"

	"approver.example/reflexcore/effect"
)

// runKeys are keys of YAML documents whose text a shell runs.
var runKeys = sets["yaml"]

// jsonKeys are keys of JSON settings whose text runs.
var jsonKeys = sets["json"]

func (x *extractor) yaml(content string) {
	// The time of the parser grows with the square of a document. It also follows references, which
	// can multiply a small text.
	if len(content) > x.lim.YAML || references(content) || deep(content, x.lim.Depth) {
		x.hidden("a document with more text, references or levels than are read")
		return
	}
	decoder := yaml.NewDecoder(strings.NewReader(content), yaml.UseOrderedMap())
	for {
		var doc any
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			x.hidden("a document that cannot be read")
			return
		}
		x.walkYAML(doc, "", "", 0)
	}
}

// references reports whether a document has more anchors and aliases than a normal one.
func references(s string) bool {
	anchors, aliases := 0, 0
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '&' && s[i] != '*' || i > 0 && !strings.ContainsRune(" \t\n-[,{:", rune(s[i-1])) || s[i+1] <= ' ' ||
			s[i+1] == '*' || s[i+1] == '&' {
			continue
		}
		if s[i] == '&' {
			anchors++
		} else {
			aliases++
		}
	}
	return anchors > 8 || anchors > 0 && aliases > 16
}

// deep reports whether a document is nested too deeply for a parser.
func deep(s string, limit int) bool {
	flow := 0
	for line := range strings.Lines(s) {
		indent := len(line) - len(strings.TrimLeft(line, " -?"))
		if indent > 8*limit {
			return true
		}
		for _, c := range []byte(line) {
			switch c {
			case '[', '{':
				if flow++; flow > limit {
					return true
				}
			case ']', '}':
				flow = max(0, flow-1)
			}
		}
	}
	return false
}

// walkYAML yields the texts at keys that run.
func (x *extractor) walkYAML(v any, key, lang string, depth int) {
	if depth > x.lim.Depth {
		x.hidden("a document with more levels than are read")
		return
	}
	switch v := v.(type) {
	case yaml.MapSlice:
		if x.isCompose() && depth == serviceDepth {
			x.contained = !publishes(v)
		}
		for _, item := range v {
			name, _ := item.Key.(string)
			value, ok := item.Value.(string)
			switch {
			case !ok:
			case strings.EqualFold(name, "uses") && strings.HasPrefix(value, "actions/github-script@"):
				lang = effect.JavaScript // with: script
			case strings.EqualFold(name, "shell"):
				if lang = Shebang("#!" + value); lang == "" && strings.TrimSpace(value) != "" {
					lang = "?"
				}
			}
		}
		for _, item := range v {
			name, _ := item.Key.(string)
			name = strings.ToLower(name)
			if merged, ok := item.Value.(yaml.MapSlice); ok && runKeys[name] {
				name = ""
				x.walkYAML(merged, name, lang, depth+1)
				continue
			}
			x.walkYAML(item.Value, name, lang, depth+1)
		}
	case []any:
		words := make([]string, 0, len(v))
		for _, item := range v {
			if s, ok := item.(string); ok {
				words = append(words, s)
				continue
			}
			x.walkYAML(item, key, lang, depth+1)
		}
		if !runKeys[key] || len(words) == 0 {
			return
		}
		if (key == "command" || key == "entrypoint") && x.sink.Kind == Build { // a list of words, in compose
			x.emit(effect.Shell, shellJoin(words), key+" of "+x.sink.Name)
			return
		}
		x.run(strings.Join(words, "\n"), key, lang)
	case string:
		if runKeys[key] {
			x.run(v, key, lang)
		}
	}
}

func (x *extractor) run(text, key, lang string) {
	switch {
	case lang == "?":
		x.hidden("a step in a shell that is not known")
		return
	case lang != "":
	case key == "powershell" || key == "pwsh":
		lang = effect.PowerShell
	default:
		lang = effect.Shell
	}
	x.emit(lang, withoutExpressions(text), key+": of "+x.sink.Name)
}

// withoutExpressions replaces a CI's ${{ expressions }} by unknown parts, because they are replaced before a
// shell reads the text.
func withoutExpressions(s string) string {
	for {
		i := strings.Index(s, "${{")
		if i < 0 {
			return s
		}
		end := strings.Index(s[i:], "}}")
		if end < 0 {
			return s[:i] + effect.Unknown
		}
		s = s[:i] + effect.Unknown + s[i+end+2:]
	}
}

func (x *extractor) json(content string) {
	if doc, ok := x.parseJSON(content); ok {
		x.walkJSON(doc, "", 0)
		if strings.HasSuffix(x.path, "/settings.json") || strings.HasSuffix(x.path, ".code-workspace") {
			x.editorPrograms(doc, "", 0)
		}
	}
}

// parseJSON parses a document. If it cannot be read, it yields that, and returns false.
func (x *extractor) parseJSON(content string) (doc any, ok bool) {
	if deep(content, x.lim.Depth) {
		x.hidden("a document with more levels than are read")
		return nil, false
	}
	// Settings of editors may have comments and trailing commas.
	std, err := hujson.Standardize([]byte(content))
	if err == nil {
		err = json.Unmarshal(std, &doc)
	}
	if err != nil {
		x.hidden("a document that cannot be read")
	}
	return doc, err == nil
}

func (x *extractor) npm(content string) {
	doc, ok := x.parseJSON(content)
	if !ok {
		return
	}
	o, _ := doc.(map[string]any)
	scripts, _ := o["scripts"].(map[string]any)
	for _, name := range sortedKeys(scripts) {
		switch v := scripts[name].(type) {
		case string:
			x.emit(effect.Shell, v, "the script "+name+" of a package")
		case []any: // composer
			for _, item := range v {
				if s, ok := item.(string); ok {
					x.emit(effect.Shell, s, "the script "+name+" of a package")
				}
			}
		}
	}
	for _, hooks := range []string{"husky", "pre-commit", "gitHooks", "simple-git-hooks", "lint-staged"} {
		x.walkAll(o[hooks], 0)
	}
}

// walkAll yields every text in a value.
func (x *extractor) walkAll(v any, depth int) {
	switch v := v.(type) {
	case string:
		x.emit(effect.Shell, v, "a hook of a package")
	case []any:
		for _, item := range v {
			x.walkAll(item, depth+1)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			x.walkAll(v[k], depth+1)
		}
	}
}

func (x *extractor) walkJSON(v any, key string, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			low := strings.ToLower(k)
			if !jsonKeys[low] && !strings.HasSuffix(low, "command") {
				x.walkJSON(v[k], low, depth+1)
				continue
			}
			var words []string
			switch value := v[k].(type) {
			case string:
				words = []string{value}
				if args, ok := texts(v["args"]); ok && len(args) > 0 {
					x.emit(effect.Shell, shellWord(value)+" "+shellJoin(args), k+" of "+x.sink.Name)
					continue
				}
				x.emit(effect.Shell, strings.Join(words, " "), k+" of "+x.sink.Name)
			case []any:
				if words, ok := texts(value); ok {
					x.emit(effect.Shell, shellJoin(words), k+" of "+x.sink.Name)
				}
			default:
				x.walkJSON(value, low, depth+1)
				if o, ok := value.(map[string]any); ok && strings.HasSuffix(low, "command") {
					x.walkAll(o, depth+1) // devcontainers: a command for each name
				}
			}
		}
		x.environments(v)
	case []any:
		for _, item := range v {
			x.walkJSON(item, key, depth+1)
		}
	}
}

// environments yields the variables that are set for what is started: env and containerEnv, and of an editor
// terminal.integrated.env.linux and claudeCode.environmentVariables.
func (x *extractor) environments(settings map[string]any) {
	export := func(name string, value any) {
		if s, ok := value.(string); ok {
			x.emit(effect.Shell, "export "+shellWord(name)+"="+shellWord(s), "environment of "+x.sink.Name)
		}
	}
	for _, k := range sortedKeys(settings) {
		low := strings.ToLower(k)
		if !strings.HasSuffix(low, "env") && !strings.HasPrefix(low, "terminal.integrated.env.") &&
			!strings.HasSuffix(low, "environmentvariables") {
			continue
		}
		switch env := settings[k].(type) {
		case map[string]any:
			for _, name := range sortedKeys(env) {
				export(name, env[name])
			}
		case []any:
			for _, item := range env {
				if pair, ok := item.(map[string]any); ok {
					name, _ := pair["name"].(string)
					export(name, pair["value"])
				}
			}
		}
	}
}

// shellWord quotes a program's name, unless it is a whole command line.
func shellWord(s string) string {
	if strings.ContainsAny(s, " \t") {
		return s
	}
	return shellJoin([]string{s})
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		switch item := item.(type) {
		case string:
			out = append(out, item)
		case map[string]any: // VS Code: {"value": …, "quoting": …}
			s, _ := item["value"].(string)
			out = append(out, s)
		default:
			out = append(out, effect.Unknown)
		}
	}
	return out, true
}

func jsonWords(s string) ([]string, bool) {
	var words []string
	err := json.Unmarshal([]byte(s), &words)
	return words, err == nil
}

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}

// plist yields ProgramArguments and Program of a launchd job.
func (x *extractor) plist(content string) {
	if strings.HasPrefix(content, "bplist") {
		x.hidden("a binary property list")
		return
	}
	d := xml.NewDecoder(bytes.NewReader([]byte(content)))
	d.Strict = false
	var key, text string
	var words []string
	depth, inArgs := 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || depth > x.lim.Depth {
			x.hidden("a property list that cannot be read")
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			text = ""
			if t.Name.Local == "array" {
				inArgs = key == "ProgramArguments"
			}
		case xml.CharData:
			text += string(t)
		case xml.EndElement:
			depth--
			switch t.Name.Local {
			case "key":
				key = strings.TrimSpace(text)
			case "string":
				if inArgs {
					words = append(words, text)
				} else if key == "Program" {
					x.emit(effect.Shell, shellJoin([]string{text}), "a launchd job")
				}
			case "array":
				inArgs = false
				x.emit(effect.Shell, shellJoin(words), "a launchd job")
				words = nil
			}
		}
	}
}
