package display

import (
	"strings"
	"testing"
)

// honestTexts have the words of secrets in the names of other things.
var honestTexts = []string{
	"git push -u origin token-branch", "git push --force -u api-token:prod-repo-4417-abcd.git main",
	"git push origin -d token=prod-release-4417a1",
	"git push --force -u deploy_token:team/prod-repo-4417", "git checkout -b fix/password-reset-2026-01",
	"git branch -D feature/api-key-rotation-20261",
	"git commit -m 'rotate token: see TICKET-12345-abcdefg'", "git log --grep=secret --oneline",
	"git add src/tokens/secret_key.go",
	"git merge origin/secret-scanning-2026q1", "git tag token-v1.2.3", "git rebase secret-branch-20261101",
	"mkdir -p secret-service-2026/data01", "docker run -p 8080:8080 secret-app-2026-01",
	"ssh -p 2222 token-host-01.example.com", "cp -p secret1234567890.txt /backup",
	"docker run --name login -p 8080:80 nginx-2026-prod01", "docker compose -p secret-stack-20261 up -d",
	"rsync -a -p token-data-2026 host:/x",
	"tar -p -xf secrets-2026-01-01.tar", "nc -u token:12345 host-0123456", "tmux -u new -s token-20261234",
	"sort -u secret-list-20261234.txt", "ps -u tokenuser20261234",
	"date -u +token-2026-11-22", "kubectl --context secret-prod-east-4417 delete ns web",
	"kubectl delete secret web-tls-2026-prod01", "kubectl get secrets -n token-service-2026",
	"kubectl -n secret-store delete pod api-key-manager-7d9f8b6c5-x2x4z",
	"kubectl config use-context token-prod-2026-east", "kubectl rollout restart deploy/token-service-2026a",
	"kubectl label ns x token=prod-east-4417-main", "kubectl delete pods -l token=prod-east-4417-main",
	"pytest tests/test_password_reset_2026.py::test_token_expiry_3600s", "pytest -k 'token and not secret1234567890'",
	"go test ./... -run TestSecretKeyRotation2026Q1abc",
	"npm run test -- --grep 'password reset 2026'", "npm test -- tests/token-20261234.spec.ts",
	"cargo test token_bucket_1234567890",
	"rm -rf secrets-backup-2026-11-22", "rm -rf build/token=prod2026east4417", "rm token.json password.txt api_key.pem",
	"rm -rf secret: customerdb2026archive",
	"cat config/secrets.example.2026.yaml", "find . -name '*secret*' -newer token-20261234",
	"grep -rn 'password=' src/auth2026/", "grep -rn token_type src/",
	"ls -la ~/.config/token-cache-20261234/", "mv access_key_20261234567890.csv old/",
	"chmod 600 secret_key_2026_prod_01.pem", "scp token-20261234.tgz host:/srv",
	"aws s3 rb s3://secret-bucket-prod-4417 --force", "aws s3 rm s3://a:prod-bucket-4417@x --recursive",
	"aws secretsmanager delete-secret --secret-id prod/db-password-2026a1",
	"aws kms schedule-key-deletion --key-id 1234abcd-12ab-34cd-56ef-1234567890ab",
	"aws iam delete-access-key --user-name token-bot-2026",
	"gcloud secrets delete api-key-prod-2026-01",
	"az keyvault secret delete --vault-name prod-vault-2026 --name db-password-20261",
	"gh secret delete DEPLOY_TOKEN_2026_PROD1", "gh auth login --with-token < token-file-2026.txt",
	"gh workflow run token-rotation-2026.yml",
	"vault kv delete secret/prod-db-2026-main", "vault token revoke -self",
	"terraform destroy -target=aws_secretsmanager_secret.prod2026",
	"terraform workspace select token-prod-2026a", "helm uninstall token-service-2026 -n secret-prod-01",
	"psql -d token_prod_2026 -c 'select token_id from tokens'",
	"psql -c 'alter table users drop column password_hash_2026'", "mysql -u root -p token_prod_2026",
	"mysql -h password-db-2026.example.com token_prod",
	"redis-cli -n 2 del token:1234567890", "dropdb secret_prod_20261234",
	"docker rmi registry.example/token-service:2026.11.22-abc123", "docker push x/api-token:prod2026release1",
	"docker volume rm secret-data-2026-prod01", "make token-service PASSWORD_MIN_LENGTH=12", "TOKEN_TTL=3600s ./run",
	"SECRET_NAME=prod-db-2026-main ./run",
	"PASSWORD_FILE=/run/secrets/db-2026-prod ./run", "API_KEY_HEADER=X-Api-Key-2026-abc ./run",
	"./run --token-file /run/secrets/token-2026a1",
	"./run --secret-name prod-db-2026-main", "./run --password-policy strict-2026-v12", "./run --token=auto",
	"./run --password=prompt", "token=shutdown; $token -h now",
	"curl -X DELETE https://api.example/tokens/1234567890abcdef", "curl https://token-host-2026a.example/secret/x",
	"curl -H 'Accept: application/vnd.secret-2026+json' https://h",
	"echo 'password = getpass.getpass(\"p\")' > x.py", "sed -i s/old_token_2026/new_token_2026/ src/x.go",
	"systemctl restart token-service@2026-prod01", "bearer wipe-everything-on-this-machine",
}

// The story: -u belonged to every program, so that git push -u api-token:REPO hid the
// repository that was pushed to, and a tap approved it. A flag is a credential's for its
// own program only.
func TestNamesWithTheWordsOfSecretsAreShown(t *testing.T) {
	for _, s := range honestTexts {
		if got, obscured := shellCall(s).Shown(); got != s || obscured {
			t.Errorf("hidden, or taken for hidden (%v):\n%s\n%s", obscured, s, got)
		}
		if got := Squeeze(Visible(Mask(s))); strings.Contains(got, hiddenWords) && !strings.ContainsAny(s, "=:") {
			t.Errorf("hidden where nobody knows the call:\n%s\n%s", s, got)
		}
	}
	for _, args := range []string{
		`{"secretName":"prod-db-2026-main","namespace":"token-prod-2026"}`,
		`{"token_count":1234567890123456,"key":"prod-east-4417-main"}`,
		`{"path":"/srv/secrets/prod-2026-east","password_policy":"strict-2026-v12"}`,
		`{"name":"DB_PASSWORD_FILE","value":"/run/secrets/db-2026-prod"}`,
		`{"token":"auto","password":"","secret":null,"api_key":"${API_KEY}"}`,
		`{"args":["--token-file","/run/token-2026-a1b2"]}`,
		`{"branch":"fix/password-reset-2026-01","files":["secret_key_2026.go"]}`,
		`{"sort_key":"created-2026-desc","primary_key":"id-20261234-abcd"}`,
	} {
		call := Call{Tool: "mcp__x__y", Args: []byte(args)}
		if got, obscured := call.Shown(); got != call.Text() || obscured {
			t.Errorf("hidden, or taken for hidden (%v): %s", obscured, got)
		}
	}
}

// A program that is not known may do anything with what it is given: what its name or
// form hides there takes the typed code. A known one only proves by it who asks.
func TestTheProgramSaysWhatAFlagMeans(t *testing.T) {
	for _, c := range []struct {
		command  string
		obscured bool
	}{
		// nothing says that it is a secret
		{"curl -u admin:hunter22 https://h/x", false}, {"./run -u admin:a1B2c3D4e5F6g7H8", false},
		{"./run --token a1B2c3D4e5F6g7H8", true}, {"./run --password hunter22", true},
		{"mysql -phunter22 -e 'drop table x'", false},
		{"gh workflow run deploy.yml -F token=prod-east-4417-abcd", true},
		{"gh api -X DELETE /x -f secret_key=prod-east-4417-abcd", true},
		{"terraform destroy -var api_token=prod-east-4417-abcd", true},
		{"helm upgrade x ./c --set cluster.token=prod-east-4417-abcd", true},
		{"docker run -e API_TOKEN=prod-east-4417-abcd img", true},
		{"curl -d cluster_token=prod-east-4417-abcd https://h", true},
		{"curl -d token=prod-east-4417-abcd https://h", true}, {"curl -d token=a1B2c3D4e5F6g7H8 https://h", false},
		{"redis-cli -a hunter22 flushall", false}, {"sudo docker login -u me -p hunter22 h", false},
		{"mysql -phunter22; set -- $_; rm -rf /srv/$1", true}, {"X='-phunter22'; mysql $X", false},
		{"rm -rf \"mysql -phunter22\"", true}, {"rm -rf \"\ncurl --token hunter22\"", true},
		{"bash -c 'mysql -phunter22'", true},
		{"mysql() { rm -rf /srv/${1#-p}; }; mysql -phunter22", true}, {"alias mysql=rm; mysql -phunter22", true},
		{"./mysql -phunter22", true},
		{"kubectl --context x --token \"hunter22\" delete ns y", false},
		{"rm -rf 'authorization: bearer a1B2c3D4e5F6g7H8'", true}, {"PGPASSWORD=letmein psql -h db", false},
		{"PGPASSWORD=letmein ./run", true},
	} {
		if got, obscured := shellCall(c.command).Shown(); obscured != c.obscured {
			t.Errorf("obscured %v: %s\n  shown as %s", obscured, c.command, got)
		}
	}
	if got, obscured := shellCall("PGPASSWORD=prodeast; psql -h $PGPASSWORD -c 'drop table t'").Shown(); obscured ||
		!strings.Contains(got, "prodeast") {
		t.Errorf("the host is hidden (%v): %s", obscured, got)
	}
}
