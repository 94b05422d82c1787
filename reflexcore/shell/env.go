package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// What a variable of the environment makes other programs run.
type envRole uint8

const (
	envShell   envRole = iota + 1 // a command line
	envFile                       // a file of code
	envOptions                    // options, some of which load code
	envPath                       // where programs or libraries are looked for
	envHistory                    // where the shell's history goes
)

// environs lists the variables that change what programs run.
var environs = map[string]envRole{
	"PROMPT_COMMAND": envShell, "GIT_SSH_COMMAND": envShell, "GIT_EDITOR": envShell, "GIT_SEQUENCE_EDITOR": envShell, "GIT_PAGER": envShell, "GIT_EXTERNAL_DIFF": envShell,
	"GIT_ASKPASS": envShell, "GIT_PROXY_COMMAND": envShell, "SSH_ASKPASS": envShell, "SUDO_ASKPASS": envShell, "EDITOR": envShell, "VISUAL": envShell, "PAGER": envShell, "MANPAGER": envShell,
	"LESSOPEN": envShell, "LESSCLOSE": envShell, "BROWSER": envShell, "FZF_DEFAULT_COMMAND": envShell, "RSYNC_RSH": envShell, "CVS_RSH": envShell, "PS4": envShell, "PS1": envShell,
	"RUSTC_WRAPPER": envShell, "CARGO_BUILD_RUSTC_WRAPPER": envShell, "TAR_OPTIONS": envOptions, "SYSTEMD_EDITOR": envShell, "SYSTEMD_PAGER": envShell, "PSQL_PAGER": envShell, "PSQL_EDITOR": envShell, "KUBE_EDITOR": envShell,
	"BASH_ENV": envFile, "ENV": envFile, "ZDOTDIR": envFile, "LD_PRELOAD": envFile, "LD_AUDIT": envFile, "DYLD_INSERT_LIBRARIES": envFile, "PYTHONSTARTUP": envFile, "PYTHONBREAKPOINT": envFile,
	"GCONV_PATH": envPath, "LD_LIBRARY_PATH": envPath, "DYLD_LIBRARY_PATH": envPath, "PYTHONPATH": envPath, "PYTHONHOME": envPath, "PERL5LIB": envPath, "RUBYLIB": envPath, "NODE_PATH": envPath, "PATH": envPath,
	"GIT_EXEC_PATH": envPath, "GIT_TEMPLATE_DIR": envPath, "GIT_CONFIG_GLOBAL": envPath, "GIT_CONFIG_SYSTEM": envPath,
	"NODE_OPTIONS": envOptions, "PERL5OPT": envOptions, "PERL5DB": envOptions, "RUBYOPT": envOptions, "JAVA_TOOL_OPTIONS": envOptions, "_JAVA_OPTIONS": envOptions, "JDK_JAVA_OPTIONS": envOptions, "PYTHONWARNINGS": envOptions,
	"HISTFILE": envHistory, "HISTSIZE": envHistory, "HISTFILESIZE": envHistory, "HISTCONTROL": envHistory, "HISTIGNORE": envHistory,
}

// environ notes what an assignment makes later programs run.
func (in *interp) environ(name string, value data) {
	role, ok := environs[name]
	if !ok {
		return
	}
	by := name + "="
	switch role {
	case envShell:
		if value.text != "" && name != "PS1" && name != "PS4" || strings.ContainsAny(value.text, "$`") {
			in.sub(value, by, &input{}, nil)
		}
	case envFile:
		if value.text != "" {
			target := in.home(value.text)
			e := effect.Effect{Kind: effect.Exec, Target: target, Taint: value.taint, By: by}
			if f := in.file(target); f != nil {
				e.Taint |= f.taint
			}
			in.add(e)
		}
	case envPath:
		// What is looked up first in a folder that anybody may write is anybody's.
		first, _, _ := strings.Cut(value.text, ":")
		if first == "" || first == "." || strings.HasPrefix(in.abs(first), "/tmp") || strings.HasPrefix(in.abs(first), "/dev/shm") || strings.HasPrefix(in.abs(first), "/var/tmp") {
			in.add(effect.Effect{Kind: effect.Exec, Target: in.abs(first) + "/*", Taint: value.taint, By: by, Bits: effect.Partial})
		}
	case envOptions:
		for _, flag := range []string{"--require", "-r", "--import", "--loader", "-javaagent", "-agentlib", "-agentpath", "-M", "-m", "-I", "--checkpoint-action", "--to-command"} {
			if strings.Contains(value.text, flag) {
				in.add(effect.Effect{Kind: effect.Exec, Target: value.text, Taint: value.taint, By: by, Bits: effect.Partial})
				return
			}
		}
	case envHistory:
		if value.text == "/dev/null" || value.text == "" || value.text == "0" {
			in.add(effect.Effect{Kind: effect.Discard, Target: "shell history", By: by})
		}
	}
}
