package claudesettings

import (
	"embed"
	"maps"
	"strings"
)

// The shapes in this file were measured with Claude Code 2.1.330: it read files in which each key
// had a text, numbers, true, null, lists and objects.

var (
	aBool = shape{kind: boolean}
	aText = shape{kind: text}
	texts = shape{kind: list, each: &aText}
)

func or(a, b shape) shape      { a.or = &b; return a }
func orNull(s shape) shape     { s.null = true; return s }
func oneOf(words string) shape { return shape{kind: text, words: strings.Fields(words)} }
func mapOf(s shape) shape      { return shape{kind: object, each: &s} }

// needing returns an object with fields of which some must be there.
func needing(needs string, f map[string]shape) shape {
	return shape{kind: object, fields: f, needs: strings.Fields(needs)}
}

// wordFiles has the keys of settings by the kind of their value, the names of events, and options
// of node.
//
//go:embed words/*.txt
var wordFiles embed.FS

// wordsOf returns the words of a file.
func wordsOf(name string) []string {
	text, err := wordFiles.ReadFile("words/" + name + ".txt")
	if err != nil {
		panic("claudesettings: " + err.Error()) // it is part of the program
	}
	return strings.Fields(string(text))
}

// hookShape is the shape of a hook. Its type decides which keys it needs.
var hookShape = func() shape {
	common := map[string]shape{
		"type": oneOf("command prompt agent http mcp_tool"), "command": aText, "args": texts, "prompt": aText, "url": aText,
		"server": aText, "tool": aText, "timeout": {kind: number, above: true}, "onFailure": oneOf("continue block"),
		"async": aBool, "asyncRewake": aBool, "if": aText, "once": aBool, "shell": oneOf("bash powershell"),
		"statusMessage": aText,
	}
	s := needing("type", common)
	s.byType = map[string][]string{
		"command": {"command"}, "prompt": {"prompt"}, "agent": {"prompt"}, "http": {"url"}, "mcp_tool": {"server", "tool"},
	}
	return s
}()

// eventShapes are the shapes of events. Only those of guards are strict.
var eventShapes = func() map[string]shape {
	matcher := needing("hooks", map[string]shape{"matcher": aText, "hooks": {kind: list, each: &hookShape}})
	all := map[string]shape{}
	for _, name := range wordsOf("events") {
		all[name] = shape{}
	}
	for _, name := range guards {
		all[name] = shape{kind: list, each: &matcher}
	}
	return all
}()

// settingsShape is the shape of a whole file.
var settingsShape = func() shape {
	all := maps.Clone(odd)
	for name, s := range map[string]shape{
		"bool": aBool, "bool-or-null": orNull(aBool), "text": aText, "texts": texts, "list": {kind: list}, "object": anObject,
		"count": {kind: number, whole: true, above: true},
	} {
		for _, key := range wordsOf(name) {
			all[key] = s
		}
	}
	return nested(all)
}()

// nested returns an object with fields. A key with a dot is that of a field in a field.
func nested(fields map[string]shape) shape {
	s := shape{kind: object, fields: map[string]shape{}}
	inner := map[string]map[string]shape{}
	for key, field := range fields {
		outer, rest, deeper := strings.Cut(key, ".")
		if !deeper {
			s.fields[key] = field
			continue
		}
		if inner[outer] == nil {
			inner[outer] = map[string]shape{}
		}
		inner[outer][rest] = field
	}
	for key, fields := range inner {
		s.fields[key] = nested(fields)
	}
	return s
}

// Shapes that several keys have, or that have fields of their own.
var (
	anObject      = shape{kind: object}
	listOfObjects = shape{kind: list, each: &anObject}
	disable       = orNull(oneOf("disable"))
	port          = shape{kind: number, least: -1 << 53}
	ssh           = needing("id name sshHost", map[string]shape{"id": aText, "name": aText, "sshHost": aText})
	command       = needing("type command", map[string]shape{
		"type": oneOf("command"), "command": aText, "padding": port, "hideVimModeIndicator": aBool,
	})
)

// odd are the keys with a shape of their own.
var odd = map[string]shape{
	"hooks":                   {kind: object, fields: eventShapes},
	"permissions.defaultMode": oneOf("acceptEdits auto bypassPermissions default dontAsk plan manual"),
	"permissions.disableBypassPermissionsMode": disable, "permissions.disableAutoMode": disable,
	"sandbox.ripgrep":               needing("command", map[string]shape{"command": aText, "args": texts}),
	"sandbox.network.httpProxyPort": port, "sandbox.network.socksProxyPort": port,
	"desktopSessionCleanupPeriodDays": {kind: number, whole: true},
	"skillListingBudgetFraction":      {kind: number, above: true, most: 1},
	"feedbackSurveyRate":              {kind: number, most: 1},
	"autoUpdatesChannel":              oneOf("latest stable rc"), "daemonColdStart": oneOf("transient ask"),
	"defaultShell":           oneOf("bash powershell"),
	"managedSourcesBehavior": oneOf("first-wins merge"), "parentSettingsBehavior": oneOf("first-wins merge"),
	"totalTokensReminder": oneOf("off infinite fixed countdown padded-countdown"), "tui": oneOf("default fullscreen"),
	"workflowSizeGuideline": oneOf("unrestricted small medium large"), "defaultView": oneOf("chat transcript"),
	"disableAutoMode": disable, "disableDeepLinkRegistration": disable,
	"feedbackDrafts": orNull(oneOf("notify quiet off")),
	"statusLine":     command, "fileSuggestion": command,
	"spinnerVerbs": needing("mode verbs", map[string]shape{"mode": oneOf("append replace"), "verbs": texts}),
	"voice.mode":   oneOf("hold tap"), "worktree.baseRef": oneOf("fresh head"),
	"attribution":    or(nested(map[string]shape{"commit": aText, "pr": aText, "sessionUrl": aBool}), aBool),
	"enabledPlugins": mapOf(or(aBool, texts)), "modelOverrides": mapOf(aText), "pluginConfigs": mapOf(anObject),
	"skillOverrides":      mapOf(oneOf("on name-only user-invocable-only off")),
	"blockedMarketplaces": orNull(listOfObjects), "strictKnownMarketplaces": orNull(listOfObjects),
	"allowedChannelPlugins": listOfObjects,
	"sshConfigs":            {kind: list, each: &ssh}, "forceLoginOrgUUID": or(aText, texts),
	"disabledMcpjsonServers": or(texts, shape{kind: text, filled: true}),
	"enabledMcpjsonServers":  or(texts, shape{kind: text, filled: true}),
}
