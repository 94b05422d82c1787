package configs_test

import (
	"testing"

	"approver.example"
)

// A cluster in containers of this machine, and volumes that the same call makes again, were questions
// that agents' users answered all day. They are warnings.
func TestWhatIsMadeAgainAtOnce(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		"kind delete cluster", "kind delete cluster --name dev", "/usr/local/bin/kind delete cluster", "minikube delete",
		"kind delete cluster && kind create cluster", "k3d cluster delete dev", "minikube node delete m02 -p demo",
		"docker compose down -v && docker compose up -d",
		"docker compose down -v 2>&1 | tail -3 && docker compose build && docker compose up -d --build 2>&1 | tail -5",
		"docker-compose down --volumes --remove-orphans; docker-compose up -d",
		"docker compose -f docker-compose.yml down -v && docker compose -f docker-compose.yml up",
		"cd deploy && docker compose down -v && docker compose up -d",
	} {
		if v := judge(command); v.Decision != approver.Warn || v.Rule != "delete_rebuilt" {
			t.Errorf("%s is %v (%s): %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
	asks(t, judge, true, `
		kind delete clusters --all
		kind delete clusters a b
		minikube delete --all
		minikube delete --all --purge
		kind delete cluster --name prod
		kind delete cluster --name $NAME
		DOCKER_HOST=ssh://ada@example.com kind delete cluster
		export DOCKER_HOST=ssh://ada@example.com; kind delete cluster
		ssh host kind delete cluster
		kubeadm reset -f
		docker compose down -v
		docker compose up -d && docker compose down -v
		docker compose down -v && docker compose ps
		docker compose down -v && docker compose -f other.yml up -d
		docker compose down -v && docker compose -p other up -d
		docker compose -f custom.yml down -v && docker compose -f custom.yml up -d
		docker compose -p shop down -v && docker compose -p shop up -d
		docker compose --project-name=shop down -v && docker compose up -d
		docker --context prod compose down -v && docker compose up -d
		docker compose down -v $X && docker compose up -d
		COMPOSE_FILE=x.yml docker compose down -v && docker compose up -d
		DOCKER_HOST=tcp://10.0.0.1 docker compose down -v && docker compose up -d
		cd /srv/shop && docker compose down -v && docker compose up -d
		cd $X && docker compose down -v && docker compose up -d
		cd prod && docker compose down -v && docker compose up -d
		ssh host 'docker compose down -v && docker compose up -d'
		docker compose down -v && (cd other && docker compose up -d)
		docker compose down -v && docker compose up --dry-run
		docker volume rm data && docker compose up -d
	`)
}
