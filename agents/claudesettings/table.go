package claudesettings

import (
	"embed"
	"strings"
)

// The shapes in this file were measured with Claude Code 2.1.330: it read files in which each key
// had a text, numbers, true, null, lists and objects.

var (
	aBool   = shape{kind: boolean}
	aText   = shape{kind: text}
	aCount  = shape{kind: number, whole: true, above: true}
	texts   = shape{kind: list, each: &aText}
	anyList = shape{kind: list}
)

func or(a, b shape) shape             { a.or = &b; return a }
func orNull(s shape) shape            { s.null = true; return s }
func oneOf(words string) shape        { return shape{kind: text, words: strings.Fields(words)} }
func mapOf(s shape) shape             { return shape{kind: object, each: &s} }
func fields(f map[string]shape) shape { return shape{kind: object, fields: f} }

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
	all := map[string]shape{}
	for name, s := range map[string]shape{"bool": aBool, "bool-or-null": orNull(aBool), "text": aText, "texts": texts} {
		for _, key := range wordsOf(name) {
			all[key] = s
		}
	}
	for key, s := range odd {
		all[key] = s
	}
	return fields(all)
}()

var command = needing("type command", map[string]shape{
	"type": oneOf("command"), "command": aText, "padding": {kind: number, least: -1 << 53}, "hideVimModeIndicator": aBool,
})

// odd are the keys with a shape of their own.
var odd = map[string]shape{
	"hooks": fields(eventShapes), "env": {kind: object},
	"permissions": fields(map[string]shape{
		"allow": anyList, "deny": anyList, "ask": anyList, "additionalDirectories": texts,
		"defaultMode":                  oneOf("acceptEdits auto bypassPermissions default dontAsk plan manual"),
		"disableBypassPermissionsMode": orNull(oneOf("disable")), "disableAutoMode": orNull(oneOf("disable")),
		"blockReadsOutsideWorkingDirectories": orNull(aBool), "blockWritesOutsideWorkingDirectories": orNull(aBool),
		"blockFileToolReadsOutsideWorkingDirectories": orNull(aBool), "denyInsteadOfPrompting": orNull(aBool),
	}),
	"sandbox": sandbox, "cleanupPeriodDays": aCount, "skillListingMaxDescChars": aCount,
	"totalTokensReminderBudget":       aCount,
	"desktopSessionCleanupPeriodDays": {kind: number, whole: true},
	"skillListingBudgetFraction":      {kind: number, above: true, most: 1},
	"feedbackSurveyRate":              {kind: number, most: 1},
	"autoUpdatesChannel":              oneOf("latest stable rc"), "daemonColdStart": oneOf("transient ask"),
	"defaultShell":           oneOf("bash powershell"),
	"managedSourcesBehavior": oneOf("first-wins merge"), "parentSettingsBehavior": oneOf("first-wins merge"),
	"totalTokensReminder": oneOf("off infinite fixed countdown padded-countdown"), "tui": oneOf("default fullscreen"),
	"workflowSizeGuideline": oneOf("unrestricted small medium large"), "defaultView": oneOf("chat transcript"),
	"disableAutoMode": orNull(oneOf("disable")), "disableDeepLinkRegistration": orNull(oneOf("disable")),
	"feedbackDrafts": orNull(oneOf("notify quiet off")),
	"statusLine":     command, "fileSuggestion": command,
	"spinnerVerbs": needing("mode verbs", map[string]shape{"mode": oneOf("append replace"), "verbs": texts}),
	"autoMode": fields(map[string]shape{
		"allow": texts, "soft_deny": texts, "hard_deny": texts, "environment": texts, "classifyAllShell": orNull(aBool),
	}),
	"breakReminder": fields(map[string]shape{
		"enabled": aBool, "intervalMinutes": aCount, "breakThresholdMinutes": aCount, "message": aText,
	}),
	"quietHours": fields(map[string]shape{"enabled": aBool, "start": aText, "end": aText}),
	"voice":      fields(map[string]shape{"enabled": aBool, "mode": oneOf("hold tap"), "autoSubmit": aBool}),
	"worktree": fields(map[string]shape{
		"symlinkDirectories": texts, "sparsePaths": texts, "baseRef": oneOf("fresh head"),
	}),
	"remote":         fields(map[string]shape{"defaultEnvironmentId": aText}),
	"remoteTools":    fields(map[string]shape{"allowUnattendedServing": orNull(aBool)}),
	"attribution":    or(fields(map[string]shape{"commit": aText, "pr": aText, "sessionUrl": aBool}), aBool),
	"enabledPlugins": mapOf(or(aBool, texts)), "modelOverrides": mapOf(aText), "pluginConfigs": mapOf(shape{kind: object}),
	"skillOverrides":      mapOf(oneOf("on name-only user-invocable-only off")),
	"blockedMarketplaces": orNull(listOfObjects), "strictKnownMarketplaces": orNull(listOfObjects),
	"allowedChannelPlugins": listOfObjects,
	"sshConfigs":            {kind: list, each: &ssh}, "forceLoginOrgUUID": or(aText, texts),
	"disabledMcpjsonServers": or(texts, shape{kind: text, filled: true}),
	"enabledMcpjsonServers":  or(texts, shape{kind: text, filled: true}),
}

var (
	anObject      = shape{kind: object}
	listOfObjects = shape{kind: list, each: &anObject}
	ssh           = needing("id name sshHost", map[string]shape{"id": aText, "name": aText, "sshHost": aText})
)

var sandbox = fields(map[string]shape{
	"enabled": orNull(aBool), "failIfUnavailable": orNull(aBool), "autoAllowBashIfSandboxed": orNull(aBool),
	"allowUnsandboxedCommands": orNull(aBool), "enableWeakerNestedSandbox": orNull(aBool),
	"enableWeakerNetworkIsolation": orNull(aBool), "excludedCommands": texts, "credentials": {kind: object},
	"ignoreViolations": {kind: object}, "ripgrep": needing("command", map[string]shape{"command": aText, "args": texts}),
	"network": fields(map[string]shape{
		"allowedDomains": texts, "deniedDomains": texts, "allowUnixSockets": texts, "allowMachLookup": texts,
		"allowManagedDomainsOnly": orNull(aBool), "allowAllUnixSockets": orNull(aBool), "allowLocalBinding": orNull(aBool),
		"httpProxyPort": {kind: number, least: -1 << 53}, "socksProxyPort": {kind: number, least: -1 << 53},
	}),
	"filesystem": fields(map[string]shape{
		"allowWrite": texts, "denyWrite": texts, "denyRead": texts, "allowRead": texts,
	}),
})
