package approver

import (
	"encoding/json"
	"strings"
	"testing"
)

// carried are commands in which a variable, or the shell, brings the secret § to a place
// for credentials.
var carried = []string{
	"K=§; echo $K | docker login -u u --password-stdin h", "K=§ ; printf %s \"$K\" | gh auth login --with-token", "export K=§; curl -u user:$K https://h", "K=§\ncurl -u \"user:${K}\" https://h",
	"read -r K <<< §; docker login -u u -p \"$K\" h", "read K <<E\n§\nE\ndocker login -p $K h", "read -r A K <<<'§'; docker login -p $K h", "read -r K < <(echo §); docker login -p $K h",
	"printf -v K %s §; docker login -p $K h", "printf -v K '%s' '§'; sshpass -p \"$K\" ssh h", "mapfile -t K <<< §; docker login -p ${K[0]} h", "K='§'; docker login -u u -p \"$K\" h",
	"K=\"§\"; docker login -u u --password=\"$K\" h", "K=§; PGPASSWORD=$K psql -h db", "K=§; export PGPASSWORD=$K; psql -h db", "K=§; PGPASSWORD=\"${K}\" psql -h db", "declare K=§; redis-cli -a $K flushall",
	"declare -x K=§; vault login $K", "local K=§; htpasswd -b f u $K", "typeset -r K=§; sshpass -p $K ssh h", "readonly K=§; mysql -p$K x", "K=§; mysql -p\"$K\" x", "K=§; mysql --password=${K} x",
	"K=(a § b); docker login -p \"${K[1]}\" h", "K=(§); docker login -p ${K[@]} h", "declare -a K=('§'); docker login -p ${K[0]} h", "K[0]=§; docker login -p ${K[0]} h", "K+=§; docker login -p $K h",
	"K=$(echo §); docker login -p $K h", "K=\"$(echo §)\"; docker login -p \"$K\" h", "K=`echo §`; docker login -p $K h", "K=$(printf %s §); docker login -p $K h", "K=$(cat <<< §); docker login -p $K h",
	"K=$(echo § | tr -d x); docker login -p $K h", "K=$(echo UzEyMw== §); docker login -p $K h", "docker login -p \"$(echo §)\" h", "docker login -p `echo §` h", "docker login --password-stdin h <<< \"$(echo §)\"",
	"docker login -p \"${K:-§}\" h", "docker login -p ${K:=§} h", ": ${K:=§}; docker login -p $K h", "K=§; docker login -p \"${K:-}\" h", "K=§; docker login -p \"${K:?no key}\" h",
	"K=§; docker login --password-stdin h <<< $K", "K=§; docker login --password-stdin h <<<\"$K\"", "K=§; docker login --password-stdin h <<E\n$K\nE", "K=§; cat <<E | docker login --password-stdin h\n$K\nE",
	"A=§; B=$A; C=\"${B}\"; docker login -p $C h", "env K=§ sh -c 'docker login -p $K h'", "K=§ sh -c 'curl -u u:$K https://h'", "sh -c \"K=§; docker login -p \\$K h\"", "bash -c 'K=§; echo $K | docker login --password-stdin h'",
	"bash -c 'K=\"§\"; docker login -p \"$K\" h'", "sh -c 'docker login -p \"$1\" h' x §", "f() { docker login -p \"$1\" h; }; f §", "function f { docker login -u $1 -p $2 h; }; f bob §", "set -- §; docker login -p $1 h",
	"for K in §; do docker login -p $K h; done", "K=§; H=\"X-Api-Key: $K\"; curl -H \"$H\" https://h", "H='X-Api-Key: §'; curl -H \"$H\" https://h", "C=admin:§; curl -u $C https://h", "C='admin:§'; curl -u \"${C}\" https://h",
	"K=§; curl -H \"Authorization: Bearer $K\" https://h", "K=§; curl -H \"Authorization: Bearer ${K}\" https://h", "K=§; ./get -H \"Authorization: Bearer $K\" https://h", "K=§; curl -d \"password=$K\" https://h",
	"K=§; curl -d '{\"password\":\"'$K'\"}' https://h", "K=§; curl -d \"{\\\"password\\\":\\\"$K\\\"}\" https://h", "K=§; psql postgres://u:$K@h/d", "K=§; git push https://u:${K}@h/x main", "K=§; git push https://$K@h/x main",
	"K=§; ./deploy --token $K", "K=§; ./deploy --password=\"$K\"", "K=§; API_TOKEN=$K ./deploy", "K=§; export API_TOKEN=\"$K\"; ./deploy", "K=§; make DB_PASSWORD=$K", "K=§; docker run -e DB_PASSWORD=$K img",
	"K=§; kubectl create secret generic x --from-literal=a=$K", "K=§; echo \"$K\" | sudo -S ls", "K=§; echo u:$K | chpasswd", "K=§; echo $K | gh secret set X", "K=§; psql -c \"ALTER USER a PASSWORD '$K'\"",
	"K=§; aws configure set aws_secret_access_key $K", "K=§; npm config set //r/:_authToken $K", "K=§; openssl rsa -passin pass:$K -in k", "K=§ && cd x && curl -u u:$K https://h && cd ..",
	"python3 -c 'k=\"§\"; import requests; requests.get(\"https://h\", auth=(\"u\", k))'", "python3 -c \"k='§'; connect(password=k)\"", "python3 -c 'k = \"§\"; login(u, token=k)'",
	"node -e 'const k=\"§\"; fetch(u, {headers: {Authorization: `Bearer ${k}`}})' -c x", "python3 -c 'import subprocess as s; k=\"§\"; s.run([\"docker\",\"login\",\"--password-stdin\"], input=k)'",
}

// The story: an agent put a registry's password into K and piped $K into docker login. The
// card, the chat's history and the audit had the password in the clear, because nothing
// beside it says what it is. What a variable brings to a place for credentials is one.
func TestWhatAVariableBringsToALoginIsHidden(t *testing.T) {
	const key = "abcDEF123456ghiJKL789"
	for _, form := range carried {
		command := strings.ReplaceAll(form, "§", key)
		if !strings.Contains(command, key) {
			t.Errorf("no secret in %s", form)
		}
		if shown, _ := maskCall(shellCall(command)); strings.Contains(shown, key) {
			t.Errorf("the card shows %s", shown)
		}
		if shown := Mask(command); strings.Contains(shown, key) {
			t.Errorf("the audit shows %s", shown)
		}
		args, _ := json.Marshal(map[string]string{"command": command, "content": "#!/bin/sh\n" + command + "\n"})
		if shown, _ := maskCall(ToolCall{Tool: "mcp__shell__run", Args: args}); strings.Contains(shown, key) {
			t.Errorf("the card of a tool shows %s", shown)
		}
	}
}
