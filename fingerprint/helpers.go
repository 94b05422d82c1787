package fingerprint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file binds what programs start by themselves through PATH: ssh for git push, sh for
// npm run, cc for go build, kubectl-foo for kubectl foo. Nobody can list all of these. What
// can be listed is what an agent can put in their place: a program in a folder of PATH that
// it can write to, which has the name of one in a later folder.

// alone are programs that start no others by name.
var alone = strings.Fields("rm rmdir cp mv mkdir touch chmod chown chgrp ln kill pkill killall dd truncate " +
	"shred mkfifo " +
	"mktemp sync date uname id whoami hostname env sudo doas nice nohup time timeout stdbuf tee seq realpath readlink")

// starts are names that programs look for which may be nowhere yet. Plugins, such as
// git-x of git, need no row, nor does what every system has, such as sh.
var starts = map[string]string{
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

// ownedBytes is the size up to which such a program is bound by its content. Of a larger one
// its place, its size and its times are.
const ownedBytes = 64 << 10

// maxSearched is how many sets of folders a Binder remembers.
const maxSearched = 64

// helpers binds what the program of a step may start through PATH, of that which lies where
// an agent can put it.
func (r *reader) helpers(st *shell.Step) {
	name := first(st)
	if slices.Contains(alone, name) || slices.Contains(filters, name) || !effect.IsKnown(name) || name == "" {
		return
	}
	list, key := r.searched(st)
	if !r.once("helpers", key, name) {
		return
	}
	at, ok := r.searches[key]
	if !ok {
		at = r.shared.owned(r.scan, list)
		if r.searches == nil {
			r.searches = map[string]search{}
		}
		r.searches[key] = at
	}
	if r.once("helpers", key) {
		for _, file := range at.before {
			r.stamp(file)
		}
	}
	if len(at.dirs) == 0 {
		return
	}
	wanted := r.wanted(name)
	for _, dir := range at.dirs {
		for _, has := range dir.names {
			if strings.HasPrefix(has, name+"-") || slices.Contains(wanted, has) {
				r.stamp(path.Join(dir.path, has))
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

// wanted are the names that a program looks for: of the table, and those that variables give.
func (r *reader) wanted(name string) []string {
	names := strings.Fields(starts[name])
	for _, v := range programVars {
		if _, here := r.scan.call.Env[v]; !here && len(r.vars[v]) == 0 && !r.compares {
			continue
		}
		for _, value := range r.values(v) {
			for _, w := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n|;&'\"", r) }) {
				if !strings.ContainsAny(w, "/\x00") && operand(w) {
					names = append(names, w)
				}
			}
		}
	}
	return names
}

// searched are the folders of a step's PATH of which it is known where they are, and what
// tells them from others.
func (r *reader) searched(st *shell.Step) (dirs []string, key string) {
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

// stamp binds a program that is not known to run.
func (s *scan) stamp(file string) {
	if !s.once("stamp", file) || !s.look() {
		return
	}
	info, err := s.stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	sum := ""
	if info.Size() > ownedBytes {
		sum = s.versionOf(file, info)
	}
	if sum == "" {
		sum = s.hash(file)
	}
	s.out["starts "+file] = sum + " " + info.Mode().String()
}

// written is how long after a change the page of a file may still be writable for a mapping without
// a change of its times: kernels write it to the disk after 30 s or so.
const written = 10 * time.Minute

// versionOf is the version of a file, if the kernel's word about it can be trusted.
func (s *scan) versionOf(file string, info fs.FileInfo) string {
	v, known := appendVersion(nil, info)
	if !known {
		return ""
	}
	trust, ok := s.trusts[v.device]
	if !ok {
		trust = trustedTimes(file, v.device)
		if s.trusts == nil {
			s.trusts = map[uint64]bool{}
		}
		s.trusts[v.device] = trust
	}
	if !trust {
		return ""
	}
	if time.Since(v.changed) > written {
		return string(v.text)
	}
	if !s.stays([]freshFile{{file, string(v.text), v.changed}}) {
		return ""
	}
	return string(v.text)
}

// A namedFolder is a folder of PATH that an agent can write to.
type namedFolder struct {
	path  string
	names []string
}

// A search is what the folders of a PATH have that an agent can put there.
type search struct {
	before []string      // files with the name of one in a later folder
	dirs   []namedFolder // in the order of PATH
}

// owned returns what lies in the folders of a PATH that an agent can write to. It asks the
// kernel for the version of each folder, and lists them again only when one has another.
func (b *shared) owned(s *scan, dirs []string) search {
	all, key, settled := s.pathFolders(dirs)
	if !slices.ContainsFunc(all, func(f pathFolder) bool { return f.own }) {
		return search{}
	}
	if settled {
		b.mu.Lock()
		found, ok := b.searches[key]
		b.mu.Unlock()
		if ok {
			return found
		}
	}
	found, held := s.shadowing(all)
	if settled && held && s.err == nil {
		b.mu.Lock()
		if b.searches == nil || len(b.searches) >= maxSearched {
			b.searches = map[string]search{}
		}
		b.searches[key] = found
		b.mu.Unlock()
	}
	return found
}

// A pathFolder is a folder of PATH.
type pathFolder struct {
	path, place string
	own         bool // an agent may write to it
}

// pathFolders are the folders of a PATH that are there, once each, what tells them and their
// versions from others, and whether none of them changed a moment ago.
func (s *scan) pathFolders(dirs []string) (all []pathFolder, key string, settled bool) {
	var versions strings.Builder
	settled = true
	for _, dir := range dirs {
		if len(dir) > maxPath || strings.ContainsRune(dir, 0) || strings.HasPrefix(dir, "/proc/") || !s.look() {
			continue
		}
		info, err := s.stat(dir)
		if err != nil || !info.IsDir() {
			continue // each look for a program in it is named
		}
		id, known := identify(info)
		settled = settled && known && time.Since(id.changed) > 2*time.Second
		if known && slices.ContainsFunc(all, func(f pathFolder) bool { return f.place == id.place }) {
			continue
		}
		all = append(all, pathFolder{dir, id.place, !system(path.Join(dir, "x")) && agentMayWrite(info, id)})
		versions.WriteString(dir + "\x00" + id.version + "\x00")
	}
	return all, versions.String(), settled
}

// shadowing lists folders of PATH, and reports whether the lists hold as long as the versions
// of the folders do.
func (s *scan) shadowing(all []pathFolder) (found search, held bool) {
	held = true
	later := map[string]bool{}
	for n := len(all) - 1; n >= 0; n-- {
		names, ok := s.list(all[n].path)
		held = held && ok && holds(all[n].path)
		if all[n].own {
			found.dirs = append(found.dirs, namedFolder{all[n].path, names})
		}
		for _, name := range names {
			if all[n].own && later[name] {
				found.before = append(found.before, path.Join(all[n].path, name))
			}
		}
		for _, name := range names {
			later[name] = true
		}
	}
	slices.Reverse(found.dirs)
	return found, held
}

// agentMayWrite reports whether a folder is not root's, or others than root may write to it.
// Where this service is root's, the agent may be root too.
func agentMayWrite(info fs.FileInfo, id fileID) bool {
	return id.owner != 0 || info.Mode()&0o022 != 0 || os.Geteuid() == 0
}

// holds reports whether the kernel's word about a folder can be trusted.
func holds(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only looked at
	return fileSystemOf(f) == heldFiles
}
