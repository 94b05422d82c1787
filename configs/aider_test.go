package configs_test

import "testing"

// An agent started aider and fed it its task, with a flag that was taken for one that ends it.
// It checks for an update, or stops its statistics, and goes on: nobody was asked what it did.
// Only the flags that print something and end are still no question.
func TestFlagsWithWhichAiderGoesOn(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		aider --check-update < task.txt
		echo x | aider --check-update
		aider --check-update
		aider --check-update a.py
		aider a.py --check-update
		aider --no-check-update
		aider --yes --check-update
		aider --analytics-disable
		aider --analytics-disable < task.txt
		echo x | aider --analytics-disable
		aider --analytics-disable --message-file task.txt
		aider --analytics-disable --check-update
		aider --no-analytics
		aider --analytics
		aider-chat --check-update
		aider-chat --analytics-disable
		python -m aider --check-update
		python3 -m aider --analytics-disable
		uvx aider-chat --check-update
		uvx --from aider-chat aider --analytics-disable
		uv tool run aider-chat --check-update
		pipx run aider-chat --analytics-disable
		uv run aider --check-update
		poetry run aider --analytics-disable`)
	asks(t, judge, false, `
		aider --version
		aider --help
		aider --just-check-update
		aider --list-models gpt
		aider --show-repo-map
		aider --shell-completions bash`)
}
