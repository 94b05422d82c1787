package fingerprint

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// This file reports commands that run code of which nothing was bound. So if the tables
// miss a feature of an interpreter or a tool, the card shows it.

// builders are programs that build or deploy from files: at least one file must be bound.
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

// building are the subcommands with which further tools build or deploy from files.
var building = map[string]string{
	"docker": "compose build buildx bake stack", "podman": "compose build buildx", "nerdctl": "compose build",
	"buildah": "bud build",
	"kubectl": "apply create replace", "oc": "apply create replace", "helm": "install upgrade template",
	"argocd": "create", "nomad": "run", "gcloud": "deploy submit", "swift": "build run test package",
	"go": "run generate test build install vet", "uv": "run build publish sync", "pipenv": "run sync",
	"nix": "build run develop", "prisma": "migrate db", "npx": "",
}

// idle are subcommands of builders that run nothing from their files.
var idle = strings.Fields("version help login logout whoami auth list ls ps logs env cache info doctor " +
	"completion search view show outdated audit status stop down rm kill pause unpause port top images fmt")

// bindCode binds the files that the interpreters and tools of a step load by themselves.
// It reports the step if it needs code and none was bound.
func (p *pass) bindCode(i int) {
	st := &p.Steps[i]
	p.step = i
	if len(st.Argv) == 0 || st.Remote || st.Shell || !effect.IsKnown(st.Argv[0]) {
		return
	}
	c := &p.commands[i]
	r := reading{p.reader, c, first(st), p.workDirs(st)}
	needs := false
	if l := languageOf(r.name); l != nil {
		needs = interpreterReader{r, l}.bind()
	} else if r.name == "java" || r.name == "javaw" {
		needs = javaReader{r}.bind()
	} else {
		r.bindLanguageVariables()
		needs = builds(r.name, st.Argv[1:]) && !c.wrapped && !saysAll(r.name, st.Argv[1:])
	}
	if oneOf("rustc rustdoc", r.name) {
		rustReader{r}.bind()
	}
	cReader{r}.bind()
	clusterReader{r}.fromFolders()
	clusterReader{r}.nameEntered()
	if words := queriers[r.name]; words != nil {
		queryReader{r, words}.bind(p.readBy(i))
	}
	p.bindPlacings(r.name, p.folderOf(st))
	credentialsReader{r}.bind()
	requirementsReader{r}.bind()
	if builds(r.name, st.Argv[1:]) && !c.wrapped && unknownPlace(st.Argv[1:]) {
		p.unboundCommand(st)
	}
	if needs && !c.hasCode && !c.fed && !c.wrapped {
		p.reportUnbound("what %s runs", strings.Join(strings.Fields(st.Command), " "))
	}
}

// builds reports whether a command builds from files, so that one must be bound.
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

// places are flags of builders for the place of their files.
const places = "-C -f --directory --file --makefile --prefix --cwd --dir --chdir -chdir --project-directory " +
	"--manifest-path --taskfile --justfile --working-directory"

// unknownPlace reports whether the place of a builder's files is unknown.
func unknownPlace(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		value, is := flagAt(words, slices.Index(words, w), places)
		return is && !effect.IsKnown(value)
	})
}

func idleWord(word string) bool { return slices.Contains(idle, word) }

// loadedBy maps languages to programs that are written in them. The programs load the code
// that the language's variables name.
var loadedBy = map[string]string{
	"node": "npm npx yarn pnpm jest vitest mocha tsc eslint webpack vite next prettier",
	"python": "pytest py.test tox nox pip pip3 flask django-admin alembic uv poetry ansible " +
		"ansible-playbook celery gunicorn uvicorn mypy ruff",
	"ruby": "bundle rails rake rspec gem cap fastlane vagrant",
	"perl": "prove cpanm",
	"java": "mvn mvnw gradle gradlew sbt ant javac scala kotlin",
}

// bindLanguageVariables binds the code that the variables of a program's language load into it. It does
// not count as the program's own code.
func (r reading) bindLanguageVariables() {
	coded := r.c.hasCode
	language := ""
	for name, programs := range loadedBy {
		if oneOf(programs, r.name) {
			language = name
		}
	}
	switch language {
	case "":
	case "java":
		for _, value := range append(r.Values("CLASSPATH"), r.Values("JAVA_TOOL_OPTIONS")...) {
			for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" :=", r) }) {
				javaReader{r}.classes(part)
			}
		}
	default:
		l := *languageOf(language)
		l.programs = language
		interpreterReader{r, &l}.loadsVariables(nil, nil)
	}
	r.c.hasCode = coded
}
