package approver

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gowebpki/jcs"
)

// A Fingerprint says exactly what is to run: SHA-256, as hex, over the canonical
// JSON (RFC 8785) of agent, tool, arguments that do something, directory, policy version, the
// environment that changes what runs, and the hashes of the files that the
// command would execute. An approval is bound to it. The empty Fingerprint
// equals nothing.
//
// Its end says whether all that the call would execute is bound; see [Fingerprint.Bound].
type Fingerprint string

// UnbindableError is why a call cannot be bound to what it would execute, in words for its agent,
// too: what it says is of the call and of bounds.
type UnbindableError string

// Error implements error.
func (u UnbindableError) Error() string { return string(u) }

// notBound ends a fingerprint that does not bind all of what would be executed.
const notBound = "-unbound"

// A Binding is what an approval is bound to. Unbound names, for people, what the call
// would execute and that is not bound; most of the words in it are the agent's.
type Binding struct {
	Fingerprint Fingerprint
	Unbound     []string
}

// Bound reports whether all that the call would execute is bound. If not, it may
// change between the answer and the run without the
// fingerprint showing it: people are told, and a yes is good for one run.
func (f Fingerprint) Bound() bool { return !strings.HasSuffix(string(f), notBound) }

// Equal compares in constant time. An empty fingerprint equals nothing.
func (f Fingerprint) Equal(g Fingerprint) bool {
	return f != "" && subtle.ConstantTimeCompare([]byte(f), []byte(g)) == 1
}

// Bind computes what an approval of a call is bound to. files maps a path to the
// hash of its content, and unbound names what is executed and has no hash; package
// fingerprint finds both out.
func Bind(call ToolCall, policyVersion string, files map[string]string, unbound []string) (Binding, error) {
	args := call.effective()
	if len(args) == 0 {
		args = json.RawMessage("null")
	}
	// JSON numbers beyond float64 would be merged by canonicalisation, so the
	// exact bytes of the arguments are bound beside their canonical form.
	exact := sha256.Sum256(args)
	doc, err := json.Marshal(map[string]any{
		"v": 2, "agent": call.Agent, "tool": call.Tool, "args": args, "args_sha256": hex.EncodeToString(exact[:]),
		"dir": call.Dir, "policy": policyVersion, "env": call.Env, "files": files, "unbound": unbound,
	})
	if err != nil {
		return Binding{}, fmt.Errorf("fingerprint: %w", err)
	}
	canonical, err := jcs.Transform(doc)
	if err != nil {
		return Binding{}, fmt.Errorf("fingerprint: canonical JSON: %w", err)
	}
	sum := sha256.Sum256(canonical)
	fp := hex.EncodeToString(sum[:])
	if len(unbound) > 0 {
		fp += notBound
	}
	return Binding{Fingerprint(fp), unbound}, nil
}

// effective is the arguments without the description that Claude Code's shell
// tools take for their user to read. The model words it anew each time, and it
// changes nothing that runs: a call that comes back is to be the same call.
func (c ToolCall) effective() json.RawMessage {
	args := map[string]json.RawMessage{}
	var claim string
	if !c.hasClaim() || json.Unmarshal(c.Args, &args) != nil || json.Unmarshal(args["description"], &claim) != nil || claim != c.Claimed {
		return c.Args
	}
	delete(args, "description")
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(args) != nil {
		return c.Args
	}
	return bytes.TrimSpace(out.Bytes())
}

// hasClaim reports a tool whose argument "description" is Claimed and nothing else.
func (c ToolCall) hasClaim() bool {
	return c.Agent == "claude" && (c.Tool == "Bash" || c.Tool == "PowerShell" || c.Tool == "Monitor")
}
