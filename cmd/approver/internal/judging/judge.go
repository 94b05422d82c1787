package judging

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/configs"
	"approver.example/daemon/hooks"
	"approver.example/gate"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// A Judge judges calls as the daemon would, up to the point where people would
// be asked.
type Judge struct {
	Gate  *gate.Gate
	agent agents.Adapter // of native payloads; nil: lines of our own
	Dir   string         // where a call works that does not say it
	Peer  approver.Peer  // whose a call is that does not say it
	env   map[string]string

	sockets configs.Sockets // of the configuration

	Policy *shieldcore.Policy // among the gate's stages
	Reflex *reflexcore.Engine // the same, nil where only the policy judges

	Explain bool // not verdicts only
	width   int  // of the terminal that shows them; 0: none
	AsJSON  bool

	// ran takes what became of a call; nil: nobody wants to know.
	ran func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
}

// New returns a judge with these stages, of native payloads if an agent is named.
func New(agent string, stages ...approver.Stage) (*Judge, error) {
	j := &Judge{
		Gate: &gate.Gate{Stages: stages, Rewrite: hooks.Rewrite, Log: slog.New(slog.DiscardHandler)},
		Peer: Caller(), env: map[string]string{"HOME": os.Getenv("HOME")},
	}
	j.Dir, _ = os.Getwd() // without one, relative paths are asked about
	if agent != "" {
		var ok bool
		if j.agent, ok = agents.For(agent); !ok {
			return nil, fmt.Errorf("unknown agent %q: this approver knows %v", agent, agents.Names())
		}
	}
	return j, nil
}

// placed adds what only the daemon knows, as it is here.
func (j *Judge) placed(call approver.ToolCall) approver.ToolCall {
	if !call.Peer.Known {
		call.Peer = j.Peer
	}
	call.Env, call.At = j.envOf(call.Peer), time.Now()
	return call
}
