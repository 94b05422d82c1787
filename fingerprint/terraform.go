package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file reads what Terraform's files read and load.

// moduleFile finds calls of functions of Terraform that read a file.
var moduleFile = regexp.MustCompile(`\b(file|templatefile|filebase64|filebase64sha256|filebase64sha512|` +
	`filesha1|filesha256|filesha512|filemd5|fileset|fileexists)\s*\(\s*`)

// literal is a text in quotes that is a whole argument.
var literal = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"\s*[,)]`)

// ownFolder are the ways in which a file of Terraform writes its own folder.
var ownFolder = strings.NewReplacer("${path.module}", ".", "${path.root}", ".", "${path.cwd}", ".",
	"${ path.module }", ".",
	"${abspath(path.module)}", ".", "${get_terragrunt_dir()}", ".")

// moduleSource finds where a module comes from.
var moduleSource = regexp.MustCompile(`(?s)\bmodule\s*"[^"]*"\s*\{[^{}]*?\bsource\s*=\s*"([^"]*)"`)

// terraform binds what functions in a file read, or names the file; and it names the
// modules that a command fetches.
func (p *pass) terraform(i int, file, text, dir string) {
	if strings.HasSuffix(file, ".json") {
		text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
	}
	text = ownFolder.Replace(withoutNotes(text))
	for _, at := range moduleFile.FindAllStringSubmatchIndex(text, -1) {
		name, rest := text[at[2]:at[3]], text[at[1]:]
		m := literal.FindStringSubmatch(rest)
		if m == nil || strings.Contains(m[1], "${") || strings.Contains(m[1], "%{") {
			p.namedFile(file, "reads")
			continue
		}
		if at := abs(dir, m[1]); p.visit(at, code) && name == "fileset" {
			p.folder(filepath.Clean(at))
		}
	}
	if i < 0 || !slices.ContainsFunc(p.Steps[i].Argv, func(w string) bool { return oneOf("init get", w) }) {
		return
	}
	for _, m := range moduleSource.FindAllStringSubmatch(text, -1) {
		if source := m[1]; !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") && !filepath.IsAbs(source) {
			p.named("the module %s, which is fetched", source)
		}
	}
}

// withoutNotes drops the lines of a text that are nothing but a note.
func withoutNotes(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}
