package code

import (
	"strings"

	"approver.example/reflexcore/effect"
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

// Kind returns the effect of an op without its payload.
func (o Op) Kind() effect.Kind {
	switch o {
	case Shell, Argv, Code, Exec, SQL:
		return effect.Exec
	case Delete:
		return effect.Delete
	case Write:
		return effect.Write
	case Read:
		return effect.Read
	case NetIn:
		return effect.NetIn
	case NetOut:
		return effect.NetOut
	case Permission:
		return effect.Permission
	case Kill:
		return effect.Kill
	case Privilege:
		return effect.Privilege
	case RemoteDelete:
		return effect.RemoteDelete
	default:
		return effect.Opaque
	}
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
	// Input is the standard input, and InputTaint where it came from. They are set only if HasInput.
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

// Language returns the name by which Scan knows an interpreter, such as "python" for python3.12, or
// "" if it does not know it.
func Language(program string) string {
	program = strings.TrimSuffix(strings.ToLower(program), ".exe")
	program = strings.TrimRight(program, "0123456789.-")
	switch program {
	case "python", "pypy", "pythonw", "ipython", "jython":
		return "python"
	case "node", "nodejs", "javascript", "js", "bun", "deno", "tsx", "typescript", "ts-node":
		return "node"
	case "perl", "ruby", "php", "sed", "cmd":
		return program
	case "jruby", "irb":
		return "ruby"
	case "php-cli":
		return "php"
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return "awk"
	case "gsed", "ssed":
		return "sed"
	case "lua", "luajit", "texlua":
		return "lua"
	case "powershell", "pwsh", "powershell_ise":
		return "powershell"
	case "batch", "bat":
		return "cmd"
	}
	return ""
}
