package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// A composeReader reads the compose files of a command.
type composeReader struct{ reading }

// A composing is the reading of one compose file.
type composing struct {
	composeReader
	dir   string
	files []string // Dockerfiles
	from  []string // folders of which images are built

	mounts  []mount
	sources []string // of mounts that are written in several lines
	targets []string
	words   []string // what containers run
	work    []string // where
}

// A mount is a local folder or file that a container gets.
type mount struct{ source, target string }

// bind binds the files from which a compose file builds images, and reports images that
// are not pinned.
func (r composeReader) bind(file string) {
	words := r.c.Argv[1:]
	if r.Once("compose", file) && slices.ContainsFunc(words, func(w string) bool {
		return composeStarts[w] || !effect.IsKnown(w)
	}) {
		r.composed(file, 0)
	}
}

func (r composeReader) composed(file string, depth int) {
	text, ok := r.TextOf(file, "names")
	if !ok || text == "" {
		return
	}
	if strings.HasPrefix(filepath.Base(file), ".env") {
		r.composeEnv(file, text)
		return
	}
	if depth >= disk.MaxFollowed {
		r.Unread(file, "names")
		return
	}
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		r.Unread(file, "names")
		return
	}
	c := &composing{composeReader: r, dir: filepath.Dir(file), files: []string{"Dockerfile", ".dockerignore"}}
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			c.node(doc.Body, nil, depth)
		}
	}
	c.mounted()
	for _, context := range c.from {
		r.reportUnbound("what the build of an image copies from %s", context)
		for _, name := range c.files {
			at := abs(abs(c.dir, context), name)
			if !r.Visit(at, disk.Code) && !strings.HasSuffix(name, ".dockerignore") {
				imageReader(r).dockerfile(filepath.Clean(at))
			}
		}
	}
}

// composeEnv follows COMPOSE_FILE in a file of variables.
func (r composeReader) composeEnv(file, text string) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if strings.TrimSpace(name) == "COMPOSE_FILE" {
			r.composeFiles(strings.Trim(strings.TrimSpace(value), `"'`), filepath.Dir(file))
		}
	}
}

// composeFiles reads the compose files of a value of COMPOSE_FILE.
func (r composeReader) composeFiles(value, dir string) {
	for _, part := range splitAny(r.Expand(value), ":;,") {
		at := filepath.Clean(abs(dir, part))
		switch {
		case !effect.IsKnown(part) || !filepath.IsAbs(at):
			r.reportUnbound("the compose file %s", effect.Show(part))
		case r.BindCode(at):
			r.noteCode(r.c, at)
			r.bind(at)
		}
	}
}

// node visits a tree of YAML; path has the keys above.
func (c *composing) node(n ast.Node, path []string, depth int) {
	if len(path) > disk.MaxNested {
		c.reportUnbound("what lies deep in a compose file")
		return
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			c.node(v, path, depth)
		}
	case *ast.MappingValueNode:
		c.node(n.Value, append(slices.Clip(path), scalar(n.Key)), depth)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			c.node(v, path, depth)
		}
	case *ast.AnchorNode:
		c.node(n.Value, path, depth)
	case *ast.TagNode:
		c.node(n.Value, path, depth)
	case *ast.AliasNode, nil: // what it stands for is read where it is
	case ast.ScalarNode:
		c.value(scalar(n), path, depth)
	}
}

// value handles one value; its key, and those above, say what it means.
func (c *composing) value(value string, path []string, depth int) {
	if len(path) == 0 || value == "" {
		return
	}
	key, above := path[len(path)-1], ""
	if len(path) > 1 {
		above = path[len(path)-2]
	}
	switch {
	case key == "image":
		if !pinned(value) {
			c.reportUnbound("the image %s, which is not pinned by a digest", value)
		}
	case key == "build", key == "context", above == "additional_contexts":
		if image, is := strings.CutPrefix(value, "docker-image://"); is && !pinned(image) {
			c.reportUnbound("the image %s, which is not pinned by a digest", image)
		} else if !is {
			c.from = append(c.from, value)
		}
	case key == "dockerfile":
		c.files = append(c.files, value, value+".dockerignore")
	case key == "include", above == "include" && key == "path", above == "extends" && key == "file":
		c.another(value, depth)
	case key == "volumes":
		c.mount(value)
	case above == "volumes" && key == "source":
		c.sources = append(c.sources, value)
	case above == "volumes" && key == "target":
		c.targets = append(c.targets, value)
	case key == "working_dir":
		c.work = append(c.work, value)
	case slices.Contains([]string{"command", "entrypoint", "test"}, key):
		c.words = append(c.words, splitAny(value, " \t\n;&|'\"=()")...)
	case above == "provider" && key == "type":
		c.another(value, disk.MaxFollowed)
	case key == "env_file", above == "env_file" && key == "path", key == "file", above == "develop",
		key == "label_file":
		c.another(value, disk.MaxFollowed)
	}
}

// another binds a file that a compose file names, and reads it if it is a compose file.
func (c *composing) another(value string, depth int) {
	at := filepath.Clean(abs(c.dir, c.interpolated(value)))
	switch {
	case strings.Contains(value, "://"), strings.Contains(value, ".git#"), strings.HasSuffix(value, ".git"):
		c.reportUnbound("what lies at %s", value)
	case !effect.IsKnown(at) || !filepath.IsAbs(at):
		c.reportUnbound("the file %s, which a compose file names", value)
	case c.BindCode(at) && depth < disk.MaxFollowed && c.Once("compose", at):
		c.composed(at, depth+1)
	}
}

// mount notes a volume in its short form: source:target:options.
func (c *composing) mount(value string) {
	value = c.interpolated(value)
	parts := strings.Split(value, ":")
	switch {
	case !effect.IsKnown(parts[0]):
		c.reportUnbound("the file %s, which a compose file names", value)
	case len(parts) > 1 && strings.ContainsAny(parts[0], "./~"):
		c.mounts = append(c.mounts, mount{parts[0], parts[1]})
	}
}

// scriptKinds are files that are always code. Other files of a container are data.
var scriptKinds = strings.Fields("*.sh *.bash *.py *.rb *.pl *.php *.js *.cjs *.mjs *.ts *.lua *.sql *.jar *.war " +
	"*.conf")

// mounted binds the local files that containers get: files, code in folders, and files in
// folders that their commands name. Other files in folders are data, which containers may change.
func (c *composing) mounted() {
	for n := range min(len(c.sources), len(c.targets)) {
		if source := c.interpolated(c.sources[n]); !effect.IsKnown(source) {
			c.reportUnbound("the file %s, which a compose file names", c.sources[n])
		} else {
			c.mounts = append(c.mounts, mount{source, c.interpolated(c.targets[n])})
		}
	}
	for _, m := range c.mounts {
		at := filepath.Clean(abs(c.dir, fromHome(m.source, c.ToolCall.Env["HOME"])))
		if !filepath.IsAbs(at) || disk.Like(filepath.Base(at), []string{"*.db", "*.sqlite*", "*.log"}) {
			continue
		}
		if !c.exists(at) { // Docker makes a folder, in which is no code
			c.Bound[disk.FolderKey(at, scriptKinds)] = disk.ListHash(nil)
			continue
		}
		if !c.executes(at, c.dir) {
			continue
		}
		if info, err := c.Stat(at); err == nil {
			if id, known := disk.Identify(info); known && disk.SystemFolder(at, info, id) {
				continue
			}
		}
		c.BindFolder(at, scriptKinds...)
		for _, word := range c.words {
			for _, work := range append([]string{"/"}, c.work...) {
				rest, in := strings.CutPrefix(filepath.Join("/", abs(work, word))+"/", filepath.Clean(m.target)+"/")
				if in && rest != "" {
					c.executes(filepath.Join(at, rest), c.dir)
				}
			}
		}
	}
}

// exists reports whether there is a file or a folder at a path, and no socket or device.
func (c *composing) exists(path string) bool {
	info, err := c.Stat(path)
	return c.Look() && (err == nil && (info.IsDir() || info.Mode().IsRegular()) || err != nil && !disk.IsAbsent(err))
}

// interpolated replaces the variables in a value, if they are known.
func (c *composing) interpolated(value string) string {
	return interpolation.ReplaceAllStringFunc(value, func(v string) string {
		name, fallback, has := strings.Cut(strings.Trim(v, "${}"), ":-")
		if values := c.Values(name); len(values) == 1 && effect.IsKnown(values[0]) {
			return values[0]
		} else if has && len(values) == 0 {
			return fallback
		}
		return effect.Unknown
	})
}
