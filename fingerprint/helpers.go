package fingerprint

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file binds the programs that others start through PATH: ssh for git push, sh for
// npm run, cc for go build, kubectl-foo for kubectl foo. They cannot all be listed. But an
// agent can replace one only by a program of the same name in an earlier folder of PATH
// that it can write to, and those can be listed.

// helperless are programs that start no others by name.
var helperless = strings.Fields("rm rmdir cp mv mkdir touch chmod chown chgrp ln kill pkill killall dd truncate " +
	"shred mkfifo " +
	"mktemp sync date uname id whoami hostname env sudo doas nice nohup time timeout stdbuf tee seq realpath readlink")

// helperNames are names of helpers that may exist nowhere yet. Plugins, such as git-x of
// git, need no row, and neither do programs that every system has, such as sh.
var helperNames = map[string]string{
	"go":    "gcc g++ cc c++ clang clang++ gfortran pkg-config git hg svn fossil ssh",
	"cargo": "rustc rustdoc rustfmt clippy-driver cc gcc clang ld lld mold git ssh pkg-config",
	"git":   "ssh plink gpg gpg2 gpgsm less more lv pager editor vi vim nano emacs ssh-askpass ksshaskpass gitk",
	"npm":   "node node-gyp python3 python make gcc g++ cc c++ git ssh", "pnpm": "node git ssh", "yarn": "node git ssh",
	"npx": "node", "bun": "node",
	"make": "cc c++ gcc g++ ld ar as pkg-config", "cmake": "cc c++ gcc g++ clang clang++ ld ar make ninja " +
		"pkg-config ccache git", "ninja": "cc c++ ccache", "meson": "cc c++ gcc g++ clang ninja pkg-config git",
	"pip": "gcc cc g++ c++ git hg svn ssh rustc cargo", "pip3": "gcc cc g++ c++ git hg svn ssh rustc cargo",
	"uv": "gcc cc git ssh python3 python", "poetry": "git ssh gcc cc", "gem": "gcc cc make git",
	"bundle": "git ssh gcc cc make",
	"docker": "buildctl ssh docker-compose", "podman": "docker-compose podman-compose runc crun conmon buildah ssh",
	"docker-compose": "docker ssh",
	"kubectl":        "less diff vi aws-iam-authenticator gke-gcloud-auth-plugin kubelogin aws gcloud ssh",
	"helm":           "kubectl gpg git kustomize", "aws": "session-manager-plugin less more groff",
	"gcloud":    "ssh kubectl docker python3 git",
	"terraform": "git hg ssh", "tofu": "git hg ssh", "ansible": "ssh sshpass scp sftp git",
	"ansible-playbook": "ssh sshpass scp sftp git", "rsync": "ssh rsh", "scp": "ssh", "sftp": "ssh", "gh": "git ssh less",
	"tar": "gzip pigz bzip2 xz zstd lz4 lzma lzip compress lzop rsh ssh", "mvn": "java javac git",
	"gradle": "java javac git", "sbt": "java git", "ant": "java javac", "psql": "less more pg vi vim editor",
	"mysql": "less more",
	"man":   "less more pager", "systemctl": "less more pager vi vim nano editor", "journalctl": "less more pager",
	"crontab": "vi vim nano editor", "ssh": "ssh-askpass nc ncat", "gpg": "gpg-agent pinentry dirmngr scdaemon",
}

// helpers binds the programs that a step's program may start through PATH, if they are in
// folders that an agent can write to.
func (r *reader) helpers(st *shell.Step) {
	name := first(st)
	if slices.Contains(helperless, name) || slices.Contains(filters, name) || !effect.IsKnown(name) || name == "" {
		return
	}
	list, key := r.searchFolders(st)
	if !r.Once("helpers", key, name) {
		return
	}
	at, ok := r.searches[key]
	if !ok {
		at = r.Shared.AgentWritable(r.Scan, list)
		r.searches[key] = at
	}
	if r.Once("helpers", key) {
		for _, file := range at.Before {
			r.Stamp(file)
		}
	}
	if len(at.Dirs) == 0 {
		return
	}
	wanted := r.wantedNames(name)
	for _, dir := range at.Dirs {
		for _, has := range dir.Names {
			if strings.HasPrefix(has, name+"-") || slices.Contains(wanted, has) {
				r.Stamp(path.Join(dir.Path, has))
			}
		}
	}
}

// programVars are variables whose value is a command that programs start.
var programVars = strings.Fields("CC CXX LD AR AS RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER PYTHON PYTHON3 " +
	"PIP NODE NPM MAKE " +
	"CMAKE GO CARGO RUBY PERL PHP JAVA DOCKER COMPOSE KUBECTL HELM TERRAFORM EDITOR VISUAL PAGER MANPAGER BROWSER " +
	"RSYNC_RSH " +
	"SSH_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_EDITOR GIT_PAGER GIT_ASKPASS KUBECTL_EXTERNAL_DIFF LESSOPEN LESSCLOSE " +
	"SHELL " +
	"KUBE_EDITOR PSQL_EDITOR PSQL_PAGER AWS_PAGER GH_PAGER GH_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER HGEDITOR " +
	"SVN_EDITOR SUDO_EDITOR")

// wantedNames are the names of a program's helpers: from the table, and from variables.
func (r *reader) wantedNames(name string) []string {
	names := strings.Fields(helperNames[name])
	for _, v := range programVars {
		if _, here := r.ToolCall.Env[v]; !here && len(r.Given[v]) == 0 && !r.Compares {
			continue
		}
		for _, value := range r.Values(v) {
			for _, w := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n|;&'\"", r) }) {
				if !strings.ContainsAny(w, "/\x00") && operand(w) {
					names = append(names, w)
				}
			}
		}
	}
	return names
}

// searchFolders are the known folders of a step's PATH, and a key that identifies them.
func (r *reader) searchFolders(st *shell.Step) (dirs []string, key string) {
	list := st.Path
	if list == effect.Unknown {
		list = r.path
	}
	if list == effect.Unknown {
		list = systemPath
	}
	list = strings.ReplaceAll(list, effect.Unknown, "")
	key = list
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			if !filepath.IsAbs(st.Dir) || !effect.IsKnown(st.Dir) {
				continue // lookup names it
			}
			dir, key = filepath.Join(st.Dir, dir), key+"\x00"+st.Dir
		}
		dirs = append(dirs, dir)
	}
	return dirs, key
}
