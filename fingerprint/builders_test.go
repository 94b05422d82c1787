//go:build unix

package fingerprint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// builderHoles are what build and deploy tools load by names without a folder or an ending,
// by expressions, and from elsewhere.
var builderHoles = []hole{
	// Terraform.
	{command: "terraform plan", files: "main.tf=a = file(join(\"/\",[\"s\",\"x\"])); s/x=v", named: "what main.tf reads"},
	{command: "terraform plan", files: "main.tf=a = file(var.f)", named: "what main.tf reads"},
	{command: "terraform plan", files: "main.tf=a = templatefile(local.t, {})", named: "what main.tf reads"},
	{command: "terraform plan", files: "main.tf=a = file( \"s/${var.e}\" )", named: "what main.tf reads"},
	{command: "terraform plan", files: "main.tf=a = file(\"s\" )|b = fileset(each.key, \"*\"); s=x", swapped: "s",
		named: "what main.tf reads"},
	{command: "terraform plan", files: "main.tf.json={\"a\":\"${file(\\\"s/x\\\")}\"}; s/x=v", swapped: "s/x"},
	{command: "terraform plan", files: "main.tf.json={\"a\":\"${file(var.f)}\"}", named: "what main.tf.json reads"},
	{command: "terraform plan", files: "main.tf=module \"m\" { source = \"../m\" }; ../m/main.tf=x",
		swapped: "../m/main.tf"},
	{command: "terraform init", files: ".terraform.lock.hcl=x; main.tf=module \"m\" {|  source = " +
		"\"hashicorp/consul/aws\"|}", named: "the module hashicorp/consul/aws"},
	{command: "terraform init", files: ".terraform.lock.hcl=x; main.tf=module \"m\" {|  source = " +
		"\"git::https://x.example/m\"|}", named: "the module git::https"},
	{command: "terraform init", files: "main.tf=x", named: "the packages that terraform fetches"},
	{command: "terraform apply", files: "main.tf=provisioner \"local-exec\" { command = \"sh q\" }; q=x", swapped: "q"},
	{command: "terraform apply", files: "main.tf=data \"external\" \"x\" { program = [\"python3\", \"p\"] }; p=x",
		swapped: "p"},
	// Kustomize.
	{command: "kubectl apply -k o", files: "o/kustomization.yaml=resources: [../b]; " +
		"b/kustomization.yaml=resources: [d]; b/d=x", swapped: "b/d"},
	{command: "kubectl apply -k o", files: "o/kustomization.yaml=bases:|- ../b; b/kustomization.yml=x: y",
		swapped: "b/kustomization.yml"},
	{command: "kubectl kustomize o", files: "o/Kustomization=components: [../c]; c/kustomization.yaml=x: y",
		swapped: "c/kustomization.yaml"},
	{command: "kustomize build o", files: "o/kustomization.yaml=patches:|- path: ../p; p=x", swapped: "p"},
	{command: "kustomize build o", files: "o/kustomization.yaml=configMapGenerator:|- files: [k=../f]; f=x", swapped: "f"},
	{command: "kustomize build o", files: "o/kustomization.yaml=secretGenerator:|- envs: [../e]; e=x", swapped: "e"},
	{command: "kubectl apply -k o", files: "o/kustomization.yaml=resources: [https://x.example/k.yaml]",
		named: "what lies at https://x.example/k.yaml"},
	{command: "kubectl apply -k o", files: "o/kustomization.yaml=resources: [", named: "what o/kustomization.yaml names"},
	{command: "kubectl apply -k o", files: "o/kustomization.yaml=resources: [../b]; " +
		"b/kustomization.yaml=resources: [../b2]; b2/kustomization.yaml=resources: [x]; b2/x=v", swapped: "b2/x"},
	// Runners of tasks.
	{command: "task x", files: "Taskfile.yml=cmds: [sh q]; q=x", swapped: "q"},
	{command: "task x", files: "Taskfile.yml=dir: d|cmds: [sh q]; d/q=x", swapped: "d/q"},
	{command: "task x", files: "Taskfile.yml=includes:|  a: sub; sub/Taskfile.yml=cmds: [python3 z]; sub/z=x",
		swapped: "sub/z"},
	{command: "task x", files: "Taskfile.yml=includes:|  a:|    taskfile: '{{.X}}'", named: "what Taskfile.yml loads"},
	{command: "task x", files: "Taskfile.yml=includes:|  a: https://x.example/t.yml", named: "what Taskfile.yml fetches"},
	{command: "task x", files: "Taskfile.yml=dotenv: [envs]; envs=A=b", swapped: "envs"},
	{command: "tox", files: "tox.ini=commands = sh q; q=x", swapped: "q"},
	{command: "nox", files: "noxfile.py=session.run(\"sh\", \"q\"); q=x", swapped: "q"},
	{command: "nox", files: "noxfile.py=import helpers; helpers.py=x", swapped: "helpers.py"},
	{command: "nox", files: "noxfile.py=importlib.import_module(x)", named: "what noxfile.py loads"},
	{command: "pre-commit run", files: ".pre-commit-config.yaml=entry: sh q; q=x", swapped: "q"},
	{command: "invoke x", files: "tasks.py=from lib.deploy import x; lib/deploy.py=x", swapped: "lib/deploy.py"},
	{command: "fab x", files: "fabfile.py=exec(open(\"more\").read()); more=x", swapped: "more"},
	{command: "fab x", files: "fabfile.py=exec(open(n).read())", named: "what fabfile.py loads"},
	{command: "rake x", files: "Rakefile=require_relative 'tools/x'; tools/x.rb=v", swapped: "tools/x.rb"},
	{command: "rake x", files: "Rakefile=load File.join(__dir__, 'more'); more=v", swapped: "more"},
	{command: "rake x", files: "Rakefile=require_relative File.expand_path('../more', __FILE__); more.rb=v",
		swapped: "more.rb"},
	{command: "rake x", files: "Rakefile=import \"lib/#{name}\"", named: "what Rakefile loads"},
	{command: "rake x", files: "Rakefile=Dir['t/*'].each { |f| load f }", named: "what Rakefile loads"},
	{command: "rake x", files: "Rakefile=sh 'sh q'; q=x", swapped: "q"},
	{command: "vagrant up", files: "Vagrantfile=c.vm.provision \"shell\", path: \"p\"; p=x", swapped: "p"},
	{command: "vagrant up", files: "Vagrantfile=load ENV['X']", named: "what Vagrantfile loads"},
	{command: "mage x", files: "go.mod=module m; magefile.go=package main|import _ \"m/lib\"; lib/l.go=package lib",
		swapped: "lib/l.go"},
	// Builds.
	{command: "gradle build", files: "build.gradle=apply from: 'q'; q=x", swapped: "q"},
	{command: "gradle build", files: "build.gradle=apply from: \"$rootDir/g/q.gradle\"; g/q.gradle=x",
		swapped: "g/q.gradle"},
	{command: "gradle build", files: "build.gradle.kts=apply(from = \"g/q.kts\"); g/q.kts=x", swapped: "g/q.kts"},
	{command: "gradle build", files: "build.gradle=apply from: file(x)", named: "what build.gradle loads"},
	{command: "gradle build", files: "settings.gradle=includeBuild 'other'; other/build.gradle=x",
		swapped: "other/build.gradle"},
	{command: "gradle build", files: "build.gradle=apply from: 'https://x.example/x.gradle'",
		named: "what lies at https://x.example/x.gradle"},
	{command: "mvn install", files: "../pom.xml=x; pom.xml=<parent></parent>", swapped: "../pom.xml"},
	{command: "ant", files: "build.xml=<import file=\"q.xml\"/>; q.xml=x", swapped: "q.xml"},
	{command: "ant", files: "build.xml=<import file=\"${x}/q.xml\"/>", named: "what build.xml loads"},
	{command: "cmake -B build", files: "CMakeLists.txt=add_subdirectory(sub); sub/CMakeLists.txt=x",
		swapped: "sub/CMakeLists.txt"},
	{command: "cmake -B build", files: "CMakeLists.txt=include(mod); cmake/mod.cmake=x", swapped: "cmake/mod.cmake"},
	{command: "cmake -B build", files: "CMakeLists.txt=include(${CMAKE_CURRENT_SOURCE_DIR}/m); m=x", swapped: "m"},
	{command: "cmake -B build", files: "CMakeLists.txt=include(${X})", named: "what CMakeLists.txt loads"},
	{command: "cmake -B build", files: "CMakeLists.txt=FetchContent_Declare(x GIT_REPOSITORY y)",
		named: "what CMakeLists.txt fetches"},
	{command: "cmake -B build", files: "CMakeLists.txt=execute_process(COMMAND sh q); q=x", swapped: "q"},
	{command: "cmake --build build", files: "build/Makefile=x; CMakeLists.txt=x", swapped: "build/Makefile"},
	{command: "cmake --build build", files: "build/build.ninja=x; CMakeLists.txt=x", swapped: "build/build.ninja"},
	{command: "cmake --build build", files: "build/CMakeFiles/app.dir/build.make=x; build/Makefile=x",
		swapped: "build/CMakeFiles/app.dir/build.make"},
	{command: "ninja", files: "build.ninja= command = sh q; q=x", swapped: "q"},
	{command: "ninja", files: "build.ninja=subninja r; r=x", swapped: "r"},
	{command: "ninja", files: "build.ninja=include $d/r", named: "what build.ninja loads"},
	{command: "ninja -f b", files: "b=command = sh q; q=x", swapped: "q"},
	{command: "meson setup b", files: "meson.build=subdir('sub'); sub/meson.build=x", swapped: "sub/meson.build"},
	{command: "meson setup b", files: "meson.build=subdir(x)", named: "what meson.build loads"},
	{command: "meson setup b", files: "meson.build=run_command('sh', 'q'); q=x", swapped: "q"},
	{command: "bazel run //sub:x", files: "BUILD=x; sub/BUILD=x", swapped: "sub/BUILD"},
	{command: "bazel build //...", files: "BUILD=load(\"//t:x.bzl\", \"x\"); t/x.bzl=x", swapped: "t/x.bzl"},
	{command: "scons", files: "SConstruct=SConscript(\"sub/s\"); sub/s=x", swapped: "sub/s"},
	{command: "sbt run", files: "build.sbt=x; project/plugins.sbt=x", swapped: "project/plugins.sbt"},
	// Deploy tools.
	{command: "packer build x.pkr.hcl", files: "x.pkr.hcl=script = \"q\"; q=x", swapped: "q"},
	{command: "pulumi up", files: "Pulumi.yaml=main: src; src/index.ts=x", swapped: "src/index.ts"},
	{command: "cdk deploy", files: "cdk.json={\"app\": \"python3 app.py\"}; app.py=x", swapped: "app.py"},
	{command: "serverless deploy", files: "serverless.yml=x; src/handler.js=x", swapped: "src/handler.js"},
	{command: "skaffold run", files: "skaffold.yaml=x", named: "what the images of skaffold are made of"},
	{command: "ansible-playbook sub/p.yml", files: "sub/p.yml=x; sub/roles/web/tasks/main.yml=x",
		swapped: "sub/roles/web/tasks/main.yml"},
	{command: "ansible-playbook p.yml", files: "p.yml=- script: q; files/q=x", swapped: "files/q"},
	{command: "ansible-playbook p.yml", files: "p.yml=x; filter_plugins/f.py=x", swapped: "filter_plugins/f.py"},
	{command: "ansible-playbook p.yml", files: "p.yml=x; ansible.cfg=inventory = inv; inv=x", swapped: "inv"},
	// Packages that nothing pins.
	{command: "pip install -r requirements.txt", files: "requirements.txt=a==1", swapped: "requirements.txt",
		named: "the packages of requirements.txt"},
	{command: "pip install -rreq", files: "req=-r more; more=a", swapped: "more", named: "the packages of more"},
	{command: "python3 -m pip install -r req", files: "req=a", swapped: "req", named: "the packages of req"},
	{command: "pip install --requirement=req", files: "req=a==1 --hash=sha256:1|b", named: "the packages of req"},
	{command: "pip install -r $X", named: "which no hash pins"},
	{command: "pip install -e .", files: "setup.py=setup(install_requires=['a'])", named: "the packages that . needs"},
	{command: "npm ci", files: "package.json={}", named: "the packages that npm fetches without a lock file"},
	{command: "npm install", files: "package.json={}", named: "without a lock file"},
	{command: "yarn", files: "package.json={}", named: "without a lock file"},
	{command: "pnpm i", files: "package.json={}", named: "without a lock file"},
	{command: "bundle install", files: "Gemfile=x", named: "without a lock file"},
	{command: "bundle", files: "Gemfile=x", named: "without a lock file"},
	{command: "composer install", files: "composer.json={}", named: "without a lock file"},
	{command: "composer require a/b", files: "composer.json={}; composer.lock=x", named: "without a lock file"},
	{command: "uv sync", files: "pyproject.toml=x", named: "without a lock file"},
	{command: "poetry install", files: "pyproject.toml=x", named: "without a lock file"},
	// npm exec.
	{command: "npm exec -c \"x y\"", files: "package.json={}; node_modules/.bin/x=v", swapped: "node_modules/.bin/x"},
	{command: "npm exec --call='x y'", files: "package.json={}; node_modules/.bin/x=v", swapped: "node_modules/.bin/x"},
	{command: "npx -c 'sh q'", files: "package.json={}; q=v", swapped: "q"},
	// Scripts that read what they use.
	{command: "./t", files: "t=#!/bin/sh|. /dev/stdin < f; f=x", swapped: "f"},
	{command: "./t", files: "t=#!/bin/sh|read C < ctx|kubectl --context $C delete pod x; ctx=x", swapped: "ctx"},
	{command: "./t", files: "t=#!/bin/sh|while read c|do kubectl delete pod $c|done < list; list=x", swapped: "list"},
	{command: "./t", files: "t=#!/bin/bash|mapfile -t A < list|\"${A[@]}\"; list=x", swapped: "list"},
	{command: "./t", files: "t=#!/bin/bash|readarray -t A < list|kubectl delete \"${A[@]}\"; list=x", swapped: "list"},
	{command: "read C < ctx; kubectl --context $C delete pod x", files: "ctx=x", swapped: "ctx"},
	// A file that a rule makes, and that is executed.
	{command: "make x", files: "Makefile=x: z|\tsh z|z: z.in|\tcp z.in z; z.in=v", swapped: "z.in"},
	{command: "make x", files: "Makefile=x: z|\t./z|z: z.src gen|\tsh gen; z.src=v; gen=v", swapped: "z.src"},
	// Settings of go that put other files in place.
	{command: "go run -overlay o.json .", files: "go.mod=module m; main.go=package main; o.json={}", swapped: "o.json",
		named: "the overlay o.json"},
	{command: "go build -overlay=o.json .", files: "go.mod=module m; main.go=package main; o.json={}",
		named: "the overlay o.json"},
	{command: "go run -mod=vendor .", files: "go.mod=module m; main.go=package main|import _ \"a.b/c\"; " +
		"vendor/modules.txt=x; vendor/a.b/c/c.go=package c", swapped: "vendor/a.b/c/c.go"},
	{command: "GOFLAGS=-overlay=o.json go build .", files: "go.mod=module m; main.go=package main; o.json={}",
		named: "the overlay o.json"},
}

// The story: a reviewer put other code where build tools load it by a name without an ending,
// by an expression, or from elsewhere, behind the card. It ran, and no card had a word of it.
func TestWhatBuildToolsLoadIsBoundOrNamed(t *testing.T) { holesAreClosed(t, builderHoles) }

// A module beside a script of Python goes before the one of the standard library.
func TestShadowingModulesOfPythonAreBound(t *testing.T) {
	for _, c := range []struct{ command, files, swapped string }{
		{"python3 a.py", "a.py=import json", "json.py"},
		{"python3 s/a.py", "s/a.py=import json", "s/json.py"},
		{"python3 a.py", "a.py=import json", "re.py"},
		{"python3 a.py", "a.py=import json", "json/__init__.py"},
		{"python3 a.py", "a.py=import json", "json.so"},
		{"python3 a.py", "a.py=import json", "json.cpython-312-x86_64-linux-gnu.so"},
		{"python3 -c 'import json'", "x=", "json.py"},
		{"python3 -c 'print(1)'", "x=", "encodings/__init__.py"},
		{"python3 - < x", "x=import os", "os.py"},
		{"python3 a.py", "a.py=x", "sitecustomize.py"},
		{"python3 a.py", "a.py=x", "usercustomize.py"},
		{"python3 -m http.server", "x=", "socketserver.py"},
		{"python3.12 a.py", "a.py=x", "subprocess.py"},
		{"python a.py", "a.py=x", "random.pyc"},
		{"./a.py", "a.py=#!/usr/bin/env python3|import json", "json.py"},
		{"cd s && python3 a.py", "s/a.py=x", "s/os.py"},
		{"./t", "t=#!/bin/sh|python3 a.py; a.py=x", "json.py"},
		{"make", "Makefile=all:|\tpython3 a.py; a.py=x", "json.py"},
		{"venv/bin/python a.py", "venv/pyvenv.cfg=x; venv/bin/python=x; a.py=x; venv/lib/python3.12/site-packages/x=",
			"venv/lib/python3.12/site-packages/e.pth"},
		{"venv/bin/python -c 1", "venv/pyvenv.cfg=x; venv/bin/python=x; venv/lib/python3.12/site-packages/x=",
			"venv/lib/python3.12/site-packages/sitecustomize.py"},
		{"python3 a.py", "a.py=x", ".local/lib/python3.12/site-packages/usercustomize.py"},
	} {
		p := newPlayground(t)
		h := hole{files: c.files}
		h.lay(p)
		before := p.of(c.command)
		p.write("other.py", "v1")
		if !maps.Equal(before, p.of(c.command)) {
			t.Errorf("%s: a module that shadows nothing counts", c.command)
		}
		p.write(c.swapped, "v1")
		if maps.Equal(before, p.of(c.command)) {
			t.Errorf("%s: %s appeared, and nobody sees it", c.command, c.swapped)
		}
	}
}

// What is pinned, or plain, has no name.
func TestOrdinaryBuildsAreNotNamed(t *testing.T) {
	for _, h := range []hole{
		{command: "pip install -r requirements.txt", files: "requirements.txt=# note|a==1 \\|  " +
			"--hash=sha256:1|--index-url https://x.example||-r more; more=b==1 --hash=sha256:2"},
		{command: "pip install --no-deps -e .", files: "setup.py=x"},
		{command: "npm ci", files: "package.json={}; package-lock.json={}"},
		{command: "cd pk && npm ci", files: ".git/HEAD=x; package.json={}; pk/package.json={}; package-lock.json={}"},
		{command: "npm test", files: "package.json={\"scripts\":{\"test\":\"true\"}}"},
		{command: "bundle install", files: "Gemfile=source 'x'|gem 'a'; Gemfile.lock=x"},
		{command: "bundle exec rake x", files: "Gemfile=x; Rakefile=require 'rake/testtask'|require_relative " +
			"'config/application'|Rails.application.load_tasks"},
		{command: "terraform init", files: ".terraform.lock.hcl=x; main.tf=module \"m\" { source = \"./m\" " +
			"}|terraform { required_providers { a = { source = \"hashicorp/aws\" } } }; m/main.tf=x"},
		{command: "terraform plan", files: "main.tf=# file(var.x)|a = file(\"${path.module}/s\"); s=x"},
		{command: "cmake -B build",
			files: "CMakeLists.txt=project(x)|include(GNUInstallDirs)|include(CTest)|add_subdirectory(src)|" +
				"find_package(Threads); src/CMakeLists.txt=x"},
		{command: "gradle build", files: "build.gradle=plugins { id 'java' }|apply plugin: 'x'|dependencies { " +
			"implementation 'a:b:1' }; settings.gradle=include ':app'; app/build.gradle=x"},
		{command: "task build", files: "Taskfile.yml=tasks:|  build:|    dir: src|    cmds: [go build -o '{{.OUT}}' " +
			".]; src/x=y"},
		{command: "tox", files: "tox.ini=[testenv]|commands = pytest tests; tests/test_x.py=x"},
		{command: "meson setup b", files: "meson.build=project('x', 'c')|executable('a', 'a.c')"},
		{command: "ansible-playbook -i hosts site.yml", files: "site.yml=- hosts: all|  roles: [web]; hosts=x; " +
			"roles/web/tasks/main.yml=x"},
		{command: "kubectl apply -k o", files: "o/kustomization.yaml=resources: [d.yaml]|images:|- name: x|  newTag: " +
			"\"1\"; o/d.yaml=x"},
	} {
		p := newPlayground(t)
		h.lay(p)
		if names := p.unbound(h.command); len(names) > 0 {
			t.Errorf("%s: %q", h.command, names)
		}
	}
}

// FuzzBuildFiles: whatever a build file is, it is read to its end, twice the same way.
func FuzzBuildFiles(f *testing.F) {
	commands := []string{
		"terraform plan", "kubectl apply -k .", "pip install -r req", "cmake -B build", "rake x", "gradle build", "nox",
		"ninja", "task x", "kubectl get pods", "aws s3 ls", "ansible-playbook site.yml", "nx run a:b", "pnpm -r run a",
		"pytest", "bundle exec rake x", "helmfile apply", "terraform apply", "cargo build", "tox", "docker compose up",
	}
	files := []string{
		"main.tf", "kustomization.yaml", "req", "CMakeLists.txt", "Rakefile", "build.gradle", "noxfile.py", "build.ninja",
		"Taskfile.yml", ".kube/config", ".aws/config", "ansible.cfg", "nx.json", "pnpm-workspace.yaml", "pytest.ini",
		"Gemfile", "helmfile.yaml", ".terraformrc", ".cargo/config.toml", "tox.ini", "compose.yaml",
	}
	for _, h := range append(slices.Clone(builderHoles), searchHoles...) {
		for file := range strings.SplitSeq(h.files, "; ") {
			name, text, _ := strings.Cut(file, "=")
			f.Add(uint8(max(slices.Index(files, name), 0)), strings.ReplaceAll(text, "|", "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		n := int(which) % len(files)
		p := newPlayground(t)
		p.write(files[n], text)
		if files[n] == "nx.json" {
			p.write("a/project.json", text)
		}
		bound, unbound, err := p.b.Files(t.Context(), p.call(commands[n]))
		again, namedAgain, errAgain := p.b.Files(t.Context(), p.call(commands[n]))
		if (err == nil) != (errAgain == nil) || !maps.Equal(bound, again) || !slices.Equal(unbound, namedAgain) {
			t.Errorf("%s: %q, %q, %v, %v", commands[n], unbound, namedAgain, err, errAgain)
		}
		if err == nil && bound[p.path(files[n])] == "" {
			t.Errorf("%s: %s is not bound", commands[n], files[n])
		}
	})
}
