package display

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A command with thousands of secrets kept the daemon busy for minutes, because its title was masked once for each.
func TestTitleOfManySecrets(t *testing.T) {
	var b strings.Builder
	b.WriteString("deploy")
	for i := range 1500 {
		fmt.Fprintf(&b, " --token-%d=ghp_%036d", i, i*7919)
	}
	began := time.Now()
	title := said(shellCall(b.String()).Title())
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the title took %v", took)
	}
	if line := PushLine("HIGH", title, ""); strings.Contains(line, "ghp_0") {
		t.Errorf("the title shows a secret: %s", line)
	}
}

// A card showed the reason that was given for a pause twice: as an argument, and as what is claimed.
func TestOwnQuestionsSayAReasonOnce(t *testing.T) {
	for claimed, want := range map[string]int{"tidy": 0, "": 1, "other": 1} {
		call := Call{Question: true, Tool: "approver pause", Args: []byte(`{"reason_as_claimed":"tidy"}`), Claimed: claimed}
		if blocks, _ := call.Body(); len(blocks) != want {
			t.Errorf("claimed %q: %+v", claimed, blocks)
		}
	}
}
