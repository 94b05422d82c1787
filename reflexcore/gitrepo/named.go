package gitrepo

import (
	"path"
	"strings"
)

// This file finds out which hosts a project names: in its remotes, registries, lock files, and in
// what builds, tests and delivers it.

// namingFiles are the files of a project that name its hosts.
var namingFiles = strings.Fields(`
	.gitlab-ci.yml .travis.yml .drone.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml
	.buildkite/pipeline.yml appveyor.yml codecov.yml .codecov.yml Makefile justfile Taskfile.yml Dockerfile
	docker-compose.yml compose.yml docker-compose.prod.yml package.json package-lock.json yarn.lock pnpm-lock.yaml
	.npmrc .yarnrc.yml lerna.json Cargo.toml Cargo.lock .cargo/config.toml pyproject.toml poetry.lock uv.lock setup.cfg
	requirements.txt Pipfile Pipfile.lock go.mod Gemfile Gemfile.lock composer.json composer.lock pom.xml build.gradle
	build.gradle.kts settings.gradle .gitmodules .goreleaser.yml .goreleaser.yaml fly.toml netlify.toml vercel.json
	wrangler.toml skaffold.yaml Capfile config/deploy.rb config/deploy.yml hosts inventory inventory.ini hosts.ini
	ansible/hosts ansible/inventory
`)

// namingFolders are the folders all of whose files name hosts.
var namingFolders = []string{".github/workflows", ".forgejo/workflows", ".gitea/workflows", ".woodpecker"}

// maxNaming limits the files of a folder that are read, and maxNamed the bytes of each.
const (
	maxNaming = 32
	maxNamed  = 1 << 20
)

// Names reports whether the project of a folder names a host. Only files that git has unchanged count:
// what an agent wrote a moment ago names nothing.
func (l *Look) Names(dir, host string) bool {
	r := l.Repository(dir)
	if r == nil || r.Common == "" {
		return false
	}
	host = strings.ToLower(host)
	if l.ComesFrom(dir, host) {
		return true
	}
	if r.Index == nil {
		return false
	}
	for _, name := range namingFiles {
		if l.fileNames(r, name, host) {
			return true
		}
	}
	for _, folder := range namingFolders {
		list := r.Index.below(folder)
		for i := range min(len(list), maxNaming) {
			if l.fileNames(r, list[i].name, host) {
				return true
			}
		}
	}
	return false
}

// ComesFrom reports whether a remote of the project of a folder is on a host.
func (l *Look) ComesFrom(dir, host string) bool {
	r := l.Repository(dir)
	if r == nil || r.Common == "" {
		return false
	}
	host = strings.ToLower(host)
	for _, url := range l.Reader.Remotes(r.Common + "/config") {
		if holdsHost(url, host) {
			return true
		}
	}
	return false
}

// HasRemote reports whether the project of a folder has any remote.
func (l *Look) HasRemote(dir string) bool {
	r := l.Repository(dir)
	return r != nil && r.Common != "" && len(l.Reader.Remotes(r.Common+"/config")) > 0
}

// fileNames reports whether a file that git has unchanged names a host.
func (l *Look) fileNames(r *Repository, name, host string) bool {
	if r.Index.entry(name) == nil {
		return false
	}
	p := path.Join(r.Root, name)
	info, err := l.Reader.Disk.Lstat(p)
	if err != nil || !info.Mode().IsRegular() || !l.unchanged(r, p, info, true) {
		return false
	}
	text, err := l.Reader.Disk.ReadFile(p, maxNamed)
	return err == nil && holdsHost(strings.ToLower(string(text)), host)
}

// holdsHost reports whether a text in lower case has a host's name, and not only as a part of another.
func holdsHost(text, host string) bool {
	for at := 0; host != ""; {
		i := strings.Index(text[at:], host)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(host)
		if (from == 0 || !isHostByte(text[from-1])) && (to == len(text) || !isHostByte(text[to]) ||
			text[to] == '.' && (to+1 == len(text) || !isHostByte(text[to+1]))) {
			return true
		}
		at = to
	}
	return false
}

func isHostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_'
}

// Spend counts one look, and reports whether it is within the limit.
func (b *Budget) Spend() bool {
	b.looked++
	return b.looked <= MaxLooked
}
