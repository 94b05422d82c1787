package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file names the commands that run code of which nothing was bound. It is the floor
// below all tables: what they do not know of an interpreter or a tool is on the card.

// builders are programs that run or deploy what files say: one of these must be bound.
const builders = "make gmake bmake remake just task go-task mage rake invoke inv fab pre-commit lefthook " +
	"npm pnpm yarn bun lerna nx turbo npm-run-all run-s run-p gulp grunt " +
	"terraform tofu terragrunt packer pulumi cdk cdktf sam serverless sls wrangler fly flyctl vercel netlify " +
	"firebase eb copilot vagrant " +
	"ansible-playbook puppet chef-client chef-solo nixos-rebuild darwin-rebuild home-manager " +
	"docker-compose podman-compose kustomize helmfile skaffold tilt garden devspace earthly " +
	"cargo tox nox poetry pdm hatch flit twine gradle gradlew mvn mvnw sbt ant lein mill bundle rails cap fastlane " +
	"composer artisan mix dotnet msbuild " +
	"xcodebuild cmake ninja meson bazel bazelisk buck buck2 pants goreleaser " +
	"alembic flyway liquibase dbmate goose sqitch knex sequelize dbt run-parts bats"

// building are the subcommands with which further tools do.
var building = map[string]string{
	"docker": "compose build buildx bake stack", "podman": "compose build buildx", "nerdctl": "compose build",
	"buildah": "bud build",
	"kubectl": "apply create replace", "oc": "apply create replace", "helm": "install upgrade template",
	"argocd": "create", "nomad": "run", "gcloud": "deploy submit", "swift": "build run test package",
	"go": "run generate test build install vet", "uv": "run build publish sync", "pipenv": "run sync",
	"nix": "build run develop", "prisma": "migrate db", "npx": "",
}

// idle are subcommands of builders that run nothing of what their files say.
var idle = strings.Fields("version help login logout whoami auth list ls ps logs env cache info doctor " +
	"completion search view show outdated audit status stop down rm kill pause unpause port top images fmt")

// codeless binds what the interpreters and tools of a step load beside what the walk
// says, and names the step if it should have had code and none was bound.
func (p *pass) codeless(i int) {
	st := &p.Steps[i]
	p.on = i
	if len(st.Argv) == 0 || st.Remote || st.Shell || !effect.IsKnown(st.Argv[0]) {
		return
	}
	name, bases := first(st), p.bases(st)
	needs := false
	if l := languageOf(name); l != nil {
		needs = p.interpreted(i, l, bases)
	} else if name == "java" || name == "javaw" {
		needs = p.java(i, bases)
	} else {
		p.loadsBy(i, name, bases)
		needs = builds(name, st.Argv[1:]) && !p.wrapped[i] && !saysAll(name, st.Argv[1:])
	}
	p.compiles(i, bases)
	p.fromFolders(i, name, bases)
	p.enters(i, name)
	p.queries(i, name, bases)
	p.placed(name, p.folderOf(st))
	p.identities(i, name, bases)
	p.fetchesUnpinned(i, name, bases)
	if builds(name, st.Argv[1:]) && !p.wrapped[i] && unknownPlace(st.Argv[1:]) {
		p.unknown(st)
	}
	if needs && !p.coded[i] && !p.fed[i] && !p.wrapped[i] {
		p.named("what %s runs", strings.Join(strings.Fields(st.Command), " "))
	}
}

// folderOf is the folder in which a step runs, or that of the call.
func (p *pass) folderOf(st *shell.Step) string {
	if filepath.IsAbs(st.Dir) && effect.IsKnown(st.Dir) {
		return st.Dir
	}
	return p.call.Dir
}

// builds reports whether a command is one of a builder that must have a file.
func builds(name string, words []string) bool {
	subs, some := building[name]
	if !some && !oneOf(builders, name) {
		return false
	}
	at := slices.IndexFunc(words, operand)
	if at < 0 {
		at = len(words)
	}
	for _, flag := range words[:at] {
		if slices.Contains([]string{"--version", "--help", "-v", "-V", "-h", "-version", "-help"}, flag) {
			return false
		}
	}
	if some {
		return slices.ContainsFunc(words, func(w string) bool { return oneOf(subs, w) }) && !slices.ContainsFunc(words,
			idleWord)
	}
	return at == len(words) || !idleWord(words[at])
}

// places are flags of builders that say where their files lie.
const places = "-C -f --directory --file --makefile --prefix --cwd --dir --chdir -chdir --project-directory " +
	"--manifest-path --taskfile --justfile --working-directory"

// unknownPlace reports whether nobody can tell where a builder finds its files.
func unknownPlace(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		value, is := flagValue(w, places)
		n := slices.Index(words, w)
		if is && value == "" && n+1 < len(words) {
			value = words[n+1]
		}
		return is && !effect.IsKnown(value)
	})
}

func idleWord(word string) bool { return slices.Contains(idle, word) }

// loadedBy are programs that are written in a language: what its variables name is loaded
// into them.
var loadedBy = map[string]string{
	"npm": "node", "npx": "node", "yarn": "node", "pnpm": "node", "jest": "node", "vitest": "node", "mocha": "node",
	"tsc": "node", "eslint": "node", "webpack": "node", "vite": "node", "next": "node", "prettier": "node",
	"pytest": "python", "py.test": "python", "tox": "python", "nox": "python", "pip": "python", "pip3": "python",
	"flask": "python", "django-admin": "python", "alembic": "python", "uv": "python", "poetry": "python",
	"ansible": "python", "ansible-playbook": "python", "celery": "python", "gunicorn": "python", "uvicorn": "python",
	"mypy": "python", "ruff": "python",
	"bundle": "ruby", "rails": "ruby", "rake": "ruby", "rspec": "ruby", "gem": "ruby", "cap": "ruby", "fastlane": "ruby",
	"vagrant": "ruby", "prove": "perl", "cpanm": "perl",
	"mvn": "java", "mvnw": "java", "gradle": "java", "gradlew": "java", "sbt": "java", "ant": "java", "javac": "java",
	"scala": "java", "kotlin": "java",
}

// loadsBy binds what the variables of a program's language load into it.
func (p *pass) loadsBy(i int, name string, bases []string) {
	switch language := loadedBy[name]; language {
	case "":
	case "java":
		coded := p.coded[i]
		for _, value := range append(p.values("CLASSPATH"), p.values("JAVA_TOOL_OPTIONS")...) {
			for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" :=", r) }) {
				p.classes(i, part, bases)
			}
		}
		p.coded[i] = coded
	default:
		l := *languageOf(language)
		l.programs = language
		coded := p.coded[i]
		p.loadsVariables(i, &l, nil, nil, bases)
		p.coded[i] = coded // it is not its own
	}
}

// isCoded notes that a file was bound for a step.
func (p *pass) isCoded(i int, file string) {
	if i < 0 || i >= len(p.coded) || p.coded[i] {
		return
	}
	p.coded[i] = p.out[filepath.Clean(file)] != ""
}

// noted notes that what a step runs has a name.
func (p *pass) noted(i int) {
	if i >= 0 && i < len(p.coded) {
		p.coded[i] = true
	}
}
