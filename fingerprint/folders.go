package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

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
var placingsOf = rowsOf(placings, func(t *placing) string { return t.programs })

// bindPlacings binds what the variables of a step's program name as folders.
func (r *reader) bindPlacings(name, dir string) {
	byProgram := placingsOf()
	for _, t := range slices.Concat(byProgram[""], byProgram[name]) {
		any := false
		for _, v := range r.VarNames(t.vars) {
			for _, value := range r.Values(v) {
				any = true
				r.bindPlacing(t, v, value, dir)
			}
		}
		if home := r.call.Env["HOME"]; !any && t.home != "" && filepath.IsAbs(home) {
			r.BindPlaces(filepath.Join(home, t.home), strings.Fields(t.files))
		}
	}
}

// bindPlacing binds what is read in the folders of one value.
func (r *reader) bindPlacing(t *placing, v, value, dir string) {
	value = r.Expand(value)
	if !effect.IsKnown(value) {
		r.named("what lies in %s=%s", v, effect.Show(value))
		return
	}
	for part := range strings.FieldsFuncSeq(value,
		func(r rune) bool { return r == ':' || r == ';' || r == ',' || r == '\n' }) {
		part = fromHome(part, r.ToolCall.Env["HOME"])
		if strings.HasSuffix(t.vars, "*") && !strings.Contains(part, "/") && !r.IsDir(abs(dir, part)) {
			continue // it is a setting of another kind
		}
		if at := abs(dir, part); filepath.IsAbs(at) && effect.IsKnown(at) {
			r.BindPlaces(filepath.Clean(at), strings.Fields(t.files))
		} else {
			r.named("what lies in %s=%s", v, part)
		}
	}
}
