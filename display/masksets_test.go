package display

import (
	"fmt"
	"strings"
	"testing"

	"approver.example/display/places"
)

// The story: an agent exported GIT_SSH_COMMAND="sh e" and used the variable as a password
// of curl as well. The card hid the program as a credential, a tap was enough, and git ran
// it by the variable's name. What a program may look up by its name takes the typed code.
func TestAVariableThatProgramsLookUpTakesTheCode(t *testing.T) {
	for _, command := range []string{
		`export GIT_SSH_COMMAND="sh e"; curl -s -u u:$GIT_SSH_COMMAND -X DELETE http://127.0.0.1:9/x; git fetch o`,
		"export PGDATABASE=production; curl -u u:$PGDATABASE https://h; psql -c 'drop table t'",
		"export KUBECONFIG=prod.yaml; curl -u u:$KUBECONFIG https://h; kubectl delete ns web",
		"export GIT_PAGER=evil99; curl -u u:$GIT_PAGER https://h; git log",
		"export EDITOR=evil99; curl -u u:$EDITOR https://h; git commit --amend",
		"EDITOR=evil99; curl -u u:$EDITOR https://h; git commit --amend",
		"VISUAL=evil99; docker login -p $VISUAL h; git commit", "PAGER=evil99; docker login -p $PAGER h; git log",
		"export AWS_PROFILE=production; docker login -p $AWS_PROFILE h; aws s3 rb s3://x",
		"AWS_REGION=production1; curl -u u:$AWS_REGION https://h; aws s3 ls",
		"export DOCKER_HOST=production; curl -u u:$DOCKER_HOST https://h; docker push x",
		"export PGHOST=production; curl -u u:$PGHOST https://h; psql -c 'drop table t'",
		"PGHOST=production; curl -u u:$PGHOST https://h; psql -c 'drop table t'",
		"HOME=production; curl -u u:$HOME https://h; cd; git clean -fdx", "PATH=bin; curl -u u:$PATH https://h; git fetch",
		"IFS=o; curl -u u:$IFS https://h; git fetch",
		"CDPATH=production; curl -u u:$CDPATH https://h; cd x && git clean -fdx",
		"BASH_ENV=evil99; curl -u u:$BASH_ENV https://h; git fetch",
		"PS4=evil99; set -x; curl -u u:$PS4 https://h", "path=evil99; curl -u u:$path https://h; git fetch",
		"home=production; curl -u u:$home https://h; cd; git clean -fdx",
		"https_proxy=evil99; curl -u u:$https_proxy https://h", "HTTPS_PROXY=evil99; curl -u u:$HTTPS_PROXY https://h",
		"TF_VAR_stage=production; curl -u u:$TF_VAR_stage https://h; terraform apply",
		"TF_VAR_api_token=production; curl -u u:$TF_VAR_api_token https://h; terraform apply",
		"npm_config_registry=evil99; curl -u u:$npm_config_registry https://h; npm publish",
		"KUBECTL_EXTERNAL_DIFF=evil99; curl -u u:$KUBECTL_EXTERNAL_DIFF https://h; kubectl get x",
		"STAGE=production; curl -u u:$STAGE https://h; helm upgrade web x",
		"REGION=production; curl -u u:$REGION https://h; aws s3 rb s3://x",
		"HELM_NAMESPACE=production; curl -u u:$HELM_NAMESPACE https://h; helm uninstall web",
		"VAULT_ADDR=production; vault login $VAULT_ADDR; vault delete x",
		"GIT_ASKPASS=evil99; curl -u u:$GIT_ASKPASS https://h; git fetch",
		"SSH_ASKPASS=evil99; curl -u u:$SSH_ASKPASS https://h; git fetch",
		"PWD=production; curl -u u:$PWD https://h; git clean -fdx",
		"OLDPWD=production; curl -u u:$OLDPWD https://h; cd -; git clean -fdx",
		"CC=evil99; curl -u u:$CC https://h; cargo publish",
		// exported, which any program may read
		"export K=hunter22; curl -u user:$K https://h", "K=hunter22; export K; curl -u u:$K https://h; git fetch",
		"stage=production; curl -u u:$stage https://h; export stage; git fetch",
		"stage=production; curl -u u:$stage https://h; export \"stage\"; git fetch",
		"set -e -a; stage=production; curl -u u:$stage https://h; git fetch",
		"set -o allexport; stage=production; curl -u u:$stage https://h; git fetch",
		"set -e -o allexport; stage=production; curl -u u:$stage https://h; git fetch",
		"set -eo \"allexport\"; stage=production; curl -u u:$stage https://h; git fetch",
		"N=stage; export $N; stage=production; curl -u u:$stage https://h; git fetch",
		"export stag{e,x}; stage=production; curl -u u:$stage https://h; git fetch",
		"declare -x stage=production; curl -u u:$stage https://h; git fetch",
		"typeset -gx stage=production; curl -u u:$stage https://h; git fetch",
		"env stage=production git fetch; curl -u u:$stage https://h",
		"stage=production git fetch; curl -u u:$stage https://h",
		"sudo stage=production git fetch; curl -u u:$stage https://h",
		"stage=a1; stage=production git fetch; curl -u u:$stage https://h",
		"env stage=production; curl -u u:$stage https://h; git fetch",
		"readonly -x stage=production; curl -u u:$stage https://h; git fetch",
		"readonly stage=production; curl -u u:$stage https://h; git fetch",
		// through another variable
		"A=production; curl -u u:$A https://h; PGHOST=$A; psql -c 'drop table t'",
		"A=evil99; curl -u u:$A https://h; export GIT_SSH_COMMAND=$A; git fetch o",
		"A=evil99; curl -u u:$A https://h; B=$A; export B; git fetch o",
		"A=evil99; curl -u u:$A https://h; GIT_SSH_COMMAND=$A git fetch o",
		// a key by its form, or by its name, may be a file's name as well
		"export KUBECONFIG=" + ghp + "; kubectl delete ns web", "GIT_SSH_COMMAND=" + ghp + " git fetch",
		"JAVA_TOOL_OPTIONS=" + ghp + " git fetch", "HOME=" + ghp + "; cd; git clean -fdx", "PWD=" + ghp + "; git clean -fdx",
		"X_TOKEN=" + cluster + "; curl -u u:$X_TOKEN https://h; export PGHOST=$X_TOKEN; psql -c 'drop table t'",
	} {
		if shown, obscured := shellCall(command).Shown(); !obscured || !strings.Contains(shown, hiddenWords) {
			t.Errorf("a tap is enough (obscured %v): %s\n  shown as %s", obscured, command, shown)
		}
	}
}

// The story: an agent deleted the pods of stage=production, and used $stage, which nobody
// had set, as a password of curl. The card hid production as if it had been a variable's
// value. A NAME= among the words that a program acts on sets no variable, and is shown.
func TestAnOperandIsNoAssignment(t *testing.T) {
	longComputation(t)
	for _, form := range []string{
		"kubectl delete pods -l stage=production; %s", `curl -s -X DELETE "http://h/x?a=1&stage=production"; %s`,
		"curl -X DELETE http://h/x?stage=production; %s", "terraform apply -auto-approve -var stage=production; %s",
		"helm upgrade web x --set stage=production; %s", "aws ec2 terminate --filters Name=tag,stage=production; %s",
		"gh workflow run x -f stage=production; %s", `psql -c "delete from t where stage = production"; %s`,
		`psql -c "delete from t where stage=production"; %s`,
		"psql -c \"delete from t where a=1\nand\nstage=production\"; %s", "psql -c 'begin; stage=production'; %s",
		"kubectl annotate ns web stage=production; %s", "gcloud sql list --filter stage=production; %s",
		"psql -d stage=production; %s", "psql stage=production; %s",
		"kubectl create configmap x --from-literal=stage=production; %s", "rm -rf stage=production; %s",
		"cp -r stage=production /srv; %s", "git checkout stage=production; %s",
		"git push origin stage=production; %s", "mysql -e 'update t set stage=production'; %s",
		"redis-cli set stage=production x; %s", "vault kv put x stage=production; %s",
		"curl -d 'a b&stage=production' https://h; %s", "curl -d stage=production https://h; %s",
		"curl -F stage=production https://h; %s", "wget --post-data stage=production https://h; %s",
		"az group delete --tag stage=production; %s", "find . -name stage=production -delete; %s",
		"ssh h deploy stage=production; %s", "kubectl label ns web \\\n  stage=production; %s",
		"docker push stage=production; %s", "test stage = production; %s", "heroku config stage=production; %s",
		"sudo rm -rf stage=production; %s",
	} {
		for _, login := range []string{"curl -s -u u:$stage https://h/", "docker login -u u -p $stage h"} {
			command := fmt.Sprintf(form, login)
			if shown, _ := shellCall(command).Shown(); shown != command {
				t.Errorf("what decides is hidden: %s", shown)
			}
		}
	}
	for _, command := range []string{
		"stage=hunter22; curl -u u:$stage https://h; kubectl delete pods -l stage=$stage",
		"K=production; curl -u u:$K https://h; kubectl delete pods -l stage=$K",
		"K=production; curl -u u:$K https://h; terraform apply -var stage=$K",
		"K=production; curl -u u:$K https://h; helm upgrade web x --set stage=\"$K\"",
		"K=production; curl -u u:$K https://h; curl -X DELETE \"https://h?stage=$K\"",
	} {
		if _, obscured := shellCall(command).Shown(); !obscured {
			t.Errorf("a tap is enough: %s", command)
		}
	}
	many := strings.Builder{}
	for i := range places.MaxWants + 2 {
		fmt.Fprintf(&many, "K%d=hunter22%d; docker login -p $K%d h\n", i, i, i)
	}
	if shown, _ := shellCall("kubectl delete pods -l stage=production\n" + many.String()).Shown(); !strings.Contains(shown,
		"stage=production") {
		t.Errorf("what decides is hidden: %.80s", shown)
	}
}

// A text that a shell takes apart in another way than the lexer may make an operand look
// like an assignment: there the card says that it hides, or hides nothing.
func TestAnAssignmentThatIsNotCertainTakesTheCode(t *testing.T) {
	for _, command := range []string{
		"psql -c $'delete from t where a=\\'x\\' and\nstage=production'; curl -u u:$stage https://h",
		"# don't\npsql -c 'delete from t where a=1 and\nstage=production'; curl -u u:$stage https://h # it's",
		"psql -c \"${x-\"delete from t where\nstage=production\"}\"; curl -u u:$stage https://h",
		"x=(\nstage=production); kubectl delete pods -l $x; curl -u u:$stage https://h",
		"rm -rf *(a|stage=production); curl -u u:$stage https://h",
		"curl -u u:$stage https://h >& stage=production", "curl -u u:$stage https://h >|stage=production",
		"curl -u u:$stage https://h >&stage=production",
		"kubectl apply -f - <<E\nstage=production\nE\ncurl -u u:$stage https://h",
		"git commit -m 'a; stage=production'; curl -u u:$stage https://h", "K[0]=hunter22; docker login -p ${K[0]} h",
		"K+=hunter22; docker login -p $K h", "docker login -p ${K-hunter22} h",
		"K=hunter22; docker login -p $K h; rm -rf $[K]", "ssh h 'stage=production; curl -u u:$stage https://h'",
		"kubectl exec p -- sh -c 'stage=hunter22; curl -u u:$stage https://h'",
		"docker exec c sh -c 'stage=hunter22; curl -u u:$stage https://h'", "(K=hunter22; docker login -p $K h)",
		"\"stage=production\"; curl -u u:$stage https://h",
	} {
		if shown, obscured := shellCall(command).Shown(); !obscured && shown != command {
			t.Errorf("a tap is enough: %s\n  shown as %s", command, shown)
		}
	}
}

// A login with a variable of its own keeps the tap.
func TestAVariableOfALoginKeepsTheTap(t *testing.T) {
	for _, command := range []string{
		"K=a1B2c3D4e5F6g7H8; echo $K | docker login --password-stdin h; docker push h/x", "k=hunter22; docker login -p $k h",
		"pass=hunter22; curl -u u:$pass -X DELETE https://h", "PASS=hunter22; curl -u \"u:$PASS\" https://h",
		"DB_PASS=hunter22; mysql -p$DB_PASS x",
		"set -e\nK=hunter22\ndocker login -u u -p $K h && docker push h/x",
		"set -euo pipefail\nK=hunter22\ncurl -u u:$K https://h", "K=hunter22; PGPASSWORD=$K psql -h db",
		"K='hunter22'; curl -u u:$K -X DELETE https://h",
		"if true; then K=hunter22; docker login -p $K h; fi", "dbPassword=hunter22; mysql -p$dbPassword -e 'drop table x'",
		"# the registry\nK=hunter22; docker login -p $K h", "K=hunter22; curl -d 'a (b)' -u u:$K https://h",
		"AWS_ACCESS_KEY_ID=AKIAABCDEFGHIJKLMNOP AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI4K7MDENG2bPxRfiCYEXAMPLEKEY1 aws s3 " +
			"rb s3://x", "DATABASE_URL=postgres://admin:hunter22@db/prod; psql \"$DATABASE_URL\"",
		"GITHUB_PAT=" + ghp + "; curl -H \"Authorization: Bearer $GITHUB_PAT\" https://h",
	} {
		shown, obscured := shellCall(command).Shown()
		if obscured || !strings.Contains(shown, hiddenWords) || !strings.Contains(Mask(command), hiddenWords) {
			t.Errorf("obscured %v: %s\n  shown as %s", obscured, command, shown)
		}
	}
}

// A text for another shell may have variables of its own, although a known program takes
// it as an operand: what is a secret there stays hidden.
func TestASecretOfAnotherShellStaysHidden(t *testing.T) {
	for _, command := range []string{
		"ssh h 'K=hunter22; curl -u u:$K https://h'", "kubectl exec p -- sh -c 'K=hunter22; curl -u u:$K https://h'",
		"docker exec c sh -c 'K=hunter22; docker login -p $K h'", "find . -exec sh -c 'K=hunter22; curl -u u:$K https://h' +",
		"curl -H \"X: $(K=hunter22; docker login -p $K h)\" https://h",
		"curl -H \"X: `K=hunter22; docker login -p $K h`\" https://h",
		"gcloud compute ssh h --command 'K=hunter22; curl -u u:$K https://h'",
	} {
		shown, obscured := shellCall(command).Shown()
		if !obscured || strings.Contains(shown, "hunter22") || strings.Contains(Mask(command), "hunter22") {
			t.Errorf("shown, or a tap is enough (obscured %v): %s", obscured, shown)
		}
	}
}
