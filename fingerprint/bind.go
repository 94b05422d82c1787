package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"

	"approver.example"
	"approver.example/display"
)

// Bind computes what an approval of a call is bound to. files maps a path to the hash
// of its content, and unbound names code without a hash: see [Binder.Files].
func Bind(
	call approver.ToolCall, policyVersion string, files map[string]string, unbound []string,
) (approver.Binding, error) {
	args := effective(call)
	if len(args) == 0 {
		args = json.RawMessage("null")
	}
	// Canonicalization maps different numbers beyond float64 to one, so the exact
	// bytes of the arguments are bound too.
	exact := sha256.Sum256(args)
	doc, err := json.Marshal(map[string]any{
		"v": 2, "agent": call.Agent, "tool": call.Tool, "args": args, "args_sha256": hex.EncodeToString(exact[:]),
		"dir": call.Dir, "policy": policyVersion, "env": call.Env, "files": files, "unbound": unbound,
	})
	if err != nil {
		return approver.Binding{}, fmt.Errorf("fingerprint: %w", err)
	}
	canonical, err := jcs.Transform(doc)
	if err != nil {
		return approver.Binding{}, fmt.Errorf("fingerprint: canonical JSON: %w", err)
	}
	sum := sha256.Sum256(canonical)
	fp := hex.EncodeToString(sum[:])
	if len(unbound) > 0 {
		fp += approver.UnboundEnding
	}
	return approver.Binding{Fingerprint: approver.Fingerprint(fp), Unbound: unbound}, nil
}

// effective is the arguments without the description that some agents' shell tools take
// for their user. It does not run, and the model words it differently in each retry of
// the same call.
func effective(c approver.ToolCall) json.RawMessage {
	args := map[string]json.RawMessage{}
	var claim string
	if !c.Display().Describes || json.Unmarshal(c.Args, &args) != nil ||
		json.Unmarshal(args["description"], &claim) != nil || claim != c.Claimed {
		return c.Args
	}
	delete(args, "description")
	out, err := display.EncodeJSON(args)
	if err != nil {
		return c.Args
	}
	return out
}
