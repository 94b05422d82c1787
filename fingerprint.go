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
// Its end says whether all of those files could be read; see [Fingerprint.Bound].
type Fingerprint string

// notBound ends a fingerprint whose files could not all be read.
const notBound = "-unbound"

// Bound reports whether the content of every file that the call would execute
// was read. If not, it may change between the answer and the run without the
// fingerprint showing it: people are told, and a yes is good for one run.
func (f Fingerprint) Bound() bool { return !strings.HasSuffix(string(f), notBound) }

// Equal compares in constant time. An empty fingerprint equals nothing.
func (f Fingerprint) Equal(g Fingerprint) bool {
	return f != "" && subtle.ConstantTimeCompare([]byte(f), []byte(g)) == 1
}

// FingerprintOf computes the fingerprint of a call. files maps a path to the
// hash of its content; see [FileHasher.Of].
func FingerprintOf(call ToolCall, policyVersion string, files map[string]string) (Fingerprint, error) {
	args := call.effective()
	if len(args) == 0 {
		args = json.RawMessage("null")
	}
	// JSON numbers beyond float64 would be merged by canonicalisation, so the
	// exact bytes of the arguments are bound beside their canonical form.
	exact := sha256.Sum256(args)
	doc, err := json.Marshal(map[string]any{
		"v": 1, "agent": call.Agent, "tool": call.Tool, "args": args, "args_sha256": hex.EncodeToString(exact[:]),
		"dir": call.Dir, "policy": policyVersion, "env": call.Env, "files": files,
	})
	if err != nil {
		return "", fmt.Errorf("fingerprint: %w", err)
	}
	canonical, err := jcs.Transform(doc)
	if err != nil {
		return "", fmt.Errorf("fingerprint: canonical JSON: %w", err)
	}
	sum := sha256.Sum256(canonical)
	fp := hex.EncodeToString(sum[:])
	for _, hash := range files {
		if hash == unreadable {
			return Fingerprint(fp + notBound), nil
		}
	}
	return Fingerprint(fp), nil
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
