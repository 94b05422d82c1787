package fingerprint

import (
	"path/filepath"
	"regexp"
	"strings"

	"approver.example/fingerprint/disk"

	"approver.example/reflexcore/effect"
)

// This file finds the files that build files load, if these are programs. If a build file
// loads something that is no literal name, it is reported.

// A loadForm describes how files of one kind load others.
type loadForm struct {
	files string         // patterns of names
	calls *regexp.Regexp // with what follows, up to the end of the line, as its first group
	// endings may be missing in what is named, and places are folders where it may lie.
	endings, places string
	own             *strings.Replacer // how such a file writes its own folder
	fetches         *regexp.Regexp    // takes something from elsewhere
	requires        *regexp.Regexp    // loads by a plain name, which may be a library's
	paths           *regexp.Regexp    // changes the search path for plain names
}

var rubyOwn = strings.NewReplacer(`#{__dir__}/`, "", `#{File.dirname(__FILE__)}/`, "", `#{Rails.root}/`, "")

// cmakeOwn drops the ways in which a file of CMake writes its own folder, or that of the project.
var cmakeOwn = strings.NewReplacer("${CMAKE_CURRENT_SOURCE_DIR}/", "", "${CMAKE_CURRENT_LIST_DIR}/", "",
	"${PROJECT_SOURCE_DIR}/", "", "${CMAKE_SOURCE_DIR}/", "", "${CMAKE_CURRENT_SOURCE_DIR}", ".",
	"${CMAKE_CURRENT_LIST_DIR}", ".", "${PROJECT_SOURCE_DIR}", ".", "${CMAKE_SOURCE_DIR}", ".")

var loadForms = []loadForm{
	{
		files: "Rakefile rakefile *.rake Rakefile.rb rakefile.rb Vagrantfile Gemfile Capfile Fastfile Podfile *.gemspec",
		calls: regexp.MustCompile(`(?m)^[^#\n"']*?\b(?:require_relative|load|import|eval_gemfile|instance_eval|class_eval|` +
			`eval|autoload)\b[ \t(]+(?::\w+[ \t]*,[ \t]*)?([^\n]*)`),
		own: rubyOwn, endings: ".rb",
		requires: regexp.MustCompile(`(?m)^[^#\n"']*?\brequire\b[ \t(]*["']([^"'\n#]+)["']`),
		paths:    regexp.MustCompile(`(?m)^[^#\n]*?\$(?:LOAD_PATH|:)[ \t]*(?:<<|\.\w+)[ \t(]*([^\n]*)`),
	},
	{
		files: "*.gradle *.gradle.kts",
		calls: regexp.MustCompile(`(?m)(?:\bapply[ \t(]*from[ \t]*[:=]|` +
			`\bincludeBuild\b[ \t(]*|\bevaluate[ \t]*\()[ \t]*([^\n]*)`),
		own: strings.NewReplacer("$rootDir/", "", "${rootDir}/", "", "$projectDir/", "", "${projectDir}/", "",
			"$rootProject.projectDir/", "", "${rootProject.projectDir}/", "", "rootProject.file(", "", "file(", ""),
	},
	{
		files: "CMakeLists.txt *.cmake", endings: ".cmake /CMakeLists.txt", places: "cmake CMake cmake/modules cmake/Modules",
		calls: regexp.MustCompile(`(?mi)^[^#\n]*?\b(?:include|add_subdirectory|subdirs)[ \t]*\([ \t]*([^\n]*)`),
		own:   cmakeOwn,
		fetches: regexp.MustCompile(`(?mi)^[^#\n]*\b(FetchContent_(?:Declare|Populate)|` +
			`ExternalProject_Add|CPMAddPackage|file\s*\(\s*DOWNLOAD)`),
	},
	{
		files: "meson.build", calls: regexp.MustCompile(`(?m)^[^#\n]*?\bsubdir[ \t]*\([ \t]*([^\n]*)`),
		endings: "/meson.build",
		own:     strings.NewReplacer(),
	},
	{
		files: "tasks.py fabfile.py noxfile.py setup.py dodo.py SConstruct wscript conftest.py",
		calls: regexp.MustCompile(`(?m)^[^#\n]*?\b(?:exec|execfile|runpy\.run_path|` +
			`runpy\.run_module|importlib\.import_module|__import__|` +
			`SourceFileLoader|spec_from_file_location|SConscript)[ \t]*\([ \t]*([^\n]*)`),
		endings: ".py", own: strings.NewReplacer("compile(", "", "open(", ""),
		paths: regexp.MustCompile(`(?m)^[^#\n]*?\bsys\.path\.(?:append|insert|extend)[ \t]*\(([^\n]*)`),
	},
	{
		files:   "Taskfile*.yml Taskfile*.yaml taskfile*.yml taskfile*.yaml",
		calls:   regexp.MustCompile(`(?m)^[ \t]*(?:-[ \t]*)?(?:taskfile|dir|dotenv)[ \t]*:[ \t]*([^\n]*\{\{[^\n]*)`),
		own:     strings.NewReplacer(),
		fetches: regexp.MustCompile(`(?m)(?:taskfile|^[ \t]+\w+)[ \t]*:[ \t]*["']?(https?://\S+|git@\S+)`),
	},
	{
		files: "build.xml", calls: regexp.MustCompile(`(?:<import|<include|<ant|<subant)\b` +
			`[^>]*?(?:file|antfile|dir|buildpath)=([^>\n]*)`),
		own: strings.NewReplacer("${basedir}/", ""),
	},
	{
		files: "build.ninja *.ninja", calls: regexp.MustCompile(`(?m)^[ \t]*(?:include|subninja)[ \t]+([^\n]*)`),
		own: strings.NewReplacer(),
	},
}

var (
	rubyJoin   = regexp.MustCompile(`File\.join\(\s*__dir__\s*,\s*(["'][^"'\n]*["'])\s*\)`)
	rubyExpand = regexp.MustCompile(`File\.expand_path\(\s*(["'][^"'\n]*["'])` +
		`\s*,\s*(?:__dir__|File\.dirname\(__FILE__\))\s*\)`)
	rubyBeside = regexp.MustCompile(`File\.expand_path\(\s*(["'])\.\./([^"'\n]*["'])\s*,\s*__FILE__\s*\)`)
)

// loadsOf binds the files that a build file loads, and reports it if a name is no literal.
func (r settingsReader) loadsOf(file, text string, places []string, depth int) {
	base := filepath.Base(file)
	for n := range loadForms {
		f := &loadForms[n]
		if !disk.Like(base, strings.Fields(f.files)) {
			continue
		}
		for _, m := range r.FindAll(f.calls, file, text) {
			r.loadsOne(f, file, m[1], places, depth)
		}
		if f.requires != nil {
			for _, m := range r.FindAll(f.requires, file, text) {
				r.loadsName(f, m[1], append(places, filepath.Join(places[0], "lib")), depth)
			}
		}
		if f.fetches != nil && f.fetches.MatchString(text) {
			r.unreadStrict(file, "fetches")
		}
		for _, place := range places {
			if strings.HasSuffix(base, ".py") {
				r.importsBeside(text, place, true)
			}
		}
		if f.paths != nil {
			r.searchPaths(f, file, text)
		}
	}
}

// searchPaths reports a file that adds a folder to the search path without a literal name.
// Folders with literal names are searched.
func (r settingsReader) searchPaths(f *loadForm, file, text string) {
	for _, m := range r.FindAll(f.paths, file, text) {
		argument := f.own.Replace(m[1])
		if !strings.ContainsAny(argument, `"'`) && !strings.Contains(argument, "__file__") &&
			!strings.Contains(argument, "__dir__") && !strings.Contains(argument, "__FILE__") {
			r.unreadStrict(file, "loads")
		}
	}
}

// loadsOne binds the file that one call in a build file loads.
func (r settingsReader) loadsOne(f *loadForm, file, argument string, places []string, depth int) {
	argument = strings.TrimSpace(f.own.Replace(argument))
	var name string
	if m := quoted.FindStringSubmatch(argument); m != nil {
		name = m[1]
	} else if disk.Like(filepath.Base(file), []string{"CMakeLists.txt", "*.cmake", "*.ninja"}) {
		name = strings.TrimRight(strings.FieldsFunc(argument+" ",
			func(r rune) bool { return r == ' ' || r == ')' || r == '\t' })[0], ")")
	}
	if name == "" || strings.ContainsAny(name, "$#{*") || !effect.IsKnown(name) {
		r.unreadStrict(file, "loads")
		return
	}
	if strings.Contains(name, "://") {
		r.reportUnbound("what lies at %s", name)
		return
	}
	r.loadsName(f, name, places, depth)
}

// loadsName binds the files that a name may mean, in each of some places.
func (r settingsReader) loadsName(f *loadForm, name string, places []string, depth int) {
	for _, dir := range places {
		for _, place := range append([]string{""}, strings.Fields(f.places)...) {
			for _, ending := range append([]string{""}, strings.Fields(f.endings)...) {
				at := filepath.Clean(abs(filepath.Join(dir, place), name) + ending)
				if r.Visit(at, disk.Code) {
					for _, pattern := range strings.Fields(r.tool.files) {
						for _, found := range r.BindMatching(at, pattern) {
							r.bind(found, at, depth+1)
						}
					}
				} else if r.Bound[at] != "" {
					r.bind(at, filepath.Dir(at), depth+1)
				}
			}
		}
	}
}

// isRuby reports whether a file is a build file of Ruby.
func isRuby(file string) bool {
	return disk.Like(filepath.Base(file), strings.Fields(loadForms[0].files))
}

// A settingsReader reads a tool's settings files, in any language, for the files that they name.
type settingsReader struct {
	reading
	tool *tool
}
