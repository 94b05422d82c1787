package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Patterns and texts like those that a guard has, made up by a generator: they
// are the same in every run.

var (
	guardTools = []string{
		"rm", "mv", "dd", "mkfs", "chmod", "chown", "curl", "wget", "git", "kubectl", "docker", "terraform", "aws", "gcloud",
		"az", "psql", "mysql", "redis-cli", "npm", "pip", "systemctl", "iptables",
		"ssh", "scp", "rsync", "tar", "find", "xargs", "python3", "node", "perl", "bash", "crontab", "useradd", "passwd",
		"mount", "kill", "shutdown", "helm", "vault", "openssl", "nc", "socat", "base64",
	}
	guardVerbs = []string{
		"delete", "destroy", "drop", "truncate", "purge", "remove", "force", "recursive", "reset", "clean", "push", "prune",
		"rollback", "uninstall", "revoke", "disable", "terminate", "wipe", "erase", "flush",
	}
	guardNouns = []string{
		"database", "table", "schema", "bucket", "instance", "cluster", "namespace", "volume", "snapshot", "branch",
		"history", "secret", "token", "user", "role", "policy", "stack", "queue", "topic", "image", "repository", "index",
	}
	guardPaths = []string{"/etc/passwd", "/etc/shadow", "/boot", "/dev/sd[a-z]", `~/\.ssh`, `\.aws/credentials`, `\.env`,
		"/var/lib", "/usr/bin", `\.git/hooks`, "id_rsa", "authorized_keys"}
)

// guardExprs makes n expressions, all different, in the forms that public guards use.
func guardExprs(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	letters := func() string { // a word that nobody has
		b := make([]byte, 3+r.IntN(5))
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz"[r.IntN(26)]
		}
		return string(b)
	}
	noun := func() string {
		if n > 1000 && r.IntN(2) == 0 {
			return letters()
		}
		return pick(guardNouns)
	}
	tool := func() string {
		if n > 1000 && r.IntN(3) > 0 {
			return letters()
		}
		return pick(guardTools)
	}
	seen := map[string]bool{}
	var exprs []string
	for len(exprs) < n {
		var e string
		switch r.IntN(10) {
		case 0:
			e = fmt.Sprintf(`\b%s\s+-[a-z]*%c`, tool(), 'a'+r.IntN(26))
		case 1:
			e = fmt.Sprintf(`\b%s\s+(?:--?[a-z-]+\s+)*%s\b`, tool(), noun())
		case 2:
			e = fmt.Sprintf(`\b%s\b[^;|&\n]*\b%s\b`, tool(), pick(guardVerbs))
		case 3:
			e = fmt.Sprintf(`(?i)\b%s\s+%s\b`, pick(guardVerbs), noun())
		case 4:
			e = fmt.Sprintf(`(?:%s|%s|%s)[ =:]+%s`, pick(guardVerbs), pick(guardVerbs), letters(), noun())
		case 5:
			e = fmt.Sprintf(`%s.*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b`, tool())
		case 6:
			e = fmt.Sprintf(`\b%s\b.{0,%d}%s`, tool(), 10+r.IntN(30), pick(guardPaths))
		case 7:
			e = fmt.Sprintf(`(?:^|[;&|]\s*)%s\s+(?:-\S+\s+)*%s`, tool(), pick(guardPaths))
		case 8:
			e = fmt.Sprintf(`--%s[-=]%s`, pick(guardVerbs), noun())
		case 9:
			e = fmt.Sprintf(`%s[_-]%s\s*\(\s*['"]%s`, pick(guardVerbs), noun(), letters())
		}
		if !seen[e] {
			seen[e] = true
			exprs = append(exprs, e)
		}
	}
	return exprs
}

const command105 = `cd /srv/app && git fetch --all --prune && npm ci --no-audit && npm test -- --coverage 2>&1 ` +
	`| tail -n 40 #`

const command532 = `set -euo pipefail; for dir in services/*/; do name=$(basename "$dir"); if [ -f "$dir` +
	`/Dockerfile" ]; then docker build --pull -t "registry.local` +
	`/$name:${GIT_SHA:0:12}" "$dir" && docker push "registry.local/$name:${GIT_SHA:0:12}"; fi; done` +
	`; kubectl --context staging -n web set image deployment/api api="registry.local/api:${GIT_SHA:0:12}"` +
	`; kubectl -n web rollout status deployment/api --timeout=120s |` +
	`| { kubectl -n web get pods -o wide; exit 1; }; curl -fsS https://staging.local/healthz ` +
	`| jq -e .ok; echo "all is well right now"; `

// source10k is source code, which has few of the words of the patterns.
func source10k() string {
	const page = `func (s *Server) handleUpload(w http.ResponseWriter, r *http.Request) error {
	file, header, err := r.FormFile("document")
	if err != nil {
		return fmt.Errorf("reading the form: %w", err)
	}
	defer file.Close()
	name := filepath.Join(s.Root, filepath.Base(header.Filename))
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return httpError{http.StatusConflict, "there is such a document already"}
	}
	for i := range s.listeners { // each of them in turn
		s.listeners[i].notify(name, header.Size)
	}
	return json.NewEncoder(w).Encode(map[string]any{"name": name, "size": header.Size})
}
`
	return strings.Repeat(page, 10240/len(page)+1)[:10240]
}

// nearMiss10k is made of the words of the patterns, and matches next to nothing.
func nearMiss10k() string {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for b.Len() < 10240 {
		b.WriteString(guardTools[r.IntN(len(guardTools))])
		b.WriteString(" -")
		b.WriteString(guardVerbs[r.IntN(len(guardVerbs))][:3])
		b.WriteString([]string{" ", "; ", "\n", " && "}[r.IntN(4)])
		b.WriteString(guardNouns[r.IntN(len(guardNouns))][:4])
		b.WriteString([]string{" ", "; ", "\n", " | "}[r.IntN(4)])
	}
	return b.String()[:10240]
}

// hostile10k never repeats itself: words of the patterns in an order of its own
// for each seed, so that each byte may ask for a new state.
func hostile10k(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 5))
	var b strings.Builder
	for b.Len() < 10240 {
		words := [][]string{guardTools, guardTools, guardVerbs, guardNouns}[r.IntN(4)]
		word := words[r.IntN(len(words))]
		b.WriteString(word[:len(word)-r.IntN(2)])
		b.WriteString([]string{" ", " ", "  ", " -", "x "}[r.IntN(5)])
	}
	return b.String()[:10240]
}

// commands makes n different commands, as a day's work has them.
func commands(n int) []string {
	r := rand.New(rand.NewPCG(6, 7))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			fmt.Fprintf(&b, "%s %s --%s=%s%d /srv/%s/%x %s ", pick(guardTools), pick(guardNouns), pick(guardVerbs),
				pick(guardNouns), r.IntN(100), pick(guardNouns), r.IntN(1<<20), pick([]string{"&&", "|", ";", ">"}))
		}
		out[i] = b.String() + "true"
	}
	return out
}
