// Package grammar knows what the words of command lines mean: which flags a program has, which
// arguments they take, and which operands it reads, writes, deletes, executes, fetches or sends.
// All of that is data in the files of tables/. This package only reads them and applies them to an
// argument vector.
//
// # The tables
//
// A block describes one program, or one of its subcommands. Its first line is the name in column 0,
// with | between names that mean the same, and one word for each subcommand. The other lines of the
// block are indented:
//
//	cp|gcp
//	  -r -R --recursive -a --archive      +recursive
//	  -t= --target-directory=             write
//	  -i --interactive --backup=?
//	  *                                   read if -t
//	  butlast                             read unless -t
//	  last                                write unless -t
//	  flow copy
//	  ? cp -r a b => read a +recursive; write b +recursive
//
// A line begins with its subject:
//
//	-x --long        flags; = after the name: it takes an argument; =? only an attached one; == two, and
//	                 the second counts; =; all words until ; or {} + (find -exec); =* all words that follow
//	                 (code and exec: the first counts, the others are its arguments). Names that begin with
//	                 no dash need the = (dd of=).
//	                 -* and --* are flags that no block names; --*= is one with an argument, if no other flag follows
//	1 2 … 2+ * last butlast   operands, counted from 1; N+ is the N-th and all that follow
//	past A|B         the operands after the first word that is A or B, such as -- or :::
//	always           what happens in any case
//	stdin            what becomes of the standard input
//	stdout           what the standard output is: pass (input and files as they are), filter (part of
//	                 them), fetched, decode NAME, encode NAME
//	flow copy        what is read is written as it is
//	abbreviated      the beginning of a subcommand's name is enough
//	mode …           how words are read: gnu (the default: flags anywhere), posix (flags end at the first
//	                 operand; posix 2: at the second), env (as posix, after NAME=VALUE operands), long
//	                 (names of any length after one dash), find, bundle (as tar xzf), words (no flags),
//	                 windows (/x and -x are the same, in any case, abbreviated, with the argument also
//	                 after a colon)
//	like NAME        the lines of another block hold here too; several lines may say so
//	? WORDS => USES  an example that a test runs
//
// Then follows an action: a [Role], its argument if it needs one, +bits (see [effect.Bits]), and
// conditions:
//
//	matching A|B*    the word itself is one of these, * being any text, [*] a star, \| a | (case does not matter)
//	known A|B*       as matching, and may stand beside it, but what is not known matches none of these
//	except A|B*      it is none of these
//	each ,           the word is a list, split at that character; what else is said holds for each part
//	after =          the meaning is in what follows the first such text in the word (for = also a space)
//	before :         the meaning ends before the first such text
//	until A|B        of operands: they end before the first word that is A or B
//	joined           of code: all its words are one text, with spaces between
//	if X, unless X   a flag is (not) given, or an operand is (not) there, or -- is; X|Y is either flag;
//	                 X=A|B* compares its value; all conditions must hold
//
// Unknown words may be anything: they match matching and if, but not known, except, unless and dry.
//
// The argument of a line with always, or of a flag without an argument, is a fixed target. For
// roles about files (exec, read, write, append, delete, sendfile, dir) it is a path, unless it has
// a colon: secret:aws and device:flash are not files. For all other roles it is a word, such as
// host or firewall.
//
// Flags on one line with an action are one flag with several names. A line without an action lists
// unrelated flags; there | joins the names of one flag: -f|--file=. A name that ends in .* (mkfs.*)
// means every name that begins like it. The block named = is not a program: its flags are
// environment variables with an effect on other programs, for Parse([=, NAME=VALUE]). The flags of
// =modules are Python modules that have a block with their name.
//
// The word - is passed on unchanged: it is a standard stream for the programs that read or write
// it.
//
// A table is part of the program: a line that is not understood prevents the start.
package grammar

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// A Role is what a word means to a program.
type Role uint8

// The roles. In the tables they are written as in [Role.String].
const (
	Text  Role = iota // data that does nothing
	Exec              // names a program or a script that runs; Arg is its language, or empty
	Shell             // is a shell command line
	// is, with what follows, the argument vector of a command; Arg says what is added: found, stdin, module
	Argv
	Code         // is code in the language Arg
	Sql          // is SQL, or a command of the database client Arg
	Read         // is a file that is read
	Write        // is a file that is written over
	Append       // is a file that is written at its end, or made
	Delete       // is a file that is deleted
	Fetch        // is a URL or a host that data comes from
	Host         // is a host or a URL that data goes to
	Send         // is data that is sent
	SendFile     // is a file that is sent
	Permission   // is what gets other rights; Arg says which: world, setuid, owner, or empty
	Kill         // is what is stopped
	Discard      // is history or uncommitted work that is lost
	RemoteDelete // is a resource elsewhere that is deleted
	Publish      // is what becomes public, or where
	Persist      // is what will run later
	Privilege    // is whose rights what follows has
	// is what gets probed, spied on or broken into; Arg says how: scan, guess, crack, exploit, process, sniff, shell
	Attack
	Env     // is NAME=VALUE for what follows
	Dir     // is the directory in which the rest happens
	Args    // is added to the command of the same line, each word in a run of its own or all at once
	Dry     // nothing is changed
	Pass    // standard output: standard input and files as they are
	Filter  // standard output: a part of them
	Fetched // standard output: what came from the network
	Decode  // standard output: decoded by Arg
	Encode  // standard output: encoded by Arg
	Gather  // what is put out is much at once; Arg says what: archive, dump
	Reroute // addresses: what goes to a host may go to another one
	bits    // only bits
	roles
)

var roleNames = [roles]string{
	"text", "exec", "shell", "argv", "code", "sql", "read", "write", "append", "delete", "fetch", "host", "send",
	"sendfile", "permission", "kill", "discard", "remote-delete", "publish", "persist", "privilege", "attack", "env",
	"dir", "args", "dry", "pass", "filter", "fetched", "decode", "encode", "gather", "reroute", "bits",
}

// String returns the word in the tables.
func (r Role) String() string {
	if r < roles {
		return roleNames[r]
	}
	return roleNames[Text]
}

// A Mode says how a program's words are parsed.
type Mode uint8

// The modes.
const (
	GNU     Mode = iota // flags anywhere, clusters, long names may be cut short
	POSIX               // flags end at the first operand
	EnvCmd              // as POSIX, after NAME=VALUE operands
	Long                // names of any length after one or two dashes
	Find                // operands, then an expression of flags
	Bundle              // the first word is a cluster even without a dash
	Words               // no flags at all
	Windows             // /x and -x in any case, cut short
)

var modeNames = []string{"gnu", "posix", "env", "long", "find", "bundle", "words", "windows"}

// An Action is what a line of a table says about a word.
type Action struct {
	Role  Role
	each  byte
	join  bool
	Bits  effect.Bits
	Arg   string
	terms *terms // nil: it always holds, for the whole word
}

// The terms of an action say when it holds, and for which part of a word.
type terms struct {
	after  string
	before string
	match  []string
	known  []string // one more match, for what is known
	except []string
	until  []string
	conds  []cond
}

// noTerms are the terms of most actions.
var noTerms terms

func (a *Action) when() *terms {
	if a.terms == nil {
		return &noTerms
	}
	return a.terms
}

// A cond is one if or unless.
type cond struct {
	options []*option // any of them; nil: an operand
	mask    uint64    // the bits of the options
	sel     selector
	values  []string // nil: it is there
	dashes  bool     // or --
	unless  bool
}

// An option is what one line says about its flags, which all mean the same.
type option struct {
	actions []Action
	mask    uint64 // one bit, which other options of a block may share
	unreal  bool   // it only says that nothing is done
}

type arity uint8

const (
	none     arity = iota
	argument       // attached or the next word
	attached       // attached only
	until          // all words until ; or {} +
	rest           // all words that follow
	second         // two words, of which the second is meant
)

// A selector says which operands a line is about.
type selector struct {
	past []string // of past
	from int8     // from 1; last, butlast and past are below 0; 0 is always
	more bool
}

const (
	selLast    = -1
	selButLast = -2
	selPast    = -3
	selAlways  = 0
)

// An operandRule is one line of operands.
type operandRule struct {
	sel selector
	Action
}

// A Program is one block: a program, or a subcommand of one.
type Program struct {
	// Name is the first of its names, with those of the commands above it.
	Name     string
	parent   *Program
	own      index
	parts    []*index // its flags: its own, then those of the blocks that it is like
	likes    []*Program
	operands []operandRule
	stdin    []Action
	stdout   []Action
	file     string
	line     int32
	conds    [2]int32 // its conditions in the list of the pending ones, from and to
	stop     int8     // flags end at this operand; 0: never
	mode     Mode
	moded    bool // the mode is said
	copies   bool
	begins   bool // its subcommands may be abbreviated
	parental bool // has subcommands
	bare     bool // there are flags that begin with no dash
	defined  bool // has a block of its own; the others only have subcommands
	ready    bool // what it is like is resolved
}

// An Example is one line of examples.
type Example struct {
	Program    string
	Line, Want string
	Where      string // file:line
}

// A Table is all programs.
type Table struct {
	programs map[string]*Program
	families map[string]*Program // of names that end in .*
	subs     map[subcommand]*Program
	blocks   []*Program
	sources  []source
}

// A subcommand is a word after a program.
type subcommand struct {
	of   *Program
	word string
}

// A source is one file of tables.
type source struct{ file, text string }

// Programs returns every block, of programs and subcommands, in the order of the files.
func (t *Table) Programs() []*Program { return slices.Clone(t.blocks) }

// Examples returns every example, in the order of the files. It reads the files again, because only
// tests need examples.
func (t *Table) Examples() []Example {
	var out []Example
	for _, s := range t.sources {
		program, n := "", 0
		for line := range strings.Lines(s.text) {
			n++
			body := strings.TrimSpace(line)
			switch {
			case body == "" || body[0] == '#':
			case line[0] != ' ' && line[0] != '\t':
				names := strings.Fields(body)
				for i, name := range names {
					names[i], _, _ = strings.Cut(name, "|")
				}
				program = t.Lookup(strings.Join(names, " ")).Name
			case body[0] == '?':
				words, want, _ := strings.Cut(body[1:], "=>")
				out = append(out, Example{program, strings.TrimSpace(words), strings.TrimSpace(want),
					s.file + ":" + strconv.Itoa(n)})
			}
		}
	}
	return out
}
