package canary

import (
	"encoding/json"
	"os"
	"path/filepath"

	"approver.example/agents/canary/model"
)

// Pi is the recipe of the Pi coding agent. An extension tells it of the model; its own permissions
// are all given, and it has no MCP servers.
func Pi() Recipe {
	return Recipe{
		Agent: "pi",
		Tool:  "bash",
		Input: onlyCommand,
		Start: startPi,
		Limit: slow,
	}
}

func startPi(s Setting) (Start, error) {
	of := openAI(s.URL)
	of["name"] = "approver"
	provider, err := json.Marshal(of)
	if err != nil {
		return Start{}, err
	}
	file := filepath.Join(s.Temp, "provider.js")
	text := `export default (pi) => pi.registerProvider("approver", ` + string(provider) + ");\n"
	return Start{
		Args: []string{
			"-p", "--no-session", "--offline", "-e", file, "--provider", "approver", "--model", model.Name, prompt,
		},
		Env: []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"},
	}, os.WriteFile(file, []byte(text), 0o600)
}
