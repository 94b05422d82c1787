package daemon

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/configs"
)

// An owner wrote a colleague into the terminal's approver list. The daemon counted him, and
// check, status and doctor found nothing wrong; his watch was refused, because the socket
// did not admit him. Each of the three names him now, with the cure.
func TestAnApproverWhomTheSocketRefusesIsNamed(t *testing.T) {
	const daemon = 999
	for name, test := range map[string]struct {
		approvers       []string
		submit, resolve []uint32
		want            []string // beginnings of the lines
	}{
		"nobody":                    {},
		"root":                      {approvers: []string{"0"}},
		"the daemon's own user":     {approvers: []string{"999"}},
		"in resolve_uids":           {approvers: []string{"1001"}, resolve: []uint32{1001}},
		"in resolve_uids, isolated": {approvers: []string{"1001"}, submit: []uint32{1000}, resolve: []uint32{7, 1001}},
		"root, isolated":            {approvers: []string{"0"}, submit: []uint32{1000}},
		"not there":                 {approvers: []string{"1001"}, want: []string{"terminal:1001 is on"}},
		"not there, isolated": {approvers: []string{"1001"}, submit: []uint32{1000},
			want: []string{"terminal:1001 is on"}},
		"another is there": {approvers: []string{"1001"}, resolve: []uint32{1002, 100, 10010},
			want: []string{"terminal:1001 is on"}},
		"one of two": {approvers: []string{"1001", "1002"}, resolve: []uint32{1002},
			want: []string{"terminal:1001 is on"}},
		"both": {approvers: []string{"1002", "1001", "0"},
			want: []string{"terminal:1001 is on", "terminal:1002 is on"}},
		"an agent's user": {approvers: []string{"1000"}, submit: []uint32{1000},
			want: []string{"terminal:1000 is on the approver list and cannot answer: uid 1000 may submit"}},
		"an agent's user, and admits": {approvers: []string{"1000"}, submit: []uint32{1000}, resolve: []uint32{1000},
			want: []string{"terminal:1000 is on"}},
	} {
		cfg := configs.Config{Sockets: configs.Sockets{SubmitUIDs: test.submit, ResolveUIDs: test.resolve}}
		cfg.Channels.Terminal = &terminal.Config{}
		for _, id := range test.approvers {
			cfg.Channels.Terminal.Approvers = append(cfg.Channels.Terminal.Approvers, approver.Approver{ID: id})
		}
		got := OutOfReach(cfg, daemon)
		if len(got) != len(test.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, line := range got {
			text, cure, _ := strings.Cut(line, ". ")
			if !strings.HasPrefix(line, test.want[i]) || text == "" || cure == "" {
				t.Errorf("%s: %q, want %q", name, line, test.want[i])
			}
		}
	}
}
