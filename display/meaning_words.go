package display

import (
	"regexp"
)

// This file has the words and places by which meaning.go judges a hidden part.

// The places where a credential stands in any text: each ends where it begins. What
// flags of programs take is in maskflags.go.
var credentialPlaces = [...]func() *regexp.Regexp{
	once(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&](?:[a-z0-9_.-]*[_-])?` + secretWord + `=$`),
	once(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&](?:sig|(?:x-(?:amz|goog)-)?signature)=$`),
	once(`(?i)//[a-z0-9.:/_-]*:_(?:auth|authtoken|password)[= ]$`),
}

var (
	// fields of what is sent as JSON, and of a registry's settings
	fieldPlace = once(`(?:(?:-d|--data(?:-[a-z]+)?|--json)(?:=|[ \t]*)'\{[^\n']*"(?i:` + secretWord + `)"[ \t]*:[ \t]*"` +
		`|(?i://[a-z0-9.:/_-]*:_(?:auth|authtoken|password)=))$`)
	tokenQuery   = once(`(?i)[?&](?:access_token|auth_token|token|api_?key|key|sig|signature|x-amz-signature|x-amz-security-token|password|secret|client_secret)=$`)
	memberHeader = once(`(?i)"[a-z-]*authorization"[ \t]*:[ \t]*"(?:bearer|basic|token|apikey|digest)[ \t]+$`)
	authHeader   = once(`(?i)\bauthorization\\*["']?[ \t]*[:=,][ \t]*\\*["']?(?:bearer|basic|token|apikey|digest)[ \t]+$`)
	queryPlace   = once(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&][a-z0-9_.-]*=$`)
	memberPlace  = once(`(?i)"[a-z0-9_.-]*(?:password|passwd|secret|token|api_?-?key|access_?-?key|authorization)"[ \t]*:[ \t]*"$`)
	addressUser  = once(`(?i)[a-z][a-z0-9+.-]*://(?:[^\s:/@"'$?#\\]*:|\$\{?[a-z0-9_]+\}?:)?$`)
	beforeHost   = once(`^\}?(?::[^\s/@"'?#\\]*)?@[A-Za-z0-9.-]`)

	assigned   = once(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	definition = once(`^(?:\+?=[^=]|[ \t]+=[ \t]|["']?[ \t]*:[ \t]*["']?[A-Za-z0-9_+-]{16})`)
	exported   = once(`(?:\b(?:export|unset|readonly)[ \t]+|(?:^|[ \t])(?:-e|--env)[ =])["']?$`)
	sigils     = once(`(?i)(?:\$\{[!#]?|\$env:|\$\{env:|%|\$\(|\$)$`)

	redirections = once(`[0-9]*>&[0-9-]?|&>>?`)
	plainEcho    = once(`(^|[\n;&|][ \t]*)echo[ \t]+["']?[A-Za-z .,!-]{1,80}["']?[ \t]*($|[\n;&|])`)

	// what can look a variable up without writing its name before the eye
	indirect = once(`\beval\b|\$\{!|\$\{[A-Za-z0-9_]+@|\b(?:declare|typeset|local|export|readonly)[ \t]+-[a-zA-Z]*[np]|\bprintenv\b|\benv[ \t]*(?:[|>)]|$)` +
		`|\b(?:set|export|declare)[ \t]*\||\bcompgen\b|/proc/|\benvsubst\b|\bENVIRON\b|(?i:\bos\.environ|process\.env|\bgetenv\b|Get-ChildItem +env:|\bgci +env:|\bls +env:)|\b(?:vars|globals|locals)\(`)
	// what can take words apart that were given to another command
	rereading = once("[`]|[$<>]\\(|<<|\\$[0-9@*_]|\\$\\{[0-9@*_!#]|\\$\\{[A-Za-z0-9_]+(?:\\[[^\\]]*\\])?[#%/:^,@]|\\(\\)|/proc/" +
		`|(?:^|[\n;&|({]|\bdo|\bthen)[ \t]*(?:sudo[ \t]+)?(?:set[ \t]+(?:--|[^- \t])|(?:eval|xargs|read|mapfile|readarray|source|\.|alias|function|for|select|printf|trap|ps|history|fc|parallel|declare|typeset|(?:ba|z|da|k)?sh|perl|ruby|php|node|python[0-9.]*)(?:[ \t]|$))`)
)
