package tools

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file reads tools that do by a switch among their arguments what a command line does by a flag, and
// tools that type into a shell.

// forced yields the command lines of switches that lose or open more than the tool's name says.
func (j *judge) forced() {
	run := func(words ...string) {
		j.payload(effect.Payload{Lang: effect.Shell, Text: quoteWords(words), Why: "what " + j.tool + " does"})
	}
	hard := j.in.flag("hard") || slices.Contains(j.in.values("mode", "resettype", "type"), "hard")
	force := j.in.flag("force", "forcepush", "forcewithlease")
	switch {
	case j.says("reset") && j.near("git") && hard:
		run("git", "reset", "--hard")
	case j.near("git") && j.hasRepository() && (j.is(verbDelete) || j.says("clean")) && j.gitLoses(run):
	case j.says("push") && j.near("git github gitlab") && force, j.says("ref") && j.begins(changes) && force:
		run("git", "push", "--force")
	case j.says("down") && j.near("compose") && j.in.flag("volumes", "removevolumes", "v"):
		run("docker", "compose", "down", "-v")
	case j.says("container") && j.begins("run create start"):
		if j.in.flag("privileged") {
			run("docker", "run", "--privileged", "image")
		}
		for _, v := range j.in.values("volumes", "volume", "binds", "mounts", "source", "hostpath") {
			if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~") {
				from, _, _ := strings.Cut(v, ":")
				run("docker", "run", "-v", from+":/h", "image")
			}
		}
		for _, a := range j.in.args {
			if strings.HasPrefix(a.parent, "/") && wordset.Has("bind mode target containerpath", a.key) && a.text != "ro" {
				run("docker", "run", "-v", a.parent+":/h", "image")
			}
		}
	case j.in.flag("isdestroy", "destroy") && j.says("run"):
		run("terraform", "destroy", "-auto-approve")
	case j.says("checkout restore") && j.near("git") && !j.near("github gitlab"):
		if names := j.in.values("paths", "path", "files", "file", "pathspec"); len(names) > 0 {
			run(append([]string{"git", "checkout", "--"}, names...)...)
		}
	case j.says("record records dns") && j.near("dns route zone zones cloudflare") && j.is(verbWrite|verbDelete) &&
		!j.looks():
		j.add(effect.Permission, "network", 0)
	case j.says("transfer") && j.says("repository repo project"):
		j.addWhat(effect.Permission, "access", j.subject())
	}
	if j.says("keys input interact") && j.says("send interact write") &&
		j.near("tmux terminal iterm process pty session shell") {
		j.typed()
	}
	j.hidden()
}

// repositoryKeys are arguments that say where the repository of a git tool lies.
const repositoryKeys = "repopath repositorypath reporoot repo repository gitdir projectpath cwd workingdir " +
	"workingdirectory"

// hasRepository reports whether an argument says where the repository of a git tool lies.
func (j *judge) hasRepository() bool { return len(j.in.values(strings.Fields(repositoryKeys)...)) > 0 }

// gitLoses yields the command line that a git tool stands for which throws something away, if it is one.
func (j *judge) gitLoses(run func(words ...string)) bool {
	name := append(j.in.values("branch", "branchname", "tag", "tagname", "name"), effect.Unknown)[0]
	switch {
	case j.says("branch"):
		run("git", "branch", "-D", name)
	case j.says("tag"):
		run("git", "tag", "-d", name)
	case j.says("stash"):
		run("git", "stash", "drop")
	case j.says("clean"):
		run("git", "clean", "-fd")
	default:
		return false
	}
	return true
}

// typed yields what a tool types into a terminal.
func (j *judge) typed() {
	for _, a := range j.in.args {
		if wordset.Has("keys input text data", a.key) && !a.number {
			j.payload(effect.Payload{Lang: effect.Shell, Text: a.text, Why: a.key + " of " + j.tool})
		}
	}
}

// hidden adds what texts do that the tool's name does not say.
func (j *judge) hidden() {
	for _, a := range j.in.args {
		if a.role == roleContent || a.number {
			continue
		}
		up := strings.Join(strings.Fields(strings.ToUpper(a.text)), " ")
		switch {
		case !j.holdsSQL(a) && strings.HasPrefix(up, "COPY ") && wordset.ContainsAny(up, " TO PROGRAM ", " FROM PROGRAM "):
			j.payload(effect.Payload{Text: a.text, Why: a.key + " of " + j.tool})
		case a.role == roleCode && j.is(nounBrowser|verbEvaluate) && strings.Contains(up, "DOCUMENT.COOKIE") &&
			wordset.ContainsAny(up, "FETCH(", "SENDBEACON", "XMLHTTPREQUEST", "NEW IMAGE", ".SRC"):
			j.addTainted(effect.NetOut, "the cookies of a page", 0, effect.Secret)
		case j.in.method() == "DELETE" && wordset.Has("/_all /* _all *", a.text):
			j.add(effect.RemoteDelete, j.subject(), effect.Bulk)
		}
	}
}
