package adminapi

import (
	"runtime/debug"
)

// An NotInForce standard is one whose files are not in force, or a file that the daemon read
// at its start and that is another now.
type NotInForce struct {
	What string `json:"what"` // policy, rule set, information flow, configuration, secret or key
	Why  string `json:"why"`
	File string `json:"file,omitempty"` // of what is read at the start
	// Refused says that the next start would refuse it: it is mended first.
	Refused bool `json:"refused,omitempty"`
}

// BrokenFiles begins why files are not in force that cannot be read.
const BrokenFiles = "they have problems, so what was read last stays in force: "

// String is for people.
func (u NotInForce) String() string {
	if u.File != "" {
		return u.File + " " + u.Why
	}
	return "the files of the " + u.What + " are not in force: " + u.Why
}

// Versions are those of all that judges, as a daemon has them in force or as files say.
type Versions struct {
	Policy string `json:"policy"`
	Rules  string `json:"rules"`
	Flow   string `json:"flow"`
}

// Unlike names what of two differs.
func (v Versions) Unlike(w Versions) (names []string) {
	for _, s := range []struct{ name, a, b string }{{"policy", v.Policy, w.Policy}, {"rule set", v.Rules, w.Rules},
		{"information flow", v.Flow, w.Flow}} {
		if s.a != s.b {
			names = append(names, s.name)
		}
	}
	return names
}

// BuildVersion is the version of this build.
func BuildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
