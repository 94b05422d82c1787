// Package effect has the vocabulary for what a tool call would do: effects on files, processes, the
// network and accounts, instead of the strings that cause them.
//
// A text that is only partly known has [Unknown] in place of each unknown part. No command can
// contain that byte, so it cannot be forged.
package effect

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown replaces a part of a text, possibly empty, that is not known before the call runs.
const Unknown = "\x00"

// IsKnown reports whether a text has no unknown part.
func IsKnown(text string) bool { return strings.IndexByte(text, 0) < 0 }

// IsPlain reports whether a path has no unknown part and is no pattern.
func IsPlain(path string) bool { return IsKnown(path) && !strings.ContainsAny(path, "*?[") }

// A Kind is what an effect does. About the zero value, the least is known.
type Kind uint8

// The kinds.
const (
	Opaque       Kind = iota // something runs and nothing is known of it
	Exec                     // a program, a script or code runs
	Delete                   // files are lost, or a whole device
	Write                    // a file is written or overwritten
	Read                     // a file is read
	NetIn                    // data comes from the network
	NetOut                   // data goes to the network
	Permission               // rights, owners, firewalls, accounts change
	Kill                     // processes, services or the host are stopped
	Discard                  // history or uncommitted work is lost
	RemoteDelete             // a resource elsewhere is deleted: cloud, cluster, database
	Publish                  // something becomes public or shared: a push, a package, a release
	Persist                  // something will run later by itself: cron, services, start-up files, hooks
	Privilege                // what follows runs with more rights
	Attack                   // something is probed, spied on or broken into: a host, a process, a password
	kinds
)

var kindNames = [kinds]string{"opaque", "exec", "delete", "write", "read", "net-in", "net-out", "permission", "kill",
	"discard", "remote-delete", "publish", "persist", "privilege", "attack"}

// String returns the name; an unknown value is "opaque".
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return kindNames[Opaque]
}

// MarshalText implements [encoding.TextMarshaler].
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name. An unknown name is an error and gives Opaque.
func (k *Kind) UnmarshalText(b []byte) error {
	i := slices.Index(kindNames[:], string(b))
	*k = Kind(max(i, 0))
	if i < 0 {
		return fmt.Errorf("unknown effect %q: one of %s", b, strings.Join(kindNames[:], ", "))
	}
	return nil
}

// Taint says where data came from.
type Taint uint8

// The taints. They add up.
const (
	Secret  Taint = 1 << iota // credentials, keys, tokens, the environment
	Network                   // somebody else's server
	Decoded                   // hidden by an encoding
	File                      // a local file's content

	// Gathered is much at once: an archive, a dump, a folder. It is the last bit, behind the labels.
	Gathered Taint = 1 << 7
)

// taintNames are the names of the bits, in order. The labels have none.
var taintNames = []string{"secret", "network", "decoded", "file", "", "", "", "gathered"}

// The labels of package flow travel with the data as further bits. A higher label has all bits of
// the lower ones, so that combined data has the highest label. Rules cannot name these bits, and
// [Taint.String] does not show them.
const (
	Confidential Taint = 1 << 4
	Restricted   Taint = 1<<5 | Confidential
	Critical     Taint = 1<<6 | Restricted
	Labels             = Critical // all of them
)

// String lists the names, separated by +.
func (t Taint) String() string { return Words(t, taintNames) }

// MarshalText implements [encoding.TextMarshaler].
func (t Taint) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Bits say how an effect happens.
type Bits uint16

// The bits. They add up.
const (
	Recursive Bits = 1 << iota // with all that is below
	Force                      // without asking, or over protections
	Glob                       // the target is a pattern of file names
	Splits                     // the target may be any number of words
	Append                     // nothing is overwritten
	Remote                     // on another host, or inside a container
	Bulk                       // everything of its kind: all containers, all branches, a whole database
	Partial                    // only some of what the effect needs is known
	Later                      // not now: something that is left there does it
	// the unknown parts of the target are environment variables, which the call did not choose
	Inherited
	// the target if its unknown first folder is empty: "$DESTDIR/usr/bin/x" as /usr/bin/x
	Rooted
	Filled  // the unknown beginning of the target is checked not to be empty: "${X:?}/x"
	Itself  // of a link the link itself is meant, not what it leads to
	Follows // links below the target are followed
	Many    // all that is in a folder, see [Effect.Amount]; no effect has it by itself
	// in a container of which the call publishes no port
	Contained
)

var bitNamesList = strings.Fields(`
	recursive force glob splits append remote bulk partial later inherited rooted filled itself follows many
	contained
`)

// String lists the names, separated by +.
func (b Bits) String() string { return Words(b, bitNamesList) }

// MarshalText implements [encoding.TextMarshaler].
func (b Bits) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Words lists the names of bits, separated by +.
func Words[T ~uint8 | ~uint16 | ~uint32](bits T, names []string) string {
	var b strings.Builder
	for i, name := range names {
		if bits&(1<<i) == 0 || name == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('+')
		}
		b.WriteString(name)
	}
	return b.String()
}

// An Effect is one thing that a call would do. The zero value is opaque.
type Effect struct {
	Kind Kind `json:"kind"`
	// Target is the path (absolute where the directory is known), URL, host, program or resource,
	// with [Unknown] for each unknown part.
	Target string `json:"target,omitempty"`
	// What tells apart several kinds of an effect: "setuid" for permissions, "remote-history" for
	// what is discarded.
	What string `json:"what,omitempty"`
	// Bits say how.
	Bits Bits `json:"how,omitempty"`
	// Taint is where the data that is written, sent or executed came from.
	Taint Taint `json:"taint,omitempty"`
	// Dir is the folder in which a Discard happens, or the file or folder that names the volumes that
	// are deleted; it is empty if that is not known.
	Dir string `json:"-"`
	// By is the program that has the effect, such as "rm" or "git push".
	By string `json:"by,omitempty"`
	// Step is the index of the step with this effect in the trace of an explained analysis.
	Step int `json:"step"`
}

// Program returns the program that has the effect, without its subcommand.
func (e *Effect) Program() string {
	name, _, _ := strings.Cut(e.By, " ")
	return name
}

// Amount returns Many if an effect is on all that is in a folder: with all that is below, by a pattern
// for every name (~/x/*), or on what a program printed of it. What is written below a folder
// replaces only what has the same name.
func (e *Effect) Amount() Bits {
	listed := e.Taint&File != 0 || e.Bits&(Splits|Recursive) != 0
	name := e.Target[strings.LastIndexByte(e.Target, '/')+1:]
	switch {
	case e.Kind != Delete && e.Kind != Permission && e.Kind != Write:
		return 0
	case e.Bits&Recursive != 0 && e.Kind != Write,
		strings.IndexByte(name, '*') >= 0 && strings.Trim(name, "*.?") == "",
		listed && name == Unknown && (e.Kind != Write || e.Bits&Recursive != 0):
		return Many
	}
	return 0
}

// Known reports whether all of the target is known.
func (e Effect) Known() bool { return IsKnown(e.Target) && e.Bits&(Splits|Partial) == 0 }

// String returns kind, target, bits and taint, such as "delete /tmp/x recursive" or "exec (stdin)
// from network".
func (e Effect) String() string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if e.What != "" {
		b.WriteString(" " + e.What)
	}
	if e.Target != "" {
		b.WriteString(" " + Show(e.Target))
	}
	if e.Bits != 0 {
		b.WriteString(" " + e.Bits.String())
	}
	if from := e.Taint.String(); from != "" {
		b.WriteString(" from " + from)
	}
	return b.String()
}

// Show returns a text for people, with … for each unknown part.
func Show(text string) string { return strings.ReplaceAll(text, Unknown, "…") }

// TaintNames returns the names of the taints.
func TaintNames() []string {
	return slices.DeleteFunc(slices.Clone(taintNames), func(name string) bool { return name == "" })
}

// BitNames returns the names of the bits.
func BitNames() []string { return slices.Clone(bitNamesList) }

// TaintOf returns the taint with a name.
func TaintOf(name string) (Taint, bool) {
	i := slices.Index(taintNames, name)
	return 1 << max(i, 0), i >= 0 && name != ""
}

// BitOf returns the bit with a name.
func BitOf(name string) (Bits, bool) {
	i := slices.Index(bitNamesList, name)
	return 1 << max(i, 0), i >= 0
}

// Scratch is the What of a resource elsewhere that is there to be made again, such as a database for
// tests. Losing it is no catastrophe.
const Scratch = "scratch"

// Emptied is the What of a write that leaves nothing in a file.
const Emptied = "emptied"

// Folder is the What of what becomes public if it is a folder that is served.
const Folder = "folder"

// Named is the What of a resource elsewhere whose own name, host or environment says that it is for tests or
// for one's own work. Nobody is asked about it.
const Named = "named-scratch"

// Production is the What of a resource elsewhere that is said to be of production.
const Production = "production"

// Elsewhere is the What of a change that an option sends to production, or to the daemon of another machine.
const Elsewhere = "elsewhere"

// Editor is the What of a program of a folder that an editor starts when the folder is opened.
const Editor = "editor"

// Server is the What of what the server of a database does by itself: whom it calls, and what it loads.
const Server = "server"

// Rebuilt is the What of a resource on this machine that is made again at once or at the next start: a
// cluster in containers, the volumes of a compose project that the same call starts again.
const Rebuilt = "rebuilt"

// OwnServer is the What of one object of a server in development on this machine, and of what a migration makes
// again in a database of the project's own containers. Nobody is asked about it.
const OwnServer = "own-server"

// Members is the What of a folder into which nothing comes out of an archive but what the words of the command name.
const Members = "members"

// IsProduction reports whether a word of a text is a name for production.
func IsProduction(text string) bool {
	parts := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return slices.ContainsFunc(parts, func(part string) bool {
		return part == "prod" || part == "production" || part == "prd" || part == "live"
	})
}

// Short shortens a text for a reason.
func Short(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && text[cut]&0xc0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

// A Payload is a text that a call runs, or leaves to be run later, and that must be analyzed in its
// own language.
type Payload struct {
	// Lang is the language, one of the constants below. It is empty if nothing is known about what
	// runs: the text is hidden, malformed or too long.
	Lang string `json:"lang,omitempty"`
	// Text is what runs, with [Unknown] for each unknown part.
	Text string `json:"text,omitempty"`
	// Why says in a few words what makes it run, such as "cron line".
	Why string `json:"why,omitempty"`
	// Path is the file that contains it, if any.
	Path string `json:"path,omitempty"`
	// Later says that the call only leaves the text somewhere, and something else runs it later.
	Later bool `json:"later,omitempty"`
	// Contained says that it runs in a container of which no port is published.
	Contained bool `json:"-"`
	// Image says that an image is built with it: what it changes is the image.
	Image bool `json:"-"`
	// Starts says that Text is the path of a program that starts by itself.
	Starts bool `json:"starts,omitempty"`
}

// The languages of payloads.
const (
	Shell      = "sh" // any of the Bourne shells
	Fish       = "fish"
	PowerShell = "powershell"
	Batch      = "cmd"
	Python     = "python"
	JavaScript = "node"
	Perl       = "perl"
	Ruby       = "ruby"
	PHP        = "php"
	Lua        = "lua"
	Awk        = "awk"
	R          = "r"
	SQL        = "sql"
	AppleScr   = "applescript"
	Vim        = "vim"
	Lisp       = "lisp"
)

// movers are programs that move files.
var movers = map[string]bool{
	"mv": true, "gmv": true, "git mv": true, "rename": true, "rsync": true,
	"os.replace": true, "path.replace": true, "FileUtils.mv": true, "install": false,
}

// Moves reports whether the program of an effect moves files.
func Moves(e *Effect) bool {
	return movers[e.By] || strings.Contains(e.By, "rename") || strings.Contains(e.By, "move")
}

// Links reports whether the program gives another name to what it reads.
func Links(ef *Effect) bool {
	if ef.What == "link" {
		return true
	}
	name := ef.By[strings.LastIndexAny(ef.By, ".:>")+1:]
	switch strings.TrimSuffix(strings.ToLower(name), "sync") {
	case "symlink", "link", "symlink_to", "hardlink_to", "link_to", "ln", "ln_s", "ln_sf":
		return true
	}
	return false
}

// MakesFolder reports whether an effect creates a folder, by its row in a table or by the name of a
// function or a tool.
func MakesFolder(ef *Effect) bool {
	if ef.Kind != Write {
		return false
	}
	switch strings.TrimSuffix(strings.ToLower(ef.By[strings.LastIndexAny(ef.By, ".:> ")+1:]), "sync") {
	case "mkdir", "md", "mkdir_p", "mkdirs", "makedirs", "mkpath", "make_path", "create_directory":
		return true
	}
	return ef.What == "dir"
}

// OnlyMakes reports whether an effect creates a folder or an empty file and changes nothing that is
// there: nothing is lost by it, and nothing comes into force.
func OnlyMakes(ef *Effect) bool {
	return ef.Kind == Write && (ef.What == "touch" || MakesFolder(ef))
}

// IsLoopbackPort reports whether the port of a container is published to the machine itself only.
func IsLoopbackPort(port string) bool {
	return strings.HasPrefix(port, "127.") || strings.HasPrefix(port, "localhost:") || strings.HasPrefix(port, "[::1]:")
}
