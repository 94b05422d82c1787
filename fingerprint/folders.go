package fingerprint

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// This file binds the folders that variables name and from which programs read code, or
// settings that say where something happens.

// A placing says what a program reads in folders that variables name.
type placing struct {
	vars     string // names; a star stands for any ending
	programs string // "" is every program
	// files are what is read there: patterns of paths, or of names anywhere below with
	// ** before them. "**" alone is everything.
	files string
	home  string // the folder below the home that counts where no variable names one
}

const (
	javaPrograms   = "java javac jar jshell mvn mvnw gradle gradlew sbt ant lein scala kotlin kotlinc groovy clojure clj"
	rubyPrograms   = "ruby irb gem bundle bundler rails rake rspec cap fastlane vagrant jekyll pod"
	pythonPrograms = "python python3 pip pip3 pipx pytest py.test tox nox flask django-admin alembic uv poetry " +
		"ansible ansible-playbook celery gunicorn uvicorn mypy invoke inv fab twine build aws az gcloud"
	sitePackages = "pyvenv.cfg lib/python*/site-packages/*.pth lib/python*/site-packages/sitecustomize.py " +
		"lib/python*/site-packages/usercustomize.py"
	terraforms = "terraform tofu terragrunt"
)

var placings = []placing{
	{vars: "LD_LIBRARY_PATH LD_AUDIT DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH DYLD_FALLBACK_LIBRARY_PATH " +
		"DYLD_INSERT_LIBRARIES GCONV_PATH",
		files: "**/*.so **/*.so.* **/*.dylib **/gconv-modules*"},
	{vars: "DOCKER_CONFIG", programs: "docker docker-compose",
		files: "config.json cli-plugins/* contexts/meta/*/meta.json", home: ".docker"},
	{vars: "DOCKER_CERT_PATH", programs: "docker docker-compose", files: "*.pem"},
	{vars: "BUILDX_CONFIG", programs: "docker", files: "current defaults/* instances/*"},
	{vars: "JAVA_HOME JDK_HOME JRE_HOME GRAALVM_HOME", programs: javaPrograms, files: "**"},
	{vars: "M2_HOME MAVEN_HOME", programs: "mvn mvnw", files: "**"},
	{vars: "GRADLE_HOME", programs: "gradle", files: "**"},
	{vars: "ANT_HOME", programs: "ant", files: "**"},
	{vars: "SBT_HOME SCALA_HOME", programs: "sbt scala", files: "**"},
	{vars: "GRADLE_USER_HOME", programs: "gradle gradlew", files: "init.gradle init.gradle.kts init.d/* " +
		"gradle.properties", home: ".gradle"},
	{vars: "MAVEN_USER_HOME", programs: "mvn mvnw", files: "settings.xml wrapper/**"},
	{vars: "GOROOT GOTOOLDIR", programs: "go gofmt", files: "**"},
	{vars: "CARGO_HOME", programs: "cargo", files: "config config.toml env bin/*", home: ".cargo"},
	{vars: "RUSTUP_HOME", programs: "cargo rustc rustup", files: "settings.toml toolchains/*/bin/*"},
	{vars: "GEM_HOME GEM_PATH BUNDLE_PATH", programs: rubyPrograms, files: "specifications/*.gemspec plugins/* bin/*"},
	{vars: "BUNDLE_APP_CONFIG BUNDLE_USER_CONFIG BUNDLE_USER_HOME", programs: rubyPrograms, files: "config"},
	{vars: "PYTHONHOME", programs: pythonPrograms, files: "**/*.py **/*.so **/*.pth **/*.zip"},
	{vars: "VIRTUAL_ENV UV_PROJECT_ENVIRONMENT CONDA_PREFIX", programs: pythonPrograms, files: sitePackages},
	{vars: "PYTHONUSERBASE", programs: pythonPrograms, files: sitePackages, home: ".local"},
	{vars: "NODE_PATH", programs: "npm pnpm yarn npx", files: "**/*.js **/*.cjs **/*.mjs **/*.json"},
	{vars: "npm_config_prefix NPM_CONFIG_PREFIX", programs: "npm npx", files: "etc/npmrc"},
	{vars: "HELM_PLUGINS HELM_DATA_HOME", programs: "helm helmfile", files: "**", home: ".local/share/helm/plugins"},
	{vars: "HELM_CONFIG_HOME", programs: "helm helmfile", files: "repositories.yaml registry/config.json"},
	{vars: "HELM_REPOSITORY_CACHE HELM_CACHE_HOME", programs: "helm helmfile", files: "*.yaml *.tgz repository/*"},
	{vars: "TF_DATA_DIR", programs: terraforms, files: "environment terraform.tfstate modules/** plugins/** providers/**"},
	{vars: "TF_PLUGIN_CACHE_DIR", programs: terraforms, files: "**"},
	{vars: "ANSIBLE_*", programs: "ansible ansible-playbook ansible-galaxy ansible-pull", files: "**"},
	{vars: "PULUMI_HOME", programs: "pulumi", files: "plugins/** bin/* credentials.json"},
	{vars: "PGSYSCONFDIR", programs: "psql pg_dump pg_restore createdb dropdb", files: "pg_service.conf psqlrc"},
	{vars: "MYSQL_HOME", programs: "mysql mysqldump mariadb", files: "my.cnf"},
	{vars: "CLOUDSDK_CONFIG", programs: "gcloud gsutil bq", files: "active_config properties configurations/*"},
	{vars: "AZURE_CONFIG_DIR AZURE_EXTENSION_DIR", programs: "az", files: "config clouds.config azureProfile.json " +
		"cliextensions/**"},
	{vars: "DBT_PROFILES_DIR DBT_PROJECT_DIR", programs: "dbt", files: "*.yml"},
	{vars: "GH_CONFIG_DIR", programs: "gh", files: "config.yml hosts.yml"},
	{vars: "XDG_CONFIG_HOME", programs: "gh helm pip pip3 uv", files: "gh/*.yml helm/*.yaml pip/pip.conf uv/uv.toml"},
	{vars: "XDG_DATA_HOME", programs: "gh helm", files: "gh/extensions/** helm/plugins/**"},
	{vars: "ZDOTDIR", programs: "zsh", files: ".zshenv .zprofile .zshrc .zlogin"},
	{vars: "FPATH", programs: "zsh", files: "*"},
	{vars: "PHP_INI_SCAN_DIR", programs: "php composer phpunit artisan", files: "*.ini"},
	{vars: "KUBECTL_KUBERC KUBERC", programs: "kubectl", files: "*"},
	{vars: "KREW_ROOT", programs: "kubectl", files: "bin/*"},
	{vars: "CMAKE_PREFIX_PATH CMAKE_MODULE_PATH", programs: "cmake", files: "**/*.cmake"},
	{vars: "PKG_CONFIG_PATH PKG_CONFIG_LIBDIR", programs: "cmake meson make go cargo ninja", files: "*.pc"},
	{vars: "CLASSPATH", programs: "mvn mvnw gradle gradlew sbt ant", files: "**/*.class **/*.jar"},
	{vars: "VAGRANT_HOME", programs: "vagrant", files: "Vagrantfile plugins.json"},
	{vars: "PACKER_PLUGIN_PATH PACKER_CONFIG_DIR", programs: "packer", files: "**"},
	{vars: "BASH_COMPLETION_USER_DIR", programs: "bash", files: "**"},
}

// placingsOf are the rows of a program; those of "" are every program's.
var placingsOf = sync.OnceValue(func() map[string][]*placing {
	of := map[string][]*placing{}
	for n := range placings {
		t := &placings[n]
		if t.programs == "" {
			of[""] = append(of[""], t)
		}
		for name := range strings.FieldsSeq(t.programs) {
			of[name] = append(of[name], t)
		}
	}
	return of
})

// placed binds what the variables of a step's program name as folders.
func (r *reader) placed(name, dir string) {
	byProgram := placingsOf()
	for _, t := range slices.Concat(byProgram[""], byProgram[name]) {
		any := false
		for _, v := range r.namesOf(t.vars) {
			for _, value := range r.values(v) {
				any = true
				r.place(t, v, value, dir)
			}
		}
		if home := r.call.Env["HOME"]; !any && t.home != "" && filepath.IsAbs(home) {
			r.readsIn(filepath.Join(home, t.home), strings.Fields(t.files))
		}
	}
}

// namesOf are the variables of a list, those included that a star stands for.
func (s *scan) namesOf(list string) (names []string) {
	for v := range strings.FieldsSeq(list) {
		begin, star := strings.CutSuffix(v, "*")
		if !star {
			names = append(names, v)
			continue
		}
		for name := range s.call.Env {
			if name = strings.TrimPrefix(name, approver.ComparedEnv); strings.HasPrefix(name, begin) {
				names = append(names, name)
			}
		}
		for name := range s.vars {
			if strings.HasPrefix(name, begin) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// place binds what is read in the folders of one value.
func (r *reader) place(t *placing, v, value, dir string) {
	value = r.expands(value)
	if !effect.IsKnown(value) {
		r.named("what lies in %s=%s", v, effect.Show(value))
		return
	}
	for part := range strings.FieldsFuncSeq(value,
		func(r rune) bool { return r == ':' || r == ';' || r == ',' || r == '\n' }) {
		if rest, is := strings.CutPrefix(part, "~/"); is {
			part = filepath.Join(r.scan.call.Env["HOME"], rest)
		}
		if strings.HasSuffix(t.vars, "*") && !strings.Contains(part, "/") && !r.isDir(abs(dir, part)) {
			continue // it is a setting of another kind
		}
		if at := abs(dir, part); filepath.IsAbs(at) && effect.IsKnown(at) {
			r.readsIn(filepath.Clean(at), strings.Fields(t.files))
		} else {
			r.named("what lies in %s=%s", v, part)
		}
	}
}

func (s *scan) isDir(path string) bool {
	info, err := s.stat(path)
	return s.look() && err == nil && info.IsDir()
}

// readsIn binds what patterns match in a folder, unless it is one in which nobody but root
// can write. What is not there counts when it appears.
func (s *scan) readsIn(dir string, patterns []string) {
	if !s.once("reads in", dir, strings.Join(patterns, " ")) || len(dir) > maxPath || strings.ContainsRune(dir, 0) {
		return
	}
	info, err := s.stat(dir)
	if !s.look() || err != nil && nothing(err) {
		return // once it is there, its files change the fingerprint
	}
	if err != nil {
		s.visit(dir, code) // which names it
		return
	}
	if !info.IsDir() {
		s.visit(dir, code)
		return
	}
	if id, known := identify(info); known && systemFolder(dir, info, id) {
		return
	}
	s.leads(dir)
	var below []string
	for _, pattern := range patterns {
		if rest, deep := strings.CutPrefix(pattern, "**"); deep {
			below = append(below, strings.TrimPrefix(rest, "/"))
		} else if at, deep := strings.CutSuffix(pattern, "/**"); deep {
			s.stampTree(filepath.Join(dir, at), nil)
		} else if strings.ContainsAny(pattern, "*?[") {
			for _, file := range s.match(filepath.Join(dir, pattern)) {
				s.stamp(file)
			}
		} else {
			s.stamp(filepath.Join(dir, pattern))
		}
	}
	if slices.Contains(below, "") {
		below = []string{}
	} else if len(below) == 0 {
		return
	}
	s.stampTree(dir, below)
}

// stampTree binds the files below a folder, of which patterns match the name; small ones
// by their content, others, and all where there are many, by what the kernel says of them.
func (s *scan) stampTree(dir string, patterns []string) {
	if !s.isDir(dir) {
		return
	}
	key := "tree " + dir + " " + strings.Join(patterns, " ")
	var files []string
	var stamps *stamping
	wanted := kindsOf(patterns)
	if !s.tree(dir, true, func(path string, d fs.DirEntry) bool {
		if !d.IsDir() && wanted.like(d.Name()) {
			files = append(files, path)
			if stamps != nil {
				info, err := d.Info()
				stamps.add(path, info, err)
			} else if len(files) > maxTree {
				stamps = newStamping(s, files)
			}
		}
		return true
	}) {
		s.tooLarge(key, dir, nil)
		return
	}
	if stamps == nil {
		for _, file := range files {
			s.stamp(file)
		}
		return
	}
	sum, ok := s.stamped(stamps)
	if !ok {
		s.tooLarge(key, dir, stamps)
		return
	}
	s.out[key] = sum
}

// systemFolders are below what only an administrator puts something.
var systemFolders = []string{"/usr/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/store/", "/Library/", "/System/"}

// systemFolder reports whether a folder is root's alone, and where this service is root's,
// so that the agent may be root as well, whether it is one of the system too.
func systemFolder(dir string, info fs.FileInfo, id fileID) bool {
	if id.owner != 0 || info.Mode()&0o022 != 0 {
		return false
	}
	return !agentMayWrite(info, id) ||
		slices.ContainsFunc(systemFolders, func(at string) bool { return strings.HasPrefix(dir+"/", at) })
}

// settings binds the files that a pattern matches in a folder.
func (s *scan) settings(at, pattern string) []string {
	file := filepath.Join(at, pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		if s.visit(file, code); s.out[file] == "" {
			return nil
		}
		return []string{file}
	}
	var files []string
	names, _ := s.list(at)
	for _, name := range names {
		if like(name, []string{pattern}) {
			path := filepath.Join(at, name)
			if s.inFolder(path); s.out[path] != "" {
				files = append(files, path)
			}
		}
	}
	s.out["match "+file] = listHash(files)
	return files
}

// settingsAny binds the files in a folder that one of several patterns matches.
func (s *scan) settingsAny(at string, patterns []string) (files []string) {
	names, _ := s.list(at)
	for _, name := range names {
		if like(name, patterns) {
			path := filepath.Join(at, name)
			if s.inFolder(path); s.out[path] != "" {
				files = append(files, path)
			}
		}
	}
	s.out["match "+at+"/"+strings.Join(patterns, " ")] = listHash(files)
	return files
}
