package daemon

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
)

// plantedCommands and plantedTools have a secret, §, in every place that the mask knows.
var plantedCommands = []string{
	"echo § | docker login -u u --password-stdin h", "psql -c \"ALTER USER app PASSWORD '§'\"",
	"aws configure set aws_secret_access_key §", "npm config set //registry.npmjs.org/:_authToken §",
	"curl -X POST https://x.test/a -H 'Content-Type: application/json' --json '{\"user\":\"a\",\"password\":\"§\"}'",
	"curl -X DELETE -u admin:§ https://x.test/a", "vault login §; rm -rf q",
	"PGPASSWORD=§ psql -c 'delete from a'", "git push https://u:§@x.test/r.git main",
	"kubectl create secret generic a --from-literal=password=§", "redis-cli -a § flushall",
	"K=§; echo $K | docker login --password-stdin h", "K=§ ; printf %s \"$K\" | gh auth login --with-token",
	"export K=§; curl -u user:$K https://h", "read -r K <<< §; docker login -p $K h",
	"K=§; PGPASSWORD=$K psql -h h", "mysql -u root -p'§' -e 'drop table x'", "curl -H 'X-Api-Key: §' https://h",
	"curl -H 'Authorization: Bearer §' https://h", "curl 'https://x.test/a?access_token=§'",
	"docker login --password-stdin h <<E\n§\nE", "./deploy --token §", "API_TOKEN=§ ./deploy",
	"echo 'DB_PASSWORD=§' >> .env",
}

var plantedTools = []struct{ tool, args string }{
	{"mcp__db__connect", `{"host":"h","password":"§"}`},
	{"mcp__db__run", `{"config":"{\"auth\":{\"token\":\"§\"}}","q":"delete"}`},
	{"mcp__sh__run", `{"args":["--token","§"]}`},
	{"Write", `{"file_path":"/repo/.env","content":"API_KEY=§\nDB_PASSWORD=§\n"}`},
	{"Edit", `{"file_path":"/repo/c.yaml","old_string":"password: §","new_string":"password: x"}`},
	{"mcp__sh__run", `{"command":"K=\"§\"\ncurl -u \"u:$K\" https://h"}`},
	{"WebFetch", `{"url":"https://x.test/a?access_token=§","prompt":"x"}`},
	{"mcp__env__set", `{"env":[{"name":"API_KEY","value":"§"}]}`},
	{"mcp__env__set", `{"env":[{"value":"§","name":"API_KEY"},{"value":"x"}]}`},
	{"mcp__sh__run", `{"args":["curl","-H","Accept: a","--api-key","§","https://h"]}`},
}

// written are the forms in which a secret may stand in a file.
func written(secret string) map[string][]byte {
	quoted, _ := json.Marshal(secret)
	return map[string][]byte{
		"raw": []byte(secret), "hex": []byte(hex.EncodeToString([]byte(secret))),
		"HEX":                      []byte(strings.ToUpper(hex.EncodeToString([]byte(secret)))),
		"base64":                   []byte(base64.StdEncoding.EncodeToString([]byte(secret))[:len(secret)]),
		"base64 from the 2nd byte": []byte(base64.StdEncoding.EncodeToString([]byte(secret[1:]))[:len(secret)-4]),
		"base64 from the 3rd byte": []byte(base64.StdEncoding.EncodeToString([]byte(secret[2:]))[:len(secret)-4]),
		"in an address":            []byte(url.QueryEscape(secret)), "JSON": bytes.Trim(quoted, `"`),
	}
}

// The story: a password that the card hid was in the clear in the store, because the names
// of what is not bound are kept beside what is sealed; and another one in the audit. A
// daemon is asked about calls with a secret in every place that the mask knows. Some are
// approved, some denied, some expire. No byte that it wrote or showed has a secret.
func TestNoByteThatTheDaemonWritesHasASecret(t *testing.T) {
	dir := t.TempDir()
	l := startRoom(t, daemontest.EmbeddedPlace(), dir)
	l.unbound = func(c approver.ToolCall) []string { return []string{"what " + c.Command + " runs", "./deploy"} }
	var secrets []string
	var calls []approver.ToolCall
	plant := func(form string) string {
		// the characters + / = . are written otherwise in addresses and in base64
		secret := fmt.Sprintf("Zq%dxWvK7+m%dTr9Bn2Yc8", 10+len(secrets), 17+7*len(secrets))
		if len(secrets)%2 == 0 {
			secret = strings.ReplaceAll(secret, "+", "_")
		}
		secrets = append(secrets, secret)
		return strings.ReplaceAll(form, "§", secret)
	}
	for _, form := range plantedCommands {
		command := plant(form)
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, approver.ToolCall{Tool: "Bash", Command: command, Args: args})
	}
	for _, c := range plantedTools {
		calls = append(calls, approver.ToolCall{Tool: c.tool, Args: json.RawMessage(plant(c.args))})
	}
	environment := plant("§")
	for i, call := range calls {
		call.ID, call.Agent, call.Session, call.Dir, call.At = fmt.Sprint("c", i), "claude", fmt.Sprint("s", i), "/repo",
			time.Now()
		call.Env = map[string]string{"DATABASE_URL": "postgres://u:" + environment + "@h/d", "API_TOKEN": environment}
		ttl := time.Duration(0)
		if i%3 == 2 {
			ttl = 200 * time.Millisecond
		}
		request, answer := l.askAbout(call, ttl)
		if request == "" && ttl == 0 {
			t.Fatalf("nobody was asked about %s %s", call.Tool, call.Args)
		}
		if ttl == 0 {
			l.says(request, i%3 == 0, approver.Term{})
		}
		v := <-answer
		if (v.Decision == approver.Allow) != (i%3 == 0) {
			t.Errorf("%s: %+v", call.Args, v)
		}
	}
	l.room.Mu.Lock()
	cards := fmt.Sprintf("%+v", l.room.Cards)
	n := len(l.room.Cards)
	l.room.Mu.Unlock()
	l.stop()
	if n < len(calls) {
		t.Errorf("%d cards of %d calls", n, len(calls))
	}
	texts := map[string][]byte{"cards": []byte(cards)}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		texts[name], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 4 || !bytes.Contains(texts[filepath.Join(dir, "audit", "audit.jsonl")], []byte("docker login")) {
		t.Errorf("the walk did not see the store, the audit and the log: %d files", len(texts))
	}
	for name, text := range texts {
		for i, secret := range secrets {
			for form, b := range written(secret) {
				if at := bytes.Index(text, b); at >= 0 {
					t.Errorf("%s (%s), secret %d: …%s", filepath.Base(name), form, i, text[max(0, at-80):min(len(text), at+40)])
				}
			}
		}
	}
}
