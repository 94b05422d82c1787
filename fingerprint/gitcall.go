package fingerprint

import (
	"path/filepath"
	"strconv"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

// A gitCall is one command of git, with the settings in its words and variables.
type gitCall struct {
	reading
	sub     string               // the subcommand, in small letters
	args    []string             // after it
	root    string               // of the working tree
	options []content.GitSetting // of -c, --config-env and variables
	dirs    []string             // that the call names as .git
	files   []string             // of settings that variables name
	unclear bool                 // a word before the subcommand is unknown
	filters bool                 // settings have a filter that the agent may have written
}

// splitWords splits the words of a command.
func (g *gitCall) splitWords(words []string) {
	for n := 0; n < len(words); n++ {
		w := words[n]
		name, value, joined := strings.Cut(w, "=")
		if operand(w) {
			g.sub, g.args = strings.ToLower(w), words[n+1:]
			return
		}
		if !effect.IsKnown(w) {
			g.unclear = true
		}
		if gitTakes[w] {
			if n++; n < len(words) {
				name, value, joined = w, words[n], true
			}
		}
		if !joined {
			continue
		}
		key, setting, _ := strings.Cut(value, "=")
		switch name {
		case "-c":
			g.options = append(g.options, option(key, setting))
		case "--config-env":
			for _, v := range g.Values(setting) {
				g.options = append(g.options, option(key, v))
			}
			g.reportUnbound("the setting %s of git", effect.Show(key))
		case "--git-dir":
			g.dirs = append(g.dirs, value)
		case "--exec-path":
			g.executables(value)
		}
	}
}

// option is a setting from a word or a variable.
func option(key, value string) content.GitSetting {
	o := content.GitSetting{Key: strings.ToLower(key), Value: value}
	if first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.'); first < last {
		o.Quoted = key[first+1 : last]
	}
	return o
}

// variables reads the settings in the environment.
func (g *gitCall) variables() {
	for n := 0; n < disk.MaxNested && len(g.Values("GIT_CONFIG_COUNT")) > 0; n++ {
		at := strconv.Itoa(n)
		for _, key := range g.Values("GIT_CONFIG_KEY_" + at) {
			for _, value := range g.Values("GIT_CONFIG_VALUE_" + at) {
				g.options = append(g.options, option(key, value))
			}
		}
	}
	for _, count := range g.Values("GIT_CONFIG_COUNT") {
		if n, err := strconv.Atoi(count); err != nil || n > disk.MaxNested {
			g.reportUnbound("the settings of GIT_CONFIG_COUNT=%s", effect.Show(count))
		}
	}
	if len(g.Values("GIT_CONFIG_PARAMETERS")) > 0 {
		g.reportUnbound("the settings of GIT_CONFIG_PARAMETERS")
	}
	for _, dir := range g.Values("GIT_EXEC_PATH") {
		g.executables(dir)
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG"} {
		g.files = append(g.files, g.Values(name)...)
	}
	g.files = append(g.files, g.homes()...)
	for _, name := range []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_ASKPASS"} {
		for _, value := range g.Values(name) {
			g.starts(value, g.call.Dir, name)
		}
	}
}

// executables binds the folder in which git looks for its own programs.
func (g *gitCall) executables(dir string) {
	if filepath.IsAbs(g.call.Dir) && effect.IsKnown(dir) && g.Visit(abs(g.call.Dir, dir), disk.Code) {
		g.BindFolder(filepath.Clean(abs(g.call.Dir, dir)))
	}
}
