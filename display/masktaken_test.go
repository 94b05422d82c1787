package display

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// taken are commands with a value that a program takes as a secret, which is K: by flag,
// by position, from its standard input, in a statement, or in a body.
var taken = []string{
	// settings and positions
	"aws configure set aws_secret_access_key K", "aws --profile prod configure set aws_secret_access_key K",
	"aws configure set aws_session_token 'K' --profile x",
	"npm config set //registry.npmjs.org/:_authToken K", "npm set //r.example/:_password K",
	"pnpm config set //r.example/:_authToken \"K\"", "npm config set //r/:_auth=K",
	"rclone config create x s3 secret_access_key K", "git config --global github.token K",
	"composer config --global github-oauth.github.com K",
	"composer config http-basic.repo.example me K", "poetry config pypi-token.pypi K",
	"dotnet user-secrets set Db:Password K",
	"redis-cli AUTH K", "redis-cli -h r -p 6380 auth default K", "redis-cli -a K ping",
	"valkey-cli CONFIG SET requirepass K", "redis-cli ACL SETUSER bob on '>K' +@all",
	"vault login K", "vault login -method=userpass username=me password=K", "vault operator unseal K",
	"vault kv put secret/x password=K", "vault kv put secret/x stripe=K",
	"heroku config:set SECRET_KEY=K", "heroku config:set -a app STRIPE_KEY=K", "fly secrets set STRIPE_KEY=K",
	"flyctl secrets set A=K B=K", "doppler secrets set X=K",
	"supabase secrets set X_KEY=K", "netlify env:set X=K", "firebase functions:config:set stripe.key=K",
	"op item create password=K",
	"gh secret set X -b K", "gh secret set X --body=K", "gh secret set X -b 'K'",
	"kubectl create secret generic x --from-literal=password=K",
	"kubectl -n prod create secret generic x --from-literal=stripe=K --from-literal token=K",
	"kubectl create secret docker-registry x --docker-password=K",
	"htpasswd -b f user K", "htpasswd -cb f user 'K'", "mkpasswd K", "openssl passwd K",
	"openssl enc -aes-256-cbc -pass pass:K -in a", "openssl enc -aes-256-cbc -k K",
	"openssl enc -aes-256-cbc -K K", "openssl pkcs8 -passin pass:K", "sshpass -p K ssh h", "sshpass -p'K' ssh h",
	"ssh-keygen -N K -f k", "useradd -p K bob", "mysql -p'K' x",
	"mysql -u root -p'K' x", "mysqladmin password K", "curl -u u:K https://h", "wget --password K https://h",
	"az login -u u -p K",
	"gcloud sql users set-password root --password K", "gcloud sql users set-password root --password=K",
	"smbclient //h/s -U bob%K", "lftp -u user,K h", "sqlplus user/K@h",
	"keytool -list -storepass K", "security add-generic-password -a u -s s -w K", "doctl auth init -t K", "influx -t K",
	"bw unlock K", "cargo login K", "nmcli dev wifi connect x password K",
	"mc alias set m https://h ACCESSKEY K", "snmpwalk -c K h",
	"aws ssm put-parameter --name x --value K --type SecureString",
	"az keyvault secret set --vault-name v --name n --value K",
	"sudo -u root docker login -u me -p K h", "sudo -n htpasswd -b f user K", "npx vercel deploy --token K",
	"wpa_passphrase ssid K", "pulumi config set --secret name K",
	// addresses
	"git remote set-url origin https://u:K@h/x", "git remote add origin https://K@github.com/x/y",
	"pg_dump \"postgres://u:K@h/d\"", "curl ftp://u:K@h/x", "wget 'ftp://u:K@h/x'",
	"curl 'https://x.blob.example/a?sv=1&sig=K'", "curl 'https://x.test/?key=K'",
	"curl 'https://s3.example/a?X-Amz-Signature=K&x=1'", "redis-cli -u redis://:K@h",
	// standard input
	"echo K | docker login --password-stdin -u me h", "echo -n K | docker login h -u me --password-stdin",
	"printf K | gh auth login --with-token", "printf %s K | gh auth login --with-token",
	"printf '%s\\n' K | podman login --password-stdin h", "echo 'K' | sudo docker login --password-stdin h",
	"docker login --password-stdin -u a <<< K", "docker login --password-stdin <<<\"K\"",
	"gh auth login --with-token <<< 'K'", "cat <<< K | docker login --password-stdin",
	"docker login --password-stdin <<EOF\nK\nEOF", "cat <<'E' | docker login --password-stdin\nK\nE",
	"echo K | base64 | docker secret create x -", "echo K | gh secret set X", "echo K | wrangler secret put X",
	"echo K | npx wrangler secret put X", "echo root:K | chpasswd",
	"echo K | passwd --stdin root", "echo K | sudo -S ls", "echo K | sudo -kS -p '' ls", "printf K | sudo --stdin ls",
	"echo K | vault login -", "echo K | cryptsetup open /dev/x y",
	"(echo K) | docker login --password-stdin", "{ echo K; } | docker login --password-stdin",
	"echo x; echo K | docker login --password-stdin; echo y", "pass insert x <<< K",
	"echo K | helm registry login --password-stdin h", "echo K | vercel env add X production",
	"echo K | gcloud secrets create x --data-file=-", "echo A=K | fly secrets import",
	"echo K |& docker login --password-stdin", "cd x && echo K | docker login --password-stdin && docker push h/x",
	"echo K | kinit me", "echo K | secret-tool store --label=x a b",
	// statements
	"psql -c \"ALTER USER a PASSWORD 'K'\"", "psql -c \"ALTER ROLE a WITH ENCRYPTED PASSWORD 'K'\"",
	"psql -c \"CREATE ROLE a LOGIN PASSWORD 'K' VALID UNTIL 'x'\"",
	"psql --command=\"alter user a with password 'K';\"", "mysql -e \"CREATE USER a IDENTIFIED BY 'K'\"",
	"mysql -e \"ALTER USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY 'K'\"",
	"mysql -e \"SET PASSWORD FOR a = 'K'\"", "mysql -e \"SET PASSWORD = PASSWORD('K')\"",
	"mysql -e \"GRANT ALL ON x.* TO a IDENTIFIED BY 'K'\"", "sqlcmd -Q \"CREATE LOGIN a WITH PASSWORD = 'K'\"",
	"sqlcmd -Q \"ALTER LOGIN a WITH PASSWORD = N'K'\"", "psql <<E\nALTER USER a PASSWORD 'K';\nE",
	"echo \"ALTER USER a PASSWORD 'K'\" | psql", "sqlplus / <<< 'ALTER USER a IDENTIFIED BY K'",
	"psql -c 'ALTER USER a PASSWORD '\\''K'\\'''", "kubectl exec db -- psql -c \"ALTER USER a PASSWORD 'K'\"",
	// bodies
	"curl -d '{\"password\":\"K\"}' https://h", "curl -d \"{\\\"password\\\":\\\"K\\\"}\" https://h",
	"curl --json '{\"a\":{\"client_secret\":\"K\"}}' https://h", "curl -d 'a=1&password=K' https://h",
	"curl -d pwd=K https://h", "curl --data-urlencode 'pass=K' https://h", "echo 'requirepass K' >> redis.conf",
	"echo 'db_pass: K' >> x.yml", "echo DB_PASS=K >> .env", "echo STRIPE_KEY=K >> .env",
	"TF_VAR_db_pass=K terraform apply", "ansible-playbook -e ansible_become_pass=K p.yml", "echo h:5432:d:u:K > ~/.pgpass",
	"echo '<password>K</password>' > settings.xml",
	"echo \"'password' => 'K',\" > config.php", "echo 'ENV DB_PASSWORD K' >> Dockerfile",
	"echo '//r.example/:_auth=K' >> .npmrc", "echo 'jwt: K' >> x.yml", "echo SECRET_KEY_BASE=K >> .env",
}

// The story: a password that stood behind a position, in a statement or in what was piped
// into a login was on the card, on the lock screen and in the audit for everybody to read.
// What a known program takes as a secret is hidden wherever it takes it.
func TestWhatProgramsTakeAsASecretIsHidden(t *testing.T) {
	const key = "abcDEF123456ghiJKL789"
	for _, form := range taken {
		command := secretK.ReplaceAllString(form, "${1}"+key)
		if !strings.Contains(command, key) {
			t.Errorf("no secret in %s", form)
		}
		if shown, _ := shellCall(command).Shown(); strings.Contains(shown, key) {
			t.Errorf("the card shows %s", shown)
		}
		if shown := Mask(command); strings.Contains(shown, key) {
			t.Errorf("the audit shows %s", shown)
		}
	}
}

// secretK finds the K that stands for a secret.
var secretK = regexp.MustCompile(`(^|[^A-Za-z-])K\b`)

// The forms of files that Write and Edit bring, and of what other tools are given.
func TestSecretsInBodiesAreHidden(t *testing.T) {
	const key = "abcDEF123456ghiJKL789"
	const pem = "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVBdGVzdHRlc3R0ZXN0dGVzdA"
	for _, text := range []string{
		"password = \"K\"", "db:\n  password: K\n", "db_pass = 'K'", "[db]\npassword=K\n", "PASSWORD='K'", "export API_KEY=K",
		"stripe_key: K", "requirepass K\n",
		"<add key=\"Password\" value=\"x\"/><password>K</password>", "jdbc.password=K", "'secret' => 'K',",
		"ALTER USER a PASSWORD 'K';", "CREATE USER a IDENTIFIED BY 'K';",
		"ENV DB_PASSWORD K", "Server=h;Pwd=K;", "Server=h;Password=K;",
		"{\"auth\": \"dXNlcjphYmNERUYxMjM0NTZnaGlKS0w3ODk=\"}", "client-key-data: " + pem,
		"secret_key_base: K", "//r.example/:_authToken=K", "https://u:K@h/x", "machine h login u password K",
		"\"token\": \"K\"", "auth: {password: K}",
	} {
		for _, tool := range []string{"Write", "Edit", "mcp__fs__write"} {
			body := secretK.ReplaceAllString(text, "${1}"+key)
			args, _ := json.Marshal(map[string]any{"file_path": "/repo/x", "content": body, "new_string": body})
			shown, _ := Call{Tool: tool, Args: args}.Shown()
			for _, gone := range []string{key, "YmNERUYxMjM0NTZ", "SUlFcEFJQkFBS0NB"} {
				if strings.Contains(shown, gone) {
					t.Errorf("%s: the card shows %s", tool, shown)
				}
			}
		}
	}
	text := `{"password":"` + key + `"}`
	for level := 1; level <= 3; level++ {
		args, _ := json.Marshal(map[string]string{"body": text})
		if shown, obscured := (Call{Tool: "mcp__x__y", Args: args}).Shown(); strings.Contains(shown, key) || !obscured {
			t.Errorf("JSON in JSON, level %d: %s", level, shown)
		}
		text = string(args)
	}
	certificate := "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJrVENCK3dJSkFLSEJmcEV"
	for _, honest := range []string{
		certificate, `{"auth": "required-by-default"}`, "cache_key: v1-linux-amd64-2026", "sort_key=created-2026-desc",
		"<token></token>", "<password>${db.password}</password>",
		"// rows identified by name, see password reset", "compass: north-2026", "bypass=false", "the password is 'secret'",
		"primary_key: id", "ssh_key: ~/.ssh/id_ed25519",
		"SELECT 'password 12345'", "grant_type=client_credentials", "/a?sig=none", "key=prod/backups/2024",
	} {
		args, _ := json.Marshal(map[string]string{"file_path": "/repo/x", "content": honest})
		call := Call{Tool: "Write", Args: args}
		if shown, obscured := call.Shown(); obscured || strings.Contains(shown, hiddenWords) {
			t.Errorf("hidden (%v): %s", obscured, shown)
		}
	}
}

// What the same programs are given beside secrets stays in sight, and the tap too.
func TestWhatIsBesideSecretsIsShown(t *testing.T) {
	for _, command := range []string{
		"aws configure set region eu-west-1", "aws configure set profile.prod.role_arn arn:aws:iam::1:role/x",
		"npm config set registry https://registry.example/", "git config user.name 'A B'",
		"git config --global credential.helper store", "rclone config create x s3 provider AWS", "redis-cli SET auth:1234 x",
		"redis-cli DEL token:1234", "vault kv get secret/prod-2026",
		"vault kv put secret/x stage=production", "heroku config:set STAGE=production -a web-2026",
		"fly secrets set STAGE=production", "fly deploy --app web-2026", "gh secret list",
		"kubectl create configmap x --from-literal=password_policy=strict",
		"kubectl create secret tls x --cert=a.pem --key=a.key", "kubectl -n prod-2026 delete secret web-2026",
		"kubectl create secret generic x --from-literal=stage=production", "htpasswd -D f user2026",
		"openssl req -new -key prod-2026.key -out a.csr", "ssh-keygen -f prod-2026 -t ed25519",
		"useradd -m bob2026", "mysql -h db -u u prod_2026", "psql -c \"ALTER ROLE a VALID UNTIL '2027-01-01'\"",
		"psql -c \"ALTER ROLE prod2026 RENAME TO x\"", "mysql -e 'DROP USER prod2026'",
		"echo deploying prod-east-4417; docker login --password-stdin h < key",
		"echo prod-east-4417 && echo done | docker push h/x", "echo prod-east-4417 | kubectl delete -f -",
		"echo prod-east-4417 | xargs kubectl delete ns", "echo prod-east-4417 | tee x.sh",
		"echo prod-east-4417 | sudo tee /etc/x", "printf prod-east-4417 | gh pr create -F -",
		"curl 'https://x.test/delete?key=prod/backups/2024'", "git commit -m 'rows identified by name'",
		"git commit -m \"set the password 'policy'\"", "smbclient -U bob //h/s", "cargo login",
		"gcloud secrets delete api-2026", "az keyvault secret show --name db-2026", "pulumi stack select prod-2026",
		"docker login h", "sudo -u prod2026 ls", "sudo -k", "lftp prod-2026.example",
		"git remote set-url origin https://github.com/x/prod-2026", "git remote add origin https://user@github.com/x/y",
		"npx prisma migrate deploy --schema prod-2026",
		"aws ssm put-parameter --name /x/stage --value production", "bw list items", "mc ls prod-2026",
		"echo DB_HOST=prod-db-2026.example >> .env", "su - prod2026", "echo x > prod2026 | docker login --password-stdin",
	} {
		if shown, obscured := shellCall(command).Shown(); obscured || shown != command {
			t.Errorf("hidden, or taken for hidden (%v):\n%s\n%s", obscured, command, shown)
		}
	}
}

// The story: what is fed to a login may be what another program runs or acts upon as
// well. Then the card says that it hides something, and takes the typed code.
func TestWhatFeedsALoginAndMoreTakesTheCode(t *testing.T) {
	for _, command := range []string{
		"docker() { sh; }; echo wipe-all-2026 | docker login --password-stdin",
		"alias docker=sh; echo wipe-all-2026 | docker login --password-stdin",
		"docker login --password-stdin <<E\nwipe-all-2026\nE", "bash -c 'echo wipe-all-2026 | docker login --password-stdin'",
		"X='echo wipe-all-2026 | docker login --password-stdin'; eval \"$X\"",
		"sqlite3 x \"ALTER USER a PASSWORD 'wipe-all-2026'\"", "./run <<E\nALTER USER a PASSWORD 'wipe-all-2026';\nE",
		"kubectl create secret generic x --from-literal=stage=prod-2026-east1a",
		"fly secrets set CLUSTER=prod-2026-east1a", "git config x.token prod-east-4417-abcd; git push origin main",
	} {
		if shown, obscured := shellCall(command).Shown(); !obscured || !strings.Contains(shown, hiddenWords) {
			t.Errorf("a tap is enough: %s\n  shown as %s", command, shown)
		}
	}
	for _, command := range []string{
		"echo wipe-all-2026 | sh | docker login --password-stdin",
		"echo wipe-all-2026 | ./run | docker login --password-stdin",
		"echo wipe-all-2026 > x.sh | docker login --password-stdin",
	} {
		if shown, _ := shellCall(command).Shown(); !strings.Contains(shown, "wipe-all-2026") {
			t.Errorf("what another program reads is hidden: %s", shown)
		}
	}
}
