package shell

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether a cluster, a cloud or the volumes of a compose project are there for tests.

// Flags of programs for clusters, without a value and with one, and those that select many things.
const (
	clusterFlags = "--force --now --wait --ignore-not-found --keep-history --no-hooks"
	clusterMany  = "--all -A --all-namespaces"
	clusterValue = "-n --namespace --context --kube-context --timeout --grace-period -o --output --cascade"
	clusterPicks = "-l --selector -f --filename -k --kustomize --field-selector"
)

// scratchInCluster says whether the context of a command is a cluster on this machine, or everything that it
// names says that it is for tests. In a cluster of others, dev is where others work. A variable may make a
// name that of another cluster, and so may an option that is not known.
func (a *application) scratchInCluster(words []string) string {
	family := func(name string) bool { return wordset.HasAnyPrefix(name, "KUBE", "HELM_KUBE", "HELM_NAMESPACE") }
	if a.isFamilySet(family) {
		return ""
	}
	var operands []string
	context, many := "", false
	for i := 0; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		takes := wordset.Has(clusterValue, flag) || wordset.Has(clusterPicks, flag)
		switch {
		case !strings.HasPrefix(words[i], "-"):
			operands = append(operands, words[i])
			continue
		case !takes && !wordset.Has(clusterFlags, flag) && !wordset.Has(clusterMany, flag):
			return ""
		case takes && !joined && i+1 < len(words):
			i++
			value = words[i]
		}
		many = many || wordset.Has(clusterPicks, flag) || wordset.Has(clusterMany, flag)
		if flag == "--context" || flag == "--kube-context" {
			if context != "" {
				return ""
			}
			context = value
		}
	}
	switch {
	case context != "" && isLocalCluster(context):
		return effect.Named
	case context != "" || many || len(operands) < 2 || operands[0] != "delete":
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
	kind, names := operands[0], operands[1:]
	if strings.Contains(kind, "/") {
		names = operands
	}
	what := effect.Named
	if len(names) == 0 {
		return ""
	}
	for _, n := range names {
		of, name, found := strings.Cut(n, "/")
		if !found {
			of, name = kind, n
		}
		switch isOf(of, name) {
		case "":
			return ""
		case effect.Scratch:
			what = effect.Scratch
		}
	}
	return what
}

// isOf says whether the name of a thing in a cluster is one for tests. Only kinds that hold little data count, and
// of a namespace, which may hold any, only a short name.
func isOf(kind, name string) string {
	space := wordset.Has("ns namespace namespaces", kind)
	parts := strings.Split(name, "-")
	if space && len(parts) > 2 || !space && !wordset.Has("pod pods po job jobs configmap configmaps cm deployment "+
		"deployments deploy", kind) {
		return ""
	}
	ends := func(word string) bool { return parts[0] == word || parts[len(parts)-1] == word }
	switch {
	case slices.ContainsFunc(strings.Fields("test tests tmp scratch sandbox ephemeral"), ends):
		return effect.Named
	case ends("dev"):
		return effect.Scratch
	}
	return ""
}

// emulated says whether a command of a cloud goes to an emulator on this machine.
func (a *application) emulated(name string, words []string) string {
	family := func(name string) bool {
		return wordset.HasAnyPrefix(name, "AWS_ENDPOINT_URL_", "AWS_IGNORE", "AWS_CONFIG", "LOCALSTACK", "EDGE_PORT") ||
			wordset.Has("DEFAULT_REGION_ENDPOINT USE_SSL", name)
	}
	near := 0
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if strings.HasPrefix(flag, "--endp") { // what begins the name of an option is the option
			if host, _ := hostAndName(value); !isLoopback(host) || flag != "--endpoint-url" {
				return ""
			}
			near++
		}
	}
	v, set, known := a.given("AWS_ENDPOINT_URL")
	if host, _ := hostAndName(v); set && (!known || !isLoopback(host)) || near > 1 || a.isFamilySet(family) {
		return ""
	}
	if strings.HasSuffix(name, "local") || near > 0 || set {
		return effect.Named
	}
	return ""
}

// composeWords are what the words of compose say about its project.
type composeWords struct {
	files   []string
	project string
	profile bool
	known   bool // there is nothing else that may name another one
}

// readCompose reads the words of compose. The value of a short option may be joined to it.
func readCompose(argv []string) composeWords {
	c := composeWords{known: wordset.Has("docker docker-compose", argv[0])}
	for i := 1; i < len(argv); i++ {
		flag, value, joined := strings.Cut(argv[i], "=")
		if len(flag) > 2 && flag[0] == '-' && flag[1] != '-' && strings.IndexByte("fpt", flag[1]) >= 0 {
			flag, value, joined = flag[:2], argv[i][2:], true
		}
		switch flag {
		case "-f", "--file", "-p", "--project-name", "--profile", "-t", "--timeout":
			if i++; joined {
				i--
			} else if i < len(argv) {
				value = argv[i]
			}
			c.take(flag, value)
		case "-v", "--volumes", "--remove-orphans", "-d", "--detach", "--build", "--wait":
		default:
			c.known = c.known && !strings.HasPrefix(flag, "-")
		}
	}
	return c
}

// take takes in an option.
func (c *composeWords) take(flag, value string) {
	switch flag {
	case "-f", "--file":
		c.files = append(c.files, value)
	case "-p", "--project-name":
		c.known, c.project = c.known && c.project == "", value
	case "--profile":
		c.profile = true
	}
	c.known = c.known && value != "" && value[0] != '='
}

// ofCompose reports whether a variable may make compose use another file or project.
func ofCompose(name string) bool {
	return strings.HasPrefix(name, "COMPOSE_") &&
		!wordset.Has("COMPOSE_BAKE COMPOSE_DOCKER_CLI_BUILD COMPOSE_HTTP_TIMEOUT COMPOSE_PARALLEL_LIMIT", name)
}

// scratchVolumes says whether the project or the file of compose is one for tests.
func (a *application) scratchVolumes(words []string, target string) string {
	far := func(w string) bool {
		return wordset.HasAnyPrefix(w, "-H", "--host", "-c", "--context", "--url", "--connection", "--remote")
	}
	if target != "volumes" || a.isElsewhere() || slices.ContainsFunc(words, far) {
		return ""
	}
	c := readCompose(a.line.argv)
	switch {
	case !c.known || len(c.files) > 1 || a.isFamilySet(ofCompose):
	case c.project != "": // the volumes are those of that project, whatever the file is called
		if isScratchName(c.project) {
			return effect.Named
		}
	case len(c.files) == 1 && isScratchFile(path.Base(c.files[0])):
		return effect.Named
	}
	return effect.Scratch
}

// composeFile is the file of compose that a command names, or the folder in which compose looks for it; it
// is empty if that is not known. With a project of its own, the name of the project has to say what it is.
func (a *application) composeFile(named bool) string {
	dir, c := a.in.cwd.dir, readCompose(a.line.argv)
	switch {
	case !a.onOwnMachine() || !effect.IsKnown(dir) || !c.known || len(c.files) > 1 ||
		(c.project != "" || c.profile) && !named:
		return ""
	case len(c.files) == 0:
		return dir + "/"
	case strings.HasPrefix(c.files[0], "/"):
		return c.files[0]
	}
	return path.Join(dir, c.files[0])
}

// ofProduction reports whether a word of a command about a cluster or its keys says production.
func (a *application) ofProduction(target string) bool {
	name := path.Base(a.line.argv[0])
	return (clusters[name] || wordset.Has("etcdctl consul vault nomad helmfile argocd", name)) &&
		(effect.IsProduction(target) || slices.ContainsFunc(a.line.argv, effect.IsProduction))
}
