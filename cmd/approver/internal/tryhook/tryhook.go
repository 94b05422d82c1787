// Package tryhook starts an agent once, to test whether the hook stops a call.
package tryhook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"approver.example/agents"
	"approver.example/agents/canary"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/term"
)

// Help returns the text about the hook test in the help of install and doctor.
func Help(agent string) string {
	where := "in this folder or that of --project"
	if a, _ := agents.For(agent); a != nil {
		if i, is := a.(agents.Installer); is && i.Files().Unread != "" { // it refuses --project
			where = "in this folder"
		}
	}
	return `The hook test: ` + agent +
		` is started once, ` + where + `, with your settings and environment, against a model ` +
		`on this machine and with a dummy key. It makes one harmless
call that approver always stops. MCP servers are not started; other hooks of yours run as always. It takes a ` +
		`few seconds, and two minutes at the most.
`
}

// announced returns the text that is printed before the test.
func announced(agent string) string {
	return "starting " + agent + " once, against a model on this machine, " +
		"to see whether the hook stops a call: this can take a minute"
}

// Try runs the hook test on an agent, where these settings apply.
func Try(ctx context.Context, agent agents.Installer, c settings.Target) finding.Finding {
	name, files := agent.Name(), agent.Files()
	f := finding.Finding{Check: "hook-test", Result: finding.Warn}
	recipe, ok := agents.RecipeOf(agent)
	if !ok {
		f.Text = "the hook was not tried: there is no hook test for " + files.Title
		return f
	}
	if c.File != "" {
		f.Text = "the hook was not tried: " + name + " does not read " + c.File + " by itself"
		return f
	}
	program, err := exec.LookPath(name)
	if err == nil {
		program, err = filepath.Abs(program) // the agent runs in another folder
	}
	if err != nil {
		f.Text, f.Fix = "the hook was not tried: "+name+" is not in PATH", "approver doctor --agent "+name+", where it is"
		return f
	}
	if why := othersAgent(files, os.Geteuid(), os.Getenv("SUDO_UID"), c.Project); why != "" {
		f.Text, f.Fix = "the hook was not tried: "+why, "as the user of "+files.Title+": approver doctor --agent "+name
		return f
	}
	term.PrintOn(os.Stderr, 2, "%s\n", announced(name))
	o := canary.Options{Recipe: recipe, Program: program, Dir: c.Project, Env: os.Environ()}
	return canaryFinding(files, canary.Run(ctx, o))
}

// othersAgent says why root must not start an agent in a folder: it would run the hooks of
// somebody else's settings as root. It is empty if root may.
func othersAgent(f settings.Files, euid int, sudoUID, dir string) string {
	if euid != 0 {
		return ""
	}
	if sudoUID != "" && sudoUID != "0" {
		return "root would run the hooks of a user's settings"
	}
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, f.InProject())
		folder := filepath.Dir(file)
		for _, p := range []string{dir, folder, file, filepath.Join(folder, f.Local)} {
			switch owner, err := asuser.OwnerOf(p); {
			case errors.Is(err, fs.ErrNotExist) && p != dir:
			case err != nil:
				return "root would run hooks of settings that cannot be looked at: " + err.Error()
			case owner != 0:
				return fmt.Sprintf("root would run the hooks of settings of uid %d, who owns %s", owner, p)
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
	return "root would run hooks of settings that are not known: " + err.Error()
}

// canaryFinding turns the result of the hook test into a finding.
func canaryFinding(agent settings.Files, r canary.Report) finding.Finding {
	f := finding.Finding{Check: "hook-test", Result: finding.Warn,
		Text: "not proven that the hook stops a call: " + r.Text}
	took := fmt.Sprintf(" (%.1f s)", r.Took.Seconds())
	switch r.Outcome {
	case canary.NotProven:
	case canary.Ran:
		f.Result, f.Text = finding.Fail, agent.Agent+" ran a call without asking approver"+took
		if r.Text != "" {
			f.Text += "\n" + r.Text
		}
		f.Fix = agent.Install() + ", and docs/agents/" + agent.Agent +
			".md for what turns hooks off; after an update of approver restart the daemon first"
	case canary.Stopped:
		f.Result, f.Text = finding.OK, agent.Agent+" made a call, and the hook stopped it"+took
	case canary.StoppedAlone:
		f.Result, f.Text = finding.OK,
			agent.Agent+" made a call, and the hook stopped it without an answer of the daemon"+took+": "+r.Text
	}
	return f
}
