// Package buildnames knows by the names of files and folders what builds and tools
// make, and can make again.
package buildnames

import (
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
)

// A Certainty is how sure the name of a folder is that a build or a tool made what is
// in it, and can make it again.
type Certainty uint8

// How sure a name is.
const (
	ByHand Certainty = iota
	Maybe            // source in one project, output in the next
	usual            // output, unless the disk shows something else
	Always           // nobody keeps anything else under that name
)

// makes says it of the folders of these names.
var makes = func() map[string]Certainty {
	m := map[string]Certainty{}
	for level, names := range map[Certainty]string{
		Always: `node_modules bower_components jspm_packages .pnpm-store .npm .yarn-cache .next .nuxt .turbo .parcel-cache .svelte-kit .angular .vite .vitepress-cache .astro .swc .rollup.cache .output .docusaurus .expo
			.vinxi .wrangler .webpack .rpt2_cache .nx-cache .fusebox .sass-cache .nyc_output storybook-static playwright-report blob-report allure-results lighthouse-report .lighthouseci .stryker-tmp
			__pycache__ __pypackages__ .pytest_cache .mypy_cache .ruff_cache .pytype .pyre .hypothesis .tox .nox .eggs .ipynb_checkpoints .venv htmlcov pip-wheel-metadata
			.gradle .kotlin .bloop .metals .ivy2 .scala-build .cxx .externalNativeBuild DerivedData xcuserdata Pods .build .swiftpm-cache .dart_tool .pub-cache .flutter-plugins
			cmake-build-debug cmake-build-release CMakeFiles bazel-bin bazel-out bazel-testlogs .zig-cache zig-cache zig-out .xmake .meson-cache .ccls-cache .clangd .objs .deps .libs .ninja_deps
			.stack-work dist-newstyle .elixir_ls .lexical _build .rebar3 .eunit elm-stuff .spago .psc-package .shadow-cljs .cpcache .dub .nimble .crystal
			.terraform .terragrunt-cache .serverless .aws-sam cdk.out _gen tmpcharts .vagrant-cache .molecule .kitchen
			.phpunit.cache .phpstan-cache .psalm-cache .jekyll-cache .jekyll-metadata .hugo_cache .bundle-cache .yardoc .cache .temp .tmp .sonarlint .scannerwork .phpunit.result.cache .rts2_cache _minted`,
		usual: `dist build target out coverage obj DerivedDataCache venv wheelhouse site-packages test-results test-reports reports-junit _site _book cmake-build builddir build-debug build-release buck-out
			Debug Release x64 .vs TestResults BenchmarkDotNet.Artifacts artifacts generated-sources intermediates esm cjs lib-cov jacoco surefire-reports perf-results temp_dir tmp temp`,
		Maybe: `bin vendor public log logs lib gen generated deps env release pkg docs-build site static www cache cover screenshots videos downloads output results reports doc`,
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = level
		}
	}
	return m
}()

// Of is how sure a name is.
func Of(name string) Certainty {
	if m, ok := makes[name]; ok {
		return m
	}
	for _, suffix := range []string{".egg-info", ".dSYM", ".dist-info", ".xcarchive"} {
		if strings.HasSuffix(name, suffix) {
			return Always
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
	return ByHand
}

// makingFiles end the names of files that are made again, or kept by nobody.
var makingFiles = []string{
	".o", ".obj", ".lo", ".gcda", ".gcno", ".gcov", ".d", ".pyc", ".pyo", ".class", ".beam", ".hi", ".dyn_o", ".elc", ".tsbuildinfo", ".eslintcache", ".stylelintcache", ".log", ".tmp", ".swp", ".swo",
	".rej", ".orig", "~", ".aux", ".toc", ".fls", ".fdb_latexmk", ".synctex.gz", ".bbl", ".blg", ".lof", ".lot", ".profraw", ".profdata", ".coverage", ".DS_Store", "Thumbs.db", ".pid", ".lock.tmp", ".bak", ".out", ".test",
}

// IsFile reports whether the name of a file, or a pattern of names, is one of
// those. A pattern with a wildcard behind the dot is none.
func IsFile(name string) bool {
	for _, suffix := range makingFiles {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// First finds the first folder of a path that a build makes by its name. At is how
// many bytes of the path it is; rest is a path below a project.
func First(rest string) (m Certainty, at int) {
	rest = strings.TrimRight(rest, "/*")
	for start := 0; start < len(rest); {
		end := strings.IndexByte(rest[start:], '/')
		if end < 0 {
			end = len(rest) - start
		}
		if m := Of(rest[start : start+end]); m != ByHand {
			return m, start + end
		}
		start += end + 1
	}
	return ByHand, 0
}

// homeCaches are the folders of a home that tools fill by themselves.
var homeCaches = []string{
	".npm/_cacache", ".npm/_npx", ".npm/_logs", ".yarn/cache", ".yarn/berry/cache", ".pnpm-store", ".local/share/pnpm/store", ".bun/install/cache", ".gradle/caches", ".gradle/daemon", ".gradle/wrapper/dists",
	".m2/repository", ".ivy2/cache", ".sbt/boot", ".cargo/registry", ".cargo/git", "go/pkg/mod", "go/pkg/sumdb", ".nuget/packages", ".local/share/NuGet", ".composer/cache", ".cocoapods/repos", ".pub-cache", ".hex/packages",
	".cabal/packages", ".stack/pantry", ".rustup/tmp", ".rustup/downloads", ".electron-gyp", ".node-gyp", ".expo/cache", ".android/cache", ".android/build-cache", ".konan/cache", ".terraform.d/plugin-cache", ".ccache",
	".eslintcache", ".julia/compiled", "Library/Developer/Xcode/DerivedData", "Library/Developer/CoreSimulator/Caches", ".local/share/virtualenv", ".vscode/CachedData", ".conda/pkgs", "miniconda3/pkgs", "anaconda3/pkgs",
}

// IsCache reports whether a path is a cache below a home: a folder in one of the
// two that systems have for them, or one that a tool is known for.
func IsCache(home, p string) bool {
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
