package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/wordset"
)

// moduleFile finds calls of functions of Terraform that read a file.
var moduleFile = regexp.MustCompile(`\b(file|templatefile|filebase64|filebase64sha256|filebase64sha512|` +
	`filesha1|filesha256|filesha512|filemd5|fileset|fileexists)\s*\(\s*`)

// literal is a text in quotes that is a whole argument.
var literal = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"\s*[,)]`)

// ownFolder replaces the expressions for a Terraform file's own folder.
var ownFolder = strings.NewReplacer("${path.module}", ".", "${path.root}", ".", "${path.cwd}", ".",
	"${ path.module }", ".",
	"${abspath(path.module)}", ".", "${get_terragrunt_dir()}", ".")

// moduleSource finds the sources of modules.
var moduleSource = regexp.MustCompile(`(?s)\bmodule\s*"[^"]*"\s*\{[^{}]*?\bsource\s*=\s*"([^"]*)"`)

// A terraformReader reads the files of Terraform for a command.
type terraformReader struct{ reading }

// bind binds the files that functions in a file read, or reports the file. It also reports
// the modules that a command fetches.
func (r terraformReader) bind(file, text, dir string) {
	if strings.HasSuffix(file, ".json") {
		text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
	}
	text = ownFolder.Replace(withoutComments(text))
	for _, at := range moduleFile.FindAllStringSubmatchIndex(text, -1) {
		name, rest := text[at[2]:at[3]], text[at[1]:]
		m := literal.FindStringSubmatch(rest)
		if m == nil || strings.Contains(m[1], "${") || strings.Contains(m[1], "%{") {
			r.unreadStrict(file, "reads")
			continue
		}
		if at := abs(dir, m[1]); r.Visit(at, disk.Code) && name == "fileset" {
			r.BindFolder(filepath.Clean(at))
		}
	}
	r.givenFiles(file, text, dir)
	if !slices.ContainsFunc(r.c.Argv, func(w string) bool { return wordset.Has("init get", w) }) {
		return
	}
	for _, m := range moduleSource.FindAllStringSubmatch(text, -1) {
		if source := m[1]; !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") && !filepath.IsAbs(source) {
			r.reportUnbound("the module %s, which is fetched", source)
		}
	}
}

var (
	// resource is the head of a block of a resource.
	resource = regexp.MustCompile(`(?m)^[ \t]*(?:resource|data|module|provider|backend|provisioner)[ \t]+"([^"]*)"`)
	// givenFile finds the files and folders in a block.
	givenFile = regexp.MustCompile(`(?m)\b(source_dir|source_file|filename|chart|source|config_path|path|template|` +
		`package|zip_file|source_code_path|content_file|script|scripts|private_key_path|values_file|directory)[ \t]*=` +
		`[ \t]*([^\n]*)`)
)

// mustBePlain are the arguments whose value is reported if it is no literal.
var mustBePlain = []string{"source_dir", "source_file", "filename", "script"}

// givenFiles binds the files in the blocks of a file, such as archives and charts. Files that a
// block writes itself are left out.
func (r terraformReader) givenFiles(file, text, dir string) {
	heads := resource.FindAllStringSubmatchIndex(text, -1)
	places := []string{dir} // Terraform looks from where it works, which is the module's folder at the top
	places = append(places, r.workDirs(r.c.Step)...)
	for _, value := range flagValues(r.c.Step, "-chdir") {
		places = append(places, filepath.Clean(abs(r.folderOf(r.c.Step), value)))
	}
	block := ""
	for _, m := range givenFile.FindAllStringSubmatchIndex(text, -1) {
		for len(heads) > 0 && heads[0][0] < m[0] {
			block, heads = text[heads[0][2]:heads[0][3]], heads[1:]
		}
		if strings.HasPrefix(block, "local_") || strings.Contains(block, "_local_") || block == "local" {
			continue // it writes the file, or keeps its state there
		}
		r.givenIn(file, text[m[2]:m[3]], text[m[4]:m[5]], slices.Compact(places))
	}
}

// givenIn binds one value of a block.
func (r terraformReader) givenIn(file, key, value string, places []string) {
	m := quoted.FindStringSubmatch(strings.TrimLeft(value, "[ \t"))
	if m == nil || strings.Contains(m[1], "${") {
		if slices.Contains(mustBePlain, key) && !strings.Contains(value, "archive_file.") && value != "null" {
			r.unreadStrict(file, "reads")
		}
		return
	}
	for _, dir := range places {
		at := filepath.Clean(abs(dir, m[1]))
		info, err := r.Stat(at)
		if !r.Look() || err != nil || at == dir || strings.Contains(filepath.Base(at), ".tfstate") {
			continue
		}
		if !r.Visit(at, disk.Code) || !info.IsDir() {
			continue
		}
		if key == "source" && strings.HasPrefix(m[1], ".") && r.isModule(at) {
			continue // it is read as one
		}
		r.BindTree(at, true, nil) // it is packed as a whole
	}
}

// isModule reports whether a folder has files of Terraform.
func (r terraformReader) isModule(dir string) bool {
	names, _ := r.ListDir(dir)
	kinds := []string{"*.tf", "*.tf.json", "*.tofu"}
	return slices.ContainsFunc(names, func(name string) bool { return disk.Like(name, kinds) })
}

// withoutComments drops the lines of a text that are comments.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}
