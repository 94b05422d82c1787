//go:build unix

package fingerprint

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"approver.example/fingerprint/disk"
)

// carriers are variables that name what programs read: a program, the variable, what is there
// before, and the file that decides, which is swapped or appears.
var carriers = []struct{ command, env, files, swapped string }{
	{"ls -l", "LD_LIBRARY_PATH=%/lib", "", "lib/libselinux.so.1"},
	{"ls -l", "LD_LIBRARY_PATH=%/lib", "", "lib/glibc-hwcaps/x86-64-v3/libc.so.6"},
	{"rm x", "LD_LIBRARY_PATH=/gone:%/lib", "", "lib/a.so"},
	{"LD_LIBRARY_PATH=lib rm x", "", "", "lib/a.so"},
	{"env LD_LIBRARY_PATH=%/lib rm x", "", "", "lib/a.so"},
	{"export LD_LIBRARY_PATH=$PWD/lib; rm x", "", "", "lib/a.so"},
	{"rm x", "LD_PRELOAD=%/a.so", "a.so=x", "a.so"},
	{"rm x", "GCONV_PATH=%/g", "", "g/gconv-modules"},
	{"rm x", "DYLD_LIBRARY_PATH=%/lib", "", "lib/libx.dylib"},
	{"docker compose up", "DOCKER_CONFIG=%/v", "compose.yaml=x", "v/cli-plugins/docker-compose"},
	{"docker push x", "DOCKER_CONFIG=%/v", "", "v/config.json"},
	{"DOCKER_CONFIG=v docker ps", "", "", "v/config.json"},
	{"docker ps", "", "", ".docker/cli-plugins/docker-compose"},
	{"mvn deploy", "JAVA_HOME=%/jdk", "pom.xml=x", "jdk/bin/java"},
	{"./gradlew build", "JAVA_HOME=%/jdk", "gradlew=#!/bin/sh; build.gradle=x", "jdk/lib/modules"},
	{"java -jar a.jar", "JAVA_HOME=jdk", "a.jar=x", "jdk/conf/security/java.security"},
	{"gradle build", "GRADLE_USER_HOME=%/g", "build.gradle=x", "g/init.d/x.gradle"},
	{"gradle build", "#GRADLE_USER_HOME=%/g", "build.gradle=x", "g/init.gradle"},
	{"gradle build", "", "build.gradle=x", ".gradle/init.d/x.gradle"},
	{"mvn deploy", "M2_HOME=%/m", "pom.xml=x", "m/lib/x.jar"},
	{"mvn deploy", "MAVEN_OPTS=-javaagent:%/a.jar", "pom.xml=x; a.jar=x", "a.jar"},
	{"go build .", "GOROOT=%/r", "go.mod=module m; main.go=package main", "r/src/fmt/print.go"},
	{"go build .", "GOFLAGS=-toolexec=%/t", "go.mod=module m; main.go=package main; t=x", "t"},
	{"cargo build", "CARGO_HOME=%/c", "Cargo.toml=x", "c/config.toml"},
	{"cargo build", "", "Cargo.toml=x", ".cargo/config.toml"},
	{"cargo build", "RUSTC_WRAPPER=wrap", "Cargo.toml=x", "bin/wrap"},
	{"make", "CC=mycc", "Makefile=all:|\ttrue", "bin/mycc"},
	{"make", "CXX=mycxx -O2", "Makefile=all:|\ttrue", "bin/mycxx"},
	{"git commit", "EDITOR=myed", gitHead, "bin/myed"},
	{"man x", "PAGER=mypager -R", "", "bin/mypager"},
	{"rake x", "GEM_HOME=%/g", "Rakefile=x", "g/plugins/x.rb"},
	{"gem list", "GEM_PATH=/gone:%/g", "", "g/specifications/x.gemspec"},
	{"python3 x.py", "PYTHONHOME=%/h", "x.py=x", "h/lib/python3.12/os.py"},
	{"python3 x.py", "PYTHONUSERBASE=%/h", "x.py=x", "h/lib/python3.12/site-packages/e.pth"},
	{"pytest", "VIRTUAL_ENV=%/venv", "conftest.py=x", "venv/lib/python3.12/site-packages/e.pth"},
	{"python3 x.py", "PYTHONPATH=%/p", "x.py=x", "p/json.py"},
	{"node x.js", "NODE_PATH=%/p", "x.js=x", "p/y.js"},
	{"perl x.pl", "PERL5LIB=%/p", "x.pl=x", "p/Y.pm"},
	{"ruby x.rb", "RUBYLIB=%/p", "x.rb=x", "p/y.rb"},
	{"java Main", "CLASSPATH=%/p", "p/x.class=x", "p/y.class"},
	{"helm upgrade x ./c", "HELM_PLUGINS=%/h", "c/Chart.yaml=x", "h/x/plugin.yaml"},
	{"helm upgrade x ./c", "HELM_DATA_HOME=%/h", "c/Chart.yaml=x", "h/plugins/x/run.sh"},
	{"terraform plan", "TF_DATA_DIR=%/dd", "main.tf=x", "dd/environment"},
	{"TF_DATA_DIR=dd terraform plan", "", "main.tf=x", "dd/environment"},
	{"export TF_DATA_DIR=dd; terraform plan", "", "main.tf=x", "dd/modules/m/main.tf"},
	{"terraform plan", "TF_PLUGIN_CACHE_DIR=%/pc", "main.tf=x", "pc/a/terraform-provider-x"},
	{"terraform plan", "TF_CLI_CONFIG_FILE=%/rc", "main.tf=x; rc=x", "rc"},
	{"kubectl delete pod x", "KUBECONFIG=%/k", "k=x", "k"},
	{"export KUBECONFIG=$PWD/k1; kubectl delete pod x", "", "k1=x", "k1"},
	{"cd sub && export KUBECONFIG=$PWD/k1 && kubectl delete pod x", "", "sub/k1=x", "sub/k1"},
	{"aws s3 rm s3://x", "AWS_CONFIG_FILE=%/a", "a=x", "a"},
	{"ansible-playbook s.yml", "ANSIBLE_ROLES_PATH=%/r", "s.yml=x", "r/web/tasks/main.yml"},
	{"ansible-playbook s.yml", "ANSIBLE_FILTER_PLUGINS=fp", "s.yml=x", "fp/x.py"},
	{"npm ci", "npm_config_userconfig=%/rc", "package.json={}; package-lock.json={}; rc=x", "rc"},
	{"npm run x", "npm_config_script_shell=%/s", "package.json={}; s=x", "s"},
	{"psql -c x", "PGSYSCONFDIR=%/pg", "", "pg/pg_service.conf"},
	{"gcloud app deploy", "CLOUDSDK_CONFIG=%/g", "app.yaml=x", "g/configurations/config_default"},
	{"az group delete", "AZURE_CONFIG_DIR=%/az", "", "az/azureProfile.json"},
	{"dbt run", "DBT_PROFILES_DIR=%/d", "dbt_project.yml=x", "d/profiles.yml"},
	{"gh pr merge 1", "GH_CONFIG_DIR=%/g", "", "g/hosts.yml"},
	{"zsh -c x", "ZDOTDIR=%/z", "", "z/.zshenv"},
	{"sudo env HELM_PLUGINS=%/h helm upgrade x ./c", "", "c/Chart.yaml=x", "h/x/plugin.yaml"},
}

// plainName makes a name of which a folder can be made without odd letters.
func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, text)
}

// The story: LD_LIBRARY_PATH named a folder of the agent, and a library was put there behind
// the card of "ls -l"; DOCKER_CONFIG named one with a plugin that docker compose became. What
// variables name as folders is now bound as that of which programs read code.
func TestWhatVariablesNameIsBound(t *testing.T) {
	for _, c := range carriers {
		t.Run(plainName(c.command+" "+c.env+" "+c.swapped), func(t *testing.T) {
			t.Parallel()
			p := newPlayground(t)
			h := hole{files: c.files + "; sub/x=; bin/x="}
			h.lay(p)
			call := p.call(strings.ReplaceAll(c.command, "%", p.dir))
			if name, value, ok := strings.Cut(strings.ReplaceAll(c.env, "%", p.dir), "="); ok {
				call.Env[name] = value
			}
			before, err := p.files(call)
			must(t, err)
			p.write(c.swapped, "v2")
			appeared, err := p.files(call)
			if err != nil || maps.Equal(before, appeared) {
				t.Errorf("%s appeared, and nobody sees it: %v", c.swapped, err)
			}
			p.write(c.swapped, "v3")
			if after, err := p.files(call); err != nil || maps.Equal(appeared, after) {
				t.Errorf("%s changed, and nobody sees it: %v", c.swapped, err)
			}
		})
	}
}

// What cannot be followed to a folder has a name, and what is too large for it.
func TestFoldersOfVariablesThatAreNotKnownAreNamed(t *testing.T) {
	p := newPlayground(t, "Makefile", "main.tf", "pom.xml")
	for command, want := range map[string]string{
		"TF_DATA_DIR=$(x) terraform plan":        "TF_DATA_DIR",
		"JAVA_HOME=$(x) mvn deploy":              "JAVA_HOME",
		"LD_LIBRARY_PATH=$Y/lib rm x":            "LD_LIBRARY_PATH",
		"export DOCKER_CONFIG=`x`; docker ps":    "DOCKER_CONFIG",
		"env HELM_PLUGINS=$Z helm upgrade x ./c": "HELM_PLUGINS",
	} {
		if names := strings.Join(p.unbound(command), "\n"); !strings.Contains(names, want) {
			t.Errorf("%s: %s is not named: %q", command, want, names)
		}
	}
	for n := range disk.MaxTree + 1 {
		p.write(fmt.Sprintf("big/%d.so", n), "")
	}
	files, names, err := p.b.Files(t.Context(), p.call("LD_LIBRARY_PATH=big rm x"))
	if err != nil || !stampedIn(files) && (len(names) != 1 || !strings.Contains(names[0], "too large")) {
		t.Errorf("a large folder: %q, %v", names, err)
	}
}

// Folders of the system, and those that are not there, cost nothing and have no name.
func TestFoldersOfTheSystemAreNotNamed(t *testing.T) {
	p := newPlayground(t, "pom.xml")
	for _, command := range []string{
		"JAVA_HOME=/usr/lib mvn deploy", "LD_LIBRARY_PATH=/usr/lib:/gone rm x", "GOROOT=/usr/lib go version",
		"TF_DATA_DIR=gone terraform version", "DOCKER_CONFIG=gone docker ps",
	} {
		if names := p.unbound(command); names != nil {
			t.Errorf("%s: %q", command, names)
		}
	}
}
