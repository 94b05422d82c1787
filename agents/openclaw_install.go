package agents

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents/settings"
)

// openClawID is the name of the plugin.
const openClawID = "approver"

// OpenClaw finds the plugin in its folder, and loads it for a turn only if its settings say so. A list of
// plugins that may be loaded, if there is one, has to name it.
var (
	openClawEntry = settings.JSON5Change{Key: []string{"plugins", "entries", openClawID, "enabled"}, Value: true}
	openClawAllow = settings.JSON5Change{Key: []string{"plugins", "allow"}, Value: openClawID, Listed: true}
)

// openClawConfig is the variable of another file of settings.
const openClawConfig = "OPENCLAW_CONFIG_PATH"

// openClawSettings returns the settings that belong to a plugin.
func openClawSettings(plugin string) (path string, ok bool) {
	folder, ok := strings.CutSuffix(plugin, string(filepath.Separator)+openclaw.install.files.File)
	return filepath.Join(folder, "openclaw.json"), ok
}

// openClawCompanion is the file of settings, which has to load a plugin with hooks.
func openClawCompanion(file string, hooks bool, err error) Companion {
	return Companion{
		Path: file, Lacking: always("OpenClaw does not load the plugin: its settings do not name it"),
		Change: func(old []byte) ([]byte, error) {
			switch other := os.Getenv(openClawConfig); {
			case err != nil:
				return nil, err
			case !hooks:
				return openClawBare(old), nil
			case other != "" && other != file:
				return nil, settings.Refuse("unset it",
					"%s is set, so OpenClaw reads its settings in %s, and its plugins beside it",
					openClawConfig, other)
			}
			return openClawNaming(file, old)
		},
	}
}

// openClawNaming returns settings that load the plugin.
func openClawNaming(file string, old []byte) (text []byte, err error) {
	all, err := settings.ReadJSON5(old)
	if err != nil {
		return nil, settings.RefuseText(file, err)
	}
	if why := openClawOff(all); why != "" {
		return nil, settings.Refuse("remove that first", "%s: %s", file, why)
	}
	text = old
	for _, c := range []settings.JSON5Change{openClawEntry, openClawAllow} {
		if text, err = c.In(text); err != nil {
			return nil, settings.Refuse("write it there yourself", "%s: there is no plain place for %s = %v", file,
				strings.Join(c.Key, "."), c.Value)
		}
	}
	return text, nil
}

// openClawBare returns settings that say nothing of the plugin; nil if they say nothing else.
func openClawBare(old []byte) []byte {
	text := openClawEntry.Out(openClawAllow.Out(old))
	if !bytes.Equal(text, old) && string(bytes.Join(bytes.Fields(text), nil)) == "{}" {
		return nil
	}
	return text
}

// openClawOff says what in the settings keeps the plugin from being loaded; "" if nothing does.
func openClawOff(all map[string]any) string {
	is := func(id any) bool {
		name, _ := id.(string)
		return strings.EqualFold(strings.TrimSpace(name), openClawID)
	}
	if settings.At(all, "plugins", "enabled") == false {
		return "plugins.enabled = false switches all plugins off"
	}
	if denied, _ := settings.At(all, "plugins", "deny").([]any); slices.ContainsFunc(denied, is) {
		return "plugins.deny has approver's plugin"
	}
	entries, _ := settings.At(all, "plugins", "entries").(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if is(id) && settings.At(entries, id, "enabled") == false {
			return "plugins.entries." + id + ".enabled = false switches approver's plugin off"
		}
	}
	return ""
}

// Beside implements [Searcher]: parts of the settings can be in other files.
func (openClawAgent) Beside(
	_ settings.Places, sources []settings.Source, _ settings.Want,
) (found []settings.Finding, err error) {
	for _, s := range sources {
		file, ok := openClawSettings(s.Path)
		if s.Place != settings.User || s.Missing || !ok {
			continue
		}
		read := settings.ReadSource(s.Place, file)
		if settings.Unseen(read.Err) {
			return nil, read.Err
		}
		all, _ := settings.ReadJSON5(read.Text) // what cannot be read is said of the companion
		for _, key := range [][]string{{"$include"}, {"plugins", "$include"}, {"plugins", "entries", "$include"}} {
			if settings.At(all, key...) != nil {
				found = append(found, settings.Finding{Harmless: true, Path: file, Fix: "approver doctor --agent openclaw",
					Text: strings.Join(key, ".") + " takes settings from other files, which are not looked at: a list of " +
						"plugins, or a switch, may be there"})
			}
		}
	}
	return found, nil
}

// Environment implements [Adviser].
func (openClawAgent) Environment(env []string) (found []settings.Finding) {
	for _, pair := range env {
		if key, value, _ := strings.Cut(pair, "="); key == openClawConfig && value != "" {
			found = append(found, settings.Finding{Fix: "unset " + openClawConfig, Text: openClawConfig +
				" is set: OpenClaw reads its settings in " + value + ", and its plugins beside it"})
		}
	}
	return found
}
