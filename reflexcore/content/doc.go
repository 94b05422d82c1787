// Package content says what a file is for, from its path, and which parts of its content would run.
//
// [Classify] looks only at the path. A table (places.txt) has the places from which something runs
// by itself (start-up files, cron, services, hooks, CI), those that decide who may do what (keys,
// sudoers, PAM), those of agents and of approver, and those with secrets. The result is for reading
// and for writing: [Sink.Kind] says what it means to write there, and [Sink.Secret] that a reader
// gets a credential.
//
// Case is ignored, because on some file systems it makes no difference. Paths may be relative, or
// begin with ~ or $HOME. A path with wildcards, or with parts that are not known before the call
// runs, is classified by what it may match ([Sink.May]). A path of which too little is known is
// [Unclear], and never [Plain].
//
// These are plain on purpose: .env.example and similar files, public keys (*.pub), certificates
// without their keys (such as *.crt, /etc/ssl/certs and cacert.pem), and files in testdata,
// fixtures, examples and docs that look secret only by their ending or a general name (key.pem,
// credentials.json, token, and values of terraform also in samples and contrib).
//
// [Payloads] yields the parts of a content that run, each in its language.
package content

import "slices"

// A Kind says what a place is for. The zero value is a place of which too little is known.
type Kind uint8

// The kinds.
const (
	Unclear      Kind = iota // too little of the path is known
	Plain                    // nothing runs and nothing is decided by it
	Script                   // code, in Lang, that runs when somebody starts it
	Startup                  // runs by itself at a login or with a program: shells, editors, desktops, interpreters
	Cron                     // runs by the clock
	Service                  // runs as a service: systemd, launchd, init
	CI                       // runs on a build server, with its secrets
	Hook                     // runs on an event of git, a package manager, udev
	Build                    // runs when the project is built, tested or installed
	Program                  // is a program or a library that others run by its name
	Keys                     // decides whose keys are trusted
	Agent                    // settings, hooks and servers of coding agents
	Instructions             // text that coding agents obey
	Own                      // approver's own files
	System                   // the operating system's settings and devices
	Registry                 // decides where packages come from
	Credential               // a secret
	kinds
)

var kindNames = [kinds]string{"unclear", "plain", "script", "startup", "cron", "service", "ci", "hook", "build",
	"program", "keys", "agent", "instructions", "own", "system", "registry", "credential"}

// String returns the name; an unknown value is "unclear".
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return kindNames[Unclear]
}

// kindNamed returns the kind with a name.
func kindNamed(name string) (Kind, bool) {
	i := slices.Index(kindNames[:], name)
	return Kind(max(i, 0)), i >= 0
}

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return slices.Clip(all)
}

// RunsLater reports whether what is written there runs without being started by name.
func (k Kind) RunsLater() bool {
	switch k {
	case Startup, Cron, Service, CI, Hook, Build:
		return true
	default:
		return false
	}
}

// A Sink says what a path is for. The zero value is unclear.
type Sink struct {
	Kind Kind
	// Secret says that the file contains a credential.
	Secret bool
	// May says that the path has wildcards or unknown parts, so that it is only possible that it
	// matches.
	May bool
	// Lang is the language of the whole file, if it is code: one of effect's.
	Lang string
	// Name is the name of the place, such as "cron table". It is empty for plain.
	Name   string
	format *format // nil: nothing in a content runs
}

// Parts reports whether it is known how to find the parts of a content that run. Then a content
// without any runs nothing.
func (s Sink) Parts() bool { return s.format != nil }

// Limits bound the work on one content. With the zero value nothing is read, and any content is a
// payload of which nothing is known.
type Limits struct {
	Bytes    int `yaml:"bytes"`    // of content
	YAML     int `yaml:"yaml"`     // of a YAML document
	Payloads int `yaml:"payloads"` // handed out; what is left over is one unknown payload
	Depth    int `yaml:"depth"`    // of JSON and YAML
}

// DefaultLimits suit a tool call.
func DefaultLimits() Limits { return Limits{Bytes: 1 << 20, YAML: 16 << 10, Payloads: 256, Depth: 32} }
