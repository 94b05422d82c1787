package fingerprint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file reads Dockerfiles, and what else says how an image is built.

// An imageReader reads what a command builds an image of.
type imageReader struct{ reading }

// builtImage reports a word by which an image is built.
func builtImage(w string) bool {
	return slices.Contains([]string{"build", "bake", "bud"}, w) || !effect.IsKnown(w)
}

// images reads a file by which images are built.
func (r imageReader) images(file string) {
	switch base := filepath.Base(file); {
	case strings.HasPrefix(base, "docker-bake"):
		r.namedFile(file, "builds")
	case base != ".dockerignore":
		r.dockerfile(file)
	}
}

// pinned reports whether the name of an image says its content too.
func pinned(image string) bool {
	_, digest, ok := strings.Cut(image, "@sha256:")
	return ok && digest != "" && !strings.ContainsAny(image, "$ ")
}

// dockerFrom finds the images that lines copy from: --from=x, and from=x of a mount.
var dockerFrom = regexp.MustCompile(`(?:--from=|[,=]from=)([^\s,]+)`)

// dockerfile names the images that a Dockerfile begins with, or copies from, if they are
// not pinned, and what it fetches from elsewhere.
func (r imageReader) dockerfile(file string) {
	if !r.once("dockerfile", file) {
		return
	}
	text, ok := r.textOf(file, "names")
	if !ok {
		return
	}
	for _, image := range imagesOf(text) {
		r.named("the image %s, which is not pinned by a digest", image)
	}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 2 && strings.EqualFold(words[0], "ADD") {
			for _, w := range words[1 : len(words)-1] {
				if (strings.Contains(w, "://") || strings.HasPrefix(w, "git@")) && !strings.Contains(line, "--checksum=") {
					r.named("what lies at %s", w)
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
