package broadcaster

import (
	"testing"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// BenchmarkCard is one card of a waiting request, as each place that shows it needs it.
func BenchmarkCard(b *testing.B) {
	now := time.Now()
	r := Request{ID: "01a22aa6-c49b-75eb-b03a-1870a9c13013", State: approver.Pending, Created: now,
		Due: now.Add(2 * time.Minute),
		Call: approver.ToolCall{ID: "toolu_01", Agent: "claude", Tool: "Bash", Command: "git push --force origin main",
			Dir: "/home/ada/src/shop", Claimed: "Push the rebased branch", Session: "5f3c",
			Args: []byte(`{"command":"git push --force origin main","description":"Push the rebased branch"}`)},
		Verdict: approver.Verdict{Decision: approver.Ask, Severity: approver.High, By: "reflex", Rule: "git_push_force",
			Category: "git", Confidence: 0.9, Reason: "it rewrites history that others have", Detail: "git push",
			Says: display.Summary{Title: display.Phrase{Text: "Force-push %s", Args: []string{"main"}},
				Why:     display.Phrase{Text: "it rewrites history that others have"},
				Does:    []display.Phrase{{Text: "Rewrites the history of %s on the remote", Args: []string{"main"}}},
				Undo:    display.Phrase{Text: "Hard to undo: it %s", Args: []string{"loses commits of others"}},
				Project: "acme/shop", Branch: "main"}},
	}
	v := &Cards{Options: &Options{Host: "laptop"}, approvers: &Approvers{}}
	code := tokens.Code{}
	b.ReportAllocs()
	for b.Loop() {
		if c := v.card(r, display.Texts{}, code); c.Push == "" {
			b.Fatal("there is no card")
		}
	}
}
