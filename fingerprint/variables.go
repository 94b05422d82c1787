package fingerprint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// This file finds the files that variables of the environment name.

// elsewhereNamed are variables that are carried and name no code: folders, sockets,
// addresses, and certificates.
var elsewhereNamed = []string{
	"PATH", "HOME", "SHELL", "IFS", "PS4", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
	"REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CURL_HOME", "SHELLOPTS", "BASHOPTS",
	"NODE_PATH", "PYTHONPATH", "PERL5LIB", "PERLLIB", "RUBYLIB", "CLASSPATH", // folders: only for their programs
}

// values are what a variable may be for the commands of the call: what the agent has,
// and what a text gives it.
func (s *scan) values(name string) []string {
	out := slices.Clone(s.vars[name])
	if v, ok := s.call.Env[name]; ok && v != "" {
		out = append(out, v)
	}
	if !s.compares {
		return out
	}
	if v, ok := s.call.Env[approver.ComparedEnv+name]; ok && v != "" {
		out = append(out, strings.Split(v, "\n")...) // it may be there twice
	}
	return out
}

// gives notes a value that a text gives a variable.
func (s *scan) gives(name, value string) {
	if value == "" || slices.Contains(s.vars[name], value) {
		return
	}
	if len(s.vars[name]) >= maxNested {
		s.name("further values of %s", name)
		return
	}
	if s.vars == nil {
		s.vars = map[string][]string{}
	}
	s.vars[name] = append(s.vars[name], value)
}

// expands replaces the variables in a value that the agent's environment has.
func (s *scan) expands(value string) string {
	return os.Expand(value, func(name string) string {
		if v, ok := s.call.Env[name]; ok {
			return v
		}
		if name == "PWD" && filepath.IsAbs(s.call.Dir) {
			return s.call.Dir
		}
		return effect.Unknown
	})
}

// comparedOnly begins the names of variables of which only the value is compared. Among
// them are the mailbox and other files that change by themselves.
const comparedOnly = approver.ComparedEnv + approver.ComparedEnv

// loaders binds the files that the environment names: a program that is loaded, settings
// that say where something happens. Which program reads which variable is not asked.
func (r *reader) loaders() {
	names := make([]string, 0, len(r.scan.call.Env))
	for name := range r.scan.call.Env {
		if !slices.Contains(elsewhereNamed, name) && !strings.HasPrefix(name, "BASH_FUNC_") && !strings.HasPrefix(name,
			comparedOnly) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value := r.scan.call.Env[name]
		if len(value) > maxText {
			r.name("%s", name)
			continue
		}
		if strings.Contains(value, "$") { // bash expands BASH_ENV
			value += " " + r.expands(value)
		}
		r.loaded(value)
	}
}

// loaded binds the files that a value names.
func (r *reader) loaded(value string) { r.loadedIn(r.scan.call.Dir, value) }

// loadedIn is loaded for a folder in which the value is used.
func (r *reader) loadedIn(dir, value string) {
	cuts := func(r rune) bool { return strings.ContainsRune(" \t\n:=,;\"'", r) }
	words := strings.FieldsFunc(value, cuts)
	if strings.ContainsAny(value, " =,;'") { // a path may have these as well
		_, behind, _ := strings.Cut(value, ":")
		words = append(append(words, value, behind), strings.Split(value, ":")...)
	}
	for _, word := range words {
		for _, flag := range []string{"", "-r", "-I", "-f", "-C"} {
			w, ok := strings.CutPrefix(word, flag)
			if rest, home := strings.CutPrefix(w, "~"); home {
				w = r.scan.call.Env["HOME"] + rest
			}
			if !ok || w == "" || w[0] == '-' || !effect.IsKnown(w) || !filepath.IsAbs(w) && !filepath.IsAbs(dir) {
				continue
			}
			file := abs(dir, w)
			if info, err := r.stat(file); r.look() && (err == nil && info.Mode().IsRegular() || err != nil && !nothing(err)) && !r.visit(file, code) {
				r.script(file, dir)
			}
		}
	}
}
