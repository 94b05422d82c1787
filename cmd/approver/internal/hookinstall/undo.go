package hookinstall

import (
	"bytes"
	"encoding/json"
	"slices"

	"approver.example/agents"
	"approver.example/agents/settings"
)

// madeOf reports whether a text is what install makes of a former one, which has no
// hooks of approver: then taking the hooks out gives the former text, to the byte.
// Nothing else that was changed since is lost by that: it would not be made of it.
func madeOf(agent agents.Installer, path string, text, former []byte) bool {
	hooks := installedIn(agent, path, text)
	if len(hooks) == 0 || len(installedIn(agent, path, former)) > 0 {
		return false
	}
	made, err := agent.WithHooks(path, former, hooks)
	return err == nil && bytes.Equal(made, text)
}

// nothingElse reports whether a file holds approver's hooks and nothing else, as one
// that install made where there was none.
func nothingElse(agent agents.Installer, path string, text []byte) bool {
	if len(installedIn(agent, path, text)) == 0 {
		return false
	}
	rest, err := agent.WithHooks(path, text, nil)
	return err == nil && string(bytes.Join(bytes.Fields(rest), nil)) == "{}"
}

// installedIn are the matchers that hold approver's hooks.
func installedIn(agent agents.Installer, path string, text []byte) settings.Hooks {
	hooks, err := agent.ReadHooks(path, text)
	if err != nil {
		return nil
	}
	ours := func(hook json.RawMessage) bool { return settings.CommandOf(hook).Ours(agent.Name()) }
	found := settings.Hooks{}
	for event, matchers := range hooks {
		for _, m := range matchers {
			if slices.ContainsFunc(m.Hooks, ours) {
				found[event] = append(found[event], m)
			}
		}
	}
	return found
}
