package canary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"approver.example/agents/canary/model"
)

// readObject returns the object in a file of JSON, with comments or without. A missing file is an
// empty object.
func readObject(file string) (map[string]any, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]any{}, nil
	}
	if err != nil {
		return nil, err
	}
	object, err := parseObject(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return object, nil
}

func parseObject(text []byte) (object map[string]any, err error) {
	if text, err = hujson.Standardize(text); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	if object == nil {
		object = map[string]any{} // the text is "null"
	}
	return object, nil
}

// section returns an object inside an object. If it is not there, it is made.
func section(object map[string]any, key string) map[string]any {
	inner, ok := object[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[key] = inner
	}
	return inner
}

// serverNames returns the sorted names of the MCP servers in files of JSON: the keys of the object
// that is under a key. Agents that have no option against all MCP servers have one against each. A
// file that cannot be read has none: the agent cannot read it either.
func serverNames(key string, files ...string) []string {
	names := map[string]bool{}
	for _, file := range files {
		object, err := readObject(file)
		if err != nil {
			continue
		}
		for name := range section(object, key) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// openAI describes the model to an agent that calls it as one of OpenAI's, with the form of settings that Pi
// and OpenClaw share.
func openAI(url string) map[string]any {
	return map[string]any{
		"baseUrl": url + "/v1", "apiKey": key, "api": "openai-completions",
		"models": []any{map[string]any{
			"id": model.Name, "name": model.Name, "reasoning": false, "input": []string{"text"},
			"cost":          map[string]any{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": model.Window, "maxTokens": model.Room,
		}},
	}
}

// onlyCommand are the arguments of a shell that takes no more than the command.
func onlyCommand(command string) any { return map[string]any{"command": command} }

// writeJSON writes a value into a file that only the user can read.
func writeJSON(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
