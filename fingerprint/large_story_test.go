//go:build unix

package fingerprint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// The story: a team has thousands of manifests. Ada was asked for each kubectl apply, since a
// folder so large had a name on the card, and a yes for the session was refused. Now her yes
// holds as long as nothing changes. An agent that puts another manifest of the same size there,
// with the old time, behind a card or under the yes, runs nothing.
func TestAYesForALargeFolderHoldsUntilItChanges(t *testing.T) {
	h := newFixture(t)
	for n := range 4200 {
		h.write(fmt.Sprintf("many/%d.yaml", n), "kind: Pod # 1\n")
	}
	swap := func(text string) {
		file := filepath.Join(h.dir, "many/77.yaml")
		info, err := os.Stat(file)
		must(t, err)
		h.write("many/77.yaml", text)
		must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	}
	const command = "kubectl apply -f many/"
	answer := h.asks(command)
	card, asked, v := h.card(answer)
	if !asked {
		t.Fatalf("nobody was asked: %+v", v)
	}
	if strings.Contains(warned(card), "too large") {
		t.Skip("the times of files on this file system are not trusted")
	}
	swap("kind: Pod # 2\n")
	h.says(card, true, approver.Term{})
	if v := <-answer; v.Decision == approver.Allow {
		t.Error("a manifest was swapped behind the card, and the yes released it")
	}
	answer = h.asks(command)
	card, _, _ = h.card(answer)
	if out := h.says(card, true, approver.Term{Session: true}); out.Kind != approver.OutcomeApproved {
		t.Fatalf("a yes for the session: %+v", out)
	}
	<-answer
	answer = h.asks(command)
	if card, asked, _ := h.card(answer); asked {
		t.Errorf("nothing changed, and people are asked again: %s", warned(card))
		h.says(card, false, approver.Term{})
		<-answer
	}
	swap("kind: Pod # 3\n")
	answer = h.asks(command)
	if card, asked, v := h.card(answer); !asked {
		t.Errorf("a manifest was swapped under the yes for the session, and nobody was asked: %+v", v)
	} else {
		h.says(card, false, approver.Term{})
		<-answer
	}
}
