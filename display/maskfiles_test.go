package display

import (
	"strings"
	"testing"
)

// The story: an agent wrote a registry's password into a file, or had another program
// print it, and the login read it from there. The card and the audit had it in the clear.
// What looks like a secret and goes that way is hidden with the notice.
func TestASecretThatAFileOrAProgramBringsIsHidden(t *testing.T) {
	const key = "hunter22"
	for _, form := range []string{
		"printf %s § > f; docker login --password-stdin h < f", "echo § > f; docker login --password-stdin h < f",
		"echo §>f; docker login --password-stdin h <f", "echo § >> f; < f docker login --password-stdin h",
		"echo '§' > \"f\"; docker login --password-stdin h < 'f'",
		"echo § >f && cat f | docker login --password-stdin h", "echo § > f; docker login -p $(cat f) h",
		"cat > f <<E\n§\nE\ndocker login --password-stdin h < f", "echo § | tee f; docker login --password-stdin h < f",
		"echo § | tee /dev/null | docker login --password-stdin",
		"K=§; echo \"$K\" | tee /dev/null | docker login --password-stdin", "echo § > f; read K < f; docker login -p $K h",
		"echo § > f; while read K; do docker login -p $K h; done < f", "while read K; do docker login -p $K h; done <<< §",
		"while read K; do docker login -p $K h; done < <(echo §)",
		"while read -r A K; do docker login -p $K h; done <<E\n§\nE", "C='u §'; set -- $C; docker login -u $1 -p $2 h",
		"C='-u u -p §'; docker login $C", "C=\"-u u -p §\"; docker login ${C} h", "C='-h db -p§'; mysql $C",
		"C='-u u:§ -s'; curl $C https://h",
		"K=§; N=K; docker login -p ${!N} h", "K=§; declare -n N=K; docker login -p $N h",
		"K=§; local -n N=K; docker login -p $N h", "K=§; N=K; curl -u \"u:${!N}\" https://h",
		"K=§ python3 -c 'import os,requests; requests.get(\"https://h\", auth=(\"u\", os.environ[\"K\"]))'",
		"K=§ python3 -c 'import os; connect(password=os.environ.get(\"K\"))'",
		"K=§ python3 -c 'import os; connect(password=os.getenv(\"K\"))'",
		"python3 -c 'print(\"§\")' | docker login --password-stdin h",
		"node -e 'console.log(\"§\")' | docker login --password-stdin h",
		"ruby -e 'puts \"§\"' | docker login --password-stdin h",
		"awk 'BEGIN{print \"§\"}' | docker login --password-stdin h", "echo x | sed s/x/§/ | docker login --password-stdin h",
		"echo x | sed 's|x|§|' | docker login --password-stdin h", "yes § | head -1 | docker login --password-stdin h",
		"echo § | rev | docker login --password-stdin h", "echo § | sort | docker login --password-stdin h",
		"echo § | sed s/x/y/ | docker login --password-stdin h",
		"curl -K - <<E\nuser = \"u:§\"\nurl = \"https://h\"\nE", "echo 'user = \"u:§\"' | curl -K - https://h",
		"curl --config - https://h <<E\nproxy-user: u:§\nE",
		"expect -c 'spawn ssh h; expect \"assword:\"; send \"§\\r\"; interact'",
		"expect -c \"spawn ssh h; expect \\\"password:\\\" { send \\\"§\\r\\\" }\"",
		"expect <<E\nspawn ssh h\nexpect \"Password: \"\nsend -- \"§\\r\"\nE", "docker login --password-stdin h <<< §",
		"<<< § docker login --password-stdin h", "echo § | timeout 5 docker login --password-stdin h",
		"echo § | docker exec -i c docker login --password-stdin h",
	} {
		command := strings.ReplaceAll(form, "§", key)
		shown, obscured := shellCall(command).Shown()
		if strings.Contains(shown, key) || strings.Contains(Mask(command), key) {
			t.Errorf("in the clear: %s\n  the audit: %s", shown, Mask(command))
		}
		known := strings.HasPrefix(form, "echo § | timeout") // its words are understood
		if !obscured && !known {
			t.Errorf("a tap is enough: %s", shown)
		}
	}
}

// What a file, a loop or a script has for another program stays in sight, and so does a
// script that a login reads as well: it has no look of a secret.
func TestWhatAFileOrAProgramBringsElsewhereIsShown(t *testing.T) {
	for _, command := range []string{
		"echo 'rm -rf data2026' > x.sh; docker login --password-stdin h < x.sh; sh x.sh",
		"echo reboot > x.sh; docker login --password-stdin h < x.sh; sh x.sh",
		"echo prod2026 > f; kubectl delete ns $(cat f)",
		"echo \"rm -rf data\" | tee x.sh | docker login --password-stdin h; sh x.sh",
		"while read N; do kubectl delete ns $N; done <<< prod2026", "C='-n prod2026 pod'; kubectl delete $C",
		"N=K; K=prod2026; kubectl delete ns ${!N}", "declare -n N=K; K=prod2026; kubectl delete ns $N",
		"set -- $C; kubectl delete ns $1",
		"python3 -c 'print(\"prod2026\")' | xargs kubectl delete ns",
		"aws ecr get-login-password --region eu-west-1 | docker login --password-stdin h",
		"gcloud auth print-access-token --account prod2026 | docker login --password-stdin h",
		"sed s/x/prod2026/ f | kubectl apply -f -",
		"cat key2026.txt | docker login --password-stdin h", "docker login --password-stdin h < key2026.txt",
		"jq -r .x2026 f | docker login --password-stdin h", "sed -n 2,16p key2026 | docker login --password-stdin h",
		"awk '{print $2}' key2026 | docker login --password-stdin h",
		"curl -K prod2026.conf https://h", "expect -c 'spawn ssh h; expect \"$ \"; send \"reboot2026\\r\"'",
		"K=prod2026 python3 -c 'import os; delete(os.environ[\"K\"])'", "C='a b'; rm -rf $C",
	} {
		if shown, obscured := shellCall(command).Shown(); shown != command || obscured {
			t.Errorf("hidden, or taken for hidden (%v): %s", obscured, shown)
		}
	}
}
