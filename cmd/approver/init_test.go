package main

import (
	"strings"
	"testing"

	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
)

// A daemon that runs as root told its owner to use sudo, which cannot work there: by root's
// word an agent could answer itself.
func TestNobodyIsSentToRootInVain(t *testing.T) {
	for name, tt := range map[string]struct {
		c      initCmd
		asRoot bool
		want   []string
		not    []string
	}{
		"of a user": {initCmd{}, false, []string{"sudo approver unfreeze", "dead end"}, []string{"runs as root"}},
		"of root":   {initCmd{}, true, []string{"take a chat", "will run as root", "dead end"}, []string{"sudo"}},
		"of root, observing": {initCmd{Observe: true}, true, []string{"take a chat", "only observed"},
			[]string{"sudo", "dead end"}},
		"isolated": {initCmd{SubmitUID: []uint32{7}}, false,
			[]string{"sudo approver unfreeze", "unfreeze, pause and observe at once", "counts unasked as long as"},
			[]string{"wait for a yes", "before the first start"}},
		"isolated, as root": {initCmd{SubmitUID: []uint32{7}}, true, []string{"at once"}, []string{"sudo"}},
		"isolated, observing ": {initCmd{SubmitUID: []uint32{7}, Observe: true}, false,
			[]string{"only observed", "sudo approver approve ID"}, []string{"dead end"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := tt.c.withoutChat(tt.asRoot)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in: %s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in: %s", not, text)
				}
			}
		})
	}
	freeze := &broadcaster.Freeze{By: "uid 7"}
	for name, tt := range map[string]struct {
		doc  adminapi.Status
		sudo bool
	}{
		"of a user":         {adminapi.Status{Freeze: freeze}, true},
		"of root":           {adminapi.Status{Freeze: freeze, Root: true}, false},
		"of root, isolated": {adminapi.Status{Freeze: freeze, Root: true, Isolated: true}, true},
		"one agent's":       {adminapi.Status{Held: []broadcaster.Hold{{Freeze: *freeze}}, Root: true}, false},
	} {
		if cure := tt.doc.ModeCure(); strings.Contains(cure, "as root:") != tt.sudo ||
			strings.Contains(cure, "pair telegram") == tt.sudo {
			t.Errorf("%s: %s", name, cure)
		}
	}
}
