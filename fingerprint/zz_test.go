package fingerprint
import ("testing";"fmt";"os";"strings";"maps";"slices";"path/filepath")
func TestZZ(t *testing.T) {
	p := newPlayground(t, "deploy.sh","sub/deploy.sh","x.sql","f","app.log","k8s/a.yaml","main.tf","docker-compose.yml","x.yml","x.py","bin/tail","foo/bar.py","k8s2/kustomization.yaml","cmd/x/main.go","go.mod","Cargo.toml","src/main.rs","req.txt","site.yml","D","x.awk","x.sed","env.sh","x.js","plan.out")
	os.Remove(p.path("bin/tail"))
	os.Chmod(p.path("deploy.sh"),0o755)
	p.write("Makefile","include x.mk\nENV=prod\ndeploy: build\n\t./scripts/$(ENV).sh\n\tssh h ls\nbuild:\n\t$(CC) x.c\n"); p.write("x.mk","A=1\n"); p.write("scripts/prod.sh","#!/bin/sh\n./scripts/inner.sh\n"); p.write("scripts/inner.sh","echo")
	p.write("sub/x.mk","deploy:\n\t./deploy.sh\n")
	p.write("package.json",`{"scripts":{"build":"node x.js && ./deploy.sh","prepublishOnly":"./env.sh"}}`)
	b, _ := os.ReadFile("/tmp/w/b1/cmds")
	for _, c := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		c = strings.ReplaceAll(c, "⏎", "\n")
		call := p.call(c); call.Env["PATH"]="/usr/bin:/bin"
		files, un, err := p.b.Files(t.Context(), call)
		fmt.Printf("== %s  %v\n", c, err)
		for _, k := range slices.Sorted(maps.Keys(files)) { if k=="dir" {continue}; fmt.Printf("     %s\n", strings.ReplaceAll(k, filepath.Clean(p.dir), ".")) }
		if len(un)>0 { fmt.Printf("  NOT %s\n", strings.ReplaceAll(strings.Join(un," | "),p.dir,".")) }
	}
}
