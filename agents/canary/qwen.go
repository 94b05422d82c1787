package canary

import "approver.example/agents/canary/model"

// Qwen is the recipe of Qwen Code. Its options come before its settings.
func Qwen() Recipe {
	return Recipe{
		Agent: "qwen",
		Tool:  "run_shell_command",
		Input: func(command string) any {
			return map[string]any{"command": command, "description": about, "is_background": false}
		},
		Start: func(s Setting) (Start, error) {
			return Start{
				Args: []string{
					"-p", prompt, "--yolo", "--auth-type", "openai", "--openai-base-url", s.URL + "/v1", "--openai-api-key", key,
					"-m", model.Name, "--allowed-mcp-server-names", noServer, "--chat-recording=false",
				},
				Env: append(noProxy(), "OPENAI_API_KEY="+key, "OPENAI_BASE_URL="+s.URL+"/v1", "OPENAI_MODEL="+model.Name,
					"QWEN_USAGE_STATISTICS_ENABLED=false", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1"),
			}, nil
		},
		Drop: []string{
			"OPENAI_*", "DASHSCOPE_*", "ANTHROPIC_*", "GEMINI_*", "GOOGLE_*", "QWEN_MODEL", "QWEN_CODE_MODEL",
			"QWEN_DEFAULT_AUTH_TYPE", "QWEN_SERVER_TOKEN", "QWEN_DAEMON_*", "QWEN_CODE_SESSION_ID", "QWEN_CODE_IDE_*",
			"QWEN_CODE_CLI",
		},
		Limit: slow,
	}
}
