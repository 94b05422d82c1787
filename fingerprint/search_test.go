//go:build unix

package fingerprint

import (
	"maps"
	"strings"
	"testing"
)

const (
	imageA = "image: a@sha256:0123456789"
	folder = "|  a:|    " + imageA + "|    "
)

// searchHoles are files that build tools find through a search path or a working folder.
// Each is swapped: that is seen, or the card says what is not bound.
var searchHoles = []hole{
	// make and just.
	{command: "make all", files: "Makefile=VPATH=src|all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh"},
	{command: "make all", files: "Makefile=VPATH=lib:src|all: x.sh y|\tsh $^; src/x.sh=x; lib/y=x", swapped: "lib/y"},
	{command: "make all", files: "Makefile=vpath %.sh src|all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh"},
	{command: "make all", files: "Makefile=vpath % lib src|all: x.sh|\t./$<; src/x.sh=x", swapped: "src/x.sh"},
	{command: "make all VPATH=src", files: "Makefile=all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh"},
	{command: "make all", files: "Makefile=VPATH=$(X)|all: x.sh|\tsh $<; src/x.sh=x", swapped: "src/x.sh", named: "sh"},
	{command: "make all", files: "Makefile=VPATH:=src|all: x.sh|\tsh $+; src/x.sh=x", swapped: "src/x.sh"},
	{command: "make all", files: "Makefile=all:|\tcd src && sh q; src/q=x", swapped: "src/q"},
	{command: "make all", files: "Makefile=all:|\tfor f in $(wildcard s/*.sh); do sh $$f; done; s/a.sh=x",
		swapped: "s/a.sh", named: "what Makefile runs"},
	{command: "make all", files: "Makefile=all:|\tsh $(wildcard s/*.sh); s/a.sh=x", swapped: "s/a.sh"},
	{command: "make all", files: "Makefile=F=$(wildcard s/*.sh)|all:|\tsh $(F); s/a.sh=x", swapped: "s/a.sh"},
	{command: "make all", files: "Makefile=all:|\tsh $(firstword $(wildcard s/*.sh)); s/a.sh=x", swapped: "s/a.sh",
		named: "sh"},
	{command: "make all", files: "Makefile=all:|\tsh $(addprefix s/,a); s/a=x", swapped: "s/a", named: "sh"},
	{command: "make all", files: "Makefile=all:|\t$(MAKE) --directory=sub; sub/Makefile=x:|\tsh q; sub/q=x",
		swapped: "sub/q"},
	{command: "make all", files: "Makefile=-include $(wildcard cfg/*.mk)|all:|\ttrue; cfg/a.mk=x", swapped: "cfg/a.mk"},
	{command: "just a", files: "justfile=set working-directory := 'sub'|a:|\tsh q; sub/q=x", swapped: "sub/q",
		named: "what justfile runs"},
	{command: "just a", files: "justfile=[working-directory: 'sub']|a:|\tsh q; sub/q=x", swapped: "sub/q",
		named: "what justfile runs"},
	{command: "just a", files: "justfile=a:|\tcd sub && sh q; sub/q=x", swapped: "sub/q"},
	{command: "just -d sub a", files: "justfile=a:|\tsh q; sub/q=x", swapped: "sub/q"},
	{command: "just --working-directory sub -f justfile a", files: "justfile=a:|\tsh q; sub/q=x", swapped: "sub/q"},
	// npm and its like.
	{command: "npm --prefix sub run a", files: "sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x",
		swapped: "sub/q"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"npm --prefix sub run b\"}}; " +
		"sub/package.json={\"scripts\":{\"b\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"cd sub && sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "npm -w sub run a", files: "package.json={\"workspaces\":[\"sub\"]}; " +
		"sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"npm -w sub run b\"},\"workspaces\":[\"sub\"]}; " +
		"sub/package.json={\"scripts\":{\"b\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "yarn --cwd sub a", files: "sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "pnpm -C sub run a", files: "sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "pnpm -r run a", files: "package.json={}; pnpm-workspace.yaml=packages: [\"sub\"]; " +
		"sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "yarn a", files: "package.json={\"scripts\":{\"a\":\"true\"}}; .yarnrc.yml=yarnPath: " +
		".yarn/releases/yarn.cjs; .yarn/releases/yarn.cjs=x", swapped: ".yarn/releases/yarn.cjs"},
	{command: "yarn a", files: "package.json={\"scripts\":{\"a\":\"true\"}}; .yarnrc.yml=plugins:|  - path: " +
		".yarn/plugins/p.cjs; .yarn/plugins/p.cjs=x", swapped: ".yarn/plugins/p.cjs"},
	{command: "yarn a", files: "package.json={\"scripts\":{\"a\":\"true\"}}; .yarnrc=yarn-path tools/yarn; tools/yarn=x",
		swapped: "tools/yarn"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"true\"}}; .npmrc=script-shell=./sh; sh=x",
		swapped: "sh"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"true\"}}; .npmrc=node-options=--require ./h; h=x",
		swapped: "h"},
	{command: "pnpm install", files: "package.json={}; pnpm-lock.yaml=x; .pnpmfile.cjs=require('./h'); h.js=x",
		swapped: "h.js"},
	{command: "lerna run a", files: "package.json={}; lerna.json={\"packages\":[\"sub\"]}; " +
		"sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "turbo run a", files: "package.json={\"workspaces\":[\"sub\"]}; turbo.json={}; " +
		"sub/package.json={\"scripts\":{\"a\":\"sh q\"}}; sub/q=x", swapped: "sub/q"},
	{command: "nx run sub:a", files: "package.json={}; nx.json={}; " +
		"sub/project.json={\"targets\":{\"a\":{\"command\":\"sh q\"}}}; q=x", swapped: "q"},
	{command: "nx run sub:a", files: "package.json={}; nx.json={}; " +
		"sub/project.json={\"targets\":{\"a\":{\"options\":{\"cwd\":\"sub\",\"command\":\"sh q\"}}}}; sub/q=x",
		swapped: "sub/q"},
	// tox, nox, pytest, Python.
	{command: "tox", files: "tox.ini=changedir = sub|commands = sh q; sub/q=x", swapped: "sub/q"},
	{command: "tox", files: "tox.ini=change_dir = sub|commands = sh q.sh; sub/q.sh=x", swapped: "sub/q.sh"},
	{command: "tox", files: "tox.ini=changedir = {toxinidir}/sub|commands = python q.py; sub/q.py=x", swapped: "sub/q.py"},
	{command: "nox", files: "noxfile.py=session.chdir(\"sub\")|session.run(\"sh\", \"q.sh\"); sub/q.sh=x",
		swapped: "sub/q.sh"},
	{command: "nox", files: "noxfile.py=session.chdir(\"a/b\")|session.run(\"sh\", \"q\"); a/b/q=x", swapped: "a/b/q"},
	{command: "pytest", files: "pytest.ini=addopts = -p plug; plug.py=x", swapped: "plug.py"},
	{command: "pytest -p sub.plug", files: "sub/plug.py=x; test_a.py=x", swapped: "sub/plug.py"},
	{command: "pytest", files: "pytest.ini=pythonpath = src|addopts = -p plug; src/plug.py=x", swapped: "src/plug.py"},
	{command: "pytest", files: "setup.cfg=testpaths = checks; checks/test_a.py=x", swapped: "checks/test_a.py"},
	{command: "pytest", files: "pytest.ini=[pytest]; a/b/conftest.py=x; a/b/test_c.py=x", swapped: "a/b/conftest.py"},
	{command: "pytest", files: "conftest.py=pytest_plugins = [\"plug.x\"]; plug/x.py=x", swapped: "plug/x.py"},
	{command: "pip install .", files: "pyproject.toml=build-backend = \"bk\"|backend-path = [\"tools\"]; tools/bk.py=x",
		swapped: "tools/bk.py"},
	{command: "python3 -m build", files: "pyproject.toml=build-backend = \"bk\"|backend-path = [\"tools\"]; tools/bk.py=x",
		swapped: "tools/bk.py", named: "the module build"},
	{command: "uv build", files: "pyproject.toml=build-backend = \"bk\"|backend-path = [\"tools\"]; uv.lock=x; " +
		"tools/bk.py=x", swapped: "tools/bk.py"},
	{command: "poetry build", files: "poetry.lock=x; pyproject.toml=[tool.poetry.build]|script = \"tools/b.py\"; " +
		"tools/b.py=x", swapped: "tools/b.py"},
	{command: "pip install .", files: "setup.py=sys.path.insert(0, \"tools\")|import helper; tools/helper.py=x",
		swapped: "tools/helper.py"},
	{command: "pip install .", files: "setup.cfg=[build_ext]|cmdclass = tools.b.B; setup.py=x; tools/b.py=x",
		swapped: "tools/b.py"},
	{command: "nox", files: "noxfile.py=sys.path.append(os.path.join(HERE, \"tools\"))|import helper; tools/helper.py=x",
		swapped: "tools/helper.py"},
	// cargo.
	{command: "cargo build", files: "Cargo.toml=x; build.rs=x", swapped: "build.rs"},
	{command: "cargo build", files: "Cargo.toml=build = \"b/main.rs\"; b/main.rs=x", swapped: "b/main.rs"},
	{command: "cargo run", files: "Cargo.toml=x; .cargo/config.toml=runner = \"./r\"; r=x", swapped: "r"},
	{command: "cargo run", files: "Cargo.toml=x; .cargo/config.toml=runner = [\"sh\", \"r\"]; r=x", swapped: "r"},
	{command: "cargo build", files: "Cargo.toml=x; .cargo/config.toml=linker = \"tools/ld\"; tools/ld=x",
		swapped: "tools/ld"},
	{command: "cargo build", files: "Cargo.toml=x; .cargo/config.toml=rustc-wrapper = \"tools/w\"; tools/w=x",
		swapped: "tools/w"},
	{command: "cargo build", files: "Cargo.toml=members = [\"m\"]; m/Cargo.toml=x; m/build.rs=x", swapped: "m/build.rs"},
	{command: "cargo build", files: "Cargo.toml=members = [\"m/*\"]; m/a/Cargo.toml=x; m/a/build.rs=x",
		swapped: "m/a/build.rs"},
	{command: "cargo x", files: "Cargo.toml=x; .cargo/config.toml=x = \"run --manifest-path t/Cargo.toml\"; " +
		"t/Cargo.toml=x; t/src/main.rs=x", swapped: "t/src/main.rs"},
	// What a file imports that is given by its whole path.
	{command: "go run %/cmd/main.go", files: "go.mod=module m; x/x.go=package x; " +
		"cmd/main.go=package main|import _ \"m/x\"|func main() {}", swapped: "x/x.go"},
	// gradle and maven.
	{command: "gradle build", files: "settings.gradle=include ':a'|project(':a').projectDir = file('b/c'); " +
		"b/c/build.gradle=x", swapped: "b/c/build.gradle"},
	{command: "gradle build", files: "settings.gradle=pluginManagement { includeBuild 'bl' }; bl/build.gradle=x",
		swapped: "bl/build.gradle"},
	{command: "gradle build", files: "build.gradle=exec { workingDir 's'|commandLine 'sh', 'q' }; s/q=x", swapped: "s/q"},
	{command: "gradle build", files: "build.gradle=exec { workingDir = file('s')|commandLine 'sh', 'q.sh' }; s/q.sh=x",
		swapped: "s/q.sh"},
	{command: "gradle -p sub build", files: "sub/build.gradle=x", swapped: "sub/build.gradle"},
	{command: "gradle -I i.gradle build", files: "build.gradle=x; i.gradle=x", swapped: "i.gradle"},
	{command: "gradle build", files: "build.gradle=x; buildSrc/src/main/java/A.java=x",
		swapped: "buildSrc/src/main/java/A.java"},
	{command: "gradle build", files: "settings.gradle=includeBuild('build-logic'); " +
		"build-logic/src/main/kotlin/p.gradle.kts=x", swapped: "build-logic/src/main/kotlin/p.gradle.kts"},
	{command: "mvn -f sub install", files: "sub/pom.xml=x", swapped: "sub/pom.xml"},
	{command: "mvn install", files: "pom.xml=<parent><relativePath>../par/p.xml</relativePath></parent>; ../par/p.xml=x",
		swapped: "../par/p.xml"},
	{command: "mvn install", files: "pom.xml=x; .mvn/jvm.config=-javaagent:tools/a.jar; tools/a.jar=x",
		swapped: "tools/a.jar"},
	{command: "mvn install", files: "pom.xml=x; .mvn/maven.config=-s tools/s; tools/s=x", swapped: "tools/s"},
	{command: "mvn install", files: "pom.xml=<workingDirectory>s</workingDirectory><executable>sh</" +
		"executable><argument>q</argument>; s/q=x", swapped: "s/q"},
	{command: "mvn install", files: "pom.xml=<workingDirectory>${project.basedir}/s</workingDirectory><executable>sh</" +
		"executable><argument>q.sh</argument>; s/q.sh=x", swapped: "s/q.sh"},
	// CMake and its like.
	{command: "cmake -B build", files: "CMakeLists.txt=list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/m)|include(x); " +
		"m/x.cmake=x", swapped: "m/x.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=set(CMAKE_MODULE_PATH \"${CMAKE_CURRENT_SOURCE_DIR}/m\" " +
		"${CMAKE_MODULE_PATH})|find_package(Foo); m/FindFoo.cmake=x", swapped: "m/FindFoo.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=list(APPEND CMAKE_MODULE_PATH ${X}/m)|include(x); m/x.cmake=x",
		swapped: "m/x.cmake", named: "what CMakeLists.txt loads"},
	{command: "cmake -B build -DCMAKE_MODULE_PATH=m", files: "CMakeLists.txt=include(x); m/x.cmake=x",
		swapped: "m/x.cmake"},
	{command: "cmake -B build -DFoo_DIR=f", files: "CMakeLists.txt=find_package(Foo); f/FooConfig.cmake=x",
		swapped: "f/FooConfig.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=find_package(Foo CONFIG PATHS f); f/FooConfig.cmake=x",
		swapped: "f/FooConfig.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=find_package(Foo HINTS f NO_DEFAULT_PATH); " +
		"f/lib/cmake/Foo/foo-config.cmake=x", swapped: "f/lib/cmake/Foo/foo-config.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=set(Foo_DIR \"${PROJECT_SOURCE_DIR}/f\")|find_package(Foo); " +
		"f/FooConfig.cmake=x", swapped: "f/FooConfig.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=set(Foo_ROOT f)|find_package(Foo); f/cmake/FooConfig.cmake=x",
		swapped: "f/cmake/FooConfig.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=find_program(T t PATHS tools)|execute_process(COMMAND ${T}); " +
		"tools/t=x", swapped: "tools/t"},
	{command: "cmake -B build", files: "CMakeLists.txt=execute_process(WORKING_DIRECTORY s COMMAND sh q); s/q=x",
		swapped: "s/q"},
	{command: "cmake -B build", files: "CMakeLists.txt=execute_process(COMMAND sh q|WORKING_DIRECTORY " +
		"${CMAKE_SOURCE_DIR}/s); s/q=x", swapped: "s/q"},
	{command: "cmake -B build", files: "CMakeLists.txt=execute_process(COMMAND sh q.sh WORKING_DIRECTORY ${X}); s/q.sh=x",
		swapped: "s/q.sh", named: "what CMakeLists.txt"},
	{command: "cmake -B build", files: "CMakeLists.txt=try_run(R C ${CMAKE_BINARY_DIR} " +
		"${CMAKE_CURRENT_SOURCE_DIR}/t.c); t.c=x", swapped: "t.c"},
	{command: "cmake -B build", files: "CMakeLists.txt=try_run(R C SOURCES t.c); t.c=x", swapped: "t.c"},
	{command: "cmake -B build", files: "CMakeLists.txt=try_run(R C SOURCES ${T}); t.c=x", swapped: "t.c",
		named: "what CMakeLists.txt"},
	{command: "cmake --preset a", files: "CMakeLists.txt=x; CMakePresets.json={\"include\":[\"p/q.json\"]}; " +
		"p/q.json={\"toolchainFile\":\"t\"}; p/t=x", swapped: "p/t"},
	{command: "cmake -B build", files: "CMakeLists.txt=cmake_language(CALL include t); t=x", swapped: "t"},
	{command: "cmake -B build", files: "CMakeLists.txt=set(D sub)|add_subdirectory(${D}); sub/CMakeLists.txt=x",
		swapped: "sub/CMakeLists.txt", named: "what CMakeLists.txt loads"},
	{command: "meson setup b", files: "meson.build=p = find_program('t', dirs: meson.current_source_dir() / " +
		"'tools')|run_command(p); tools/t=x", swapped: "tools/t"},
	{command: "meson setup b", files: "meson.build=run_command('tools/t'); tools/t=x", swapped: "tools/t"},
	{command: "meson setup b", files: "meson.build=x = custom_target('a', command: ['python3', files('g.py')]); g.py=x",
		swapped: "g.py"},
	{command: "bazel build //...", files: "WORKSPACE=x; BUILD=x; .bazelrc=import ${workspace}/rc; rc=x", swapped: "rc"},
	{command: "bazel build //...", files: "WORKSPACE=local_repository(name = \"o\", path = \"../o\"); BUILD=x; " +
		"../o/BUILD=x", swapped: "../o/BUILD"},
	{command: "ninja -C out", files: "out/build.ninja= command = cd ../s && sh q; s/q=x", swapped: "s/q"},
	// Ruby.
	{command: "rake x", files: "Rakefile=autoload :A, \"./t\"; t.rb=x", swapped: "t.rb"},
	{command: "rake x", files: "Rakefile=autoload(:A, File.join(__dir__, 'lib/t')); lib/t.rb=x", swapped: "lib/t.rb"},
	{command: "rake x", files: "Rakefile=require './lib/t'; lib/t.rb=x", swapped: "lib/t.rb"},
	{command: "rake x", files: "Rakefile=$LOAD_PATH.unshift 'lib'|require 'mine/t'; lib/mine/t.rb=x",
		swapped: "lib/mine/t.rb"},
	{command: "rake x", files: "Rakefile=$:.unshift File.expand_path('../tools', __FILE__)|require 't'; tools/t.rb=x",
		swapped: "tools/t.rb"},
	{command: "rake x", files: "Rakefile=$LOAD_PATH << x|require 't'; tools/t.rb=x", swapped: "tools/t.rb",
		named: "what Rakefile loads"},
	{command: "rake -I tools x", files: "Rakefile=require 't'; tools/t.rb=x", swapped: "tools/t.rb"},
	{command: "rake -r ./t x", files: "Rakefile=1; t.rb=x", swapped: "t.rb"},
	{command: "rake x", files: "Rakefile=Dir.chdir('s') { sh 'sh q' }; s/q=x", swapped: "s/q"},
	{command: "rake x", files: "Rakefile=cd 's' do|sh './q.sh'|end; s/q.sh=x", swapped: "s/q.sh"},
	{command: "bundle exec rake x", files: "Gemfile=gem 'a', path: 'g'; Gemfile.lock=x; Rakefile=1; g/lib/a.rb=x",
		swapped: "g/lib/a.rb"},
	{command: "bundle exec rake x", files: "Gemfile=path 'g' do|gem 'a'|end; Gemfile.lock=x; Rakefile=1; g/lib/a.rb=x",
		swapped: "g/lib/a.rb"},
	{command: "vagrant up", files: "Vagrantfile=ansible.playbook = \"p/site\"; p/site=x", swapped: "p/site"},
	{command: "vagrant up", files: "Vagrantfile=c.vm.provision \"chef\" do |x| x.cookbooks_path = \"ck\" end; " +
		"ck/a/recipes/default.rb=x", swapped: "ck/a/recipes/default.rb"},
	// ansible.
	{command: "ansible-playbook site.yml", files: "ansible.cfg=roles_path = r; site.yml=roles: [web]; " +
		"r/web/tasks/main.yml=x", swapped: "r/web/tasks/main.yml"},
	{command: "ansible-playbook site.yml", files: "ansible.cfg=library = mods; site.yml=x; mods/m.py=x",
		swapped: "mods/m.py"},
	{command: "ansible-playbook site.yml", files: "ansible.cfg=filter_plugins = ./fp; site.yml=x; fp/m.py=x",
		swapped: "fp/m.py"},
	{command: "ansible-playbook site.yml", files: "ansible.cfg=x; site.yml=script: s/run.sh; s/run.sh=x",
		swapped: "s/run.sh"},
	{command: "ansible-playbook site.yml", files: "ansible.cfg=inventory = inv; site.yml=x; inv/hosts=x",
		swapped: "inv/hosts"},
	{command: "ansible-playbook -M mods site.yml", files: "site.yml=x; mods/m.py=x", swapped: "mods/m.py"},
	// Terraform.
	{command: "terraform apply", files: "main.tf=resource \"archive_file\" \"z\" {|source_dir = \"fn\"|}; fn/a.py=x",
		swapped: "fn/a.py"},
	{command: "terraform apply", files: "main.tf=data \"archive_file\" \"z\" {|source_dir = \"${path.module}/fn\"|}; " +
		"fn/a.py=x", swapped: "fn/a.py"},
	{command: "terraform apply", files: "main.tf=data \"archive_file\" \"z\" {|source_file = \"fn/bootstrap\"|}; " +
		"fn/bootstrap=x", swapped: "fn/bootstrap"},
	{command: "terraform apply", files: "main.tf=resource \"aws_lambda_function\" \"z\" {|filename = \"fn.zip\"|}; " +
		"fn.zip=x", swapped: "fn.zip"},
	{command: "terraform apply", files: "main.tf=resource \"aws_lambda_function\" \"z\" {|filename = var.zip|}; fn.zip=x",
		swapped: "fn.zip", named: "what main.tf reads"},
	{command: "terraform apply", files: "main.tf=resource \"helm_release\" \"x\" {|chart = \"./ch\"|}; ch/Chart.yaml=x",
		swapped: "ch/Chart.yaml"},
	{command: "terraform apply", files: "main.tf=resource \"helm_release\" \"x\" {|chart = " +
		"\"${path.module}/charts/x\"|}; charts/x/templates/d=x", swapped: "charts/x/templates/d"},
	{command: "terraform apply", files: "main.tf=resource \"aws_s3_object\" \"x\" {|source = \"out/app\"|}; out/app=x",
		swapped: "out/app"},
	{command: "terraform apply", files: "main.tf=provisioner \"file\" {|source = \"conf.bin\"|}; conf.bin=x",
		swapped: "conf.bin"},
	{command: "terraform apply", files: "main.tf=resource \"null_resource\" \"x\" {|provisioner \"local-exec\" " +
		"{|working_dir = \"w\"|command = \"sh q.sh\"|}|}; w/q.sh=x", swapped: "w/q.sh"},
	{command: "terraform -chdir=s apply", files: "s/main.tf=data \"archive_file\" \"z\" {|source_dir = \"fn\"|}; s/fn/a=x",
		swapped: "s/fn/a"},
	{command: "terraform apply", files: "main.tf=module \"m\" { source = \"./mod\" }; mod/x.tf=resource " +
		"\"aws_lambda_function\" \"z\" {|filename = \"fn.zip\"|}; fn.zip=x", swapped: "fn.zip"},
	{command: "terraform apply", files: "main.tf=x; .terraformrc=dev_overrides { \"a/b\" = \"%/prov\" }; " +
		"prov/terraform-provider-b=x", swapped: "prov/terraform-provider-b"},
	{command: "TF_CLI_CONFIG_FILE=rc terraform apply",
		files:   "main.tf=x; rc=dev_overrides {| \"a/b\" = \"%/prov\"|}; prov/terraform-provider-b=x",
		swapped: "prov/terraform-provider-b"},
	{command: "terraform apply", files: "main.tf=x; .terraformrc=credentials_helper \"x\" {}; " +
		".terraform.d/plugins/terraform-credentials-x=x", swapped: ".terraform.d/plugins/terraform-credentials-x"},
	{command: "terraform apply", files: "main.tf=x; .terraformrc=filesystem_mirror { path = \"%/mir\" }; " +
		"mir/p/terraform-provider-b=x", swapped: "mir/p/terraform-provider-b"},
	// Compose and Dockerfiles.
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"./ent:/ent\"]|    entrypoint: /ent; ent=x", swapped: "ent"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"./s:/s:ro\"]|    command: [sh, /s/run]; s/run=x", swapped: "s/run"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes:|      - type: bind|        source: ./s|        target: /s|    command: sh /s/run; s/run=x",
		swapped: "s/run"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"./s:/s\"]|    working_dir: /s|    command: sh run; s/run=x", swapped: "s/run"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"./s:/s\"]|    healthcheck:|      test: [CMD, /s/run]; s/run=x", swapped: "s/run"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"./s:/s\"]|    post_start:|      - command: /s/run; s/run=x", swapped: "s/run"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"./init:/docker-entrypoint-initdb.d\"]; init/a.sh=x", swapped: "init/a.sh"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"${D}:/s\"]|    command: /s/run; s/run=x", swapped: "s/run", named: "compose file"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"volumes: [\"${D:-./s}:/s\"]|    command: /s/run; s/run=x", swapped: "s/run"},
	{command: "docker compose --project-directory s up",
		files: "s/compose.yaml=services:" + folder + "volumes: [\"./e:/e\"]|    entrypoint: /e; s/e=x", swapped: "s/e"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder + "label_file: lf; lf=x", swapped: "lf"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder + "label_file: [lf]; lf=x", swapped: "lf"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder +
		"configs: [c]|configs:|  c:|    file: ./c.bin; c.bin=x", swapped: "c.bin"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder + "provider:|      type: ./prov; prov=x",
		swapped: "prov"},
	{command: "docker compose up", files: "compose.yaml=services:" + folder + "credential_spec:|      file: cs; cs=x",
		swapped: "cs"},
	{command: "docker compose build", files: "compose.yaml=services:|  a:|    build:|      context: .|      " +
		"dockerfile_inline: |FROM nginx:1", named: "."},
	{command: "docker compose watch", files: "compose.yaml=services:|  a:|    build: .|    develop:|      watch:|       " +
		" - path: ./web|          action: sync|          target: /web; web/x.js=x; Dockerfile=FROM a@sha256:01",
		swapped: "web/x.js", named: "what the build"},
	{command: "docker build .", files: "Dockerfile=FROM a@sha256:01|COPY --from=b@sha256:02 /x /x|ADD x.tar /; x.tar=x",
		swapped: "x.tar"},
	{command: "docker build --build-context k=other .", files: "Dockerfile=FROM a@sha256:01|COPY --from=k . .; other/x=x",
		swapped: "other/x", named: "the image k"},
	{command: "docker run -v ./s:/s --entrypoint /s/run a@sha256:01", files: "s/run=x", swapped: "s/run", named: "image"},
	// Clusters.
	{command: "kubectl apply -k o", files: "o/kustomization.yaml=generators: [g.yaml]; " +
		"o/g.yaml=config.kubernetes.io/function: ||  exec:|    path: ../gen; gen=x", swapped: "gen"},
	{command: "kustomize build o", files: "o/kustomization.yaml=transformers: [../t]; t/kustomization.yaml=resources: " +
		"[x]; t/x=v", swapped: "t/x"},
	{command: "kustomize build o", files: "o/kustomization.yaml=helmGlobals:|  chartHome: ../ch|helmCharts:|- name: x; " +
		"ch/x/Chart.yaml=x", swapped: "ch/x/Chart.yaml"},
	{command: "kustomize build o", files: "o/kustomization.yaml=helmCharts:|- name: x|  valuesFile: ../v; v=x",
		swapped: "v"},
	{command: "kustomize build o", files: "o/kustomization.yaml=openapi:|  path: ../s; s=x", swapped: "s"},
	{command: "kustomize build o", files: "o/kustomization.yaml=replacements:|- path: ../r; r=x", swapped: "r"},
	{command: "helm upgrade x ./c --post-renderer ./pr", files: "c/Chart.yaml=x; pr=x", swapped: "pr"},
	{command: "helm upgrade x ./c --set-file k=f.bin", files: "c/Chart.yaml=x; f.bin=x", swapped: "f.bin"},
	{command: "helm upgrade x ./c", files: "c/Chart.yaml=dependencies:|- repository: file://../d; d/Chart.yaml=x",
		swapped: "d/Chart.yaml"},
	{command: "helmfile apply", files: "helmfile.yaml=releases:|- chart: ./c|  values: [v]; v=x; c/Chart.yaml=x",
		swapped: "v"},
	{command: "helmfile apply", files: "helmfile.yaml=releases:|- chart: ./c; c/templates/d.yaml=x",
		swapped: "c/templates/d.yaml"},
	{command: "kubectl get pods", files: ".kube/config=users:|- user:|    exec:|      command: %/tok; tok=x",
		swapped: "tok"},
	{command: "kubectl delete ns x", files: ".kube/config=users:|- user:|    exec:|      command: ../tools/tok; " +
		"tools/tok=x", swapped: "tools/tok"},
	{command: "kubectl delete ns x", files: ".kube/config=users:|- user:|    exec:|      command: tok; bin/tok=x",
		swapped: "bin/tok"},
	{command: "kubectl --kubeconfig kc delete ns x", files: "kc=users:|- user:|    exec:|      command: ./tok; tok=x",
		swapped: "tok"},
	{command: "KUBECONFIG=kc helm upgrade x ./c",
		files: "c/Chart.yaml=x; kc=users:|- user:|    exec:|      command: ./tok; tok=x", swapped: "tok"},
	{command: "kubectl delete ns x", files: ".kube/config=users:|- user:|    exec:|      command: sh|      args: [-c, " +
		"%/tok]; tok=x", swapped: "tok"},
	{command: "kubectl delete ns x", files: ".kube/config=users:|- user:|    auth-provider:|      config:|        " +
		"cmd-path: %/tok; tok=x", swapped: "tok"},
	{command: "kubectl delete ns x", files: ".kube/config=users:|- user:|    tokenFile: tf; .kube/tf=x",
		swapped: ".kube/tf"},
	// Clouds.
	{command: "aws s3 rm s3://b --recursive", files: ".aws/config=[default]|credential_process = %/cp --x; cp=x",
		swapped: "cp"},
	{command: "aws s3 rm s3://b --recursive", files: ".aws/credentials=[default]|credential_process = sh %/cp; cp=x",
		swapped: "cp"},
	{command: "aws s3 rm s3://b --recursive", files: ".aws/config=[default]|credential_process = cp-tool; bin/cp-tool=x",
		swapped: "bin/cp-tool"},
	{command: "AWS_CONFIG_FILE=ac aws s3 rm s3://b", files: "ac=[default]|credential_process = %/cp; cp=x", swapped: "cp"},
	{command: "aws s3 rm s3://b --recursive", files: ".aws/cli/alias=[toplevel]|s3 = !%/al; al=x", swapped: "al"},
	{command: "aws s3 rm s3://b", files: ".aws/config=[plugins]|cli_legacy_plugin_path = %/pl|p = mine; pl/mine.py=x",
		swapped: "pl/mine.py"},
	{command: "terraform apply", files: "main.tf=x; .aws/config=[default]|credential_process = %/cp; cp=x", swapped: "cp"},
	// Runners of others.
	{command: "pre-commit run", files: ".pre-commit-config.yaml=repos:|- repo: ./hooks; " +
		"hooks/.pre-commit-hooks.yaml=entry: x", swapped: "hooks/.pre-commit-hooks.yaml"},
	{command: "task x", files: "Taskfile.yml=dir: d|cmds: [sh q.sh]; d/q.sh=x", swapped: "d/q.sh"},
	{command: "task x", files: "Taskfile.yml=dir: a/b|cmds: [./q.sh]; a/b/q.sh=x", swapped: "a/b/q.sh"},
	{command: "task -d sub x", files: "sub/Taskfile.yml=cmds: [sh q]; sub/q=x", swapped: "sub/q"},
	{command: "mise run x", files: "mise.toml=dir = \"d\"|run = \"sh q.sh\"; d/q.sh=x", swapped: "d/q.sh"},
	{command: "lefthook run x", files: "lefthook.yml=root: d|run: sh q.sh; d/q.sh=x", swapped: "d/q.sh"},
	{command: "invoke x", files: "tasks.py=c.cd(\"d\")|c.run(\"sh q.sh\"); d/q.sh=x", swapped: "d/q.sh"},
	{command: "lerna run x", files: "package.json={}; lerna.json={\"packages\":[\"a\"]}; " +
		"a/package.json={\"scripts\":{\"x\":\"sh ../q\"}}; q=x", swapped: "q"},
}

// The story: a reviewer looked for files that a build finds by a plain name in a folder that
// it is told elsewhere: VPATH, CMAKE_MODULE_PATH, WORKING_DIRECTORY, what a container mounts.
// He swapped them behind the card, and nothing was seen. Now each such folder is looked in.
func TestSearchPathsAndWorkingFolders(t *testing.T) {
	for _, h := range searchHoles {
		t.Run(plainName(h.command+" "+h.files), func(t *testing.T) {
			t.Parallel()
			p := newPlayground(t)
			h.lay(p)
			call := p.call(strings.ReplaceAll(h.command, "%", p.dir))
			before, unbound, err := p.b.Files(t.Context(), call)
			must(t, err)
			if h.named != "" && !strings.Contains(strings.Join(unbound, "\n"), h.named) {
				t.Errorf("%q is not named: %q", h.named, unbound)
			}
			if h.named == "" && unbound != nil {
				t.Errorf("it is named: %q", unbound)
			}
			if h.swapped == "" {
				return
			}
			p.write(h.swapped, "#!/bin/sh\necho swapped\n")
			after, _, err := p.b.Files(t.Context(), call)
			if seen := err == nil && !maps.Equal(before, after); !seen && unbound == nil {
				t.Errorf("HOLE %s | %s: %s was swapped, and nobody sees it: %v", h.command, h.files, h.swapped, err)
			}
		})
	}
}
