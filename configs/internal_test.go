package configs

import (
	"errors"
	"reflect"
	"testing"

	"approver.example/channels/telegram"
	"approver.example/shieldcore/strictyaml"
)

// The story: a daemon with a user of its own reads a configuration that belongs
// to the agent's user, who names himself as an approver.
func TestTrusted(t *testing.T) {
	for _, tt := range []struct {
		owner uint32
		euid  int
		want  bool
	}{{0, 0, true}, {0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}, {1000, 0, false}, {1<<32 - 1, -1, false}} {
		if got := trusted(tt.owner, tt.euid); got != tt.want {
			t.Errorf("owner %d, running as %d: %v", tt.owner, tt.euid, got)
		}
	}
}

// An error of a section is shown at the setting that its text is about.
func TestLocate(t *testing.T) {
	keys := strictyaml.Keys(reflect.TypeFor[telegram.Config]())
	for text, want := range map[string]problem{
		"telegram: chats[3]: bad":                 {"channels.telegram.chats[3]", "telegram: chats[3]: bad"},
		"telegram: chats[3].id: bad":              {"channels.telegram.chats[3].id", "telegram: chats[3].id: bad"},
		"telegram: no token: set token_file":      {"channels.telegram.token", "telegram: no token: set token_file"},
		"approvers[0] id \"token\" is bad":        {"channels.telegram.approvers[0]", "telegram: approvers[0] id \"token\" is bad"},
		"telegram: something is wrong":            {"channels.telegram", "telegram: something is wrong"},
		"telegram: the token_files are not there": {"channels.telegram", "telegram: the token_files are not there"},
	} {
		if got := locate("channels.telegram", keys, errors.New(text)); got != want {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestFlatten(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	got := flatten([]error{nil, errors.Join(a, errors.Join(b, nil)), c})
	if !reflect.DeepEqual(got, []error{a, b, c}) {
		t.Errorf("got %v", got)
	}
}
