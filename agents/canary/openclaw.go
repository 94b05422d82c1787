package canary

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"approver.example/agents/canary/model"
)

// OpenClaw is the recipe of OpenClaw. It runs one turn in its own process, without a gateway, and
// with settings that include the user's. The turn stays in its list of sessions.
//
// "openclaw agent exec" leaves less behind, but calls no hook of a plugin.
func OpenClaw() Recipe {
	return Recipe{
		Agent: "openclaw",
		Tool:  "exec",
		Input: onlyCommand,
		Start: startOpenClaw,
		Drop:  []string{"OPENCLAW_GATEWAY_*", "OPENCLAW_SHELL", "OPENCLAW_PROXY_URL", "OPENCLAW_LIVE_*"},
		Limit: 2 * slow,
	}
}

func startOpenClaw(s Setting) (Start, error) {
	config := map[string]any{
		"tools":  map[string]any{"exec": map[string]any{"mode": "full"}},
		"models": map[string]any{"mode": "replace", "providers": map[string]any{"approver": openAI(s.URL)}},
	}
	state, user := openClawPlaces(s.Env)
	env := []string{"OPENCLAW_NO_AUTO_UPDATE=1", "OPENCLAW_DISABLE_BONJOUR=1", "OPENCLAW_STATE_DIR=" + state}
	if _, err := os.Stat(user); err == nil {
		config["$include"] = user
		roots := []string{filepath.Dir(user), value(s.Env, "OPENCLAW_INCLUDE_ROOTS")}
		env = append(env, "OPENCLAW_INCLUDE_ROOTS="+strings.Trim(strings.Join(roots, ":"), ":"))
	} else if !errors.Is(err, os.ErrNotExist) {
		return Start{}, err
	}
	file := filepath.Join(s.Temp, "openclaw.json")
	return Start{
		Args: []string{
			"agent", "--local", "--model", "approver/" + model.Name, "--session-id", filepath.Base(s.Temp), "--json",
			"--message", prompt,
		},
		Env: append(env, "OPENCLAW_CONFIG_PATH="+file),
	}, writeJSON(file, config)
}

// openClawPlaces returns the folder in which OpenClaw looks for plugins, and the file of its settings.
// Without the variable of that folder it would look beside the file that this start names.
func openClawPlaces(env []string) (state, file string) {
	state, file = value(env, "OPENCLAW_STATE_DIR"), value(env, "OPENCLAW_CONFIG_PATH")
	switch {
	case state != "":
	case file != "":
		state = filepath.Dir(file)
	default:
		state = filepath.Join(cmp.Or(value(env, "OPENCLAW_HOME"), value(env, "HOME")), ".openclaw")
	}
	return state, cmp.Or(file, filepath.Join(state, "openclaw.json"))
}
