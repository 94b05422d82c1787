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

// A credentialsReader reads the settings by which a command finds out as whom it works.
type credentialsReader struct{ reading }

// bind binds what the settings of a step's program start.
func (r credentialsReader) bind() {
	home := r.call.Env["HOME"]
	files := func(standard, vars, flags string) (list []string) {
		for v := range strings.FieldsSeq(vars) {
			for _, value := range r.values(v) {
				if value = r.expands(value); !effect.IsKnown(value) {
					r.named("what %s=%s says", v, effect.Show(value))
				}
				list = append(list, filepath.SplitList(value)...)
			}
		}
		list = append(list, flagValues(r.c.Step, flags)...)
		if filepath.IsAbs(home) {
			for at := range strings.FieldsSeq(standard) {
				list = append(list, filepath.Join(home, at))
			}
		}
		return list
	}
	each := func(list []string, read func(file string)) {
		for _, file := range list {
			for _, base := range append([]string{"/"}, r.bases...) {
				if at := filepath.Clean(abs(base, file)); base != "/" || filepath.IsAbs(file) {
					read(at)
				}
			}
		}
	}
	if oneOf(clusterPrograms, r.name) {
		each(files(".kube/config", "KUBECONFIG", "--kubeconfig"), r.kubeconfig)
	}
	if oneOf(cloudPrograms, r.name) {
		each(files(".aws/config", "AWS_CONFIG_FILE", "--nothing"), func(file string) { r.awsSettings(file, true) })
		each(files(".aws/credentials", "AWS_SHARED_CREDENTIALS_FILE", "--nothing"),
			func(file string) { r.awsSettings(file, false) })
	}
	if r.name == "aws" {
		each(files(".aws/cli/alias", "", "--nothing"), func(file string) { r.awsSettings(file, true) })
	}
	if oneOf(terraforms, r.name) {
		each(files(".terraformrc .tofurc", "TF_CLI_CONFIG_FILE TERRAFORM_CONFIG", "--nothing"), r.terraformSettings)
		if filepath.IsAbs(home) {
			r.readsIn(filepath.Join(home, ".terraform.d"), []string{"plugins/**"})
		}
	}
}

// kubeconfig binds what a file of clusters and users names and starts.
func (r credentialsReader) kubeconfig(file string) {
	if !r.once("kubeconfig", file) || r.visit(file, code) || r.out[file] == "" {
		return
	}
	text, ok := r.textOf(file, "starts")
	if !ok {
		return
	}
	dir := filepath.Dir(file)
	for _, given := range r.mappings(file, text, "starts") {
		words := slices.Concat(given["command"], given["args"], given["cmd-path"], given["cmd-args"])
		if len(given["command"])+len(given["cmd-path"]) > 0 {
			for n := range words {
				words[n] = "'" + strings.ReplaceAll(words[n], "'", `'\''`) + "'"
			}
			r.starts(strings.Join(words, " "), dir, file)
		}
		for _, key := range []string{"tokenFile", "client-certificate", "client-key", "certificate-authority"} {
			for _, value := range given[key] {
				r.visit(filepath.Clean(abs(dir, value)), code)
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
func (r credentialsReader) awsSettings(file string, whole bool) {
	if !r.once("aws settings", file) {
		return
	}
	r.out["starts by "+file] = listHash(nil)
	if !r.isThereAs(file) {
		return
	}
	var text string
	if whole {
		r.visit(file, code)
		text, _ = r.textOf(file, "starts")
	} else {
		f, _, err := open(file)
		if err != nil {
			r.visit(file, code) // which names it
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		b := make([]byte, maxText)
		n, _ := io.ReadFull(f, b) // it is mostly shorter
		text = string(b[:n])
		if n == maxText {
			r.namedFile(file, "starts")
		}
	}
	started := append(r.found(awsProcess, file, text), r.found(awsAlias, file, text)...)
	var list []string
	for _, m := range started {
		list = append(list, m[1])
		r.starts(strings.TrimSpace(m[1]), r.call.Dir, file)
	}
	r.out["starts by "+file] = listHash(list)
	for _, m := range r.found(awsPlugins, file, text) {
		if at := strings.TrimSpace(m[1]); filepath.IsAbs(at) {
			r.readsIn(at, []string{"**/*.py"})
		} else {
			r.namedFile(file, "loads")
		}
	}
}

var (
	overrides    = regexp.MustCompile(`(?s)\bdev_overrides\s*\{([^{}]*)\}`)
	overridden   = regexp.MustCompile(`=\s*"([^"]*)"`)
	providerPath = regexp.MustCompile(`(?m)\b(?:path|plugin_cache_dir)\s*=\s*"([^"]*)"`)
)

// terraformSettings binds the providers that settings of Terraform put in the place of others.
func (r credentialsReader) terraformSettings(file string) {
	if !r.once("terraform settings", file) || r.visit(file, code) || r.out[file] == "" {
		return
	}
	text, _ := r.textOf(file, "names")
	text = withoutNotes(text)
	var found [][]string
	for _, m := range r.found(overrides, file, text) {
		found = append(found, r.found(overridden, file, m[1])...)
	}
	for _, m := range append(found, r.found(providerPath, file, text)...) {
		at := fromHome(r.expands(m[1]), r.call.Env["HOME"])
		if !filepath.IsAbs(at) || !effect.IsKnown(at) {
			r.namedFile(file, "loads")
		} else if !slices.Contains(systemFolders, at+"/") {
			r.readsIn(filepath.Clean(at), []string{"**"})
		}
	}
}
