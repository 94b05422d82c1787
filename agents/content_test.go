package agents

import (
	"encoding/json"
	"testing"

	"approver.example"
)

// Claude Code filled in the script of a workflow that was called by its name, and the agent
// was frozen because what ran was not what was judged. Now a script does not count where a
// name or a file says which one it is, and counts where it is all that there is. Of any other
// tool it counts: a call that runs another script than the one that was approved is another call.
func TestWorkflowsScriptIsItsNames(t *testing.T) {
	of := func(tool, raw string) Content {
		content, err := claude.tools.read(&approver.ToolCall{}, tool, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	for _, c := range []struct {
		tool, a, b string
		same       bool
	}{
		{"Workflow", `{"name":"fine"}`, `{"name":"fine","script":"x"}`, true},
		{"Workflow", `{"name":"a","script":"x"}`, `{"name":"a","script":"y"}`, true},
		{"Workflow", `{"scriptPath":"a.js"}`, `{"scriptPath":"a.js","script":"x"}`, true},
		{"Workflow", `{"name":"fine"}`, `{"name":"other","script":"x"}`, false},
		{"Workflow", `{"scriptPath":"a.js"}`, `{"scriptPath":"b.js","script":"x"}`, false},
		{"Workflow", `{"script":"x"}`, `{"script":"y"}`, false},
		{"Workflow", `{"name":"","script":"x"}`, `{"name":"","script":"y"}`, false},
		{"Workflow", `{"name":null,"script":"x"}`, `{"name":null,"script":"y"}`, false},
		{"Workflow", `{"Name":"fine","script":"x"}`, `{"Name":"fine","script":"y"}`, false},
		{"Workflow", `{"name":"fine"}`, `{"name":"fine","script":"x","args":{"a":1}}`, false},
		{"mcp__a__b", `{"name":"fine","script":"x"}`, `{"name":"fine","script":"y"}`, false},
		{"Agent2", `{"name":"fine","script":"x"}`, `{"name":"fine","script":"y"}`, false},
		{"Workflow2", `{"name":"fine","script":"x"}`, `{"name":"fine","script":"y"}`, false},
	} {
		if (of(c.tool, c.a) == of(c.tool, c.b)) != c.same {
			t.Errorf("%s: %s and %s", c.tool, c.a, c.b)
		}
	}
	if contentOf("Bash", object{"command": nil}) == contentOf("Bash", object{"command": json.RawMessage(`"ls"`)}) {
		t.Error("no command is ls")
	}
}

// Another program's hook put [1] in the place of the text "[1]", and what ran counted as what was judged.
// Claude Code converts only the texts of numbers, true and false.
func TestTextsThatAreConverted(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`"3000"`, `3000`, true}, {`"true"`, `true`, true}, {`"false"`, `false`, true}, {`"a\u0062"`, `"ab"`, true},
		{`"[1]"`, `[1]`, false}, {`"{}"`, `{}`, false}, {`"null"`, `null`, false}, {`"\u005b1]"`, `[1]`, false},
		{`"[1]"`, `"\"[1]"`, false}, {`"null"`, `"\"null"`, false}, {`"\"a"`, `"a"`, false},
	} {
		of := func(value string) Content { return contentOf("mcp__a__b", object{"x": json.RawMessage(value)}) }
		if got := of(c.a) == of(c.b); got != c.same {
			t.Errorf("%s is %s: %t", c.a, c.b, got)
		}
	}
}
