package agentcli

import (
	"strings"
	"testing"
)

// Claude Code has more flags than its help names, and looks for some of them in all words.
// Each that is not listed as plain makes the start one that is asked about.
func TestClaudeWords(t *testing.T) {
	odd := func(words string) bool {
		var args []string
		for w := range strings.SplitSeq(words, "|") {
			args = append(args, strings.ReplaceAll(w, "?", "\x00"))
		}
		return claudeWords(args)
	}
	for _, words := range []string{
		"--bg|--exec|x", "--bg|--exec=x", "--exec|x|--bg", "-p|--exec=x|hi", "--bg|hi", "--background|hi",
		"-p|hi|--exec|x", "-p|--|--exec=x", "-p|--model|--exec=x|hi", "-p|--settings|s.json|x", "-p|--settings={}|x",
		"-p|--mcp-config|m.json|--|x", "-p|--mcp-config={}|x", "-p|--project-config-root|../lib|/deep",
		"-p|--debug-file|x.json|hi", "-p|--debug-file=.git/hooks/pre-commit|hi", "-p|--debug-file|?|hi",
		"-p|--input-format|stream-json", "--input-format=stream-json|-p", "-p|--input-format|?",
		"-p|--permission-mode|?|hi", "-p|--resume|x.jsonl|hi", "-r./x.jsonl|-p|hi", "-pw|x", "-pcx", "-px", "--bare|-p|hi",
		"-p|--safe-mode|hi", "--sdk-url|ws://h|-p|hi", "--init-only", "--maintenance", "--permission-prompt-tool|x|-p|hi",
		"--plugin-url|u|-p|hi", "--channels|x|-p|hi", "--from-pr|3", "--file|a:b|-p|hi", "--ide", "--chrome", "--Print|hi",
		"--Exec|x", "--?|-p|hi", "-?|hi", "--no-such-flag|-p|hi", "-p|hi|?", "-p|?|serve",
		"--dangerously-skip-permissions|-p|hi", "daemon|run", "attach|x", "respawn|x", "plugin|eval|.|--json|f",
		"plugins|test", "mcp|serve", "mcp|reset-project-choices", "mcp|?", "?|serve|-p", "gateway|--config|x", "server",
		"ssh|h", "open|x", "import|--yes", "ultrareview", "bridge", "self-hosted-runner", "purge", "later-command|x",
		"--debug|daemon|run", "-p|daemon|run", "agents|--settings|s.json", "agents|--mcp-config|x", "doctor|--exec|x",
		"auto-mode|reset", "config|?",
	} {
		if !odd(words) {
			t.Errorf("%s is plain", words)
		}
	}
	for _, words := range []string{
		"-p|hi", "--print|hi", "-p|fix the tests", "fix the tests", "-p|fix", "-c|-p|go on", "-cp|go on", "-pc|go on",
		"--resume|abc|-p|go on", "-r|-p|hi", "-rabc|-p|hi", "--model|opus|-p|fix -w", "-p|--output-format|json|hi",
		"-p|--output-format=stream-json|--verbose|--include-partial-messages|hi",
		"-p|--max-turns|3|--allowedTools|Read|Bash(git log:*)|--|hi", "-p|hi|--allowed-tools|Read,Edit",
		"-p|--append-system-prompt|- be nice|hi", "-p|--append-system-prompt|--exec is a flag: explain|hi", "-p|- do this",
		"-p|?", "-p|hi ?", "--model|?|-p|hi", "-p|--json-schema|{\"a\":1}|hi", "-p|--permission-mode|plan|hi",
		"--permission-mode=default|-p|hi", "--version", "-v", "--help", "-h", "-p|--debug|hi", "-d|-p|hi",
		"-p|--debug=hooks|hi", "-p|--debug-file|/tmp/a.log|hi", "-p|--add-dir|../lib|-p|hi", "-p|--input-format|text|hi",
		"-p|--session-id|x|--fork-session|hi", "-n|x|-p|hi", "-p|--system-prompt-file|x|hi", "-p|--tools||hi", "-p|",
		"-p|--effort|high|--fallback-model|sonnet|hi", "-p|--max-budget-usd|3|hi", "mcp|list", "mcp|get|serve",
		"mcp|--help", "mcp|remove|x|-s|local", "mcp|add|x|--|npx|-y|a", "plugin|list|--json", "plugin|validate|.",
		"doctor", "update", "install|stable|--force", "agents", "agents|--json", "config|get|x", "auth|status|--json",
		"logs|x", "stop|x", "remote-control|--help", "daemon|status", "",
	} {
		if odd(words) {
			t.Errorf("%s is not plain", words)
		}
	}
}

// A variable in front of Claude Code named a shell, a plugin or a file that it ran.
func TestClaudeVariables(t *testing.T) {
	for _, word := range strings.Fields(`CLAUDE_CODE_PLUGIN_DIRS=x CLAUDE_ENV_FILE=x CLAUDE_CODE_SHELL=x
		CLAUDE_CONFIG_DIR=x NODE_OPTIONS=--require=./x.js
		NODE_OPTIONS=-r BUN_OPTIONS=x BUN_INSPECT=x BUN_CONFIG_FILE=x CLAUDE_CODE_ANYTHING=1
		CLAUDE_CODE_DEBUG_LOGS_DIR=x CLAUDE_CODE_CLIENT_CERT=x
		CLAUDE_CODE_SIMPLE=1 CLAUDE_CODE_MANAGED_SETTINGS_PATH=x CLAUDE_BG_BACKEND=x CLAUDE_PROJECT_DIR=x
		CLAUDE_PLUGIN_ROOT=x SHELL=./bash SHELL=/tmp/bin/bash
		SHELL=/usr/bin/git CLAUDE_CODE_GIT_BASH_PATH=x CLAUDE_CODE_DIAGNOSTICS_FILE=x NODE_PATH=x CLAUDE_CC_BUN_OPTIONS=x`) {
		if !SetsClaude(word) {
			t.Errorf("%s is plain", word)
		}
	}
	for _, word := range strings.Fields(`CLAUDE_CODE_MAX_OUTPUT_TOKENS=9 CLAUDE_CODE_USE_BEDROCK=1
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 SHELL=/bin/bash SHELL=/usr/bin/zsh
		NODE_OPTIONS=--max-old-space-size=4096 NODE_OPTIONS= ANTHROPIC_MODEL=x CLAUDECODE= CLAUDE_MODEL=x DEBUG=1
		MAX_THINKING_TOKENS=9 CLAUDE_OUTPUT=x`) {
		if SetsClaude(word) {
			t.Errorf("%s is not plain", word)
		}
	}
}

func FuzzClaudeWords(f *testing.F) {
	f.Add("-p\x01hi", "--exec")
	f.Add("--model\x01--exec=x", "\x00")
	f.Fuzz(func(t *testing.T, words, more string) {
		var args []string
		for w := range strings.SplitSeq(words, "\x01") {
			args = append(args, w)
		}
		was := claudeWords(args)
		if args = append(args, "--exec", more); !was && len(args) > 2 && !claudeWords(args) && !isCommandAnywhere(args) {
			t.Errorf("%q passes with --exec", words)
		}
	})
}

// isCommandAnywhere reports whether a word is a command of Claude Code, whose own flags follow.
func isCommandAnywhere(args []string) bool {
	for i := range args {
		if isCommand(args, i) {
			return true
		}
	}
	return false
}
