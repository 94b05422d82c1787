package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file is about files that lie elsewhere: what is written into a folder that this text mounts from another
// host goes to that host, and what is written into a pipe goes to whoever reads the pipe.

// An away is a folder or a pipe whose content goes to another host.
type away struct{ path, host string }

// maxAways limits them.
const maxAways = 16

// remoteMounts are programs that mount folders of other hosts.
const remoteMounts = "sshfs s3fs gcsfuse goofys s3ql mount.s3ql blobfuse2 blobfuse davfs2 mount.davfs curlftpfs " +
	"mount.nfs mount.cifs smbnetfs ossfs rclone geesefs juicefs mount"

// mountsAway notes a folder that a command mounts from another host.
func (a *applied) mountsAway() {
	if !wordset.Has(remoteMounts, path.Base(a.line.argv[0])) || a.line.p.Dry || len(a.in.rep.aways) >= maxAways {
		return
	}
	words := a.line.operands()
	name := path.Base(a.line.argv[0])
	switch {
	case name == "mount" && !slices.ContainsFunc(words, isShare):
		return
	case name == "rclone" && (len(words) != 3 || !wordset.Has("mount mount2 nfsmount cmount", words[0])):
		return
	}
	if len(words) < 2 {
		return
	}
	to := a.in.fs.abs(a.in.fs.expandHome(words[len(words)-1]))
	if len(to) > 1 {
		a.in.rep.aways = append(a.in.rep.aways, away{to, words[len(words)-2]})
	}
}

// isShare reports whether a word names a folder of another host: host:/folder or //host/folder.
func isShare(word string) bool {
	return strings.HasPrefix(word, "//") || strings.HasPrefix(word, `\\`) || strings.Contains(word, ":/")
}

// operands are the words of a command that are no flags, nor values of short flags as mount has them.
func (l *commandLine) operands() (words []string) {
	for i := 1; i < len(l.argv); i++ {
		switch w := l.argv[i]; {
		case wordset.Has("-o -t -p -O -F", w):
			i++
		case !strings.HasPrefix(w, "-") && w != "&":
			words = append(words, w)
		}
	}
	return words
}

// carries adds that what is written somewhere goes to another host.
func (in *interp) carries(e *effect.Effect) {
	for _, m := range in.rep.aways {
		if within(e.Target, m.path) && e.Bits&effect.Remote == 0 {
			in.rep.addEffect(effect.Effect{Kind: effect.NetOut, Target: m.host, Taint: e.Taint, Bits: e.Bits, By: e.By})
		}
	}
}

// pipesAway notes that a command which sends, whose effects begin at an index, reads a pipe: whatever is written
// there later goes to its host. What socat reads is a pipe if something is written there after it started.
func (a *applied) pipesAway(from int) {
	effects := a.in.rep.res.Effects
	sent := slices.IndexFunc(effects[from:], func(e effect.Effect) bool { return e.Kind == effect.NetOut })
	if sent < 0 || len(a.in.rep.aways)+len(a.line.argv) > maxAways {
		return
	}
	host := effects[from+sent].Target
	if from > 0 {
		if e := &effects[from-1]; e.By == "redirection" && e.Kind == effect.Read && isPipe(effects, e.Target) {
			a.in.rep.aways = append(a.in.rep.aways, away{e.Target, host})
		}
	}
	for _, word := range a.line.argv[1:] {
		name := strings.TrimPrefix(word[strings.IndexByte(word, ':')+1:], "@")
		if name == "" || strings.HasPrefix(name, "-") || !effect.IsKnown(name) {
			continue
		}
		p := a.in.fs.abs(a.in.fs.expandHome(name))
		if isPipe(effects, p) || a.line.by == "socat" && wordset.HasAnyPrefix(name, "./", "/") {
			a.in.rep.aways = append(a.in.rep.aways, away{p, host})
		}
	}
}

// isPipe reports whether the text made a pipe of that name.
func isPipe(effects []effect.Effect, p string) bool {
	return slices.ContainsFunc(effects, func(e effect.Effect) bool {
		return e.Kind == effect.Write && e.Target == p && wordset.Has("mkfifo mknod", e.By)
	})
}
