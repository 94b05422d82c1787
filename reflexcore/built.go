package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
)

// A making is how sure the name of a folder is that a build or a tool made what is
// in it, and can make it again.
type making uint8

const (
	byHand making = iota
	maybe         // source in one project, output in the next
	usual         // output, unless the disk shows something else
	always        // nobody keeps anything else under that name
)

// made is what folders of these names are.
var makes = func() map[string]making {
	m := map[string]making{}
	for level, names := range map[making]string{
		always: `node_modules bower_components jspm_packages .pnpm-store .npm .yarn-cache .next .nuxt .turbo .parcel-cache .svelte-kit .angular .vite .vitepress-cache .astro .swc .rollup.cache .output .docusaurus .expo
			.vinxi .wrangler .webpack .rpt2_cache .nx-cache .fusebox .sass-cache .nyc_output storybook-static playwright-report blob-report allure-results lighthouse-report .lighthouseci .stryker-tmp
			__pycache__ __pypackages__ .pytest_cache .mypy_cache .ruff_cache .pytype .pyre .hypothesis .tox .nox .eggs .ipynb_checkpoints .venv htmlcov pip-wheel-metadata
			.gradle .kotlin .bloop .metals .ivy2 .scala-build .cxx .externalNativeBuild DerivedData xcuserdata Pods .build .swiftpm-cache .dart_tool .pub-cache .flutter-plugins
			cmake-build-debug cmake-build-release CMakeFiles bazel-bin bazel-out bazel-testlogs .zig-cache zig-cache zig-out .xmake .meson-cache .ccls-cache .clangd .objs .deps .libs .ninja_deps
			.stack-work dist-newstyle .elixir_ls .lexical _build .rebar3 .eunit elm-stuff .spago .psc-package .shadow-cljs .cpcache .dub .nimble .crystal
			.terraform .terragrunt-cache .serverless .aws-sam cdk.out _gen tmpcharts .vagrant-cache .molecule .kitchen
			.phpunit.cache .phpstan-cache .psalm-cache .jekyll-cache .jekyll-metadata .hugo_cache .bundle-cache .yardoc .cache .temp .tmp .sonarlint .scannerwork .phpunit.result.cache .rts2_cache _minted`,
		usual: `dist build target out coverage obj DerivedDataCache venv wheelhouse site-packages test-results test-reports reports-junit _site _book cmake-build builddir build-debug build-release buck-out
			Debug Release x64 .vs TestResults BenchmarkDotNet.Artifacts artifacts generated-sources intermediates esm cjs lib-cov jacoco surefire-reports perf-results temp_dir tmp temp`,
		maybe: `bin vendor public log logs lib gen generated deps env release pkg docs-build site static www cache cover screenshots videos downloads output results reports doc`,
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = level
		}
	}
	return m
}()

// makingOf is how sure a name is.
func makingOf(name string) making {
	if m, ok := makes[name]; ok {
		return m
	}
	for _, suffix := range []string{".egg-info", ".dSYM", ".dist-info", ".xcarchive"} {
		if strings.HasSuffix(name, suffix) {
			return always
		}
	}
	for _, prefix := range []string{"cmake-build-", "bazel-", "_minted-", "pip-build-"} {
		if strings.HasPrefix(name, prefix) {
			return usual
		}
	}
	for _, prefix := range []string{"build-", "build_", "dist-", "coverage-", "tmp-", "tmp_", "temp-", "temp_", "tmp."} {
		if strings.HasPrefix(name, prefix) {
			return usual
		}
	}
	for _, suffix := range []string{"-tmp", "_tmp", ".tmp", "-cache", "_cache"} {
		if strings.HasSuffix(name, suffix) {
			return usual
		}
	}
	return byHand
}

// makingFiles end the names of files that are made again, or kept by nobody.
var makingFiles = []string{
	".o", ".obj", ".lo", ".gcda", ".gcno", ".gcov", ".d", ".pyc", ".pyo", ".class", ".beam", ".hi", ".dyn_o", ".elc", ".tsbuildinfo", ".eslintcache", ".stylelintcache", ".log", ".tmp", ".swp", ".swo",
	".rej", ".orig", "~", ".aux", ".toc", ".fls", ".fdb_latexmk", ".synctex.gz", ".bbl", ".blg", ".lof", ".lot", ".profraw", ".profdata", ".coverage", ".DS_Store", "Thumbs.db", ".pid", ".lock.tmp", ".bak", ".out", ".test",
}

// builtFile reports whether the name of a file, or a pattern of names, is one of
// those. A pattern with a wildcard behind the dot is none.
func builtFile(name string) bool {
	for _, suffix := range makingFiles {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// built finds the first folder of a path that a build makes by its name. At is how
// many bytes of the path it is; rest is a path below a project.
func built(rest string) (m making, at int) {
	rest = strings.TrimRight(rest, "/*")
	for start := 0; start < len(rest); {
		end := strings.IndexByte(rest[start:], '/')
		if end < 0 {
			end = len(rest) - start
		}
		if m := makingOf(rest[start : start+end]); m != byHand {
			return m, start + end
		}
		start += end + 1
	}
	return byHand, 0
}

// homeCaches are the folders of a home that tools fill by themselves.
var homeCaches = []string{
	".npm/_cacache", ".npm/_npx", ".npm/_logs", ".yarn/cache", ".yarn/berry/cache", ".pnpm-store", ".local/share/pnpm/store", ".bun/install/cache", ".gradle/caches", ".gradle/daemon", ".gradle/wrapper/dists",
	".m2/repository", ".ivy2/cache", ".sbt/boot", ".cargo/registry", ".cargo/git", "go/pkg/mod", "go/pkg/sumdb", ".nuget/packages", ".local/share/NuGet", ".composer/cache", ".cocoapods/repos", ".pub-cache", ".hex/packages",
	".cabal/packages", ".stack/pantry", ".rustup/tmp", ".rustup/downloads", ".electron-gyp", ".node-gyp", ".expo/cache", ".android/cache", ".android/build-cache", ".konan/cache", ".terraform.d/plugin-cache", ".ccache",
	".eslintcache", ".julia/compiled", "Library/Developer/Xcode/DerivedData", "Library/Developer/CoreSimulator/Caches", ".local/share/virtualenv", ".vscode/CachedData", ".conda/pkgs", "miniconda3/pkgs", "anaconda3/pkgs",
}

// isCache reports whether a path is a cache below a home: a folder in one of the
// two that systems have for them, or one that a tool is known for.
func isCache(home, p string) bool {
	rest, ok := strings.CutPrefix(p, home+"/")
	if !ok || home == "" {
		return false
	}
	for _, folder := range []string{".cache/", "Library/Caches/"} {
		if inside, ok := strings.CutPrefix(rest, folder); ok && strings.Trim(inside, "/*?") != "" {
			return true
		}
	}
	return slices.ContainsFunc(homeCaches, func(c string) bool { return disk.Below(rest, c) })
}

// isBuilt reports whether a path is made by builds and tools, as far as names
// tell. Outside the project only caches are, and names that mean nothing else.
func (s *surroundings) isBuilt(p string) bool {
	if s.dir == "" && s.home == "" && !strings.HasPrefix(p, "/") { // nothing is known of the place
		m, _ := built(p)
		return m != byHand || builtFile(path.Base(p))
	}
	if rest, ok := strings.CutPrefix(p, s.dir+"/"); ok && s.dir != "" {
		if strings.Contains(rest, ":") { // on another machine
			return false
		}
		m, _ := built(rest)
		return m != byHand || builtFile(path.Base(rest))
	}
	if isCache(s.home, p) || isCache("/root", p) {
		return true
	}
	if rest, ok := strings.CutPrefix(p, s.home+"/"); ok && s.home != "" {
		for part := range strings.SplitSeq(strings.TrimRight(rest, "/*"), "/") {
			if makingOf(part) == always && part != ".cache" && part != ".npm" && part != ".gradle" && part != ".ivy2" && part != ".pub-cache" && part != ".tmp" && part != ".temp" {
				return true
			}
		}
	}
	return false
}

// isProject reports whether a working directory can be one: nobody's home, and no
// folder of the system.
func isProject(dir, home string) bool {
	if dir == "" || dir == home || isTop(dir) || slices.Contains(systemDirs, dir) || home != "" && disk.Below(home, dir) {
		return false
	}
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(dir, homes); ok && !strings.Contains(rest, "/") {
			return false
		}
	}
	for _, d := range []string{"/etc", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/sys", "/proc", "/dev", "/System", "/Library", "/nix", "/private/etc", "/var/lib", "/private/var/db"} {
		if disk.Below(dir, d) {
			return false
		}
	}
	if !strings.Contains(dir, "/.") {
		return true
	}
	for _, secret := range []string{"/.ssh", "/.gnupg", "/.aws", "/.kube", "/.git"} {
		if strings.HasSuffix(dir, secret) || strings.Contains(dir, secret+"/") {
			return false
		}
	}
	return true
}
