package slack

import (
	"errors"
	"fmt"
	"testing"
)

func TestGuard(t *testing.T) {
	g := guard{
		app: "A1", bot: "B1",
		teams:     map[string]bool{"T1": true, "E1": true},
		approvers: map[string]bool{"U1": true},
		channels:  map[string]bool{"C1": true},
	}
	ok := origin{app: "A1", team: "T1", user: "U1", userTeam: "T1"}
	for _, c := range []struct {
		name     string
		change   func(*origin)
		admitted bool
		told     bool
	}{
		{"an approver", func(*origin) {}, true, false},
		{"an approver of the organization", func(o *origin) { o.userTeam = "E1" }, true, false},
		{"organization-wide installation", func(o *origin) { o.team = "E1" }, true, false},
		{"a colleague", func(o *origin) { o.user = "U2" }, false, true},
		{"nobody", func(o *origin) { o.user = "" }, false, false},
		{"another app", func(o *origin) { o.app = "A2" }, false, false},
		{"no app", func(o *origin) { o.app = "" }, false, false},
		{"another workspace", func(o *origin) { o.team = "T2" }, false, false},
		{"no workspace", func(o *origin) { o.team = "" }, false, false},
		{"a member of another workspace with an approver's id", func(o *origin) { o.userTeam = "T2" }, false, false},
		{"a member of no workspace", func(o *origin) { o.userTeam = "" }, false, false},
		{"a shared conversation", func(o *origin) { o.external = true }, false, false},
		{"a bot with an approver's id", func(o *origin) { o.machine = true }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ok
			c.change(&o)
			err := g.admit(o)
			if (err == nil) != c.admitted || errors.Is(err, errStranger) != c.told {
				t.Errorf("admit gives %v", err)
			}
		})
	}
	if g.place("C1") != nil || g.place("C2") == nil || g.place("") == nil {
		t.Error("place does not keep to the configured conversations")
	}
}

func TestZeroGuardAdmitsNobody(t *testing.T) {
	var g guard
	if g.admit(origin{}) == nil || g.admit(origin{app: "A1", team: "T1", user: "U1", userTeam: "T1"}) == nil ||
		g.place("") == nil || g.place("C1") == nil {
		t.Error("the zero guard admits somebody")
	}
	if (guard{approvers: map[string]bool{"": true}, teams: map[string]bool{"": true},
		channels: map[string]bool{"": true}}).admit(origin{}) == nil {
		t.Error("empty ids are admitted")
	}
}

func TestBlockID(t *testing.T) {
	for _, c := range []struct {
		block, want string
		ok          bool
	}{
		{blockID("0190b2c8-7a9f-7e2c-b1f0-6f0e0a1b2c3d", "abc"), "0190b2c8-7a9f-7e2c-b1f0-6f0e0a1b2c3d", true},
		{blockID("a:b", "1"), "a:b", true},
		{"ap::1", "", false},
		{"ap:", "", false},
		{"ap:request", "", false},
		{"request:1", "", false},
		{"", "", false},
		{"ap:" + fmt.Sprintf("%0200d", 7) + ":1", "", false},
	} {
		if got, ok := requestOf(c.block); got != c.want || ok != c.ok {
			t.Errorf("requestOf(%q) = %q, %v", c.block, got, ok)
		}
	}
}

func FuzzRequestOf(f *testing.F) {
	f.Add("ap:1:2")
	f.Add("ap:::")
	f.Fuzz(func(t *testing.T, block string) {
		request, ok := requestOf(block)
		if ok != (request != "") || len(request) > maxRequest {
			t.Errorf("requestOf(%q) = %q, %v", block, request, ok)
		}
	})
}
