package claudesettings

import (
	"maps"
	"slices"

	"approver.example/agents/settings"
)

// idle reports whether an event's hook guards nothing: it only reports calls that did not run, for
// the card, or brings Claude Code's own questions to people. Without the latter they stay in its dialog.
func idle(event string) bool { return event == "PostToolBatch" || event == "PermissionRequest" }

// missingHooks returns a sentence for each event whose wanted hooks are missing. It checks the hooks
// that guard calls, or with idlers the idle ones.
func missingHooks(have map[string][]Matcher, want settings.Want, idlers bool) (missing []string) {
	events := slices.SortedFunc(maps.Keys(want.Hooks), byRank)
	for _, event := range events {
		if idle(event) != idlers {
			continue
		}
		why := "has no hook of approver " + where(event)
		for _, m := range have[event] {
			for _, h := range m.Hooks {
				if !Ours(h) {
					continue
				}
				if why = difference(event, m.Matcher, h, want); why == "" {
					break
				}
			}
			if why == "" {
				break
			}
		}
		if why != "" {
			missing = append(missing, why)
		}
	}
	return missing
}

// missingReports returns findings about missing hooks that guard nothing, if no file with the other
// hooks has them.
func missingReports(files []file) (found []settings.Finding) {
	for _, f := range files {
		if !f.holds() {
			continue
		}
		if len(f.idle) == 0 {
			return nil
		}
		for _, why := range f.idle {
			found = append(found, settings.Finding{Harmless: true, Path: f.Path, Text: f.Path + sep(why) + why})
		}
	}
	return found
}
