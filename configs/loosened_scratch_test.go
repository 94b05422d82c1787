package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"approver.example"
)

// The story: what a command deletes was taken for a thing for tests if one of its words or variables said so,
// although the command ran elsewhere, without the variable, or with a second name that is the one that counts.
// Now nothing else may name another database, cluster, cloud or project.
func TestWhatOnlySeemsToBeForTestsIsAQuestion(t *testing.T) {
	asks(t, verdicts(t), true, `
		RAILS_ENV=test ssh h rails db:drop
		RAILS_ENV=test docker exec app rails db:drop
		RAILS_ENV=test kubectl exec app -- rails db:drop
		RAILS_ENV=test heroku run rails db:drop
		RAILS_ENV=test sudo rails db:drop
		RAILS_ENV=test env -u RAILS_ENV rails db:drop
		APP_ENV=test ssh h php artisan migrate:fresh --force
		DATABASE_URL=postgres://localhost/test ssh h npx prisma migrate reset --force
		AWS_ENDPOINT_URL=http://localhost:4566; aws dynamodb delete-table --table-name users
		AWS_ENDPOINT_URL=http://localhost:4566 ssh h aws dynamodb delete-table --table-name users
		AWS_ENDPOINT_URL=http://localhost:4566 env -u AWS_ENDPOINT_URL aws dynamodb delete-table --table-name users
		AWS_ENDPOINT_URL_RDS=https://x.example AWS_ENDPOINT_URL=http://localhost:4566 aws rds delete-db-cluster
		ssh -fNL 4566:db.example.com:443 h; aws --endpoint-url https://localhost:4566 dynamodb delete-table --table-name u
		RAILS_ENV=test; rails db:drop
		PGDATABASE=test; psql -c 'DROP TABLE users'
		awslocal --endpoint-url https://s3.amazonaws.com s3 rb s3://customers --force
		AWS_ENDPOINT_URL=https://s3.amazonaws.com awslocal s3 rb s3://customers --force
		LOCALSTACK_HOST=evil awslocal s3 rb s3://customers --force
		ln -s /usr/bin/aws ~/bin/awslocal; awslocal s3 rb s3://customers --force
		psql -d test -c '\c customers' -c 'DROP TABLE users'
		psql -d test -c 'DROP TABLE customers.users'
		psql -d test -c 'DROP DATABASE customers'
		mysql test -e 'USE customers; DROP TABLE users'
		mysql test -e 'DROP TABLE customers.users'
		sqlite3 test.db 'ATTACH "customers.db" AS c; DROP TABLE c.users'
		sqlite3 -cmd 'ATTACH "customers.db" AS c' test.db 'DROP TABLE c.users'
		duckdb test.db "ATTACH 'postgres://live/customers' AS c; DROP TABLE c.users"
		ln -s ~/customers.db test.db; sqlite3 test.db 'DROP TABLE users'
		mv ~/customers.db test.db; sqlite3 test.db 'DROP TABLE users'
		psql -d test -d customers -c 'DROP TABLE users'
		psql -d customers test -c 'DROP TABLE users'
		mysql -D test customers -e 'DROP TABLE users'
		PGDATABASE=test psql -d customers -c 'DROP TABLE users'
		PGDATABASE=test psql customers -c 'DROP TABLE users'
		PGDATABASE=test dropdb customers
		psql 'postgresql://localhost/test?dbname=customers' -c 'DROP TABLE users'
		psql 'postgresql://localhost/test?hostaddr=10.0.0.1' -c 'DROP TABLE users'
		mongosh test --eval 'db.getSiblingDB("customers").users.drop()'
		mongosh db.example.com/test --eval 'db.users.drop()'
		cqlsh dev -e 'DROP KEYSPACE customers'
		docker compose -fcustomers.yml down -v
		docker compose -f=customers.yml down -v
		docker compose -pcustomers -f x.test.yml down -v
		docker compose -fdocker-compose.yml -f x.test.yml down -v
		docker compose -f docker-compose.test.yml --project-directory /srv/customers down -v
		COMPOSE_PROJECT_NAME=customers docker compose -f docker-compose.test.yml down -v
		docker -Htcp://h compose -p test down -v
		podman --url ssh://x compose -f a.test.yml down -v
		kubectl delete ns ab-testing
		kubectl delete ns temp-workflow
		kubectl delete ns us-east-test-results
		oc delete project ab-testing
		kubectl delete crd tests.example.com
		kubectl delete node test-1
		kubectl delete pvc test-data -n payments
		KUBECONFIG=/tmp/x kubectl delete ns customers --context kind-x
		ssh h sqlite3 /tmp/x.db 'DROP TABLE users'
		ssh h docker compose -p test down -v
		ssh h dropdb test
		docker exec app dropdb app_test
		psql -d dev_portal -c 'DROP TABLE users'
		sqlite3 ~/dev.db 'DROP TABLE users'
		NODE_ENV=test npx sequelize db:drop --url postgres://h/customers
		RAILS_ENV=test rails db:drop:all
		RAILS_ENV=test PGHOST=real rails db:drop`)
	asks(t, verdicts(t), false, `
		RAILS_ENV=test rails db:drop
		RAILS_ENV=test bundle exec rails db:drop db:create
		export RAILS_ENV=test; rails db:drop
		RAILS_ENV=test bin/rails db:reset
		MIX_ENV=test mix ecto.drop
		MIX_ENV=test mix ecto.reset --quiet
		php artisan migrate:fresh --env=testing --force
		DATABASE_URL=postgres://postgres:postgres@localhost:5432/app_test npx prisma migrate reset --force
		psql -h localhost -U postgres app_test -c 'TRUNCATE users'
		mysql -uroot -psecret app_test -e 'DROP TABLE users'
		dropdb --if-exists app_test && createdb app_test
		sqlite3 test.db 'DROP TABLE users'
		sqlite3 db/test.sqlite3 'delete from users'
		sqlite3 /tmp/x.db 'DROP TABLE users'
		mongosh --quiet mongodb://localhost:27017/app_test --eval 'db.users.drop()'
		kubectl delete pod test-1
		kubectl delete ns e2e-test
		kubectl delete deployment web-test -n default
		kubectl delete job/test-migrate
		kubectl --context kind-dev delete ns shop
		awslocal dynamodb delete-table --table-name users
		aws --endpoint-url http://localhost:4566 dynamodb delete-table --table-name users
		AWS_ENDPOINT_URL=http://localhost:4566 aws dynamodb delete-table --table-name users
		docker compose -f docker-compose.test.yml down -v --remove-orphans
		docker compose -p test down -v
		docker compose down -v && docker compose up -d
		docker volume rm app_test`)
}

// A compose file was read by lines, so that what a parser of YAML sees was not seen.
func TestComposeFilesThatHideTheirVolumes(t *testing.T) {
	judge := verdictsOfEngine(t, nil)
	const down, named = "docker compose down -v", "docker compose -f docker-compose.test.yml down -v"
	for _, c := range [...]struct {
		file, command string
		want          approver.Decision
	}{
		{"  services:\n    db: {image: a}\n  volumes:\n    pgdata:\n", down, approver.Ask},
		{"\ufeffvolumes:\n  pgdata:\n", down, approver.Ask},
		{"!!str volumes:\n  pgdata:\n", down, approver.Ask},
		{"services: {}\rvolumes:\r  pgdata:\r", down, approver.Ask},
		{"\"vol\\u0075mes\":\n  pgdata:\n", down, approver.Ask},
		{"volumes:\n  test_data: {name: customers_pgdata}\n", down, approver.Ask},
		{"volumes:\n  pg_test_pip:\n", down, approver.Ask},
		{"services: {}\n---\nvolumes:\n  pgdata:\n", down, approver.Ask},
		{"volumes:\n  data: {name: customers_pgdata}\n", named, approver.Ask},
		{"volumes:\n  pgdata:\n", named, approver.Ask}, // the usual file has it, too
		{"services: {}\n", "tar xf x.tar; " + down, approver.Ask},
		{"services: {}\n", "make gen; " + down, approver.Ask},
		{"services: {}\n", "sed -i s/a/b/ *.yml; " + down, approver.Ask},
		{"services: {}\n", down, approver.Warn},
		{"services: {}\n", "cd . && " + down + " && docker compose up -d", approver.Warn},
		{"services: {}\nvolumes:\n  pip:\n  app-cache: {driver: local}\n", down, approver.Warn},
		{"services:\n  a:\n    command: [\"sh\", \"-c\", \"ls\"]\n", named, approver.Warn},
	} {
		dir := t.TempDir()
		for _, name := range [...]string{"compose.yml", "docker-compose.test.yml"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		call := approver.ToolCall{Tool: "Bash", Command: c.command, Dir: dir, Env: map[string]string{"HOME": "/home/ada"}}
		v := judge(call)
		if v.Decision != c.want {
			t.Errorf("%s with %q: %s by %s: %s", c.command, c.file, v.Decision, v.Rule, v.Reason)
		}
	}
}

// A file of SQLite that is named for tests may be a link to another one.
func TestLinksToDatabases(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/home/ada/customers.db", filepath.Join(dir, "test.db")); err != nil {
		t.Fatal(err)
	}
	call := approver.ToolCall{Tool: "Bash", Command: "sqlite3 test.db 'DROP TABLE users'", Dir: dir,
		Env: map[string]string{"HOME": "/home/ada"}}
	if v := verdictsOfEngine(t, nil)(call); v.Decision != approver.Ask {
		t.Errorf("a link: %s by %s", v.Decision, v.Rule)
	}
}
