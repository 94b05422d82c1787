package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether a cluster, a cloud or the volumes of a compose project are there for tests.

// valueFlags are flags of programs for clusters whose next word is their value.
const valueFlags = "-n --namespace -l --selector -f --filename -k --kustomize --context --kube-context --kubeconfig " +
	"--timeout --grace-period -o --output --cascade --field-selector"

// scratchInCluster says whether the context of a command is a cluster on this machine, or everything that it
// names says that it is for tests. In a cluster of others, dev is where others work.
func (a *application) scratchInCluster(words []string) string {
	if v, set, known := a.given("KUBECONFIG"); set && (!known || effect.IsProduction(v)) {
		return ""
	}
	var operands []string
	context, many := "", false
	for i := 0; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case wordset.Has("--server -s --cluster --kubeconfig --kube-apiserver --user --token", flag):
			return ""
		case flag == "--context" || flag == "--kube-context":
			if context != "" && context != value {
				return ""
			}
			context = value
		case wordset.Has("-l --selector -f --filename -k --kustomize --all -A --all-namespaces --field-selector", flag):
			many = true
		}
		switch {
		case !strings.HasPrefix(words[i], "-"):
			operands = append(operands, words[i])
		case !joined && wordset.Has(valueFlags, flag):
			i++
		}
	}
	if context != "" {
		if isLocalCluster(context) {
			return effect.Named
		}
		return ""
	}
	if many || len(operands) < 2 {
		return ""
	}
	return namesOfTests(operands[1:])
}

// isLocalCluster reports whether the name of a context is one that a tool gives to a cluster on this machine.
func isLocalCluster(context string) bool {
	return wordset.HasAnyPrefix(context, "kind-", "k3d-") ||
		wordset.Has("minikube docker-desktop rancher-desktop orbstack colima microk8s docker-for-desktop", context)
}

// namesOfTests says whether all names behind the kind, or behind it with a slash, say that they are for tests.
func namesOfTests(operands []string) string {
	names := operands[min(1, len(operands)-1):]
	if strings.Contains(operands[0], "/") {
		names = operands
	}
	what := effect.Named
	for _, n := range names {
		n = n[strings.LastIndexByte(n, '/')+1:]
		parts := strings.FieldsFunc(strings.ToLower(n), func(r rune) bool { return r < 'a' || r > 'z' })
		switch {
		case slices.ContainsFunc(parts, func(p string) bool { return wordset.Has("test tests testing tmp temp scratch", p) }):
		case isScratchName(n):
			what = effect.Scratch
		default:
			return ""
		}
	}
	return what
}

// emulated says whether a command of a cloud goes to an emulator on this machine.
func (a *application) emulated(name string, words []string) string {
	if strings.HasSuffix(name, "local") {
		return effect.Named
	}
	near := 0
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if flag == "--endpoint-url" {
			host, _ := hostAndName(value)
			if near++; !isLoopback(host) {
				return ""
			}
		}
	}
	if near > 0 {
		return effect.Named
	}
	if v, set, known := a.given("AWS_ENDPOINT_URL"); set && known {
		if host, _ := hostAndName(v); isLoopback(host) && !a.isElsewhere("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_DYNAMODB",
			"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
			return effect.Named
		}
	}
	return ""
}

// scratchVolumes says whether the project or the file of compose is one for tests.
func (a *application) scratchVolumes(words []string, target string) string {
	if target != "volumes" || a.isElsewhere("DOCKER_HOST", "DOCKER_CONTEXT") {
		return ""
	}
	what, files, project := effect.Scratch, 0, ""
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case wordset.Has("-H --host -c --context", flag):
			return ""
		case flag == "-p" || flag == "--project-name":
			project = value
		case flag == "-f" || flag == "--file":
			files++
			if test := isScratchName(strings.TrimSuffix(path.Base(value), path.Ext(value))); test && files == 1 {
				what = effect.Named
			} else if !test {
				what = effect.Scratch
			}
		}
	}
	switch {
	case project == "":
		return what
	case isScratchName(project):
		return effect.Named
	}
	return effect.Scratch // the volumes are those of that project, whatever the file is called
}

// composeFile is the file of compose that a command names, or the folder in which compose looks for it; it
// is empty if that is not known.
func (a *application) composeFile() string {
	dir, file := a.in.cwd.dir, ""
	if !a.onOwnMachine() || !effect.IsKnown(dir) {
		return ""
	}
	words := a.line.argv[1:]
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case flag == "-f" || flag == "--file":
			if file != "" {
				return ""
			}
			file = value
		case wordset.HasAnyPrefix(flag, "-p", "--project", "--profile", "--context", "-c", "-H", "--host", "--env-file"):
			return ""
		}
	}
	switch {
	case file == "":
		return dir + "/"
	case strings.HasPrefix(file, "/"):
		return file
	}
	return path.Join(dir, file)
}

// ofProduction reports whether a word of a command about a cluster or its keys says production.
func (a *application) ofProduction(target string) bool {
	name := path.Base(a.line.argv[0])
	return (clusters[name] || wordset.Has("etcdctl consul vault nomad helmfile argocd", name)) &&
		(effect.IsProduction(target) || slices.ContainsFunc(a.line.argv, effect.IsProduction))
}
