package adminapi

import (
	"runtime/debug"
)

// A NotInForce is a policy, rule set or information flow whose files are not in force, or a
// file that the daemon read at its start and that has changed since.
type NotInForce struct {
	What string `json:"what"` // policy, rule set, information flow, configuration, secret or key
	Why  string `json:"why"`
	File string `json:"file,omitempty"` // only for a file that is read at the start
	// Refused says that the next start would refuse the file, so it must be fixed first.
	Refused bool `json:"refused,omitempty"`
}

// BrokenFiles is the beginning of Why for files that cannot be read.
const BrokenFiles = "they have problems, so what was read last stays in force: "

// String describes it for people.
func (u NotInForce) String() string {
	if u.File != "" {
		return u.File + " " + u.Why
	}
	return "the files of the " + u.What + " are not in force: " + u.Why
}

// Versions are the versions of what judges calls: those that a daemon has in force, or those
// of the files.
type Versions struct {
	Policy string `json:"policy"`
	Rules  string `json:"rules"`
	Flow   string `json:"flow"`
}

// Unlike returns the names of what differs between v and w.
func (v Versions) Unlike(w Versions) (names []string) {
	for _, s := range []struct{ name, a, b string }{{"policy", v.Policy, w.Policy}, {"rule set", v.Rules, w.Rules},
		{"information flow", v.Flow, w.Flow}} {
		if s.a != s.b {
			names = append(names, s.name)
		}
	}
	return names
}

// BuildVersion returns the version of this build, or "devel".
func BuildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
