package effect

// A Payload is a text that a call runs, or leaves somewhere to be run, and that
// has to be analysed in its own language.
type Payload struct {
	// Lang is the language: one of the constants below. Empty means that nothing
	// is known of what runs: the text is hidden, malformed or too long.
	Lang string `json:"lang,omitempty"`
	// Text is what runs, with [Unknown] for what is not known of it.
	Text string `json:"text,omitempty"`
	// Why says in a few words what makes it run, such as "cron line".
	Why string `json:"why,omitempty"`
	// Path is the file that holds it, if any.
	Path string `json:"path,omitempty"`
	// Later is set if the call only leaves the text somewhere and something else
	// runs it afterwards.
	Later bool `json:"later,omitempty"`
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
