package configs_test

import (
	"testing"

	"approver.example"
)

// A here-document in which nothing is expanded is taken as it stands. One with <<- loses its
// tabs, and one with a backslash loses that: what runs is the text behind that.
func TestHereDocumentsThatAreNotAsTheyStand(t *testing.T) {
	judge := in(t, "/home/ada/shop", nil)
	for _, command := range []string{
		"sh <<-E\n\trm -rf /\n\tE",
		"sh <<-'E'\n\trm -rf /\n\tE",
		"sh <<-E\nls <<F\nrm -rf /etc\n\tF\nrm -rf /\nE",
		"sh <<E\nr\\\nm -rf /\nE",
		"bash <<E\nrm -r\\\nf /\nE",
		"cat > a.sh <<E\nr\\\nm -rf /\nE\nsh a.sh",
		"sh <<-E\n\tcat <<F\n\tx\n\tF\n\tA=rm; \\$A -rf /\n\tE",
		"sh <<-'E'\n\tcat <<F\n\tx\n\tF\n\tA=rm; $A -rf /\n\tE",
		"cat > a.sh <<-'E'\n\tcat <<F\n\tx\n\tF\n\tA=rm; $A -rf /\nE\nsh a.sh",
		"sh <<E\n\\$(echo rm) -rf /\nE",
		"sh <<E\n\\`echo rm\\` -rf /\nE",
	} {
		if v := judge(command); v.Decision != approver.Deny {
			t.Errorf("%q: %v %s", command, v.Decision, v.Rule)
		}
	}
}
