package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file knows which commands of clusters need a file, and which run something behind other
// roots and in containers.

// inWords are kinds of what kubectl create makes of its words alone. Those with an image are none.
const inWords = "configmap cm secret namespace ns service svc serviceaccount sa role rolebinding clusterrole " +
	"clusterrolebinding quota resourcequota poddisruptionbudget pdb priorityclass pc ingress ing token project route user"

// fromFiles are flags of kubectl create whose value is a file.
const fromFiles = "-f --filename -k --kustomize --from-file --from-env-file --cert --key --hard-file"

// saysAll reports whether the words of a command say all that kubectl creates.
func saysAll(name string, words []string) bool {
	if name != "kubectl" && name != "oc" {
		return false
	}
	at := slices.Index(words, "create")
	if at < 0 || slices.ContainsFunc(words, func(w string) bool {
		_, is := flagValue(w, fromFiles)
		return is || !effect.IsKnown(w) || oneOf("apply replace", w)
	}) {
		return false
	}
	kind := slices.IndexFunc(words[at+1:], operand)
	return kind >= 0 && oneOf(inWords, words[at+1+kind])
}

// A clusterReader reads what commands of clusters take from folders, and names what they run elsewhere.
type clusterReader struct{ reading }

// fromFolders binds the folders of which kubectl makes a config map or a secret, all that is in them.
func (r clusterReader) fromFolders() {
	if r.name != "kubectl" && r.name != "oc" {
		return
	}
	for _, value := range flagValues(r.c.Step, "--from-file") {
		if _, path, is := strings.Cut(value, "="); is {
			value = path
		}
		for _, base := range r.bases {
			if at := filepath.Clean(abs(base, value)); r.visit(at, code) && len(r.below(at, true, nil)) > 0 {
				r.c.coded = true
			}
		}
	}
}

// entering are programs that run another one where other files may have its name; with flags, only
// if one of these is there.
var entering = map[string]string{
	"chroot": "", "proot": "", "schroot": "", "arch-chroot": "", "bwrap": "", "systemd-nspawn": "", "lxc-attach": "",
	"flatpak-spawn": "", "toolbox": "run", "distrobox": "enter", "distrobox-enter": "", "machinectl": "shell",
	"nsenter": "-m --mount -a --all -r --root -w --wd -W --wdns", "unshare": "-R --root -w --wd",
	"systemd-run": "-p --property -M --machine --root-directory -E --setenv",
}

// enters names what a step runs below another root, or in a container that no step shows.
func (r clusterReader) enters() {
	name, st := r.name, r.c.Step
	flags, is := entering[name]
	if is && (flags == "" || slices.ContainsFunc(st.Argv[1:], func(w string) bool {
		_, has := flagValue(w, flags)
		return has || !effect.IsKnown(w) || grouped(w, flags)
	})) && slices.ContainsFunc(st.Argv[1:], operand) {
		r.named("what %s runs below another root: %s", name, strings.Join(strings.Fields(st.Command), " "))
		return
	}
	if (name == "kubectl" || name == "oc") && has(st, "exec") && fromFile(st) {
		r.named("what %s runs elsewhere: %s", name, strings.Join(strings.Fields(st.Command), " "))
	}
}

// grouped reports whether a word is a group of letters one of which is a flag: -rm.
func grouped(word, flags string) bool {
	if len(word) < 2 || word[0] != '-' || word[1] == '-' {
		return false
	}
	return strings.ContainsFunc(letters(word[1:]), func(r rune) bool { return oneOf(flags, "-"+string(r)) })
}

// fromFile reports whether a file says where kubectl exec runs a command.
func fromFile(st *shell.Step) bool {
	return slices.ContainsFunc(st.Argv[1:], func(w string) bool {
		_, is := flagValue(w, "-f --filename")
		return is
	})
}
