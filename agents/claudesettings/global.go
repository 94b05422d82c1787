package claudesettings

import "encoding/json"

// globalEnv reads the "env" of the file in which Claude Code notes what it knows about a user. Like
// Claude Code, it compares the case of keys, and of two equal keys the last one counts.
func globalEnv(text []byte) (env map[string]json.RawMessage, err error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(unmarked(text), &top); err != nil {
		return nil, err
	}
	raw := top["env"]
	if len(raw) == 0 || raw[0] != '{' {
		return nil, nil
	}
	err = json.Unmarshal(raw, &env)
	return env, err
}
