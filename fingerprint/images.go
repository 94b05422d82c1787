package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// An imageReader reads Dockerfiles and build contexts.
type imageReader struct{ reading }

// builtImage reports whether a word is a subcommand that builds an image.
func builtImage(w string) bool {
	return slices.Contains([]string{"build", "bake", "bud"}, w) || !effect.IsKnown(w)
}

// images reads a file by which images are built.
func (r imageReader) images(file string) {
	switch base := filepath.Base(file); {
	case strings.HasPrefix(base, "docker-bake"):
		r.unreadStrict(file, "builds")
	case base != ".dockerignore":
		r.dockerfile(file)
	}
}

// pinned reports whether the name of an image has a digest.
func pinned(image string) bool {
	_, digest, ok := strings.Cut(image, "@sha256:")
	return ok && digest != "" && !strings.ContainsAny(image, "$ ")
}

// dockerFrom finds the images that lines copy from: --from=x, and from=x in a mount.
var dockerFrom = regexp.MustCompile(`(?:--from=|[,=]from=)([^\s,]+)`)

// dockerfile reports the images of a Dockerfile that are not pinned, and the URLs that it
// fetches.
func (r imageReader) dockerfile(file string) {
	if !r.Once("dockerfile", file) {
		return
	}
	text, ok := r.TextOf(file, "names")
	if !ok {
		return
	}
	for _, image := range imagesOf(text) {
		r.reportUnbound("the image %s, which is not pinned by a digest", image)
	}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 2 && strings.EqualFold(words[0], "ADD") {
			for _, w := range words[1 : len(words)-1] {
				if (strings.Contains(w, "://") || strings.HasPrefix(w, "git@")) && !strings.Contains(line, "--checksum=") {
					r.reportUnbound("what lies at %s", w)
				}
			}
		}
	}
}

// imagesOf are the images of a Dockerfile that are not pinned.
func imagesOf(text string) (images []string) {
	arguments, stages := map[string]string{}, []string{"scratch"}
	add := func(image string) {
		image = interpolation.ReplaceAllStringFunc(image, func(v string) string {
			name, fallback, _ := strings.Cut(strings.Trim(v, "${}"), ":-")
			if value := arguments[name]; value != "" {
				return value
			} else if fallback != "" {
				return fallback
			}
			return v
		})
		if !pinned(image) && !slices.Contains(stages, strings.ToLower(image)) && !slices.Contains(images, image) {
			images = append(images, image)
		}
	}
	joined := strings.NewReplacer("\r\n", "\n", "\\\n", " ", "`\n", " ").Replace(text)
	for line := range strings.Lines(joined) {
		words := strings.Fields(line)
		if syntax, is := strings.CutPrefix(strings.ReplaceAll(strings.TrimSpace(line), " ", ""), "#syntax="); is {
			add(syntax)
		}
		if len(words) < 2 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch strings.ToUpper(words[0]) {
		case "ARG":
			for _, w := range words[1:] {
				if name, value, ok := strings.Cut(w, "="); ok {
					arguments[name] = strings.Trim(value, `"'`)
				}
			}
		case "FROM":
			rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "--") })
			if len(rest) == 0 {
				continue
			}
			add(rest[0])
			if len(rest) > 2 && strings.EqualFold(rest[1], "as") {
				stages = append(stages, strings.ToLower(rest[2]))
			}
		default:
			for _, m := range dockerFrom.FindAllStringSubmatch(line, -1) {
				if strings.Trim(m[1], "0123456789") != "" { // else the number of a stage
					add(m[1])
				}
			}
		}
	}
	return images
}

var interpolation = regexp.MustCompile(`\$\{[^}]*\}|\$\w+`)

// buildContext binds all files of the context folder of an image, except tool folders that a
// .dockerignore leaves out by name. The build runs in the folder from.
func (r imageReader) buildContext(base, from string) []string {
	recipes := []string{filepath.Join(base, "Dockerfile"), filepath.Join(base, "Containerfile")}
	lists := []string{filepath.Join(base, ".dockerignore"), filepath.Join(base, ".containerignore")}
	for _, value := range flagValues(r.c.Step, "-f --file") {
		recipes = append(recipes, filepath.Clean(abs(from, value)))
	}
	sure := !slices.ContainsFunc(r.c.Argv, func(w string) bool { return !effect.IsKnown(w) })
	logs := false // logs at the top count only if a recipe copies them by name
	for _, recipe := range recipes {
		lists = append(lists, recipe+".dockerignore")
		if r.BindCode(recipe) {
			text, all := r.Contents(recipe)
			logs = logs || !all || strings.Contains(text, ".log")
		}
	}
	at, below := r.leftOut(lists)
	if !sure {
		at, below = nil, nil
	}
	root := base
	if real, err := filepath.EvalSymlinks(base); err == nil {
		root = real
	}
	r.Ignores = strings.Join(at, " ") + ":" + strings.Join(below, " ")
	r.Ignored = func(path string, folder bool) bool {
		name, top := filepath.Base(path), filepath.Dir(path) == root
		if folder {
			return slices.Contains(below, name) || top && slices.Contains(at, name)
		}
		return top && !logs && strings.HasSuffix(name, ".log")
	}
	defer func() { r.Ignored, r.Ignores = nil, "" }()
	return r.BindTree(base, true, []string{"*"})
}

// leftOut are the tool folders that all existing lists leave out by name: at the top, and
// anywhere.
func (r imageReader) leftOut(lists []string) (at, below []string) {
	any := false
	at, below = slices.Clone(disk.ToolFolders), slices.Clone(disk.ToolFolders)
	for _, list := range lists {
		if !r.BindCode(list) {
			continue
		}
		any = true
		text, ok := r.TextOf(list, "names")
		if !ok {
			return nil, nil
		}
		at = slices.DeleteFunc(at, func(name string) bool {
			return !leavesOut(text, name, false)
		})
		below = slices.DeleteFunc(below, func(name string) bool { return !leavesOut(text, name, true) })
	}
	if !any {
		return nil, nil
	}
	return at, below
}

// leavesOut reports whether a .dockerignore has a line with exactly the name of a folder, and no
// line that may include a part of it again.
func leavesOut(text, name string, anywhere bool) (out bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if back, is := strings.CutPrefix(line, "!"); is && (strings.ContainsAny(back, `*?[\`) ||
			strings.Contains(back, name) || filepath.Clean("/"+back) == "/") {
			return false
		}
		line = strings.TrimSuffix(strings.TrimPrefix(line, "/"), "/")
		out = out || line == "**/"+name || !anywhere && line == name
	}
	return out
}
