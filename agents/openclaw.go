package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"approver.example/agents/canary"
	"approver.example/agents/settings"
)

// An openClawAgent is the adapter of OpenClaw, in which a plugin stands before each tool. It follows the
// pages about plugin hooks of version 2026.9.6. A handler that throws, or that takes longer than its
// time, blocks the call. What a call returned can only be recorded.
//
// OpenClaw does not say in which folder a call is made: it is that of the agent in its settings. And
// "openclaw agent exec" does not run the hooks of plugins.
type openClawAgent struct{ plugged }

// openClawMost is the longest time that OpenClaw gives a handler.
const openClawMost = 10 * time.Minute

var openclaw = newOpenClaw()

func newOpenClaw() openClawAgent {
	a := openClawAgent{plugin{
		agent: "openclaw", title: "OpenClaw", before: "before_tool_call", after: "after_tool_call",
		tools: vocabulary{
			{tools: "exec", as: "Bash", dir: "workdir"},
			{tools: "process", as: "Bash", when: "data", keys: "data=command"},
			{tools: "process", as: "Bash", when: "text", keys: "text=command"},
			{tools: "process", as: "Bash", when: "literal", keys: "literal=command"},
			{tools: "write", as: "Write", keys: "path=file_path"},
			{tools: "edit", as: "MultiEdit", keys: "path=file_path"},
			{tools: "read", as: "Read", keys: "path=file_path"},
			{tools: "web_fetch", as: "WebFetch"},
			{tools: "web_search", as: "WebSearch"},
		},
		files: settings.Files{
			Agent: "openclaw", Title: "OpenClaw", Folder: ".openclaw", File: "extensions/approver/index.js",
			Home: "OPENCLAW_STATE_DIR", Config: "OPENCLAW_HOME",
			Unread: "a plugin in a workspace is not loaded before its user enables it",
		},
		most: openClawMost, recipe: canary.OpenClaw,
		advice: "openclaw agent exec runs calls without the hooks of plugins, and a start with --profile, --dev, " +
			"OPENCLAW_CONFIG_PATH or another HOME without approver's plugin: approver does not see those calls",
	}.adapter()}
	a.check, a.merges = openClawCheck, true
	return a
}

// openClawOwn are tools that change OpenClaw itself, and with it whether approver is asked: plugins,
// settings, another agent that may do so.
const openClawOwn = "plugins gateway openclaw"

// openClawLooks are the actions of those tools that change nothing.
const openClawLooks = "list status get show search info config.get config.schema"

// openClawCheck refuses what would run something else than the arguments say, or where nobody can say
// what it runs.
func openClawCheck(tool string, raw json.RawMessage) error {
	var args object
	if err := plainPaths(tool, raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return err
	}
	set := func(key string) bool {
		var value bytes.Buffer
		_ = json.Compact(&value, args[key]) // it is valid, or missing
		return !slices.Contains([]string{"", "null", "false", `""`, "{}", "[]"}, value.String())
	}
	action, _, err := args.text("action")
	switch {
	case err != nil && hasWord(openClawOwn, tool):
		return err
	case hasWord(openClawOwn, tool) && !hasWord(openClawLooks, action):
		return errors.New("this changes OpenClaw itself, which only a person may do")
	case tool == "sessions_spawn" && (set("cwd") || set("runtime")):
		return errors.New("approver is not told in which folder, or in which agent, the calls of that session are made")
	case tool == "exec" && set("env"):
		return errors.New(`"env" changes what the command does: set the variables in the command`)
	case tool == "exec" && (set("elevated") || set("node") || slices.ContainsFunc(args.texts("host"), isNode)):
		return errors.New("the command would run elsewhere or with other rights, which approver cannot judge")
	case tool == "process" && (set("keys") || set("hex")):
		return errors.New("keys are not judged: write the text")
	case tool == "process":
		return openClawTypes(args)
	}
	return nil
}

// isNode reports whether OpenClaw takes the host of a command for another machine.
func isNode(host string) bool { return strings.EqualFold(strings.TrimFunc(host, isBlank), "node") }

// openClawTypes refuses a text for a running program unless it is one, of whole lines. Which of the
// arguments is typed depends on the action. A part of a line is a command only together with what is
// typed before and after it, and a control character takes back what was typed, or brings an earlier
// line.
func openClawTypes(args object) error {
	typed := ""
	for _, key := range []string{"data", "text", "literal"} {
		text, _, err := args.text(key)
		switch {
		case string(args[key]) == "null" || err == nil && text == "":
			continue
		case err != nil:
			return err
		case typed != "":
			return errors.New(`only one of "data", "text" and "literal" is expected`)
		}
		typed = text
	}
	switch {
	case strings.ContainsFunc(typed, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }):
		return errors.New(`a control character is a key, and keys are not judged: write lines that end with \n`)
	case typed != "" && !strings.HasSuffix(typed, "\n"):
		return errors.New(`write whole lines, each with \n at its end: a part of a line cannot be judged`)
	}
	return nil
}

// These files make the folder of approver's plugin one of OpenClaw.
const (
	openClawPackage = `{
  "name": "approver",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "openclaw": {"extensions": ["./index.js"]}
}
`
	openClawManifest = `{
  "id": "approver",
  "name": "approver",
  "description": "Asks approver before each tool call.",
  "activation": {"onStartup": true, "onCapabilities": ["hook"]},
  "configSchema": {"type": "object", "additionalProperties": false}
}
`
)

// Companions implements [Accompanied].
func (a openClawAgent) Companions(path string, _, becomes []byte) []Companion {
	hooks, err := a.ReadHooks(path, becomes)
	all := []Companion{
		fixedFile(filepath.Join(filepath.Dir(path), "package.json"), openClawPackage, openClawLacks, len(hooks) > 0, err),
		fixedFile(filepath.Join(filepath.Dir(path), "openclaw.plugin.json"), openClawManifest, openClawLacks, len(hooks) > 0,
			err),
	}
	if file, ok := openClawSettings(path); ok {
		all = append(all, openClawCompanion(file, len(hooks) > 0, err))
	}
	return all
}

const openClawLacks = "the file is not as install writes it, and OpenClaw may not load the plugin"

// fixedFile is a companion with one text, in a folder that is approver's. Another text there is replaced,
// and kept beside the file.
func fixedFile(path, text, lacking string, wanted bool, err error) Companion {
	return Companion{
		Path: path, Mode: 0o644, Lacking: always(lacking),
		Change: func(old []byte) ([]byte, error) {
			switch {
			case err != nil:
				return nil, err
			case wanted:
				return []byte(text), nil
			case bytes.Equal(old, []byte(text)):
				return nil, nil
			}
			return old, nil
		},
	}
}
