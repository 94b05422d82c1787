package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/audit"
	"approver.example/cmd/approver/internal/auditlog"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/reporting"
	"approver.example/daemon/words"
	"approver.example/shieldcore"
)

type policyDiffCmd struct {
	auditlog.Folder
	Old     string `arg:"" help:"Policy file or preset:NAME." placeholder:"OLD"`
	New     string `arg:"" help:"Policy file or preset:NAME." placeholder:"NEW"`
	History bool   `help:"Judge the calls in the audit under both, and show which verdicts change."`
	JSON    bool   `help:"Print one JSON object for each change."`
}

// Run compares.
func (c policyDiffCmd) Run(ctx context.Context) error {
	was, err := LoadPolicy(c.Old)
	if err != nil {
		return err
	}
	becomes, err := LoadPolicy(c.New)
	if err != nil {
		return err
	}
	change := shieldcore.Compare(was, becomes)
	if c.JSON {
		if err := json.NewEncoder(os.Stdout).Encode(
			map[string]any{"loosens": change.Loosens(), "why": change.Why, "diff": change.Diff}); err != nil {
			return err
		}
	} else {
		fmt.Print(change.Diff)
		fmt.Println(change)
	}
	if !c.History {
		return nil
	}
	_, dir, err := c.Resolve()
	if err != nil {
		return err
	}
	return auditlog.WithCure(c.replay(ctx, dir, was, becomes), dir)
}

// A changed is a call whose verdict changes, and how often it was made.
type changed struct {
	Tool    string `json:"tool"`
	Summary string `json:"call"`
	Old     string `json:"old"`
	OldRule string `json:"old_rule,omitempty"`
	New     string `json:"new"`
	NewRule string `json:"new_rule,omitempty"`
	Times   int    `json:"times"`
}

// maxReplayed limits how many different calls are remembered.
const maxReplayed = 100_000

// replay judges the calls in the audit under both policies.
func (c policyDiffCmd) replay(ctx context.Context, dir string, was, becomes *shieldcore.Policy) error {
	seen := map[string]*changed{}
	var order []*changed
	calls := 0
	history := audit.Query{Dirs: []string{dir}, Events: reporting.Judged()}
	for l, err := range history.Records(ctx) {
		switch {
		case err != nil:
			return err
		case !reporting.IsAgents(l) || l.Again || l.Tool == "":
			continue
		}
		calls++
		key := strings.Join([]string{l.Tool, l.ArgsHash, l.Command, l.Dir, l.Agent}, "\x00")
		if l.PeerUID != nil { // a rule may be for certain users, or agents
			key += "\x00" + strconv.FormatUint(uint64(*l.PeerUID), 10)
		}
		ch := seen[key]
		if ch == nil && len(seen) < maxReplayed {
			if ch, err = judgeAgain(ctx, l, was, becomes); err != nil {
				return err
			}
			seen[key] = ch
			if ch.Old != ch.New {
				order = append(order, ch)
			}
		}
		if ch != nil {
			ch.Times++
		}
	}
	for _, ch := range order {
		if c.JSON {
			if err := json.NewEncoder(os.Stdout).Encode(ch); err != nil {
				return err
			}
			continue
		}
		fmt.Printf("%5d x  %s (%s) -> %s (%s)  %s\n", ch.Times, ch.Old, ch.OldRule, ch.New, ch.NewRule,
			audit.Summary(ch.Summary))
	}
	if !c.JSON {
		fmt.Printf("%s, %d different, %d changed\n", words.Count(uint64(calls), "call"), len(seen), len(order))
	}
	return nil
}

func judgeAgain(ctx context.Context, l audit.Line, was, becomes *shieldcore.Policy) (*changed, error) {
	call := callOf(l)
	ch := &changed{Tool: l.Tool, Summary: l.Summary}
	for _, side := range []struct {
		policy *shieldcore.Policy
		word   *string
		rule   *string
	}{{was, &ch.Old, &ch.OldRule}, {becomes, &ch.New, &ch.NewRule}} {
		v, err := side.policy.Judge(ctx, call)
		if err != nil {
			return nil, err
		}
		*side.word, *side.rule = judging.InWords(v), v.Rule
	}
	return ch, nil
}

// callOf rebuilds a recorded call. It has the paths and addresses in its arguments if these
// were recorded in full.
func callOf(l audit.Line) approver.ToolCall {
	call := approver.ToolCall{Agent: l.Agent, Session: l.Session, Tool: l.Tool, Command: l.Command, Dir: l.Dir,
		At: l.Timestamp}
	line := judging.LineCall{Agent: l.Agent, Session: l.Session, CWD: l.Dir, Tool: l.Tool, Args: l.Args}
	if ev, err := line.Event(); err == nil {
		call = ev.Call
		call.At = l.Timestamp
	} else if l.Target != "" {
		call.Paths = []string{l.Target}
	}
	if l.Command != "" {
		call.Command = l.Command
	}
	if l.PeerUID != nil {
		call.Peer = approver.Peer{Known: true, UID: *l.PeerUID}
	}
	return call
}
