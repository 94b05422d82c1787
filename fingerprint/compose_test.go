//go:build unix

package fingerprint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// images are ways to say of which images containers are made.
var imageHoles = []hole{
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    image:|      nginx:1",
		named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    ? image|    : nginx:1",
		named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    \"im\\x61ge\": nginx:1",
		named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml={\"services\":{\"a\":{\"image\":\"nginx:1\"}}}",
		named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml=x: &x|  image: nginx:1|services:|  a:|    <<: *x",
		named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    image: >-|      nginx:1",
		named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    image: ${I}", named: "the image ${I}"},
	{command: "docker compose pull", files: "compose.yaml=services:|  a:|    image: nginx:1", named: "the image nginx:1"},
	{command: "docker compose up", files: "compose.yaml=services: [", named: "what compose.yaml names"},
	{command: "docker compose up", files: "compose.yaml=x: y; .env=COMPOSE_FILE=c; c=services:|  a:|    image: nginx:1",
		swapped: "c", named: "the image nginx:1"},
	{command: "docker compose up", env: "COMPOSE_FILE=c:d", files: "compose.yaml=x: y; c=x: y; d=services:|  a:|   " +
		" image: nginx:1", swapped: "d", named: "nginx:1"},
	{command: "COMPOSE_FILE=c docker compose up", files: "compose.yaml=x: y; c=services:|  a:|    image: nginx:1",
		swapped: "c", named: "nginx:1"},
	{command: "COMPOSE_FILE=$(x) docker compose up", files: "compose.yaml=x: y", named: "the compose file"},
	{command: "docker compose -f c up", files: "c=services:|  a:|    image: nginx:1", swapped: "c", named: "nginx:1"},
	{command: "docker compose --file=c up", files: "c=services:|  a:|    image: nginx:1", swapped: "c", named: "nginx:1"},
	{command: "docker compose up", files: "compose.yaml=include:|  - inc; inc=services:|  a:|    image: nginx:1",
		swapped: "inc", named: "nginx:1"},
	{command: "docker compose up", files: "compose.yaml=include:|  - path: inc; inc=services:|  a:|    env_file: " +
		"e; e=A=b", swapped: "e"},
	{command: "docker compose up", files: "compose.yaml=include:|  - path:|    - inc; inc=services: {}", swapped: "inc"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    extends:|      file: ext|      service: " +
		"b; ext=services: {b: {image: nginx:1}}", swapped: "ext", named: "nginx:1"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    env_file:|      - e; e=A=b", swapped: "e"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    env_file:|      - path: e; e=A=b",
		swapped: "e"},
	{command: "docker compose up", files: "compose.yaml=include:|  - https://x.example/c.git",
		named: "what lies at https://x.example/c.git"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    env_file: ${E}", named: "the file ${E}"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    env_file: ${E:-e}; e=A=b", swapped: "e"},
	{command: "docker compose up", files: "compose.yaml=secrets:|  s:|    file: sec; sec=x", swapped: "sec"},
	{command: "docker stack deploy -c c x", files: "c=services:|  a:|    image: nginx:1", swapped: "c", named: "nginx:1"},
	{command: "docker compose build", files: "compose.yaml=services:|  a:|    build: s; s/Dockerfile=FROM node:20",
		swapped: "s/Dockerfile", named: "the image node:20"},
	{command: "docker build .", files: "Dockerfile=FROM node:20", named: "the image node:20"},
	{command: "docker build .", files: "Dockerfile=from --platform=linux/amd64 node:20 as b", named: "the image node:20"},
	{command: "docker build -f D .", files: "D=FROM node:20", named: "the image node:20"},
	{command: "docker buildx build --file=sub/D .", files: "sub/D=FROM node:20", named: "the image node:20"},
	{command: "docker build .", files: "Dockerfile=ARG V=20|FROM node:$V", named: "the image node:20"},
	{command: "docker build .", files: "Dockerfile=ARG V|FROM node:${V:-18}", named: "the image node:18"},
	{command: "docker build .", files: "Dockerfile=FROM \\|  node:20", named: "the image node:20"},
	{command: "docker build .", files: "Dockerfile=FROM scratch|COPY --from=busybox:1 /x /x",
		named: "the image busybox:1"},
	{command: "docker build .", files: "Dockerfile=FROM scratch|RUN --mount=type=bind,from=busybox:1 x",
		named: "the image busybox:1"},
	{command: "docker build .", files: "Dockerfile=# syntax=docker/dockerfile:1|FROM scratch",
		named: "the image docker/dockerfile:1"},
	{command: "docker build .", files: "Dockerfile=FROM scratch|ADD https://x.example/i /i",
		named: "what lies at https://x.example/i"},
	{command: "podman build .", files: "Containerfile=FROM fedora", named: "the image fedora"},
	{command: "docker buildx bake", files: "docker-bake.hcl=target \"x\" {}", named: "what docker-bake.hcl builds"},
	{command: "cd s && docker build .", files: "s/Dockerfile=FROM node:20", named: "the image node:20"},
}

// The story: a card for docker compose up showed no image that was not pinned, because the
// name stood on the next line; COMPOSE_FILE in .env led to a file that nobody bound; a
// Dockerfile began with whatever a registry had by then. Each is bound now, or named.
func TestWhatContainersAreMadeOfIsBoundOrNamed(t *testing.T) { holesAreClosed(t, imageHoles) }

// What uses no image, and images that are pinned, have no name.
func TestPinnedImagesAreNotNamed(t *testing.T) {
	p := newPlayground(t)
	p.write("compose.yaml", "services:\n  a:\n    image: nginx:1\n")
	p.write("s/Dockerfile", "ARG N=node@sha256:01\nFROM $N AS b\nFROM scratch\nCOPY --from=b /x /x\nCOPY --from=0 /y /y\n")
	p.write("s/compose.yaml", "services:\n  a:\n    image: nginx@sha256:01\n    command: [\"up\"]\n")
	for _, command := range []string{
		"docker compose restart a", "docker compose start", "docker compose stop", "docker compose down",
		"docker compose logs -f",
		"docker compose exec a ls", "docker compose ps", "docker compose config", "cd s && docker build .",
		"cd s && docker compose up -d",
		"docker image ls", "docker image prune -f",
	} {
		if names := slices.DeleteFunc(p.unbound(command), func(n string) bool {
			return strings.Contains(n,
				"elsewhere")
		}); len(names) > 0 {
			t.Errorf("%s: %q", command, names)
		}
	}
}

// Whatever a compose file or a Dockerfile is, it is read to its end, twice the same way.
func FuzzCompose(f *testing.F) {
	for _, h := range imageHoles {
		for file := range strings.SplitSeq(h.files, "; ") {
			_, text, _ := strings.Cut(file, "=")
			f.Add(strings.ReplaceAll(text, "|", "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := newPlayground(t)
		p.write("compose.yaml", text)
		p.write("Dockerfile", text)
		for _, command := range []string{"docker compose up", "docker build ."} {
			files, unbound, err := p.b.Files(t.Context(), p.call(command))
			again, namedAgain, _ := p.b.Files(t.Context(), p.call(command))
			if err != nil || !maps.Equal(files, again) || !slices.Equal(unbound, namedAgain) {
				t.Errorf("%s: %q, %q, %v", command, unbound, namedAgain, err)
			}
		}
		for _, image := range imagesOf(text) {
			if image == "" || pinned(image) {
				t.Errorf("%q has the image %q", text, image)
			}
		}
	})
}
