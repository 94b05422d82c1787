//go:build unix

package fingerprint_test

// loads are further spellings: what git, interpreters and tools load without a word of
// the command that names it. All of them are in TestWhatLoadsCodeIsBoundOrNamed.
var loads = []spelling{
	{command: "git -c core.hooksPath=hk push", file: "hk/pre-push", more: map[string]string{".git/HEAD": "x"}},
	{command: "GIT_DIR=g git push", file: "g/hooks/pre-push"},
	{command: "git commit -m y", file: "ci.sh", more: map[string]string{".git/HEAD": "x", ".git/hooks/pre-commit": "#!/bin/sh\nexec ./ci.sh\n"}},
	{command: "git add .", file: "clean", more: map[string]string{".git/config": "[filter \"f\"]\n\tclean = ./clean %f\n"}},
	{command: "git fetch", file: "inc", more: map[string]string{".git/config": "[include]\n\tpath = ../inc\n"}, before: "[a]\n", after: "[core]\nsshCommand = ./x\n"},
	{command: "git now", file: "now", more: map[string]string{".git/config": "[alias]\n\tnow = !./now\n"}},
	{command: "./t", file: "tools/py", more: map[string]string{"t": "#!./tools/py\nx\n"}, runs: true},
	{command: "java -cp out Main", file: "out/Main.class", before: "a", after: "b"},
	{command: "node app", file: "app.js", before: "a", after: "b"},
	{command: "NODE_OPTIONS='-r ./h' node app.js", file: "h.js", more: map[string]string{"app.js": "x"}, before: "a", after: "b"},
	{command: "perl -Ilib -MX -e 1", file: "lib/X.pm", before: "1;", after: "system('touch evil');"},
	{command: "npm run a", file: "t", more: map[string]string{"package.json": `{"scripts":{"a":"npm run b","b":"sh t"}}`}},
	{command: "go run ./x", file: "z/z.go", more: map[string]string{"go.mod": "module m\nreplace z => ./z\n", "x/x.go": "package main\nimport _ \"z\"\n"}, before: "package z", after: "package  z"},
	{command: "terraform destroy", file: "user-data", more: map[string]string{"main.tf": `x = file("${path.module}/user-data")`}, before: "a", after: "b"},
	{command: "RUSTC_WRAPPER=./w cargo build", file: "w", more: map[string]string{"Cargo.toml": "x"}},
	{command: "psql < a.sql", file: "g", more: map[string]string{"a.sql": "\\i g\n"}, before: "a", after: "b"},
	{command: "make -f x", file: "y", more: map[string]string{"x": "include y\n"}, before: "all:\n", after: "all:\n\ttouch evil\n"},
}
