package code

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// An Op is what a piece of code does. About the zero value, the least is known.
type Op uint8

// The ops. Shell, Argv, Code and Exec are payloads, which the caller analyzes.
const (
	Opaque       Op = iota // something unknown runs, or may be done; Text says where
	Shell                  // Text is a command line for the shell
	Argv                   // Args are the words of a command, without a shell
	Code                   // Text is code in Lang; in no Lang it has been looked into already, or is not known
	Exec                   // Text is the path of a program or script that runs
	Delete                 // Text is the path
	Write                  // Text is the path, Args the content where it is known
	Read                   // Text is the path, or "environment"
	NetIn                  // Text is the URL or host:port
	NetOut                 // Text is the URL or host:port
	Permission             // Text is the path or account
	Kill                   // Text is the process
	Privilege              // Text is the account
	RemoteDelete           // Text is what is deleted elsewhere
	SQL                    // Text is what a database is told
	ops
)

var opNames = [ops]string{"opaque", "shell", "argv", "code", "exec", "delete", "write", "read", "net-in", "net-out",
	"permission", "kill", "privilege", "remote-delete", "sql"}

// String returns the word; an unknown value is "opaque".
func (o Op) String() string {
	if o < ops {
		return opNames[o]
	}
	return opNames[Opaque]
}

// kinds are the effects of the ops without their payloads.
var kinds = [ops]effect.Kind{Opaque: effect.Opaque, Shell: effect.Exec, Argv: effect.Exec, Code: effect.Exec,
	Exec: effect.Exec, SQL: effect.Exec, Delete: effect.Delete, Write: effect.Write, Read: effect.Read,
	NetIn: effect.NetIn, NetOut: effect.NetOut, Permission: effect.Permission, Kill: effect.Kill,
	Privilege: effect.Privilege, RemoteDelete: effect.RemoteDelete}

// Kind returns the effect of an op without its payload; that of an unknown value is opaque.
func (o Op) Kind() effect.Kind {
	if o < ops {
		return kinds[o]
	}
	return effect.Opaque
}

// A Found is one effect of a piece of code, or a payload in it. The zero value is opaque.
type Found struct {
	Op   Op
	Text string   // see Op; with effect.Unknown for each unknown part
	Args []string // the words of Argv, or the content of Write
	Lang string   // the language of Code that the caller must scan
	Dir  string   // the folder in which Shell, Argv and Code run; empty if it did not change
	Bits effect.Bits
	// Taint is where what is run, written or sent came from.
	Taint effect.Taint
	// By is the function, operator or command that has the effect, such as "shutil.rmtree", for
	// people.
	By string
}

// Limits bound a scan, and contain what is known around the code. A bound of 0 has its default, and
// nil is not known.
type Limits struct {
	Bytes  int // of source: 256 KiB
	Tokens int // of all sources together: 20,000
	Steps  int // of evaluation: 100,000
	Depth  int // of nesting: 64
	// Args are the operands of the script, as sys.argv[1:] or @ARGV have them.
	Args []string
	// Vars are variables that are set before the code runs, as by awk -v.
	Vars map[string]string
	// Env returns a variable of the environment, and where its value came from.
	Env func(name string) (string, effect.Taint, bool)
	// Secret reports whether a path holds credentials.
	Secret func(path string) bool
	// Insert is called with what a stream editor inserts into its stream, and so into files that it
	// edits in place.
	Insert func(inserted string)
	// Input is the standard input, if HasInput, and InputTaint where it came from.
	Input      string
	InputTaint effect.Taint
	HasInput   bool
	// Dir is the folder in which the code begins, empty if it is not known.
	Dir string
	// Home is the home directory. If it is empty, ~ is used.
	Home string
}

func (l *Limits) defaults() {
	for _, f := range []struct {
		field *int
		value int
	}{{&l.Bytes, 256 << 10}, {&l.Tokens, 20_000}, {&l.Steps, 100_000}, {&l.Depth, 64}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if l.Home == "" {
		l.Home = "~"
	}
}

// languages are the names by which Scan knows interpreters and languages, by these.
var languages = wordset.Index(`
python: python pypy pythonw ipython jython
node: node nodejs javascript js bun deno tsx typescript ts-node
perl: perl
ruby: ruby jruby irb
php: php php-cli
awk: awk gawk mawk nawk original-awk
sed: sed gsed ssed
lua: lua luajit texlua
powershell: powershell pwsh powershell_ise
cmd: cmd batch bat
`, func(name string) string { return name })

// Language returns the name by which Scan knows an interpreter, such as "python" for python3.12, or
// "" if it does not know it.
func Language(program string) string {
	program = strings.TrimSuffix(strings.ToLower(program), ".exe")
	return languages[strings.TrimRight(program, "0123456789.-")]
}
