package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// What is named as a thing for tests is no question, and what only looks so is the question that it was.
const scratchCalls = `
w  PGHOST=localhost dropdb app_test
h  PGHOST=localhost psql -d app -c 'drop table users'
c  PGHOST=db.example.com psql -d app -c 'drop table users'
c  PGHOST=localhost PGSERVICE=shop dropdb app_test
c  PGHOST=localhost PGDATABASE=prod psql -c 'drop table users'
w  psql 'host=localhost dbname=app_test' -c 'drop table users'
c  psql 'host=db.example.com dbname=app_test' -c 'drop table users'
c  psql host=db.example.com -d app_test -c 'drop table users'
c  psql 'postgres://localhost/app_test?host=db.example.com' -c 'drop table users'
c  psql 'postgres://localhost,db.example.com/app_test' -c 'drop table users'
c  psql 'postgres://db.example.com#@localhost/app_test' -c 'drop table users'
c  psql app test -c 'drop table users'
c  psql -c 'drop table users' # test
c  psql -d app -c "drop table users -- test"
c  dropdb latest_orders
c  echo test && dropdb app
c  mysql --login-path=shop -D test -e 'drop table users'
h  DATABASE_URL=postgres://localhost/app rails db:drop
w  DATABASE_URL=postgres://localhost/app_test npx prisma migrate reset --force
c  DATABASE_URL=postgres://localhost/app_production npx prisma migrate reset --force
c  DATABASE_URL=$URL npx prisma migrate reset --force
w  python manage.py flush --noinput --settings=app.settings.test
w  DJANGO_SETTINGS_MODULE=app.settings.test python manage.py flush --noinput
c  python manage.py flush --noinput --settings=test.settings.base
c  NODE_ENV=test rails db:drop
w  MIX_ENV=test mix ecto.drop
w  php artisan migrate:fresh --database=testing
c  php artisan migrate:fresh --database=shop
p  sqlite3 :memory: 'drop table x'
c  sqlite3 app.db 'drop table x' ':memory:'
c  sqlite3 :memory: -cmd '.open app.db' 'drop table x'
h  redis-cli -n 1 flushdb
c  redis-cli flushall
c  redis-cli -h db.example.com -n 1 flushdb
w  docker volume rm test_data
c  docker volume rm data
c  docker volume rm test_data data
c  docker volume rm contest_data
c  DOCKER_HOST=ssh://web docker volume rm test_data
w  kubectl --context kind-dev delete ns shop
w  kubectl --context minikube delete pods --all
c  kubectl --context kind-dev --server https://k8s.example.com delete ns shop
c  kubectl --context prod delete deployment web
c  kubectl --context kind-x --kubeconfig other delete ns shop
c  kubectl config set-context kind-x --cluster=shop; kubectl --context kind-x delete ns shop
h  source .env; dropdb app_test
w  kubectl delete namespace test-1
h  kubectl delete namespace dev
c  kubectl delete namespace shop
c  kubectl delete namespace test-1 shop
c  kubectl delete namespace prod
h  helm uninstall web
w  helm uninstall web --kube-context kind-ci
c  helm uninstall web -n prod
w  awslocal s3 rb s3://b --force
w  aws --endpoint-url=http://localhost:4566 s3 rb s3://b --force
c  aws --endpoint-url=http://localhost.example.com s3 rb s3://b --force
c  aws s3 rb s3://test --force
p  gh pr merge 1 --squash --delete-branch
c  gh pr close 1 --delete-branch
p  gh cache delete 12
w  docker rm -f web
h  docker rm -fv web
h  docker rm -f $(docker ps -aq)
w  docker image prune -af
h  docker system prune -af
w  git tag -d v1
h  git tag -d $(git tag)
p  git worktree remove ../wt
w  terraform state mv a.b a.c
h  terraform state rm a.b
c  terraform state push old.tfstate
h  etcdctl del foo
c  etcdctl del --prefix foo
p  npx prisma migrate resolve --rolled-back 1_init
w  docker compose -f docker-compose.test.yml down -v
w  docker compose -p test down -v
h  docker compose -f docker-compose.test.yml -f docker-compose.yml down -v
h  docker compose -p shop down -v
h  docker compose -p shop -f docker-compose.test.yml down -v
c  docker compose -p prod -f docker-compose.test.yml down -v
`

// The story: dropping a database, a volume or a namespace that its own name calls one for tests was a
// question, mostly with the code typed, and so was a cluster of kind. Yet a test in the name of another
// operand, or a second host in the same address, made a production database milder.
func TestWhatIsNamedForTestsIsNoQuestion(t *testing.T) { checkCalls(t, scratchCalls) }

// The story: docker compose down -v of a project that keeps nothing was a question like that of one with a
// database in a volume.
func TestComposeDownIsJudgedByItsVolumes(t *testing.T) {
	judge := verdictsOfEngine(t, nil)
	for _, c := range [...]struct{ file, command, want string }{
		{"services:\n  web:\n    image: a\n    volumes:\n      - /data\n", "docker compose down -v", "warn"},
		{"services:\n  db:\n    image: postgres\nvolumes:\n  pgdata:\n", "docker compose down -v", "ask HIGH"},
		{"services: {}\nvolumes:\n  pgdata:\n    external: true\n", "docker compose down -v", "warn"},
		{"services: {}\nvolumes:\n  node_modules:\n  go-cache: {}\n", "docker-compose down --volumes", "warn"},
		{"services: {}\nvolumes:\n  node_modules:\n  pgdata:\n", "docker compose down -v", "ask HIGH"},
		{"services: {}\nvolumes: {pgdata: {}}\n", "docker compose down -v", "ask HIGH"},
		{"services: {}\n\"volumes\":\n  pgdata:\n", "docker compose down -v", "ask HIGH"},
		{"include:\n  - other.yml\nservices: {}\n", "docker compose down -v", "ask HIGH"},
		{"services: {}\nvolumes :\n  pgdata:\n", "docker compose down -v", "ask HIGH"},
		{"<<: *base\nservices: {}\n", "docker compose down -v", "ask HIGH"},
		{"{services: {}, volumes: {pgdata: {}}}\n", "docker compose down -v", "ask HIGH"},
		{"services: {}\n", "cp other.yml compose.yml; docker compose down -v", "ask HIGH"},
		{"services: {}\n", "docker compose -f other.yml down -v", "ask HIGH"},
		{"services: {}\n", "docker compose -f compose.yml down -v", "warn"},
		{"services: {}\n", "cd .. && docker compose down -v", "warn"},
		{"services: {}\n", "DOCKER_HOST=ssh://web docker compose down -v", "ask CATASTROPHIC"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "compose.yml"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		v := judge(approver.ToolCall{Tool: "Bash", Command: c.command, Dir: dir, Env: map[string]string{"HOME": "/home/ada"}})
		got := v.Decision.String()
		if v.Decision == approver.Ask {
			got += " " + v.Severity.String()
		}
		if got != c.want {
			t.Errorf("%s with %s: %s by %s, want %s: %s", c.command, strings.ReplaceAll(c.file, "\n", "|"), got, v.Rule, c.want,
				v.Reason)
		}
		if strings.HasSuffix(c.file, "postgres\nvolumes:\n  pgdata:\n") && !strings.Contains(v.Reason, "pgdata") {
			t.Errorf("the reason does not name the volume: %s", v.Reason)
		}
	}
}

// Where there is no compose file, nothing is deleted. What the folder's .env says may change that.
func TestComposeDownWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	call := approver.ToolCall{Tool: "Bash", Command: "docker compose down -v", Dir: dir,
		Env: map[string]string{"HOME": "/home/ada"}}
	if v := verdictsOfEngine(t, nil)(call); v.Decision != approver.Warn {
		t.Errorf("without a file: %s by %s", v.Decision, v.Rule)
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("COMPOSE_FILE=/srv/shop.yml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := verdictsOfEngine(t, nil)(call); v.Decision != approver.Ask {
		t.Errorf("with another file in .env: %s by %s", v.Decision, v.Rule)
	}
	call.Dir = filepath.Join(dir, "gone")
	if v := verdictsOfEngine(t, nil)(call); v.Decision != approver.Ask {
		t.Errorf("in a folder that is not there: %s by %s", v.Decision, v.Rule)
	}
}

// The story: a short name of a program in a rule matched every longer one, so that deleting in a tool named
// ocr_delete was deleting in a cluster. A version behind the name is the same program.
func TestShortNamesOfProgramsAreWholeWords(t *testing.T) {
	judge := verdictsOfEngine(t, nil)
	for _, tool := range [...]string{"ocr_delete", "team_delete", "essay_delete", "wp_delete"} {
		call := approver.ToolCall{Tool: "mcp__x__" + tool, Args: []byte(`{"id":"x"}`), Dir: "/home/ada/shop"}
		if v := judge(call); v.Rule != "delete_remote" {
			t.Errorf("%s: %s", tool, v.Rule)
		}
	}
	asks(t, verdicts(t), true,
		"pip3 install --trusted-host pypi.example.com requests\ncrictl rm -f web\noc delete pod web")
}
