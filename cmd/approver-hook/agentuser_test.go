package main

import (
	"context"
	"os/exec"
	"syscall"
)

// agentUID is a user that is neither root nor the owner of anything.
const agentUID = 61000

// asAgent makes a command that runs as the agent's user.
func asAgent(name string, args ...string) *exec.Cmd {
	return asAgentWithin(context.Background(), name, args...)
}

func asAgentWithin(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: agentUID, Gid: agentUID}}
	return cmd
}
