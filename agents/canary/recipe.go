package canary

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"approver.example/agents/canary/model"
)

// A Recipe says how an agent is started once, without a person, with a [model.Server] on this
// machine. All permissions of the agent's own are given, so that only a hook stands between the
// model and the tool. The user's settings are in force, except for what leads to another model,
// telemetry, updates and MCP servers.
type Recipe struct {
	// Agent is the name of the agent and of its program.
	Agent string
	// Tool is the name of the tool that runs a shell command, and Input makes its arguments.
	Tool  string
	Input func(command string) any
	// Start returns how the program is started. It may write files into s.Temp.
	Start func(s Setting) (Start, error)
	// Drop are the variables that lead to another model, contain a real key, or connect the process to
	// the session that started this one; as patterns of [path.Match]. Those in the list everywhere are
	// dropped for all agents.
	Drop []string
	// Keep are variables that stay although Drop matches: they choose settings.
	Keep []string
	// Limit is how long the agent may take for one call. Zero is the constant [Limit].
	Limit time.Duration
	// TellsFailure says that the agent tells the model whether a call failed.
	TellsFailure bool
	// Noted, if set, returns why a call was stopped, for an agent that does not tell the model. It is
	// called after the agent has ended, and returns "" if there is nothing.
	Noted func(s Setting) string
}

// A Setting is what a start depends on.
type Setting struct {
	URL     string   // of the model, without a slash at its end
	Dir     string   // where the agent runs: its project
	Temp    string   // an empty folder for this start alone, which is removed after it
	Command string   // the one command that the agent must be allowed to run; empty allows everything
	Env     []string // the user's environment
}

// A Start is how a program is started.
type Start struct {
	Args []string
	Env  []string // variables in addition, as KEY=VALUE
}

// Command returns the command that starts a program. It runs in a process group of its own, which is
// told to end when the context ends; call [End] after it.
func (r Recipe) Command(ctx context.Context, program string, s Setting) (*exec.Cmd, error) {
	if r.Start == nil {
		return nil, errors.New("it is not known how to start this agent")
	}
	s.Env = r.environment(s.Env)
	start, err := r.Start(s)
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(s.Temp, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, start.Args...)
	cmd.Dir, cmd.Env = s.Dir, append(append(s.Env, start.Env...), "TMPDIR="+temp) // some leave files behind there
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Agents run hooks in process groups of their own, and end them when they are told to end.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	return cmd, nil
}

// End ends what is left of the process group of a command that has ended.
func End(cmd *exec.Cmd) error {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Call returns the call of the shell tool that runs a command.
func (r Recipe) Call(id, command string) model.Call {
	return model.Call{ID: id, Tool: r.Tool, Input: r.Input(command)}
}

// prompt is what the agent is asked; the model does not read it.
const prompt = "This is a test of approver's hook. Say: done."

// key is the dummy key for the model.
const key = "approver-hook-test"

// noServer is the name of an MCP server that nobody has, for lists of those that may be started.
const noServer = "approver-hook-test-none"

// about describes the call where a tool has an argument for it.
const about = "Test whether approver's hook stops a call"

// described makes the arguments of a tool with a command and a description.
func described(command string) any {
	return map[string]any{"command": command, "description": about}
}

// proxies are dropped for every agent: the model is on this machine.
var proxies = [...]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}

// everywhere are patterns of variables with keys, which are dropped for every agent. Some agents use
// any key that they find.
var everywhere = [...]string{"*_API_KEY", "*_AUTH_TOKEN", "*_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}

// environment returns the environment for an agent, without what leads elsewhere. Variables that
// choose its settings stay, as in normal use.
func (r Recipe) environment(env []string) []string {
	var out []string
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		drop := slices.Contains(proxies[:], name) || matches(everywhere[:], name) || matches(r.Drop, name)
		if !drop || matches(r.Keep, name) {
			out = append(out, pair)
		}
	}
	return out
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// noProxy returns variables against a proxy in the agent's settings, or in a file .env: an agent that
// reads one sets only what is not set.
func noProxy() []string {
	env := []string{"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}
	for _, name := range proxies {
		env = append(env, name+"=")
	}
	return env
}

// value returns the value of a variable, or "".
func value(env []string, name string) (v string) {
	for _, pair := range env {
		if key, text, _ := strings.Cut(pair, "="); key == name {
			v = text // the last one counts
		}
	}
	return v
}
