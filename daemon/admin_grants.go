package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/shieldcore"
)

func (d *Admin) listGrants(ctx context.Context) (adminapi.Grants, error) {
	now, err := d.People.Store.Now(ctx)
	if err != nil {
		return adminapi.Grants{}, err
	}
	grants, err := d.People.Grants.List(ctx)
	doc := adminapi.Grants{Now: now.UTC(), Grants: []adminapi.Grant{}}
	for _, g := range grants {
		doc.Grants = append(doc.Grants, adminapi.Grant{
			ID: g.ID, Kind: g.Kind, Push: g.Push, By: g.By, Until: g.Until.UTC(), Agent: display.OneLine(g.Agent),
			Dir: display.OneLine(g.Dir),
		})
	}
	if errors.Is(err, broadcaster.ErrIncomplete) {
		doc.Trouble, err = incomplete(err, d.cfg.Storage()), nil
	}
	return doc, err
}

// revoke revokes a grant. It needs no approval, because it only tightens.
func (d *Admin) revoke(
	ctx context.Context, peer approver.Peer, which adminapi.RequestID,
) (adminapi.ControlAnswer, error) {
	err := d.People.Grants.Revoke(context.WithoutCancel(ctx), which.Request, uidOf(peer))
	return adminapi.ControlAnswer{Done: err == nil, Text: "revoked"}, err
}

// exactRule returns the narrowest policy rule that allows a call: exactly this command, by
// this tool of this agent under this user, in this folder. The error says why no rule can be
// that narrow for this call.
func exactRule(call approver.ToolCall) (string, error) {
	switch {
	case call.Command == "" || call.Control != "":
		return "", errors.New("it is not a shell command")
	case !call.Peer.Known || !filepath.IsAbs(call.Dir) || filepath.Clean(call.Dir) != call.Dir:
		return "", errors.New("its user or its folder is not known for certain")
	case strings.ContainsFunc(call.Dir, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", errors.New("its folder has characters that are not plain")
	case display.Mask(call.Text()) != call.Text(), display.Mask(call.Command) != call.Command:
		return "", errors.New("it holds what looks like a secret")
	}
	var command strings.Builder
	for _, r := range regexp.QuoteMeta(call.Command) {
		if r < ' ' || r > '~' {
			fmt.Fprintf(&command, `\x{%x}`, r)
		} else {
			command.WriteRune(r)
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", call.Agent, call.Tool, call.Dir, call.Command))
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	rule := fmt.Sprintf("  - name: always.c%s\n    tools: [%s]\n    command: %s\n    when:\n      agents: [%s]\n"+
		"      uids: [%d]\n      dirs: [%s]\n    decision: allow\n",
		hex.EncodeToString(sum[:4]), quote(call.Tool), quote("^"+command.String()+"$"), quote(call.Agent), call.Peer.UID,
		quote(call.Dir))
	// The proposed rule must load, allow this call, and contain no hidden characters.
	policy, err := shieldcore.Load("rule", []byte("version: 1\ntools: {known: ["+quote(call.Tool)+"]}\nrules:\n"+rule))
	if err != nil {
		return "", errors.New("a rule cannot name it")
	}
	v, err := policy.Judge(context.Background(), call)
	if err != nil || v.Decision != approver.Allow ||
		strings.ContainsFunc(rule, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		return "", errors.New("a rule that allows cannot match a command that runs more than one thing")
	}
	return rule, nil
}

// propose returns a policy rule that would allow the call of a request. It changes nothing:
// people are asked when the rule is added to the policy, as for every change that loosens it.
func (d *Admin) propose(
	ctx context.Context, _ approver.Peer, which adminapi.RequestID,
) (adminapi.Proposal, error) {
	r, err := d.People.Requests.Get(ctx, which.Request)
	if errors.Is(err, approver.ErrNotFound) {
		return adminapi.Proposal{},
			fmt.Errorf("there is no request %q any more: the audit and approver pending have the ids", which.Request)
	} else if err != nil {
		return adminapi.Proposal{}, err
	}
	rule, err := exactRule(r.Call)
	if err != nil {
		return adminapi.Proposal{}, fmt.Errorf("no rule can be written of this call, because %w", err)
	}
	where := d.cfg.Policy
	if where == "" || strings.HasPrefix(where, configs.PresetPrefix) {
		where = "a policy file of your own (the setting policy; the built-in one cannot be changed)"
	}
	return adminapi.Proposal{Rule: rule, Where: where}, nil
}
