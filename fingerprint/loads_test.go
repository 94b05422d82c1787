//go:build unix

package fingerprint_test

// loads are further spellings: what git, interpreters and tools load without a word of
// the command that names it. All of them are in TestWhatLoadsCodeIsBoundOrNamed.
var loads = []spelling{
	{command: "git -c core.hooksPath=hk push", file: "hk/pre-push", more: map[string]string{".git/HEAD": "x"}},
	{command: "GIT_DIR=g git push", file: "g/hooks/pre-push"},
	{command: "git commit -m y", file: "ci.sh",
		more: map[string]string{".git/HEAD": "x", ".git/hooks/pre-commit": "#!/bin/sh\nexec ./ci.sh\n"}},
	{command: "git add .", file: "clean", more: map[string]string{".git/config": "[filter \"f\"]\n\tclean = ./clean " +
		"%f\n"}},
	{command: "git fetch", file: "inc", more: map[string]string{".git/config": "[include]\n\tpath = ../inc\n"},
		before: "[a]\n", after: "[core]\nsshCommand = ./x\n"},
	{command: "git now", file: "now", more: map[string]string{".git/config": "[alias]\n\tnow = !./now\n"}},
	{command: "./t", file: "tools/py", more: map[string]string{"t": "#!./tools/py\nx\n"}, runs: true},
	{command: "java -cp out Main", file: "out/Main.class", before: "a", after: "b"},
	{command: "node app", file: "app.js", before: "a", after: "b"},
	{command: "NODE_OPTIONS='-r ./h' node app.js", file: "h.js", more: map[string]string{"app.js": "x"}, before: "a",
		after: "b"},
	{command: "perl -Ilib -MX -e 1", file: "lib/X.pm", before: "1;", after: "system('touch evil');"},
	{command: "npm run a", file: "t", more: map[string]string{"package.json": `{"scripts":{"a":"npm run b","b":"sh t"}}`}},
	{command: "go run ./x", file: "z/z.go",
		more:   map[string]string{"go.mod": "module m\nreplace z => ./z\n", "x/x.go": "package main\nimport _ \"z\"\n"},
		before: "package z", after: "package  z"},
	{command: "terraform destroy", file: "user-data",
		more: map[string]string{"main.tf": `x = file("${path.module}/user-data")`}, before: "a", after: "b"},
	{command: "RUSTC_WRAPPER=./w cargo build", file: "w", more: map[string]string{"Cargo.toml": "x"}},
	{command: "psql < a.sql", file: "g", more: map[string]string{"a.sql": "\\i g\n"}, before: "a", after: "b"},
	{command: "make -f x", file: "y", more: map[string]string{"x": "include y\n"}, before: "all:\n",
		after: "all:\n\ttouch evil\n"},
	{command: "docker compose up", file: ".docker/cli-plugins/docker-x", more: map[string]string{"compose.yaml": "x: y"}},
	{command: "JAVA_HOME=jdk mvn deploy", file: "jdk/bin/java", more: map[string]string{"pom.xml": "<project/>"}},
	{command: "TF_DATA_DIR=dd terraform plan", file: "dd/environment", more: map[string]string{"main.tf": "x"},
		before: "dev", after: "prod"},
	{command: "LD_LIBRARY_PATH=lib ls -l", file: "lib/libselinux.so.1", before: "a", after: "b"},
	{command: "git push", file: "bin/ssh", more: map[string]string{".git/HEAD": "x", ".git/config": "[a]\n"}},
	{command: "git foo", file: "bin/git-foo", more: map[string]string{".git/HEAD": "x"}},
	{command: "task x", file: "q", more: map[string]string{"Taskfile.yml": "cmds: [sh q]\n"}},
	{command: "kubectl apply -k o", file: "b/d",
		more:   map[string]string{"o/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [d]\n"},
		before: "a: b", after: "a: c"},
	{command: "npm exec -c 'x y'", file: "node_modules/.bin/x", more: map[string]string{"package.json": "{}"}},
	{command: "rake x", file: "tools/x.rb", more: map[string]string{"Rakefile": "require_relative 'tools/x'\n"},
		before: "1", after: "2"},
	{command: "python3 a.py", file: "json.py", more: map[string]string{"a.py": "import json\n"}, before: "1", after: "2"},
	{command: "make all", file: "src/x.sh", more: map[string]string{"Makefile": "VPATH = src\nall: x.sh\n\tsh $<\n"}},
	{command: "docker compose up", file: "ent", more: map[string]string{"compose.yaml": "services:\n  a:\n    " +
		"image: a@sha256:01\n    volumes: [\"./ent:/ent\"]\n    entrypoint: /ent\n"}},
	{command: "terraform apply", file: "fn/a.py", more: map[string]string{"main.tf": "data \"archive_file\" \"z\" {\n" +
		"  source_dir = \"fn\"\n}\n"}, before: "1", after: "2"},
	{command: "rake x", file: "t.rb", more: map[string]string{"Rakefile": "autoload :A, './t'\n"}, before: "1",
		after: "2"},
	{command: "cmake -B build", file: "m/x.cmake", more: map[string]string{"CMakeLists.txt": "list(APPEND " +
		"CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/m)\ninclude(x)\n"}, before: "1", after: "2"},
	{command: "kubectl delete ns x", file: "tok", more: map[string]string{".kube/config": "users:\n- user:\n    exec:\n" +
		"      command: ../tok\n"}},
	{command: "aws s3 rm s3://b", file: "cp", more: map[string]string{".aws/config": "[default]\n" +
		"credential_process = ./cp\n"}},
	{command: "tox", file: "sub/q.sh", more: map[string]string{"tox.ini": "changedir = sub\ncommands = sh q.sh\n"}},
}
