package hookinstall

import (
	"path"
	"strings"

	"approver.example/agents/settings"
)

// Help returns the long help.
func (c UninstallAgentCmd) Help() string {
	agent, err := installer(c.Agent)
	if err != nil {
		return ""
	}
	f := agent.Files()
	return `Takes approver's hooks out, and out of the other files that install wrote, also if the settings are gone. If
nothing else in a file was changed since install, it is what it was before, to the byte, by the copy that
install left beside it (` + copyOf(f) + `), and the copies go; files and folders that were not there before
are removed. Otherwise the rest of the file stays as it is now, and so do the copies. The daemon stops watching it. A
session of ` + f.Title + ` that runs keeps its hooks until it ends. ` + userSettings(f) + "\n\nExample:" +
		examples("uninstall", f)
}

// copyOf returns the name of a copy of the user's settings.
func copyOf(f settings.Files) string { return path.Base(f.File) + ".before-approver-TIME" }

// userSettings says where the user's own settings are.
func userSettings(f settings.Files) string {
	places := []string{path.Join("~", f.Folder, f.File)}
	if f.Config != "" {
		places = append(places, path.Join("$"+f.Config, path.Base(f.Folder), f.File)+", if that is set")
	}
	if f.Home != "" {
		places = append(places, path.Join("$"+f.Home, f.File)+", if that is set")
	}
	return "The user's own settings are " + strings.Join(places, ", or ") + "."
}

// examples returns a line for each kind of settings that the agent has.
func examples(command string, f settings.Files) string {
	line := "\n  approver " + command + " " + f.Agent
	text := line
	if f.Unread == "" {
		text += line + " --project ."
	}
	if f.Managed != "" {
		text += line + " --system"
	}
	return text
}
