package content

import (
	"encoding/json"
	"errors"
	iofs "io/fs"
	"path"
	"strings"
	"syscall"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A plugin of Claude Code can be in any folder while it is being written. Only the folder
// .claude-plugin beside its texts shows that it is one.

// Files is the part of the file system that is needed to find plugins, see package tools.
type Files interface {
	Readlink(name string) (string, error)
	ReadFile(name string, limit int) ([]byte, error)
}

const (
	maxManifest   = 256 << 10 // bytes of a manifest, or of a marketplace's list
	maxPluginDeep = 8         // folders between a plugin, or its marketplace, and a text
)

// pluginFolder is the folder with a plugin's manifest.
const pluginFolder = ".claude-plugin"

// pluginTexts are the folders of a plugin whose texts are loaded by default, and pluginLists are
// the files beside them that start programs.
var (
	pluginTexts = wordset.Of("commands agents skills output-styles")
	pluginLists = wordset.Of(".lsp.json monitors.json hooks.json settings.json")
)

// PluginText returns another path for a file of a plugin whose own path does not show what it is:
// in .claude/commands for a text, or in .claude-plugin for a list of programs. These are in the
// folder of the file, and the name stays. False: it is in no plugin, or nothing loads it, or its
// path already shows it.
func PluginText(fs Files, p string) (as string, ok bool) {
	base := strings.ToLower(path.Base(p))
	ext := path.Ext(base)
	if ext != ".md" && ext != ".json" && ext != "" || fs == nil || len(p) > maxPath || !strings.HasPrefix(p, "/") ||
		!effect.IsPlain(p) {
		return "", false
	}
	p = path.Clean(p)
	dir := path.Dir(p)
	for range maxPluginDeep {
		rest := p[len(strings.TrimSuffix(dir, "/"))+1:]
		if found := manifestsOf(fs, dir); len(found) > 0 && loadedOf(found, rest, base, ext) {
			if ext == ".json" {
				return path.Dir(p) + "/" + pluginFolder + "/" + path.Base(p), true
			}
			return path.Dir(p) + "/.claude/commands/" + path.Base(p), true
		}
		if dir == "/" {
			break
		}
		dir = path.Dir(dir)
	}
	return "", false
}

// IsPlugin reports whether a folder has the manifest of a plugin or of a marketplace.
func IsPlugin(fs Files, dir string) bool {
	return fs != nil && len(dir) < maxPath && effect.IsPlain(dir) && strings.HasPrefix(dir, "/") &&
		len(manifestsOf(fs, path.Clean(dir))) > 0
}

// loadedOf reports whether Claude Code loads a file in a plugin, or in a marketplace with plugins.
func loadedOf(manifests []manifest, rest, base, ext string) bool {
	segs := strings.Split(strings.ToLower(rest), "/")
	for _, s := range segs[:len(segs)-1] {
		if ext != ".json" && pluginTexts[s] {
			return true
		}
	}
	if ext == ".json" && pluginLists[base] || ext == "" && pluginTexts[base] {
		return true
	}
	for _, m := range manifests {
		for _, o := range m.own {
			for i := range segs { // of a marketplace's plugin, below its folder
				sub, o := strings.Join(segs[i:], "/"), strings.ToLower(o)
				if o == "." && ext != ".json" || sub == o || strings.HasPrefix(sub, o+"/") {
					return true
				}
			}
		}
		if !m.readable { // it may name any file
			return true
		}
	}
	return false
}

// A manifest has the parts of a plugin or a marketplace.
type manifest struct {
	own      []string
	readable bool
}

// manifestsOf reads the manifests of a folder. None: it is no plugin.
func manifestsOf(fs Files, root string) (out []manifest) {
	if _, err := fs.Readlink(root + "/" + pluginFolder); err != nil && !errors.Is(err, syscall.EINVAL) {
		return nil // it is missing, or in a home that approver cannot read
	}
	for _, name := range [...]string{"plugin.json", "marketplace.json"} {
		b, err := fs.ReadFile(root+"/"+pluginFolder+"/"+name, maxManifest)
		if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, iofs.ErrPermission) {
			continue
		}
		m := manifest{}
		if err == nil {
			m.own, m.readable = PluginPaths(string(b))
		}
		out = append(out, m)
	}
	return out
}

// pluginKeys are the keys of a manifest with files that are loaded.
var pluginKeys = wordset.Of("commands agents skills hooks outputstyles mcpservers lspservers monitors experimental")

// PluginPaths returns the files and folders in a manifest, or in the list of a marketplace,
// relative to the plugin's folder, which is ".". False means that it cannot be read.
func PluginPaths(manifest string) (own []string, ok bool) {
	if deep(manifest, maxPluginDepth) {
		return nil, false
	}
	var doc any
	if json.Unmarshal([]byte(strings.TrimPrefix(manifest, "\ufeff")), &doc) != nil {
		return nil, false
	}
	var walk func(v any, named bool)
	walk = func(v any, named bool) {
		switch v := v.(type) {
		case map[string]any:
			for k, item := range v {
				walk(item, named || pluginKeys[strings.ToLower(k)])
			}
		case []any:
			for _, item := range v {
				walk(item, named)
			}
		case string:
			if named && v != "" && len(v) <= maxPath && !strings.ContainsAny(v, "\n`") {
				v = strings.TrimPrefix(v, "${CLAUDE_PLUGIN_ROOT}")
				own = append(own, strings.TrimPrefix(path.Clean("/"+v), "/"))
			}
		}
	}
	walk(doc, false)
	for i, o := range own {
		if o == "" {
			own[i] = "."
		}
	}
	return own, true
}

// maxPluginDepth limits the levels of a manifest.
const maxPluginDepth = 32
