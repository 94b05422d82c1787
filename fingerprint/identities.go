package fingerprint

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file binds the programs that settings of clusters and clouds start to find out who asks,
// and what the settings of Terraform put in the place of its providers.

const (
	clusterPrograms = "kubectl oc k3s helm helmfile kustomize skaffold tilt garden devspace argocd flux k9s stern"
	cloudPrograms   = "aws sam cdk cdktf packer pulumi serverless sls eksctl copilot eb " + terraforms
)

// identities binds what the settings of a step's program start.
func (p *pass) identities(i int, name string, bases []string) {
	home := p.call.Env["HOME"]
	files := func(standard, vars, flags string) (list []string) {
		for v := range strings.FieldsSeq(vars) {
			for _, value := range p.values(v) {
				if value = p.expands(value); !effect.IsKnown(value) {
					p.named("what %s=%s says", v, effect.Show(value))
				}
				list = append(list, filepath.SplitList(value)...)
			}
		}
		list = append(list, p.flagValues(&p.Steps[i], flags)...)
		if filepath.IsAbs(home) {
			for at := range strings.FieldsSeq(standard) {
				list = append(list, filepath.Join(home, at))
			}
		}
		return list
	}
	each := func(list []string, read func(file string)) {
		for _, file := range list {
			for _, base := range append([]string{"/"}, bases...) {
				if at := filepath.Clean(abs(base, file)); base != "/" || filepath.IsAbs(file) {
					read(at)
				}
			}
		}
	}
	if oneOf(clusterPrograms, name) {
		each(files(".kube/config", "KUBECONFIG", "--kubeconfig"), p.kubeconfig)
	}
	if oneOf(cloudPrograms, name) {
		each(files(".aws/config", "AWS_CONFIG_FILE", "--nothing"), func(file string) { p.awsSettings(file, true) })
		each(files(".aws/credentials", "AWS_SHARED_CREDENTIALS_FILE", "--nothing"),
			func(file string) { p.awsSettings(file, false) })
	}
	if name == "aws" {
		each(files(".aws/cli/alias", "", "--nothing"), func(file string) { p.awsSettings(file, true) })
	}
	if oneOf(terraforms, name) {
		each(files(".terraformrc .tofurc", "TF_CLI_CONFIG_FILE TERRAFORM_CONFIG", "--nothing"), p.terraformSettings)
		if filepath.IsAbs(home) {
			p.readsIn(filepath.Join(home, ".terraform.d"), []string{"plugins/**"})
		}
	}
}

// starts binds what a command of settings starts in a folder.
func (p *pass) starts(command, dir, file string) {
	if !p.once("starts", command, dir) {
		return
	}
	if p.depth >= maxFollowed {
		p.unread(file, "starts")
		return
	}
	call := p.call
	call.Command, call.Args, call.Raw, call.Dir = command, nil, nil, dir
	p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1, of: file, sure: true})
}

// kubeconfig binds what a file of clusters and users names and starts.
func (p *pass) kubeconfig(file string) {
	if !p.once("kubeconfig", file) || p.visit(file, code) || p.out[file] == "" {
		return
	}
	text, ok := p.text(file, "starts")
	if !ok {
		return
	}
	y, err := yamlOf(text)
	if err != nil || y.deep || y.aliases {
		p.namedFile(file, "starts")
	}
	dir := filepath.Dir(file)
	for _, given := range y.maps {
		words := slices.Concat(given["command"], given["args"], given["cmd-path"], given["cmd-args"])
		if len(given["command"])+len(given["cmd-path"]) > 0 {
			for n := range words {
				words[n] = "'" + strings.ReplaceAll(words[n], "'", `'\''`) + "'"
			}
			p.starts(strings.Join(words, " "), dir, file)
		}
		for _, key := range []string{"tokenFile", "client-certificate", "client-key", "certificate-authority"} {
			for _, value := range given[key] {
				p.visit(filepath.Clean(abs(dir, value)), code)
			}
		}
	}
}

var (
	awsProcess = regexp.MustCompile(`(?m)^[ \t]*credential_process[ \t]*=[ \t]*([^\n]+)`)
	awsAlias   = regexp.MustCompile(`(?m)^[^#\n=]*=[ \t]*!([^\n]*(?:\n[ \t]+[^\n]*)*)`)
	awsPlugins = regexp.MustCompile(`(?m)^[ \t]*cli_legacy_plugin_path[ \t]*=[ \t]*([^\n]+)`)
)

// awsSettings binds what a file of settings of AWS starts, and, where it says where something
// happens, the file itself: credentials change by themselves.
func (p *pass) awsSettings(file string, whole bool) {
	if !p.once("aws settings", file) {
		return
	}
	p.out["starts by "+file] = listHash(nil)
	if !p.isThereAs(file) {
		return
	}
	var text string
	if whole {
		p.visit(file, code)
		text, _ = p.text(file, "starts")
	} else {
		f, _, err := open(file)
		if err != nil {
			p.visit(file, code) // which names it
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		b := make([]byte, maxText)
		n, _ := io.ReadFull(f, b) // it is mostly shorter
		text = string(b[:n])
		if n == maxText {
			p.namedFile(file, "starts")
		}
	}
	started := append(p.found(awsProcess, file, text), p.found(awsAlias, file, text)...)
	var list []string
	for _, m := range started {
		list = append(list, m[1])
		p.starts(strings.TrimSpace(m[1]), p.call.Dir, file)
	}
	p.out["starts by "+file] = listHash(list)
	for _, m := range p.found(awsPlugins, file, text) {
		if at := strings.TrimSpace(m[1]); filepath.IsAbs(at) {
			p.readsIn(at, []string{"**/*.py"})
		} else {
			p.namedFile(file, "loads")
		}
	}
}

func (p *pass) isThereAs(file string) bool {
	info, err := p.stat(file)
	return p.look() && (err == nil && info.Mode().IsRegular() || err != nil && !nothing(err))
}

var (
	overrides    = regexp.MustCompile(`(?s)\bdev_overrides\s*\{([^{}]*)\}`)
	overridden   = regexp.MustCompile(`=\s*"([^"]*)"`)
	providerPath = regexp.MustCompile(`(?m)\b(?:path|plugin_cache_dir)\s*=\s*"([^"]*)"`)
)

// terraformSettings binds the providers that settings of Terraform put in the place of others.
func (p *pass) terraformSettings(file string) {
	if !p.once("terraform settings", file) || p.visit(file, code) || p.out[file] == "" {
		return
	}
	text, _ := p.text(file, "names")
	text = withoutNotes(text)
	var found [][]string
	for _, m := range p.found(overrides, file, text) {
		found = append(found, p.found(overridden, file, m[1])...)
	}
	for _, m := range append(found, p.found(providerPath, file, text)...) {
		at := p.expands(m[1])
		if rest, is := strings.CutPrefix(at, "~/"); is {
			at = filepath.Join(p.call.Env["HOME"], rest)
		}
		if !filepath.IsAbs(at) || !effect.IsKnown(at) {
			p.namedFile(file, "loads")
		} else if !slices.Contains(systemFolders, at+"/") {
			p.readsIn(filepath.Clean(at), []string{"**"})
		}
	}
}
