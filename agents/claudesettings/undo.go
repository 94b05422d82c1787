package claudesettings

import (
	"bytes"
	"slices"
)

// MadeOf reports whether a text is what [WithHooks] makes of a former one, which has no
// hooks of approver: then taking the hooks out gives the former text, to the byte.
// Nothing else that was changed since is lost by that: it would not be made of it.
func MadeOf(path string, text, former []byte) bool {
	installed := Settings{Hooks: installedIn(path, text)}
	if len(installed.Hooks) == 0 || len(installedIn(path, former)) > 0 {
		return false
	}
	made, err := WithHooks(path, former, installed)
	return err == nil && bytes.Equal(made, text)
}

// NothingElse reports whether a file holds approver's hooks and nothing else, as one
// that install made where there was none.
func NothingElse(path string, text []byte) bool {
	if len(installedIn(path, text)) == 0 {
		return false
	}
	rest, err := WithHooks(path, text, Settings{})
	return err == nil && string(bytes.Join(bytes.Fields(rest), nil)) == "{}"
}

// installedIn are the matchers that hold approver's hooks and no others.
func installedIn(path string, text []byte) map[string][]Matcher {
	s, err := Read(path, text)
	if err != nil {
		return nil
	}
	found := map[string][]Matcher{}
	for event, matchers := range s.Hooks {
		for _, m := range matchers {
			if slices.ContainsFunc(m.Hooks, Ours) {
				found[event] = append(found[event], m)
			}
		}
	}
	return found
}
