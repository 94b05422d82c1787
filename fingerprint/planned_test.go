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
// count; in each other spelling an old plan may be what is applied, and it does.
func TestAPlanOfTheSameCallDoesNotCount(t *testing.T) {
	for command, counts := range map[string]bool{
		"terraform plan -out=p && terraform apply p":                                     false,
		"terraform plan -input=false -no-color -out=p && terraform apply -input=false p": false,
		"tofu plan -out=p && tofu apply p":                                               false,
		"cd s && terraform plan -out=p && terraform apply p":                             false,
		"terraform init && terraform plan -out=p && terraform apply -auto-approve p":     false,
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
// program that decides. What only shows something is not named; all else is.
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
