//go:build unix

package fingerprint

import (
	"maps"
	"testing"
)

// A reviewer swapped a file in node_modules, .terraform, .git or a log of a folder that is copied
// into an image or packed as a whole, and nobody saw it: these were passed over, and a word
// anywhere in .dockerignore was enough. Now all of such a folder counts, and only a line that is
// exactly the name leaves it out.
func TestAFolderThatIsCopiedCountsAsAWhole(t *testing.T) {
	const all, fn = "FROM a@sha256:01\nCOPY . /\n", "data \"archive_file\" \"a\" {\n  source_dir = \"./fn\"\n}\n"
	for _, c := range []struct {
		command, swapped, ignore, list, dockerfile string
		free                                       bool // it is left out
	}{
		{swapped: "pk/node_modules/x.js"}, {swapped: "pk/.terraform/x"}, {swapped: ".terraform/x"}, {swapped: ".git/x"},
		{swapped: "pk/.git/hooks/x"}, {swapped: "pk/a.log"}, {swapped: "node_modules/x.js"},
		{swapped: "pk/node_modules/a.log"},
		{swapped: "x.log", dockerfile: "FROM a@sha256:01\nCOPY x.log /x\n"},
		{swapped: "node_modules/x", ignore: "# node_modules .git\n"},
		{swapped: "node_modules/x", ignore: "sub/node_modules2\n"},
		{swapped: "node_modules/x", ignore: "node_modules\n!node_modules/x\n"},
		{swapped: "node_modules/x", ignore: "node_modules\n!**/x\n"},
		{swapped: "node_modules/x", ignore: "node_modules\n!.\n"},
		{swapped: "node_modules/x", ignore: "a/node_modules\n"}, {swapped: "node_modules/x", ignore: "node_modules/y\n"},
		{swapped: "pk/node_modules/x", ignore: "node_modules\n"}, {swapped: ".git/x", ignore: ".gitignore\n"},
		{swapped: "node_modules/x", ignore: "node_modules\n", list: "Dockerfile.dockerignore"},
		{swapped: "node_modules/x", ignore: "node_modules\n", list: "d/D.dockerignore", command: "docker build -f d/D ."},
		{swapped: "pk/node_modules/x", command: "docker buildx build ."}, {swapped: "pk/.git/x", command: "podman build pk"},
		{swapped: "node_modules/x", ignore: "node_modules\n", free: true},
		{swapped: "node_modules/x", ignore: "/node_modules/\n!src\n", free: true},
		{swapped: "pk/node_modules/x", ignore: "**/node_modules\n", free: true},
		{swapped: ".git/x", ignore: "**/.git/\n", free: true},
		{swapped: "app.log", free: true},
		{swapped: "fn/node_modules/a.js", command: "terraform apply"}, {swapped: "fn/a.log", command: "terraform apply"},
		{swapped: "fn/.terraform/a", command: "tofu apply"},
		{swapped: "fn/x/.git/a", command: "terraform apply -auto-approve"},
	} {
		p := newPlayground(t, c.swapped, "d/D", "pk/x", "pk/Dockerfile", ".terraform.lock.hcl")
		if c.command == "" {
			c.command = "docker build ."
		}
		if c.dockerfile == "" {
			c.dockerfile = all
		}
		p.write("Dockerfile", c.dockerfile)
		p.write("d/D", c.dockerfile)
		p.write("main.tf", fn)
		if c.ignore != "" {
			p.write(".dockerignore", c.ignore)
		}
		if c.list != "" {
			p.write(c.list, "x\n")
		}
		before, unbound, err := p.b.Files(t.Context(), p.call(c.command))
		must(t, err)
		p.write(c.swapped, "swapped")
		if same := maps.Equal(before, p.of(c.command)); same != c.free {
			t.Errorf("%s, %s, %q %s: seen %v (%q)", c.command, c.swapped, c.ignore, c.list, !same, unbound)
		}
	}
}
