package fingerprint

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A credentialsReader reads the settings of clusters and clouds, which start programs to get
// credentials, and the settings of Terraform, which can replace its providers.
type credentialsReader struct{ reading }

// bind binds the programs in the settings of a step's program.
func (r credentialsReader) bind() {
	home := r.call.Env["HOME"]
	files := func(standard, vars, flags string) (list []string) {
		for v := range strings.FieldsSeq(vars) {
			for _, value := range r.Values(v) {
				if value = r.Expand(value); !effect.IsKnown(value) {
					r.reportUnbound("what %s=%s says", v, effect.Show(value))
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
	if clusterPrograms[r.name] {
		each(files(".kube/config", "KUBECONFIG", "--kubeconfig"), r.kubeconfig)
	}
	if cloudPrograms[r.name] {
		each(files(".aws/config", "AWS_CONFIG_FILE", "--nothing"), func(file string) { r.awsSettings(file, true) })
		each(files(".aws/credentials", "AWS_SHARED_CREDENTIALS_FILE", "--nothing"),
			func(file string) { r.awsSettings(file, false) })
	}
	if r.name == "aws" {
		each(files(".aws/cli/alias", "", "--nothing"), func(file string) { r.awsSettings(file, true) })
	}
	if wordset.Has(terraforms, r.name) {
		each(files(".terraformrc .tofurc", "TF_CLI_CONFIG_FILE TERRAFORM_CONFIG", "--nothing"), r.terraformSettings)
		if filepath.IsAbs(home) {
			r.BindPlaces(filepath.Join(home, ".terraform.d"), []string{"plugins/**"})
		}
	}
}

// kubeconfig binds the files and programs in a kubeconfig.
func (r credentialsReader) kubeconfig(file string) {
	if !r.Once("kubeconfig", file) || !r.BindCode(file) {
		return
	}
	text, ok := r.TextOf(file, "starts")
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
				r.Visit(filepath.Clean(abs(dir, value)), disk.Code)
			}
		}
	}
}

var (
	awsProcess = regexp.MustCompile(`(?m)^[ \t]*credential_process[ \t]*=[ \t]*([^\n]+)`)
	awsAlias   = regexp.MustCompile(`(?m)^[^#\n=]*=[ \t]*!([^\n]*(?:\n[ \t]+[^\n]*)*)`)
	awsPlugins = regexp.MustCompile(`(?m)^[ \t]*cli_legacy_plugin_path[ \t]*=[ \t]*([^\n]+)`)
)

// awsSettings binds the programs in a settings file of AWS. If whole, it binds the file too;
// not so for credentials, which change by themselves.
func (r credentialsReader) awsSettings(file string, whole bool) {
	if !r.Once("aws settings", file) {
		return
	}
	r.Bound["starts by "+file] = disk.ListHash(nil)
	if !r.IsFileOrHidden(file) {
		return
	}
	var text string
	if whole {
		r.Visit(file, disk.Code)
		text, _ = r.TextOf(file, "starts")
	} else {
		f, _, err := disk.Open(file)
		if err != nil {
			r.Visit(file, disk.Code) // which names it
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		b := make([]byte, disk.MaxText)
		n, _ := io.ReadFull(f, b) // it is mostly shorter
		text = string(b[:n])
		if n == disk.MaxText {
			r.unreadStrict(file, "starts")
		}
	}
	started := append(r.FindAll(awsProcess, file, text), r.FindAll(awsAlias, file, text)...)
	var list []string
	for _, m := range started {
		list = append(list, m[1])
		r.starts(strings.TrimSpace(m[1]), r.call.Dir, file)
	}
	r.Bound["starts by "+file] = disk.ListHash(list)
	for _, m := range r.FindAll(awsPlugins, file, text) {
		if at := strings.TrimSpace(m[1]); filepath.IsAbs(at) {
			r.BindPlaces(at, []string{"**/*.py"})
		} else {
			r.unreadStrict(file, "loads")
		}
	}
}

var (
	overrides    = regexp.MustCompile(`(?s)\bdev_overrides\s*\{([^{}]*)\}`)
	overridden   = regexp.MustCompile(`=\s*"([^"]*)"`)
	providerPath = regexp.MustCompile(`(?m)\b(?:path|plugin_cache_dir)\s*=\s*"([^"]*)"`)
)

// terraformSettings binds the local providers in the settings of Terraform.
func (r credentialsReader) terraformSettings(file string) {
	if !r.Once("terraform settings", file) || !r.BindCode(file) {
		return
	}
	text, _ := r.TextOf(file, "names")
	text = withoutComments(text)
	var found [][]string
	for _, m := range r.FindAll(overrides, file, text) {
		found = append(found, r.FindAll(overridden, file, m[1])...)
	}
	for _, m := range append(found, r.FindAll(providerPath, file, text)...) {
		at := fromHome(r.Expand(m[1]), r.call.Env["HOME"])
		if !filepath.IsAbs(at) || !effect.IsKnown(at) {
			r.unreadStrict(file, "loads")
		} else if !slices.Contains(disk.SystemFolders, at+"/") {
			r.BindPlaces(filepath.Clean(at), []string{"**"})
		}
	}
}
