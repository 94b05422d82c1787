package fingerprint

import (
	"strings"
	"sync"

	"approver.example/fingerprint/disk"
)

// A tool is a program that reads files without being told, or whole folders. What its
// words name is bound as for every program, so that flags such as -f need no entry
// here; for a folder that a word names, the same files are looked for in it.
type tool struct {
	// programs are its names, without a folder, and words of which one must be there;
	// none: it does not matter.
	programs, words string
	// files are patterns of names in the folder where it works; above says that they
	// are looked for in the folders above as well.
	files string
	above bool
	// trees are folders, relative to that one, that are bound with all that is below,
	// and of that, where it is not empty, the names that kinds match.
	trees, kinds string
	// given are patterns of what is bound below a folder that a word names.
	given string
	// home are files below the home.
	home string
	// refers says that the files that these files name are bound too.
	refers bool
	// recipes says how to read what the tool runs: "make", "package", "compose", "git"
	// or "go".
	recipes string
	// flags are those whose value is a file that is read in place of those of files.
	flags string
	// elsewhere is the name of what it runs or takes that is not on this disk. With
	// operands it counts only if there is a word, behind those of words, that names no
	// file here.
	elsewhere string
	operands  bool
}

// tools is the table. A program may be in several rows, which add up.
var tools = []tool{
	// Runners of tasks.
	{programs: "make gmake bmake remake", files: "GNUmakefile makefile Makefile BSDmakefile",
		flags: "-f --file --makefile", refers: true, recipes: "make"},
	{programs: "just", files: "justfile Justfile .justfile JUSTFILE .env", flags: "-f --justfile", above: true,
		refers: true, recipes: "make"},
	{programs: "task go-task", files: "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml " +
		"Taskfile.dist.yaml .env", above: true, refers: true},
	{programs: "mage", files: "magefile.go go.mod go.sum", trees: "magefiles", recipes: "go"},
	{programs: "rake", files: "Rakefile rakefile Rakefile.rb rakefile.rb", above: true, trees: "rakelib lib/tasks",
		refers: true},
	{programs: "invoke inv fab", files: "tasks.py fabfile.py invoke.yaml fabric.yml", above: true,
		trees: "tasks fabfile", refers: true},
	{programs: "direnv", files: ".envrc .env", above: true, refers: true},
	{programs: "pre-commit", files: ".pre-commit-config.yaml .pre-commit-hooks.yaml", above: true, refers: true},
	{programs: "lefthook", files: "lefthook.yml lefthook-local.yml .lefthook.yml", above: true, trees: ".lefthook",
		refers: true},
	{programs: "mise rtx asdf", files: "mise.toml .mise.toml mise.local.toml .tool-versions", above: true, refers: true},
	// JavaScript.
	{
		programs: "npm pnpm yarn bun npx pnpx bunx lerna nx turbo", above: true, recipes: "package",
		files: "package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml package-lock.json " +
			"npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb bunfig.toml lerna.json nx.json turbo.json " +
			"project.json",
	},
	{programs: "npm pnpm yarn bun lerna", words: "publish pack", trees: ".", home: ".npmrc"},
	{programs: "npm pnpm yarn bun", words: "install i add update upgrade up", elsewhere: "the packages that %s fetches",
		operands: true},
	{programs: "node deno ts-node tsx jest vitest mocha ava playwright cypress eslint prettier webpack vite rollup " +
		"esbuild tsc next nuxt astro gulp grunt babel", above: true, files: "*.config.js *.config.cjs *.config.mjs " +
		"*.config.ts *.config.mts *.config.json tsconfig.json deno.json deno.jsonc .babelrc .mocharc.* .eslintrc* " +
		"gulpfile.* Gruntfile.*"},
	{programs: "npm-run-all npm-run-all2 run-s run-p run-z wsrun concurrently wireit ultra", above: true,
		recipes: "package", files: "package.json"},
	{programs: "node", words: "--run", above: true, recipes: "package", files: "package.json"},
	{programs: "run-parts bats", given: "*"},
	// Infrastructure.
	{
		programs: "terraform tofu terragrunt", files: "*.tf *.tf.json *.tofu *.tfvars *.tfvars.json " +
			".terraform.lock.hcl .terraform/terraform.tfstate .terraform/environment terragrunt.hcl terragrunt.hcl.json",
		refers: true,
		trees:  "modules .terraform/modules", home: ".terraformrc",
	},
	{programs: "packer", files: "*.pkr.hcl *.pkr.json *.pkrvars.hcl *.auto.pkrvars.hcl", given: "*.hcl *.json",
		refers: true},
	{programs: "pulumi", trees: ".", kinds: "*.ts *.js *.mjs *.py *.go *.cs *.java *.yaml *.json"},
	{programs: "serverless sls wrangler sam", words: "deploy package build publish", trees: ".",
		kinds: "*.ts *.js *.mjs *.py *.go *.rb *.java *.json *.yml *.yaml"},
	{programs: "skaffold tilt garden devspace earthly", words: "run dev build up deploy ci debug apply",
		elsewhere: "what the images of %s are made of"},
	{programs: "pulumi", files: "Pulumi.yaml Pulumi.*.yaml package.json index.ts index.js __main__.py main.go " +
		"requirements.txt", above: true, refers: true},
	{programs: "cdk cdktf", files: "cdk.json cdk.context.json cdktf.json package.json", trees: "bin lib",
		kinds: "*.ts *.js *.py *.json", refers: true},
	{programs: "sam", files: "template.yaml template.yml samconfig.toml", refers: true},
	{programs: "serverless sls", files: "serverless.yml serverless.yaml serverless.json serverless.ts " +
		"serverless.js package.json .env", refers: true},
	{programs: "wrangler", files: "wrangler.toml wrangler.json wrangler.jsonc package.json .dev.vars", above: true,
		refers: true},
	{programs: "fly flyctl", files: "fly.toml Dockerfile .dockerignore", refers: true},
	{programs: "vercel netlify firebase heroku railway render", files: "vercel.json netlify.toml firebase.json " +
		".firebaserc Procfile app.json heroku.yml railway.toml railway.json render.yaml package.json",
		trees: "functions api", kinds: "*.js *.ts *.py *.go *.json", refers: true},
	{programs: "gcloud", words: "deploy", files: "app.yaml cloudbuild.yaml .gcloudignore Dockerfile", refers: true},
	{programs: "eb copilot", files: "Dockerrun.aws.json", trees: ".ebextensions .elasticbeanstalk copilot"},
	{programs: "vagrant", files: "Vagrantfile", above: true, refers: true},
	{programs: "ansible-playbook ansible ansible-pull", files: "ansible.cfg hosts inventory* requirements.yml", given: "*",
		trees: "roles group_vars host_vars library inventory files templates tasks handlers vars collections module_utils " +
			"filter_plugins callback_plugins action_plugins lookup_plugins connection_plugins inventory_plugins",
		home: ".ansible.cfg", refers: true},
	{programs: "salt-call puppet chef-client chef-solo", files: "solo.rb client.rb minion Puppetfile",
		trees: "manifests cookbooks", given: "*"},
	{programs: "nix nix-build nix-shell nixos-rebuild darwin-rebuild home-manager",
		files: "flake.nix flake.lock default.nix shell.nix configuration.nix home.nix", refers: true},
	// Containers and clusters.
	{programs: "docker-compose podman-compose", flags: "-f --file", files: composeFiles, above: true, refers: true,
		recipes: "compose"},
	{programs: "docker podman nerdctl", words: "compose", flags: "-f --file", files: composeFiles, above: true,
		refers: true, recipes: "compose"},
	{programs: "docker podman nerdctl buildah", words: "build buildx bake bud image",
		files: "Dockerfile Containerfile .dockerignore docker-bake.hcl docker-bake.json", given: "*",
		flags: "-f --file", recipes: "image"},
	{programs: "docker podman nerdctl", words: "run create push start",
		elsewhere: "what is in the image or container that %s uses"},
	{programs: "docker", words: "stack", flags: "-c --compose-file", files: composeFiles, refers: true,
		recipes: "compose"},
	{programs: "kubectl oc k3s", home: ".kube/config", given: "*.yaml *.yml *.json *.env *.properties *.conf *.sh"},
	{programs: "kustomize", files: kustomization, given: "*", refers: true},
	{programs: "helm helmfile", files: "helmfile.yaml helmfile.yml helmfile.yaml.gotmpl", given: "*",
		home: ".kube/config", refers: true},
	{programs: "skaffold tilt garden devspace", files: "skaffold.yaml skaffold.yml Tiltfile garden.yml " +
		"devspace.yaml Dockerfile", home: ".kube/config", refers: true},
	{programs: "argocd flux nomad", given: "*.yaml *.yml *.hcl *.nomad *.json"},
	{programs: "earthly", files: "Earthfile", refers: true},
	// Languages.
	{programs: "go", words: "run generate test build install vet", files: "go.mod go.sum go.work go.work.sum " +
		"vendor/modules.txt", above: true, recipes: "go"},
	{programs: "cargo", files: "Cargo.toml Cargo.lock rust-toolchain rust-toolchain.toml .cargo/config.toml " +
		".cargo/config build.rs", above: true, refers: true},
	{programs: "cargo", words: "run r build b test t bench publish package install check clippy xtask",
		trees: "src tests examples benches crates", kinds: "*.rs *.toml"},
	{programs: "cargo", words: "install", elsewhere: "the packages that %s fetches", operands: true},
	{programs: "tox nox", files: "tox.ini setup.cfg pyproject.toml setup.py noxfile.py requirements*.txt", refers: true},
	{programs: "pytest py.test", files: "conftest.py pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg",
		above: true, refers: true},
	{programs: "pytest py.test", trees: ".", kinds: disk.PytestKinds},
	{programs: "pytest py.test", files: "*.py", trees: "tests test", kinds: "*.py *.toml *.ini *.cfg", given: "*.py"},
	{programs: "poetry pdm hatch flit uv rye pipenv", files: "pyproject.toml poetry.lock pdm.lock uv.lock uv.toml " +
		"poetry.toml setup.py setup.cfg build.py Pipfile Pipfile.lock .env", above: true, refers: true},
	{programs: "poetry pdm hatch flit uv rye", words: "publish", trees: "dist"},
	{programs: "twine", files: ".pypirc", home: ".pypirc"},
	{programs: "pip pip3 pipx", files: "pip.conf", given: "setup.py setup.cfg pyproject.toml *.py"},
	{programs: "pip pip3 pipx uv poetry", words: "install add", elsewhere: "the packages that %s fetches", operands: true},
	{programs: "python python3", files: "sitecustomize.py usercustomize.py pyvenv.cfg"},
	{programs: "gradle gradlew gradle.bat", files: "build.gradle build.gradle.kts settings.gradle " +
		"settings.gradle.kts gradle.properties init.gradle", trees: "gradle buildSrc", above: true, refers: true},
	{programs: "mvn mvnw", files: "pom.xml settings.xml .mvn/jvm.config .mvn/maven.config .mvn/extensions.xml",
		trees: ".mvn", refers: true},
	{programs: "sbt ant lein mill", files: "build.sbt build.xml project.clj build.sc .sbtopts", trees: "project",
		kinds: "*.sbt *.scala *.properties", refers: true},
	{programs: "bundle bundler rails ruby irb cap fastlane gem", files: "Gemfile Gemfile.lock .bundle/config " +
		"Capfile config/deploy.rb config/application.rb config/environment.rb config/boot.rb config/database.yml *.gemspec",
		trees: "config/deploy fastlane lib/tasks db/migrate", above: true},
	{programs: "bundle bundler rails cap fastlane gem rake rspec", files: "Gemfile *.gemspec", above: true, refers: true},
	{programs: "gem", words: "install", elsewhere: "the packages that %s fetches", operands: true},
	{programs: "composer php artisan phpunit", files: "composer.json composer.lock phpunit.xml phpunit.xml.dist " +
		"php.ini .env", trees: "database/migrations", refers: true},
	{programs: "mix elixir iex", files: "mix.exs mix.lock", trees: "config", refers: true},
	{programs: "dotnet msbuild", files: "*.csproj *.fsproj *.sln *.props *.targets nuget.config NuGet.config global.json"},
	{programs: "swift xcodebuild", files: "Package.swift Package.resolved", trees: "Sources", kinds: "*.swift"},
	{programs: "cmake ctest cpack", given: "CMakeLists.txt *.cmake",
		files: "CMakeLists.txt CMakePresets.json CMakeUserPresets.json CMakeCache.txt CTestTestfile.cmake " +
			"cmake_install.cmake Makefile build.ninja",
		trees: "CMakeFiles", kinds: "build.make link.txt Makefile2 *.ninja cmake_clean.cmake", refers: true},
	{programs: "ninja samu", files: "build.ninja", flags: "-f", refers: true},
	{programs: "meson", files: "meson.build meson_options.txt meson.options build.ninja", trees: "subprojects",
		kinds: "meson.build *.wrap", refers: true},
	{programs: "bazel bazelisk buck buck2 pants", files: "WORKSPACE WORKSPACE.bazel MODULE.bazel BUILD BUILD.bazel " +
		".bazelrc .buckconfig BUCK pants.toml", above: true, refers: true},
	{programs: "bazel bazelisk buck buck2 pants", trees: ".", kinds: "BUILD BUILD.bazel *.bzl BUCK TARGETS *.sh " +
		"*.py tools/bazel"},
	{programs: "scons", files: "SConstruct Sconstruct sconstruct SConstruct.py", refers: true},
	{programs: "goreleaser", files: ".goreleaser.yml .goreleaser.yaml goreleaser.yml goreleaser.yaml", refers: true},
	// Databases.
	{programs: "alembic flask django-admin", files: "alembic.ini", trees: "alembic migrations", kinds: "*.py *.sql",
		refers: true},
	{programs: "flyway liquibase dbmate goose sqitch migrate",
		files: "flyway.conf flyway.toml liquibase.properties sqitch.conf sqitch.plan dbmate.yml .env",
		trees: "sql migrations db/migrations deploy", given: "*.sql *.xml *.yaml *.yml"},
	{programs: "prisma knex sequelize drizzle-kit typeorm", files: "prisma/schema.prisma knexfile.js knexfile.ts " +
		".sequelizerc drizzle.config.ts package.json", trees: "prisma/migrations migrations drizzle", refers: true},
	{programs: "dbt", files: "dbt_project.yml profiles.yml packages.yml", trees: "models macros snapshots seeds"},
	// git: its own settings, and the hooks that it runs.
	{programs: "git", recipes: "git"},
}

// toolsOf are the rows of a program.
var toolsOf = sync.OnceValue(func() map[string][]int {
	of := map[string][]int{}
	for n := range tools {
		for name := range strings.FieldsSeq(tools[n].programs) {
			of[name] = append(of[name], n)
		}
	}
	return of
})

const (
	composeFiles = "compose.yaml compose.yml docker-compose.yaml docker-compose.yml compose.override.yaml " +
		"compose.override.yml docker-compose.override.yaml docker-compose.override.yml .env"
	kustomization = "kustomization.yaml kustomization.yml Kustomization"
)
