//go:build unix

package fingerprint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"approver.example"
)

// project is what an ordinary project has.
var project = map[string]string{
	"Makefile": "CC = gcc\nOBJ = main.o\n-include *.d\nall: $(OBJ)\n\t$(CC) -o app $(OBJ)\n%.o: %.c\n\t$(CC) " +
		"-MMD -c $<\ntest: all\n\t./scripts/test.sh\ndeploy:\n\t./scripts/deploy.sh\n",
	"main.c":            "int main() {}\n",
	"main.d":            "main.o: main.c\n",
	"scripts/test.sh":   "#!/usr/bin/env bash\nset -e\ncd \"$(dirname \"$0\")/..\"\ngo test ./...\n",
	"scripts/deploy.sh": "#!/bin/sh\nkubectl apply -f k8s/\n",
	"package.json": `{"scripts":{"test":"jest --ci","build":"tsc && node build.js","lint":"eslint ` +
		`.","ci":"npm-run-all lint test","prebuild":"npm run lint"}}`,
	"package-lock.json":     `{"lockfileVersion":3}`,
	"build.js":              "x",
	"node_modules/.bin/tsc": "#!/usr/bin/env node\nx\n", "node_modules/.bin/jest": "#!/usr/bin/env node\nx\n",
	"node_modules/dotenv/package.json": `{"main":"lib/main.js"}`, "node_modules/dotenv/lib/main.js": "x",
	"node_modules/dotenv/config.js": "x",
	"go.mod":                        "module example.com/m\n\ngo 1.26\n",
	"main.go":                       "package main\n\nimport _ \"example.com/m/lib\"\n", "lib/lib.go": "package lib\n",
	"Cargo.toml": "[package]\nname = \"x\"\n", "Cargo.lock": "x", "src/main.rs": "fn main() {}\n",
	"main.tf": "resource \"x\" \"y\" { user_data = file(\"${path.module}/init.sh\") }\n", "init.sh": "#!/bin/sh\n",
	".terraform.lock.hcl": "x",
	"compose.yaml": "services:\n  web:\n    image: nginx@sha256:0123456789\n    env_file: .env\n    volumes: " +
		"[\"./data:/data\"]\n", ".env": "A=b\n",
	"Dockerfile": "FROM x@sha256:0123456789\nCOPY . .\n", ".dockerignore": "node_modules\n.git\ntarget\n",
	"k8s/a.yaml": "kind: Pod\n", "chart/Chart.yaml": "name: x\n", "values.yaml": "a: b\n",
	"site.yml": "- hosts: all\n", "hosts": "x\n", "manage.py": "x\n", "app.py": "x\n", "a.rb": "x\n", "conftest.py": "x\n",
	"tests/test_x.py": "def test_x(): pass\n", "pyproject.toml": "[project]\n",
	".git/HEAD": "ref: refs/heads/main\n",
	".git/config": "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = " +
		"git@x.example:a/b.git\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n",
	".git/hooks/pre-commit.sample": "#!/bin/sh\n", ".git/hooks/pre-commit": "#!/bin/sh\nexec ./scripts/lint.sh\n",
	"scripts/lint.sh": "#!/bin/sh\ngo vet ./...\n", ".husky/pre-push": "make lint\n",
	"build.gradle": "x\n", "settings.gradle": "include ':app'\n", "app/build.gradle": "x\n", "gradlew": "#!/bin/sh\n",
	"pom.xml": "<project/>", "mvnw": "#!/bin/sh\n",
	"m.sql": "select 1;\n", "out/Main.class": "x", "app.jar": "x", "Rakefile": "task :x\n", "Gemfile": "x\n",
	"justfile": "test:\n\ttrue\n", "tox.ini": "[tox]\n", "x.pl": "x\n",
	"dev.yaml": "services:\n  a:\n    image: a@sha256:01\n    command: sh /app/run\n    volumes: [\"./scripts:/app\", " +
		"\"./pg:/pg\"]\n",
	"vpath.mk": "VPATH = lib\nall: lib.go\n\tcat $<\n", "kc": "users:\n- user:\n    exec:\n      command: true\n",
	"CMakeLists.txt": "list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake " +
		"${CMAKE_BINARY_DIR})\ninclude(GNUInstallDirs)\n", "cmake-build/CMakeCache.txt": "x\n", "Taskfile.yml": "x: y\n",
	"alembic.ini": "x\n", "schema.rb": "x\n",
}

// Honest repeats: what an agent runs again and again, and what changes from one time to
// the next because it ran.
var repeats = []struct{ command, changes string }{
	{"make", "main.o new.d"},
	{"make all", "main.d prog"},
	{"make -j8 test", "new.d"},
	{"make deploy", "build.log"},
	{"npm test", "coverage/lcov.info junit.xml"},
	{"npm run build", "dist/app.js tsconfig.tsbuildinfo"},
	{"npm run ci", "coverage/x"},
	{"npm ci", "node_modules/x/index.js node_modules/.package-lock.json"},
	{"npm install", "node_modules/x/index.js"},
	{"yarn build", "dist/app.js"},
	{"node build.js", "dist/app.js"},
	{"node -r dotenv/config build.js", "dist/app.js"},
	{"NODE_ENV=production node build.js", "dist/app.js"},
	{"go test ./...", "c.out"},
	{"go test -coverprofile=c.out ./...", "c.out"},
	{"go build -o bin/app .", "bin/app"},
	{"go run .", "x.db"},
	{"go vet ./lib", "other.txt"},
	{"cargo build", "target/debug/app target/debug/app.d"},
	{"cargo test --release", "target/release/app"},
	{"terraform plan", "terraform.tfstate"},
	{"terraform plan -out=tfplan", "tfplan"},
	{"terraform plan -out=tfplan && terraform apply tfplan", "tfplan terraform.tfstate"},
	{"docker compose exec web sh -c ls", "data/x"},
	{"docker compose -f dev.yaml up -d", "pg/base/1 dev.log"},
	{"make -f vpath.mk", "src.o"},
	{"pytest tests", "tests/__pycache__/test_x.pyc .pytest_cache/y other.txt"},
	{"kubectl --kubeconfig kc apply -f k8s/", "other.txt"},
	{"aws s3 sync dist s3://b", ".aws/sso/cache/x .aws/credentials"},
	{"cmake -B cmake-build", "cmake-build/x.o"},
	{"bundle exec rake x", "log/y.log"},
	{"terraform apply -auto-approve", "terraform.tfstate terraform.tfstate.backup"},
	{"docker compose up -d", "data/db.sqlite"},
	{"docker compose up", "data/x"},
	{"docker compose down", "data/x"},
	{"docker compose logs web", "other.txt"},
	{"docker build -t x .", "app.log"},
	{"kubectl apply -f k8s/", "other.txt"},
	{"kubectl rollout restart deploy/web", "other.txt"},
	{"helm upgrade --install x ./chart -f values.yaml", "other.txt"},
	{"ansible-playbook -i hosts site.yml", "site.retry"},
	{"pytest", ".pytest_cache/x tests/__pycache__/x.pyc"},
	{"pytest -q tests/ --junitxml=r.xml", "r.xml"},
	{"python3 -m pytest", ".coverage"},
	{"python3 manage.py migrate", "db.sqlite3"},
	{"PYTHONPATH=lib python3 app.py", "lib/x.txt"},
	{"git commit -am wip", ".git/index .git/COMMIT_EDITMSG .git/logs/HEAD .git/refs/heads/main"},
	{"git push --force", ".git/refs/remotes/origin/main .git/index"},
	{"git push origin main", ".git/packed-refs"},
	{"git pull --rebase", ".git/FETCH_HEAD .git/ORIG_HEAD"},
	{"git -c user.name=x commit -m y", ".git/index"},
	{"git checkout main", ".git/index lib/other.txt"},
	{"git merge x", ".git/MERGE_HEAD"},
	{"./gradlew build", "build/libs/x.jar"},
	{"./mvnw deploy", "target/x.jar"},
	{"psql -f m.sql", "other.txt"},
	{"psql -c 'delete from t'", "other.txt"},
	{"sqlite3 x.db 'delete from t'", "y"},
	{"java -jar app.jar", "x.log"},
	{"java -cp out Main", "x.txt"},
	{"ruby a.rb", "other.txt"},
	{"perl -ne 'print' x.txt", "y"},
	{"perl x.pl", "y"},
	{"rake x", "log/x.log"},
	{"just test", "other.txt"},
	{"tox", ".tox/x"},
	{"cmake --build cmake-build", "cmake-build/app"},
	{"task x", "other.txt"},
	{"bash scripts/deploy.sh", "x.log"},
	{"./scripts/test.sh && git push", "c.out .git/index"},
	{"python3 -c 'print(1)'", "other.txt"},
	{"python3 - <<'E'\nprint(1)\nE", "other.txt"},
	{"node -e 'console.log(1)'", "other.txt"},
}

// Ada says yes for the session. What runs then writes its output, and changes nothing
// that decides what runs the next time: it runs again without a card.
func TestHonestRepeatsKeepTheirGrant(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	t.Parallel()
	h := newFixture(t)
	for name, text := range project {
		h.write(name, text)
		if !strings.HasPrefix(text, "#!") {
			must(t, os.Chmod(filepath.Join(h.dir, name), 0o644))
		}
	}
	for _, c := range repeats {
		h.session = uuid.NewString()
		answer := h.asks(c.command)
		card, asked, v := h.card(answer)
		if !asked {
			t.Errorf("%s: nobody was asked: %+v", c.command, v)
			continue
		}
		if out := h.says(card, true, approver.Term{Session: true}); out.Kind != approver.OutcomeApproved {
			t.Errorf("%s: the card says %q, and a yes for the session: %+v", c.command, warned(card), out)
			h.says(card, false, approver.Term{})
		}
		<-answer
		for _, name := range strings.Fields(c.changes) {
			text := uuid.NewString()
			if strings.HasSuffix(name, ".d") {
				text = "main.o: main.c \\\n  lib/x.h\nlib/x.h:\n"
			}
			h.write(name, text)
			must(t, os.Chmod(filepath.Join(h.dir, name), 0o644))
		}
		answer = h.asks(c.command)
		if card, asked, _ := h.card(answer); asked {
			t.Errorf("%s: %s changed, and people are asked again", c.command, c.changes)
			h.says(card, false, approver.Term{})
			<-answer
		}
	}
}
