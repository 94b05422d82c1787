package fingerprint

import (
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// This file reads files that decide what runs for the files that they name.

// text reads a file that is bound, once for each reader; empty if it is too large.
func (s *scan) text(file, reader string) string {
	if s.texts[reader+file] || len(s.texts) >= maxTexts || !strings.HasPrefix(s.out[filepath.Clean(file)], whole) {
		return ""
	}
	s.texts[reader+file] = true
	f, info, err := open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info.Size() > maxText {
		return ""
	}
	b, err := io.ReadAll(patient{io.LimitReader(f, maxText), s})
	if err != nil {
		return ""
	}
	return string(b)
}

// script binds what a shell script runs by a name that is plain to see. What is not
// plain there is not named: a script may do anything.
func (p *pass) script(file, dir string) {
	if p.depth >= maxFollowed || strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/bin/") {
		return
	}
	text := p.text(file, "script ")
	first, _, _ := strings.Cut(text, "\n")
	isShell := strings.HasSuffix(file, ".sh") || strings.HasSuffix(file, ".bash")
	if strings.HasPrefix(first, "#!") {
		isShell = strings.HasSuffix(strings.Fields(first + " x")[0], "sh") || slices.ContainsFunc(strings.Fields(first), func(w string) bool { return w == "bash" || w == "sh" || w == "zsh" })
	}
	if !isShell || text == "" {
		return
	}
	call := p.call
	call.Command, call.Args, call.Raw = text, nil, nil
	if filepath.IsAbs(dir) && !strings.Contains(dir, "\x00") {
		call.Dir = dir
	}
	// A script finds what lies beside it by $0.
	own := filepath.Dir(file)
	for _, zero := range []string{`$(dirname "$0")`, `$(dirname $0)`, `$(dirname "${BASH_SOURCE[0]}")`, `$(dirname "${BASH_SOURCE}")`, `$(dirname -- "$0")`, `$(dirname -- "${BASH_SOURCE[0]}")`, `${0%/*}`, `${BASH_SOURCE%/*}`} {
		call.Command = strings.ReplaceAll(call.Command, zero, own)
	}
	p.walk(call, scope{depth: p.depth + 1})
}

// settled reads a file of a tool for what it runs.
func (p *pass) settled(i int, t *tool, file string) {
	dir := filepath.Dir(file)
	if t.refers {
		p.refers(file, dir, t, 0)
	}
	switch t.recipes {
	case "make":
		p.recipes(i, file)
	case "package":
		if filepath.Base(file) == "package.json" {
			p.scripts(i, file)
		}
	case "git":
		p.hooks(file)
	}
}

// references are the ends of names of files that decide what happens. Data and what is
// built is left out: it changes all the time.
var references = strings.Fields(".sh .bash .zsh .fish .py .rb .pl .php .js .cjs .mjs .ts .mts .lua .go .rs .java .kts .groovy .gradle .sql .yml .yaml .toml .json .ini .cfg .conf .env .mk .mak .cmake .tf .tfvars .hcl .tpl .tmpl .j2 .xml .properties .ps1 .bat .awk .sed .jq .nix .bzl .just")

// refers binds the files that a file of settings names, whatever its language: each
// word of it that is the name of a file that decides what happens, and for a folder
// (./modules/x) the files of the tool in it.
func (p *pass) refers(file, dir string, t *tool, depth int) {
	const most = 512
	text, looked := p.text(file, "refers "), map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>|&;,=:$#*?!^\\", r) || r > '~'
	}) {
		word = strings.TrimRight(strings.TrimPrefix(word, "@"), ".")
		relative := strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
		if len(word) < 3 || len(word) > 256 || looked[word] || len(looked) >= most || !strings.ContainsAny(word, "./") || p.err != nil {
			continue
		}
		looked[word] = true
		at := abs(dir, word)
		info, err := p.stat(at)
		if !p.look() || err != nil {
			continue
		}
		clean := filepath.Clean(at)
		switch {
		case info.IsDir() && relative:
			for _, pattern := range append(strings.Fields(t.files), strings.Fields(kustomization)...) {
				for _, found := range p.settings(clean, pattern) {
					if depth < maxFollowed {
						p.refers(found, clean, t, depth+1)
					}
				}
			}
		case info.Mode().IsRegular() && p.decides(word, clean, info):
			p.inFolder(clean)
			if p.script(clean, dir); depth < maxFollowed && slices.Contains([]string{".yml", ".yaml", ".mk", ".tf", ".toml", ".hcl", ".just"}, filepath.Ext(word)) {
				p.refers(clean, filepath.Dir(clean), t, depth+1)
			}
		}
	}
}

// decides reports whether a file is of a kind that decides what happens.
func (p *pass) decides(word, file string, info fs.FileInfo) bool {
	return slices.Contains(references, filepath.Ext(word)) || strings.HasPrefix(filepath.Base(word), ".env") || info.Mode()&0o111 != 0 && p.isScript(file)
}

// isScript reports whether a file is one of an interpreter.
func (p *pass) isScript(file string) bool {
	f, _, err := open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	n, err := f.Read(head)
	return err == nil && string(head[:n]) == "#!"
}

// scripts binds what the scripts of a package.json run, of those that the words of the
// command name, and of those that run by themselves.
func (p *pass) scripts(i int, file string) {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
		Main    string            `json:"main"`
	}
	if json.Unmarshal([]byte(p.text(file, "package ")), &pkg) != nil || p.depth >= maxFollowed {
		return
	}
	words := append(slices.Clone(p.Steps[i].Argv[1:]), lifecycle...)
	dir := filepath.Dir(file)
	call := p.call
	call.Dir, call.Args, call.Raw = dir, nil, nil
	call.Env = withPath(call.Env, filepath.Join(dir, "node_modules/.bin"))
	var names []string
	for name := range pkg.Scripts {
		if slices.Contains(words, name) || slices.Contains(words, strings.TrimPrefix(name, "pre")) || slices.Contains(words, strings.TrimPrefix(name, "post")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		call.Command = pkg.Scripts[name]
		p.walk(call, scope{strict: p.strict, words: true, depth: p.depth + 1})
	}
}

// lifecycle are the scripts of a package that several commands run.
var lifecycle = []string{"install", "prepare", "prepublish", "prepublishOnly", "publish", "prepack", "pack", "postpack", "dependencies", "test", "start", "stop", "restart", "version"}

func withPath(env map[string]string, dir string) map[string]string {
	out := make(map[string]string, len(env)+1)
	for k, v := range env {
		out[k] = v
	}
	if path, ok := env["PATH"]; ok {
		out["PATH"] = dir + ":" + path
	} else {
		out["PATH"] = dir + ":" + systemPath
	}
	return out
}

// hooks binds the folder of hooks that the settings of git name.
func (p *pass) hooks(config string) {
	for line := range strings.Lines(p.text(config, "git ")) {
		key, value, ok := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if !ok || value == "" || !strings.EqualFold(strings.TrimSpace(key), "hookspath") {
			continue
		}
		if rest, ok := strings.CutPrefix(value, "~"); ok {
			value = p.call.Env["HOME"] + rest
		}
		p.folder(filepath.Clean(abs(filepath.Dir(filepath.Dir(config)), value)))
	}
}

// loadersOf are the variables of the environment that make programs load files.
var loadersOf = []string{
	"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PYTHONSTARTUP", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAKEFILES",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "KUBECONFIG",
}

// loaders binds the files that the environment makes programs load.
func (s *scan) loaders() {
	for _, name := range loadersOf {
		value := s.call.Env[name]
		if len(value) > maxText {
			s.name("%s", name)
			continue
		}
		for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t\n:=,;\"'", r) }) {
			word = strings.TrimPrefix(word, "-r")
			if rest, ok := strings.CutPrefix(word, "~"); ok {
				word = s.call.Env["HOME"] + rest
			}
			if filepath.IsAbs(word) || filepath.IsAbs(s.call.Dir) && !strings.HasPrefix(word, "-") {
				s.visit(abs(s.call.Dir, word), code)
			}
		}
	}
}
