//go:build unix

package fingerprint

import (
	"slices"
	"strings"
	"testing"
)

// buildFiles are files of a project that an earlier command of a call may write, and what writes them.
const buildFiles = `package.json={"scripts":{"build":"tsc","gen":"node gen.js","all":"npm run gen",` +
	`"ci":"npm-run-all lint test","lint":"eslint .","test":"jest",` +
	`"pretest":"npm run lint","start":"node dist/a.js","prepare":"husky",` +
	`"copy":"cp t a.sh"}}; gen=` + "\x7fELF" + `; gen.sh=cat t > a.sh; ` +
	`deep.sh=./gen.sh; own.sh=./gen; lint.sh=go vet ./...; ` +
	`test.sh=npm test; cargo/Cargo.toml=x; cargo/build.rs=x; tree.sh=cp -r d e; dist/a.js=x; a.sh=true; b.sh=true; ` +
	`t=x; p=x; app.jar=x; target/a=x; Cargo.toml=x; go.mod=module m; main.go=package main; ` +
	`node_modules/.bin/tsc=x; node_modules/.bin/gen=x; node_modules/.bin/jest=x; g.awk=x; a.c=x; e/a.sh=x; x.sql=x`

// A reviewer got a yes for the session for a build and the program that it makes. He changed a
// source that nothing bound, and the second call built and ran that. Now the card says that
// nobody knows what the program will hold. It does so for own binaries, scripts and what brings
// files from elsewhere, too.
func TestWhatABuildMakesAndTheCallRuns(t *testing.T) {
	for command, file := range map[string]string{
		"npm run build && node dist/a.js": "dist/a.js", "npx tsc && node dist/a.js": "dist/a.js",
		"tsc && node dist/a.js": "dist/a.js", "yarn build && node dist/a.js": "dist/a.js",
		"pnpm run build; node dist/a.js": "dist/a.js", "pnpm exec tsc && node dist/a.js": "dist/a.js",
		"yarn tsc && node dist/a.js": "dist/a.js", "npm run gen && sh a.sh": "a.sh", "npm run all && sh a.sh": "a.sh",
		"npm run copy && sh a.sh": "a.sh", "yarn gen && sh a.sh": "a.sh", "npx esbuild x && node dist/a.js": "dist/a.js",
		"vite build && node dist/a.js": "dist/a.js", "turbo run build && node dist/a.js": "dist/a.js",
		"npx lerna run build && node dist/a.js": "dist/a.js", "webpack && node dist/a.js": "dist/a.js",
		"./gen && sh a.sh": "a.sh", "timeout 5 ./gen; ./a.sh": "a.sh", "sudo ./gen && . ./a.sh": "a.sh",
		"sh -c ./gen && sh a.sh": "a.sh", "f() { ./gen; }; f; sh a.sh": "a.sh", "env X=1 ./gen && sh a.sh": "a.sh",
		"unheard-of && sh a.sh": "a.sh", "uv run x.py && sh a.sh": "a.sh", "find . -exec ./gen {} + && sh a.sh": "a.sh",
		"./gen.sh && sh a.sh": "a.sh", "bash gen.sh && sh a.sh": "a.sh", "source gen.sh && sh a.sh": "a.sh",
		"./deep.sh && sh a.sh": "a.sh", "./own.sh && sh a.sh": "a.sh", "./tree.sh && sh e/a.sh": "e/a.sh",
		"mvn package && java -jar app.jar": "app.jar", "./gradlew build && java -jar app.jar": "app.jar",
		"cmake --build . && ./a.sh": "a.sh", "go generate ./... && sh a.sh": "a.sh", "go run . && sh a.sh": "a.sh",
		"cargo run && sh a.sh": "a.sh", "cd cargo && cargo build && sh ../a.sh": "a.sh", "dotnet build && ./a.sh": "a.sh",
		"awk -f g.awk t; sh a.sh": "a.sh", "hg update && sh a.sh": "a.sh", "svn up && sh a.sh": "a.sh",
		"gh pr checkout 3 && sh a.sh": "a.sh", "docker cp c:/a.sh a.sh && sh a.sh": "a.sh",
		"./gen && sh < a.sh": "a.sh", "./gen && cat a.sh | sh": "a.sh", "./gen && eval \"$(cat a.sh)\"": "a.sh",
		"npx tsc -p test && node dist/a.js": "dist/a.js", "npx tsc --outDir test && node dist/a.js": "dist/a.js",
		"npx gulp clean build && node dist/a.js": "dist/a.js", "npx turbo run build test && node dist/a.js": "dist/a.js",
		"webpack --env test && node dist/a.js": "dist/a.js", "npx vite build --mode test && node dist/a.js": "dist/a.js",
		"npx swc src -d test && node dist/a.js": "dist/a.js", "npx gulp build --noEmit && node dist/a.js": "dist/a.js",
		"npx gulp build --help && node dist/a.js": "dist/a.js", "yarn tsc -p lint && node dist/a.js": "dist/a.js",
		"gradle -x test build && java -jar app.jar": "app.jar", "mvn clean package && java -jar app.jar": "app.jar",
		"hg update stat && sh a.sh": "a.sh", "hg -R log update && sh a.sh": "a.sh",
		"for d in . e; do (cd $d; ./gen); done; sh a.sh": "a.sh", "cd e; ./gen; cd ..; ./gen": "gen",
		"./gen & sleep 1; sh a.sh": "a.sh", "(sleep 1; sh a.sh) & ./gen": "a.sh",
		"for i in 1 2; do sh a.sh; ./gen; done": "a.sh", "while true; do sh a.sh; node gen.js; done": "a.sh",
	} {
		p := newPlayground(t)
		h := hole{files: buildFiles}
		h.lay(p)
		want := "what " + file + " will hold: "
		names := p.unbound(command)
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("%s: %q", command, names)
		}
	}
}

// What runs before a script and does not make it costs no grant.
func TestWhatChecksBeforeAScriptRuns(t *testing.T) {
	for _, command := range []string{
		"npm run build && npm test", "npm ci && npm run build", "npm test && ./a.sh", "npm run lint && ./a.sh",
		"npm run ci && ./a.sh", "npm t && bash a.sh", "yarn test && ./a.sh", "npx jest && ./a.sh", "npx eslint . && ./a.sh",
		"npx tsc --noEmit && ./a.sh", "pytest && ./a.sh", "go test ./... && ./a.sh", "go vet ./... && sh a.sh",
		"go build -o app . && ./a.sh", "go build -o target/a . && ./target/a", "cargo test && ./a.sh",
		"cargo build && ./target/a", "gcc -o p a.c && ./p", "./lint.sh && ./a.sh", "./test.sh && ./a.sh",
		"bash lint.sh && bash test.sh && bash a.sh", "./gen.sh && ./b.sh", "./tree.sh && ./a.sh", "mvn test && ./a.sh",
		"golangci-lint run && ./a.sh", "docker compose ps && ./a.sh", "terraform plan && ./a.sh",
		"kubectl get pods && ./a.sh", "hg status && ./a.sh", "gh pr view 3 && ./a.sh", "awk '{print $1}' t; sh a.sh",
		"sed -n 1p t && sh a.sh", "sh a.sh && ./gen", "for i in 1 2; do sh a.sh; done", "sh a.sh & wait",
		"psql -f x.sql && ./a.sh", "for i in 1 2; do python3 m.py; done", "for i in 1 2; do ./gen; done", "./gen; ./gen",
		"mvn -q test && ./a.sh", "mvn clean test && ./a.sh", "npx turbo run lint test && ./a.sh",
		"tsc -p . --noEmit && ./a.sh",
		"gradle --no-daemon check && ./a.sh", "yarn -s tsc --noEmit && ./a.sh", "dotnet clean && ./a.sh",
		"npx gulp lint && ./a.sh",
		"mkdir -p e && chmod +x a.sh && ./a.sh", "rm -rf dist && ./a.sh", "cat t && sh a.sh", "curl -s http://h/x && ./a.sh",
	} {
		p := newPlayground(t)
		h := hole{files: buildFiles}
		h.lay(p)
		if names := strings.Join(p.unbound(command), "\n"); strings.Contains(names, " will hold") {
			t.Errorf("%s: %q", command, names)
		}
	}
}
