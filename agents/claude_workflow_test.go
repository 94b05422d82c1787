package agents

import (
	"testing"

	"approver.example"
)

// Claude Code filled in the script of a workflow that was called by its name, and the agent
// was frozen because what ran was not what was judged. Now a script does not count where a
// name or a file says which one it is, and counts where it is all that there is.
func TestWorkflowsScriptIsItsNames(t *testing.T) {
	of := func(raw string) Content {
		content, err := claude.tools.read(&approver.ToolCall{}, "Workflow", []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"name":"fine"}`, `{"name":"fine","script":"x"}`, true},
		{`{"scriptPath":"a.js"}`, `{"scriptPath":"a.js","script":"x"}`, true},
		{`{"name":"fine"}`, `{"name":"other","script":"x"}`, false},
		{`{"scriptPath":"a.js"}`, `{"scriptPath":"b.js","script":"x"}`, false},
		{`{"script":"x"}`, `{"script":"y"}`, false},
		{`{"name":"","script":"x"}`, `{"name":"","script":"y"}`, false},
		{`{"name":null,"script":"x"}`, `{"name":null,"script":"y"}`, false},
		{`{"Name":"fine","script":"x"}`, `{"Name":"fine","script":"y"}`, false},
		{`{"name":"fine"}`, `{"name":"fine","script":"x","args":{"a":1}}`, false},
	} {
		if (of(c.a) == of(c.b)) != c.same {
			t.Errorf("%s and %s", c.a, c.b)
		}
	}
}
