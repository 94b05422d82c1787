package agentcli

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// VersionOf returns the agent that keeps versions of its program in a folder of its own, as in
// ~/.local/share/claude/versions/2.1.0.
func VersionOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == "versions" {
		return PackageOf(path.Base(path.Dir(dir)))
	}
	return ""
}

// ProgramName returns the name of a program in lower case, without its folder, version and ending.
func ProgramName(word string) string {
	if isBare(word) { // most
		return word
	}
	word = strings.ToLower(word[max(strings.LastIndexByte(word, '/'), strings.LastIndexByte(word, '\\'))+1:])
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	if strings.IndexByte(word, '.') < 0 && strings.IndexByte(word, '-') < 0 { // most
		return word
	}
	for _, ending := range [...]string{".exe", ".cmd", ".ps1", ".bat", ".js", ".mjs", ".cjs", ".git"} {
		word = strings.TrimSuffix(word, ending)
	}
	for _, machine := range [...]string{"-x86_64", "-aarch64", "-arm64", "-linux", "-darwin", "-macos"} {
		if plain, _, ok := strings.Cut(word, machine); ok && len(named[plain]) > 0 {
			return plain // codex-x86_64-unknown-linux-musl
		}
	}
	return word
}

// isBare reports whether a word has only lower-case letters, digits and underscores.
func isBare(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// Unnumbered returns a program's name without the version at its end, as in python3.11.
func Unnumbered(name string) string {
	for name != "" && (name[len(name)-1] == '.' || name[len(name)-1] >= '0' && name[len(name)-1] <= '9') {
		name = name[:len(name)-1]
	}
	return name
}

// PackageName returns the name of a package in lower case, with its scope and without a version.
func PackageName(word string) string {
	word = strings.ToLower(word)
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	return word
}

// PackageOf returns the agent of a package; empty: it is none.
func PackageOf(word string) string {
	for _, key := range [...]string{PackageName(word), ProgramName(word)} {
		for _, a := range named[key] {
			if a.AnyWords() {
				return a.ID
			}
		}
	}
	return ""
}

// ImageOf returns the agent of a container image; its tag may name it.
func ImageOf(word string) string {
	image, tag, _ := strings.Cut(word[strings.LastIndexByte(word, '/')+1:], ":")
	image, _, _ = strings.Cut(image, "@")
	if owner := strings.TrimSuffix(word[:strings.LastIndexByte(word, '/')+1], "/"); owner != "" {
		if id := PackageOf(owner[strings.LastIndexByte(owner, '/')+1:] + "/" + image); id != "" {
			return id
		}
	}
	if id := PackageOf(image); id != "" {
		return id
	}
	return PackageOf(tag)
}

// InPath reports whether a word is a program as which prints it, or is in a folder of programs.
func InPath(word string) bool {
	dir, base := path.Split(word)
	if strings.HasSuffix(dir, "bin/") && strings.HasSuffix(base, "js") {
		return true
	}
	return !strings.Contains(base, ".") && (dir == "" || strings.HasSuffix(path.Base(dir), "bin"))
}

// InstalledOf returns the agent that a file belongs to, by the folder in which it is installed.
func InstalledOf(word string) string {
	parts := strings.Split(word, "/")
	for i, part := range parts {
		if id := PackageOf(strings.ReplaceAll(part, "_", "-")); id != "" && i > 0 &&
			(strings.HasSuffix(parts[i-1], "-packages") || parts[i-1] == "node_modules" || parts[i-1] == ".bin" ||
				strings.HasPrefix(parts[i-1], "@") || parts[i-1] == effect.Unknown && i+2 < len(parts)) {
			return id
		}
	}
	return ""
}

// Isolates are the programs that run another one with other files, another home or another user's
// session, where it may not find its usual settings.
var Isolates = wordset.Of("bwrap firejail chroot unshare nsenter systemd-run flatpak-spawn wsl")
