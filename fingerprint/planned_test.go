//go:build unix

package fingerprint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Ada said yes for the session to a plan and its apply in one line. The plan was new each time,
// so she was asked each time. What the same call is certain to write before it reads it does not
// count; in each other spelling, and where another program than terraform runs in between,
// an old plan may be what is applied, and it does.
func TestAPlanOfTheSameCallDoesNotCount(t *testing.T) {
	for command, counts := range map[string]bool{
		"terraform plan -out=p && terraform apply p":                                     false,
		"terraform plan -input=false -no-color -out=p && terraform apply -input=false p": false,
		"tofu plan -out=p && tofu apply p":                                               false,
		"cd s && terraform plan -out=p && terraform apply p":                             false,
		"terraform init && terraform plan -out=p && terraform apply -auto-approve p":     false,
		"terraform plan -out=p && terraform show p && terraform apply p":                 false,
		"terraform plan -out=p 2>&1 && echo done && sleep 1 && terraform apply p":        false,
		"terraform plan -out=p >/dev/null && terraform validate && terraform apply p":    false,
		"terraform plan -out=p && python3 mk.py && terraform apply p":                    true,
		"terraform plan -out=p && git checkout -q . && terraform apply p":                true,
		"terraform plan -out=p && git pull && terraform apply p":                         true,
		"terraform plan -out=p && npm test && terraform apply p":                         true,
		"terraform plan -out=p && pytest && terraform apply p":                           true,
		"terraform plan -out=p && ./other && terraform apply p":                          true,
		"terraform plan -out=p && make && terraform apply p":                             true,
		"terraform plan -out=p && cat x | tee p && terraform apply p":                    true,
		"terraform plan -out=p && tar xf t.tar && terraform apply p":                     true,
		"terraform plan -out=p && sudo mk && terraform apply p":                          true,
		"terraform plan -out=p && echo $(mk) && terraform apply p":                       true,
		"terraform plan -out=p && echo ${X:-$(mk)} && terraform apply p":                 true,
		"terraform plan -out=p && echo \"`mk`\" && terraform apply p":                    true,
		"terraform plan -out=p && echo x >p && terraform apply p":                        true,
		"terraform plan -out=p && terraform output > p && terraform apply p":             true,
		"terraform plan -out=p && terraform get && terraform apply p":                    true,
		"terraform plan -out=p && ./terraform show && terraform apply p":                 true,
		"terraform plan -out=p && command ./mk && terraform apply p":                     true,
		"terraform apply p": true, "terraform plan -out=p; terraform apply p": true,
		"terraform plan -out=p || terraform apply p":                             true,
		"terraform plan -out=p & terraform apply p":                              true,
		"terraform plan -out=q && terraform apply p":                             true,
		"terraform plan -help -out=p && terraform apply p":                       true,
		"terraform plan -out=p -out=q && terraform apply p":                      true,
		"terraform plan -out p && terraform apply p":                             true,
		"TF_CLI_ARGS_plan=-help terraform plan -out=p && terraform apply p":      true,
		"export TF_CLI_ARGS=-help && terraform plan -out=p && terraform apply p": true,
		"! terraform plan -out=p && terraform apply p":                           true,
		"tofu plan -out=p && terraform apply p":                                  true,
		"cd s && terraform plan -out=p && cd .. && terraform apply p":            true,
		"terraform apply p && terraform plan -out=p":                             true,
		"if terraform plan -out=p; then terraform apply p; fi":                   true,
		"terraform() { :; }; terraform plan -out=p && terraform apply p":         true,
		"(terraform plan -out=p) && terraform apply p":                           true,
		"terraform plan -destroy=$X -out=p && terraform apply p":                 true,
		"echo terraform plan -out=p && terraform apply p":                        true,
	} {
		p := newPlayground(t, "main.tf", "p", "s/main.tf", "s/p", ".terraform.lock.hcl")
		before := p.of(command)
		p.write("p", "another")
		p.write("s/p", "another")
		if maps.Equal(before, p.of(command)) == counts {
			t.Errorf("%s: what was in the file before counts: %v", command, !counts)
		}
	}
	p := newPlayground(t, "main.tf", "p")
	call := p.call("terraform plan -out=p && terraform apply p")
	call.Env["TF_CLI_ARGS_plan"] = "-help"
	before, _ := p.files(call)
	p.write("p", "another")
	if after, _ := p.files(call); maps.Equal(before, after) {
		t.Error("a variable may say that nothing is written")
	}
}

// A look into a container on this machine was for one run only, and named as if it ran a
// program that decides. What only shows something is not named; all else is. A reviewer gave such
// a look variables (BASH_ENV, LD_PRELOAD) that run a file in the container: it is no look then.
func TestALookIntoAContainerIsNotNamed(t *testing.T) {
	p := newPlayground(t)
	for command, named := range map[string]bool{
		"docker compose exec a sh -c ls": false, "docker exec a ls -l /x": false, "docker exec a cat /etc/hosts": false,
		"podman exec a bash -c 'ls | wc -l'": false, "docker exec a sh -c 'echo x; cat /y'": false,
		"docker exec a sh -c 'cat /x | sh'": true, "docker exec a sh run": true, "docker exec a sh": true,
		"docker exec a sh -c './ls'": true, "docker exec a /x/ls": true, "docker exec a sh -c '$X'": true,
		"docker exec a sh -c 'ls && reboot'": true, "docker exec a bash -lc ls": true, "docker exec a env ls": true,
		"ssh h ls": true, "kubectl exec a -- ls": true, "docker exec a sh -c 'ls() { x; }; ls'": true,
		"docker exec a sh -c 'ls $(x)'": true, "docker exec a python3 x": true, "docker run a@sha256:01 ls": true,
		"docker exec -u www a ls": false, "docker exec -it a grep -e x /y": false, "docker exec -itu www a ls": false,
		"docker exec -uwww a ls -w 3": false, "docker compose --env-file x exec a ls": false,
		"docker exec --env-file ef a bash -c ls": true, "docker exec --env-file=ef a ls": true,
		"docker exec -e BASH_ENV=/be a bash -c ls": true, "docker exec -eBASH_ENV=/be a bash -c ls": true,
		"docker exec -e LD_PRELOAD=/x.so a ls": true, "docker exec -e PATH=/x a ls": true,
		"docker exec --env PATH=/x a ls": true, "docker exec --env=PATH=/x a ls": true,
		"docker exec -ite PATH=/x a ls": true, "docker exec -e PATH a ls": true,
		"docker exec -w /x a ls": true, "docker exec --workdir /x a ls": true, "docker exec --workdir=/x a cat y": true,
		"docker exec -u root -e A=b a ls": true, "docker compose exec -e PATH=/x a ls": true,
		"docker-compose exec --env PATH=/x a ls": true, "podman exec -w/x a ls": true,
		"docker --context exec exec -e PATH=/x a ls": true, "docker exec -tiw /x a ls": true,
	} {
		names := p.unbound(command)
		if slices.ContainsFunc(names, func(n string) bool {
			return strings.Contains(n, " runs elsewhere") ||
				strings.Contains(n, "image")
		}) != named {
			t.Errorf("%s: %q", command, names)
		}
	}
}

// A makefile that includes what its functions compute says which line that is.
func TestAComputedIncludeHasAName(t *testing.T) {
	p := newPlayground(t)
	p.write("Makefile", "DEPS := $(patsubst %.c,%.d,$(SRCS))\n-include $(DEPS)\nall:\n\ttrue\n")
	if names := p.unbound("make"); !slices.Equal(names, []string{"what is included by the line: include $(DEPS)"}) {
		t.Errorf("%q", names)
	}
}
