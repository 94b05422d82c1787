package display

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"approver.example/display/places"
)

// carried are commands in which a variable, or the shell, brings the secret § to a place
// for credentials.
var carried = []string{
	"K=§; echo $K | docker login -u u --password-stdin h", "K=§ ; printf %s \"$K\" | gh auth login --with-token",
	"export K=§; curl -u user:$K https://h", "K=§\ncurl -u \"user:${K}\" https://h",
	"read -r K <<< §; docker login -u u -p \"$K\" h", "read K <<E\n§\nE\ndocker login -p $K h",
	"read -r A K <<<'§'; docker login -p $K h", "read -r K < <(echo §); docker login -p $K h",
	"printf -v K %s §; docker login -p $K h", "printf -v K '%s' '§'; sshpass -p \"$K\" ssh h",
	"mapfile -t K <<< §; docker login -p ${K[0]} h", "K='§'; docker login -u u -p \"$K\" h",
	"K=\"§\"; docker login -u u --password=\"$K\" h", "K=§; PGPASSWORD=$K psql -h db",
	"K=§; export PGPASSWORD=$K; psql -h db", "K=§; PGPASSWORD=\"${K}\" psql -h db",
	"declare K=§; redis-cli -a $K flushall",
	"declare -x K=§; vault login $K", "local K=§; htpasswd -b f u $K", "typeset -r K=§; sshpass -p $K ssh h",
	"readonly K=§; mysql -p$K x", "K=§; mysql -p\"$K\" x", "K=§; mysql --password=${K} x",
	"K=(a § b); docker login -p \"${K[1]}\" h", "K=(§); docker login -p ${K[@]} h",
	"declare -a K=('§'); docker login -p ${K[0]} h", "K[0]=§; docker login -p ${K[0]} h", "K+=§; docker login -p $K h",
	"K=$(echo §); docker login -p $K h", "K=\"$(echo §)\"; docker login -p \"$K\" h", "K=`echo §`; docker login -p $K h",
	"K=$(printf %s §); docker login -p $K h", "K=$(cat <<< §); docker login -p $K h",
	"K=$(echo § | tr -d x); docker login -p $K h", "K=$(echo UzEyMw== §); docker login -p $K h",
	"docker login -p \"$(echo §)\" h", "docker login -p `echo §` h", "docker login --password-stdin h <<< \"$(echo §)\"",
	"docker login -p $(echo §) h", "docker login -p \"${K:-§}\" h", "docker login -p ${K:=§} h",
	": ${K:=§}; docker login -p $K h", "K=§; docker login -p \"${K:-}\" h", "K=§; docker login -p \"${K:?no key}\" h",
	"K=§; docker login --password-stdin h <<< $K", "K=§; docker login --password-stdin h <<<\"$K\"",
	"K=§; docker login --password-stdin h <<E\n$K\nE", "K=§; cat <<E | docker login --password-stdin h\n$K\nE",
	"A=§; B=$A; C=\"${B}\"; docker login -p $C h", "env K=§ sh -c 'docker login -p $K h'",
	"K=§ sh -c 'curl -u u:$K https://h'", "sh -c \"K=§; docker login -p \\$K h\"",
	"bash -c 'K=§; echo $K | docker login --password-stdin h'",
	"bash -c 'K=\"§\"; docker login -p \"$K\" h'", "sh -c 'docker login -p \"$1\" h' x §",
	"f() { docker login -p \"$1\" h; }; f §", "function f { docker login -u $1 -p $2 h; }; f bob §",
	"set -- §; docker login -p $1 h",
	"for K in §; do docker login -p $K h; done", "K=§; H=\"X-Api-Key: $K\"; curl -H \"$H\" https://h",
	"H='X-Api-Key: §'; curl -H \"$H\" https://h", "C=admin:§; curl -u $C https://h",
	"C='admin:§'; curl -u \"${C}\" https://h",
	"K=§; curl -H \"Authorization: Bearer $K\" https://h", "K=§; curl -H \"Authorization: Bearer ${K}\" https://h",
	"K=§; ./get -H \"Authorization: Bearer $K\" https://h", "K=§; curl -d \"password=$K\" https://h",
	"K=§; curl -d '{\"password\":\"'$K'\"}' https://h", "K=§; curl -d \"{\\\"password\\\":\\\"$K\\\"}\" https://h",
	"K=§; psql postgres://u:$K@h/d", "K=§; git push https://u:${K}@h/x main", "K=§; git push https://$K@h/x main",
	"K=§; ./deploy --token $K", "K=§; ./deploy --password=\"$K\"", "K=§; API_TOKEN=$K ./deploy",
	"K=§; export API_TOKEN=\"$K\"; ./deploy", "K=§; make DB_PASSWORD=$K", "K=§; docker run -e DB_PASSWORD=$K img",
	"K=§; kubectl create secret generic x --from-literal=a=$K", "K=§; echo \"$K\" | sudo -S ls",
	"K=§; echo u:$K | chpasswd", "K=§; echo $K | gh secret set X", "K=§; psql -c \"ALTER USER a PASSWORD '$K'\"",
	"K=§; aws configure set aws_secret_access_key $K", "K=§; npm config set //r/:_authToken $K",
	"K=§; openssl rsa -passin pass:$K -in k", "K=§ && cd x && curl -u u:$K https://h && cd ..",
	"python3 -c 'k=\"§\"; import requests; requests.get(\"https://h\", auth=(\"u\", k))'",
	"python3 -c \"k='§'; connect(password=k)\"", "python3 -c 'k = \"§\"; login(u, token=k)'",
	"node -e 'const k=\"§\"; fetch(u, {headers: {Authorization: `Bearer ${k}`}})' -c x",
	"python3 -c 'import subprocess as s; k=\"§\"; s.run([\"docker\",\"login\",\"--password-stdin\"], input=k)'",
}

// The story: an agent put a registry's password into K and piped $K into docker login. The
// card, the chat's history and the audit had the password in the clear, because nothing
// beside it says what it is. What a variable brings to a place for credentials is one.
func TestWhatAVariableBringsToALoginIsHidden(t *testing.T) {
	longComputation(t)
	const key = "abcDEF123456ghiJKL789"
	for _, form := range carried {
		command := strings.ReplaceAll(form, "§", key)
		if !strings.Contains(command, key) {
			t.Errorf("no secret in %s", form)
		}
		if shown, _ := shellCall(command).Shown(); strings.Contains(shown, key) {
			t.Errorf("the card shows %s", shown)
		}
		if shown := Mask(command); strings.Contains(shown, key) {
			t.Errorf("the audit shows %s", shown)
		}
		args, _ := json.Marshal(map[string]string{"command": command, "content": "#!/bin/sh\n" + command + "\n"})
		if shown, _ := (Call{Tool: "mcp__shell__run", Args: args}).Shown(); strings.Contains(shown, key) {
			t.Errorf("the card of a tool shows %s", shown)
		}
	}
}

// A value that goes to a place for credentials and to another place, too, or that may do
// so out of sight, is hidden with the notice, and takes the typed code.
func TestAVariableThatDecidesAsWellTakesTheCode(t *testing.T) {
	for _, command := range []string{
		"K=production; docker login -p $K h; kubectl --context $K delete ns web",
		"K=production; echo $K | docker login --password-stdin h; kubectl delete ns $K",
		"K=prod-host1; curl -u u:$K https://$K/x",
		"K=reboot; docker login -p $K h; eval $K", "K=reboot; docker login -p $K h; sh -c \"$K\"",
		"K=reboot2; curl -u u:$K https://h; $K", "K=reboot2; docker login -p $K h; ssh h \"$K\"",
		"K=customers1; curl -u u:$K https://h; psql -c \"drop table $K\"",
		"A=production1; B=$A; docker login -p $B h; rm -rf /srv/$A",
		"A=production1; B=$A; docker login -p $A h; rm -rf /srv/$B",
		"export K=production1; curl -u u:$K https://h; ./deploy.sh", "K=production1; curl -u u:$K https://h; echo $K > x.sh",
		"K=production1; curl -u u:$K https://h; echo $K | sh",
		"K=production1; curl -u u:$K https://h; echo $K | xargs kubectl delete ns",
		"K=production1; curl -u u:$K https://h; set > x; . ./x", "K=production1; curl -u u:$K https://h; rm -rf ${!N}",
		"K=production1; curl -u u:$K https://h; declare -p K | sh",
		"K=production1; curl -u u:$K https://h -X DELETE https://x/$K",
		"K=(production1 b); docker login -p ${K[0]} h; kubectl delete ns ${K[0]}",
		"read K <<< production1; docker login -p $K h; kubectl delete ns $K",
		"for K in production1; do docker login -p $K h; kubectl delete ns $K; done",
		"f() { docker login -p $1 h; kubectl delete ns $1; }; f production1",
		"printf -v K production1; docker login -p $K h; kubectl delete ns $K",
		"K=production1; PGPASSWORD=$K psql -h $K", "K=production1; PGPASSWORD=$K ./run",
		"env K=production1 sh -c 'docker login -p $K h; kubectl delete ns $K'",
		"docker login -p ${K:=production1} h; kubectl delete ns $K",
		"H='X-Api-Key: production1'; curl -H \"$H\" https://h; kubectl delete ns ${H#*: }",
		"C=admin:production1; curl -u $C https://h; kubectl delete ns ${C#*:}",
		"K=production; echo $K | docker login --password-stdin h",
		"K=hunter22; curl -u u:$K https://h/${!N}", "K=hunter22; curl -u u:$K https://h; git push $_",
		"K=hunter22; curl -u u:$K https://h; git push $(git config x)",
		"K=a1B2c3D4e5F6g7H8; ./deploy --token $K", "K=a1B2c3D4e5F6g7H8; API_TOKEN=$K ./deploy",
	} {
		if shown, obscured := shellCall(command).Shown(); !obscured || !strings.Contains(shown, hiddenWords) {
			t.Errorf("a tap is enough (obscured %v): %s\n  shown as %s", obscured, command, shown)
		}
	}
}

// A value that a variable brings to known programs as a credential only keeps the tap, as
// it would in its place.
func TestAVariableOfACredentialKeepsTheTap(t *testing.T) {
	for _, command := range []string{
		"K=hunter22; docker login -u u -p $K h", "K=hunter22; docker login -u u -p \"$K\" h && docker push h/x",
		"K=hunter22; curl -u user:$K https://h", "K=hunter22; mysql -p$K -e 'drop table x'",
		"K=hunter22; PGPASSWORD=$K psql -h db -c 'drop table x'",
		"K=a1B2c3D4e5F6g7H8; echo $K | docker login --password-stdin h", "K=hunter22; redis-cli -a $K flushall",
		"K=hunter22; psql postgres://u:$K@db/prod",
		"A=hunter22; B=$A; curl -u u:$B https://h", "K=hunter22; curl -H \"X-Api-Key: $K\" -X DELETE https://h/x",
		"K=hunter22; git push https://u:$K@h/x main",
	} {
		if shown, obscured := shellCall(command).Shown(); obscured || !strings.Contains(shown, hiddenWords) {
			t.Errorf("obscured %v: %s\n  shown as %s", obscured, command, shown)
		}
	}
}

// Variables of other things stay in sight beside credentials.
func TestVariablesOfOtherThingsAreShown(t *testing.T) {
	for _, command := range []string{
		"HOST=prod-db-2026; psql -h $HOST -c 'select 1'", "DB=prod; psql -d $DB -c 'select 1'",
		"NS=production; kubectl -n $NS delete pod web",
		"NS=prod; kubectl -n $NS create secret generic x --from-literal=stage=$NS",
		"TAG=v1.2.3; docker build -t x:$TAG . && docker push x:$TAG", "TAG=v1-2026; docker build --build-arg TAG=$TAG .",
		"ENV=prod; terraform apply -var env=$ENV", "U=alice; curl -u $U:$PASS https://h",
		"U=alice; docker login -u $U -p $PASS h",
		"URL=https://h/x; curl -H \"Authorization: Bearer $TOKEN\" $URL",
		"for e in dev prod; do curl -H \"Authorization: Bearer $TOKEN\" https://$e.h/x; done", "F=prod.sql; mysql -p$PW < $F",
		"D=$(date +%F); curl -u u:$P https://h/$D",
		"K=$(cat key.txt); docker login -p $K h", "K=$(vault read prod-2026); docker login -p $K h",
		"K=$(gcloud auth print-access-token --account prod2026); docker login -p $K h", "K=$SECRET; docker login -p $K h",
		"read -rs K; docker login -p \"$K\" h",
		"docker login -p \"$(aws ecr get-login-password --region eu-west-1)\" h", "docker login -p `pass show prod2026` h",
		"K=/run/secrets/k; docker login --password-stdin h < $K", "K=https://h/x; curl -u u:$K $K",
		"f() { rm -rf \"$1\"; }; f build2026",
		"set -- prod2026; kubectl delete ns $1", "read N <<< prod2026; kubectl delete ns $N",
		"X=(a b prod2026); rm -rf ${X[2]}", "M='token refresh 2026'; git commit -m \"$M\"",
		"N=token-2026-main; git push origin $N", "BRANCH=fix/password-2026; git checkout $BRANCH",
		"MSG=hello2026; curl -d \"text=$MSG\" https://h", "python3 -c 'n=\"prod2026\"; print(n)'",
		"python3 -c 'password = getpass(); host=\"prod2026\"; connect(host, password)'",
		"X='rm -rf data2026'; kubectl create secret generic x --from-literal=a=$X; sh -c \"$X\"",
		"W=/data; for f in $W/*; do echo $f; done", "echo ${STAGE:-prod2026}",
	} {
		if shown, obscured := shellCall(command).Shown(); obscured || shown != command {
			t.Errorf("hidden, or taken for hidden (%v):\n%s\n%s", obscured, command, shown)
		}
	}
}

// A value ends with the text around it: what stands behind that is another word.
func TestAFollowedValueEndsWithItsText(t *testing.T) {
	if shown,
		_ := shellCall("sh -c 'docker login -p $K h; K=hunter22' x 'kubectl delete ns web'").Shown(); !strings.Contains(shown,
		"kubectl delete ns web") {
		t.Errorf("what decides is hidden: %s", shown)
	}
	if shown, _ := shellCall("bash -x -v -c 'docker login -p $1 h' a b").Shown(); !strings.Contains(shown,
		"docker login -p $1 h") {
		t.Errorf("the script is hidden: %s", shown)
	}
}

// The story: an agent put seventy passwords into variables, and only the first sixty-four
// were followed; the others were in the clear. Beyond the limit all that a variable is
// given is hidden, with the notice.
func TestMoreVariablesThanAreFollowed(t *testing.T) {
	longComputation(t)
	for _, n := range []int{places.MaxWants - 1, places.MaxWants, places.MaxWants + 1, 3 * places.MaxWants} {
		for _, login := range []string{"docker login -p $K%d h", "curl -u u:$K%d https://h", "psql postgres://u:$K%d@h/d",
			"./deploy --token $K%d"} {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "K%d=abcDEF123456ghiJKL%d\n", i, 100+i)
			}
			fmt.Fprintf(&b, "read -r K%d <<< abcDEF123456ghiJKL%d\n", n, 100+n)
			for i := range n + 1 {
				fmt.Fprintf(&b, login+"\n", i)
			}
			shown, obscured := shellCall(b.String()).Shown()
			if strings.Contains(shown, "abcDEF") || strings.Contains(Mask(b.String()), "abcDEF") {
				t.Errorf("%d, %s: shown", n, login)
			}
			if n+1 > places.MaxWants && !obscured {
				t.Errorf("%d, %s: no notice", n, login)
			}
		}
	}
}
