package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file reads tools that stand for a command line: terraform_apply is terraform apply.

// twinVerbs are the subcommands that a tool of a program may stand for.
var twinVerbs = map[string]map[string]bool{
	"terraform": terraformVerbs,
	"tofu":      terraformVerbs,
	"pulumi":    wordset.Of("up destroy"),
	"kubectl":   wordset.Of("delete drain cordon scale apply replace exec rollout"),
	"helm":      wordset.Of("uninstall delete rollback"),
	"vault":     wordset.Of("delete seal"),
}

var terraformVerbs = wordset.Of("apply destroy taint import state force-unlock")

// twin yields the command line that a tool of a known program stands for, if it is one.
func (j *judge) twin() {
	if j.amazon() || programOf(j.call.Tool) != "" || j.looks() {
		return
	}
	for _, w := range j.around {
		switch w {
		case "kubernetes", "k", "ks":
			w = "kubectl"
		}
		verbs, ok := twinVerbs[w]
		if !ok {
			continue
		}
		for _, verb := range j.words {
			if !verbs[verb] {
				continue
			}
			if verb == "rollout" {
				if verb = j.rollout(); verb == "" {
					return
				}
			}
			j.asCommand(w, verb)
			return
		}
		for _, a := range j.in.args {
			if first, _, _ := strings.Cut(a.text, " "); verbs[first] && twinKeys[a.key] {
				j.asCommand(w, a.text)
				return
			}
		}
	}
}

// amazon yields the command of aws that a call with the names of a service and of an operation stands
// for, and reports whether it is one. Parameters are flags; every other argument is a word or a list of
// them.
func (j *judge) amazon() bool {
	services, operations := j.in.values("servicename"), j.in.values("operationname")
	if !j.near("aws amazon") {
		return false
	}
	if len(services) != 1 {
		if len(j.in.args) > 0 && fold(j.tool) == "useaws" && !j.in.has(roleCommand) {
			j.add(effect.Opaque, "", effect.Partial)
		}
		return false
	}
	words := []string{"aws", services[0]}
	for _, operation := range operations {
		words = append(words, strings.Fields(kebab(operation))...)
	}
	var call struct {
		Parameters map[string]json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(j.call.Args, &call) != nil {
		j.add(effect.Opaque, "", effect.Partial)
	}
	for _, name := range slices.Sorted(maps.Keys(call.Parameters)) {
		words = append(words, "--"+strings.TrimLeft(kebab(name), "-"))
		for _, a := range j.in.args {
			if a.key == fold(name) && a.text != "" {
				words = append(words, a.text)
			}
		}
	}
	for _, a := range j.in.args {
		switch {
		case a.parent == "parameters" || a.key == "servicename" || a.key == "operationname" || a.key == "label":
		case a.key == "region":
			words = append(words, "--region", a.text)
		case a.key == "profilename":
			words = append(words, "--profile", a.text)
		case !a.number && a.role != roleText:
			words = append(words, strings.Fields(a.text)...)
		}
	}
	j.payload(effect.Payload{Lang: effect.Shell, Text: quoteWords(words), Why: "what " + j.tool + " does"})
	return true
}

// kebab writes DeleteBucket, deleteBucket and delete_bucket as delete-bucket.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_':
			r = '-'
		case r >= 'A' && r <= 'Z':
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// rollout returns the subcommand of kubectl rollout that a tool stands for, or "" if none is named.
func (j *judge) rollout() string {
	for _, w := range slices.Concat(j.in.values("subcommand", "action", "operation", "command"), j.words) {
		if w = strings.ToLower(w); wordset.Has(rollouts, w) {
			return "rollout " + w
		}
	}
	return ""
}

// twinKeys are arguments that name a subcommand.
var twinKeys = wordset.Of("command operation action runaction subcommand verb args arguments terraformcommand")

// twinWords are arguments that a command line has as words, in this order.
var twinWords = [...]string{"resourcetype", "kind", "resource", "name", "names", "resourcename", "releasename",
	"release", "node", "nodename", "path", "target", "address"}

// twinFlags are arguments that a command line has as flags.
var twinFlags = map[string]string{"namespace": "--namespace", "context": "--context", "replicas": "--replicas",
	"scale": "--replicas", "kubecontext": "--kube-context"}

// asCommand yields one command line with the arguments of the call.
func (j *judge) asCommand(program, command string) {
	j.twinned = true
	words := []string{program}
	words = append(words, strings.Fields(command)...)
	for _, key := range twinWords {
		words = append(words, j.in.values(key)...)
	}
	for _, a := range j.in.args {
		if flag := twinFlags[a.key]; flag != "" {
			words = append(words, flag+"="+a.text)
		}
	}
	if j.in.flag("all", "alldelete", "deleteall") {
		words = append(words, "--all")
	}
	if slices.Contains(words, "apply") && program != "kubectl" || slices.Contains(words, "destroy") {
		words = append(words, "-auto-approve") // a tool asks nobody
	}
	j.payload(effect.Payload{Lang: effect.Shell, Text: quoteWords(words), Why: "what " + j.tool + " does"})
}

// isRedis reports whether a command is one of Redis: by its argument's name, by the server, or by what it
// says.
func (j *judge) isRedis(key, text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return databaseOf(j.call.Tool) == "redis" || strings.Contains(key, "redis") ||
		wordset.Has("flushall flushdb", strings.ToLower(first)) ||
		j.near("redis valkey keydb dragonfly")
}

// isNotebook reports whether the code of a tool is that of a notebook.
func (j *judge) isNotebook() bool {
	return j.is(nounNotebook) || j.near(notebooks)
}

// notebooks are words for servers of notebooks.
const notebooks = "jupyter ipython notebook colab"

// cells makes the source of a cell what it is: code.
func (j *judge) cells() {
	if !j.isNotebook() || !j.is(verbExec|verbWrite|nounNotebook) || j.is(verbDelete) {
		return
	}
	for i := range j.in.args {
		a := &j.in.args[i]
		if wordset.Has("source cellsource cellcontent code", a.key) && !a.number {
			a.role = roleCode
		}
	}
}
