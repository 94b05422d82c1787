package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// checkCalls checks calls in lines "p|w|h|c  call": pass, warn, or a question of either severity.
func checkCalls(t *testing.T, lines string) {
	t.Helper()
	judge := verdictsOfEngine(t, nil)
	words := map[string]string{"p": "pass", "w": "warn", "h": "ask HIGH", "c": "ask CATASTROPHIC"}
	for line := range strings.Lines(lines) {
		want, text, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found {
			continue
		}
		call := exampleCall(strings.TrimSpace(text))
		if name, args, tool := strings.Cut(call.Command, " {"); tool && (strings.HasPrefix(name, "mcp__") ||
			!strings.ContainsAny(name, " -")) {
			call.Tool, call.Command, call.Args = name, "", []byte("{"+args)
		}
		call.Env = map[string]string{"HOME": "/home/ada"}
		v := judge(call)
		got := v.Decision.String()
		if v.Decision == approver.Ask {
			got += " " + v.Severity.String()
		}
		if got != words[want] {
			t.Errorf("%s: %s by %s, want %s: %s", strings.TrimSpace(text), got, v.Rule, words[want], v.Reason)
		}
	}
}

// What other tools than shells do, by their names and arguments.
const namedToolCalls = `
c  mcp__pay__create_refund {"charge":"ch_1","amount":100}
c  mcp__pay__refund {"charge":"ch_1"}
c  mcp__bank__transfer_funds {"from_account":"a","to_account":"b","amount":100}
c  mcp__pay__pay_invoice {"invoice_id":"in_1"}
c  mcp__wallet__transfer {"to":"0xabc","value":"1.5"}
c  mcp__wallet__send_transaction {"to":"0xabc","value":"1.5"}
c  mcp__shop__place_order {"product":"x","quantity":3}
c  mcp__broker__place_trade {"symbol":"ABC","side":"sell"}
c  mcp__pay__cancel_subscription {"subscription":"sub_1"}
p  mcp__pay__list_refunds {"limit":3}
p  mcp__pay__get_payment {"id":"pi_1","amount":3}
p  mcp__pay__estimate_transfer {"amount":3,"currency":"EUR"}
p  mcp__db__begin_transaction {"isolation":"serializable"}
p  mcp__list__sort_order {"order":"asc"}
h  mcp__iam__grant_role {"user":"eve","role":"admin"}
h  mcp__iam__revoke_access {"user":"bob"}
h  mcp__git__add_collaborator {"repo":"a/b","username":"eve"}
h  mcp__idp__deactivate_user {"user":"bob"}
h  mcp__idp__reset_password {"user":"bob"}
h  mcp__edge__disable_firewall {"zone":"z1"}
p  mcp__iam__list_roles {"user":"bob"}
p  mcp__iam__check_permission {"user":"bob"}
h  mcp__cloud__terminate_instances {"ids":["i-1","i-2"]}
h  mcp__cloud__reboot_instance {"id":"i-1"}
h  mcp__cloud__stop_instances {"ids":["i-1"]}
h  mcp__host__shutdown {"name":"web-1"}
p  mcp__desk__kill_process {"pid":4242}
p  mcp__docker__stop_container {"id":"web"}
p  mcp__k8s__restart_deployment {"name":"web"}
p  mcp__cloud__get_instance {"id":"i-1"}
c  mcp__db__drop_table {"table":"users"}
c  mcp__db__drop_database {"name":"app"}
c  mcp__db__execute_sql {"query":"DROP TABLE users"}
c  mcp__db__execute_sql {"query":"-- tidy\nDROP TABLE users"}
c  mcp__db__execute_sql {"query":"/* tidy */ DROP\nTABLE users"}
c  mcp__warehouse__run_statement {"sqlText":"drop table users"}
c  mcp__reports__report {"rawSql":"drop table users"}
c  mcp__reports__report {"queryString":"truncate table users"}
c  mcp__postgres__run {"text":"drop table users"}
p  mcp__db__execute_sql {"query":"select * from users"}
p  mcp__tracker__create_issue {"title":"Drop table users is slow","body":"drop table users takes a minute"}
h  mcp__blog__publish_post {"id":"42"}
h  mcp__drive__share_file {"id":"f1","email":"bob@example.com"}
h  mcp__social__tweet {"text":"hello"}
p  mcp__blog__get_post {"id":"42"}
p  mcp__git__push_files {"owner":"a","repo":"b","branch":"x","files":[]}
h  mcp__mail__send_email {"to":"bob@example.com","subject":"x","body":"y"}
h  mcp__chat__post_message {"channel_id":"C1","text":"hi"}
h  mcp__phone__send_sms {"to":"+491","body":"x"}
h  mcp__phone__create_message {"to":"+491","body":"x"}
p  mcp__mail__read_email {"id":"1"}
p  mcp__mail__draft_email {"to":"bob@example.com","body":"y"}
p  mcp__mail__search_messages {"query":"from:bob"}
p  mcp__git__add_issue_comment {"owner":"a","repo":"b","body":"t"}
p  mcp__git__generate_commit_message {"diff":"x"}
p  SendMessage {"to":"helper","message":"go on"}
h  mcp__wiki__delete_page {"page_id":"x"}
p  KillShell {"shell_id":"bash_1"}
p  BashOutput {"bash_id":"bash_1"}
h  mcp__x__run_shell {"session":"s1"}
p  git push origin fix/payment-form
p  git push -u origin transfer-docs
`

// The story: a tool refunded, granted admin, rebooted a machine and wrote to customers, and nobody
// was asked, because the effects that were found had no rule. A push to a branch with payment in its
// name was "moves money" and wanted the typed code. Stopping one's own shell was "not understood".
func TestToolsByWhatTheyDo(t *testing.T) { checkCalls(t, namedToolCalls) }

// What is lost decides how a question must be answered.
const lossCalls = `
p  git branch -d feature
h  git branch -D feature
p  git merge --abort
p  git rebase --abort
p  git cherry-pick --abort
p  git revert --abort
p  git am --abort
p  git worktree remove ../wt
h  git worktree remove --force ../wt
h  git rebase --skip
w  docker rm -f web
h  docker container prune -f
h  docker compose down -v
w  docker compose -f compose.test.yml down --volumes
c  docker compose -f compose.prod.yml down -v
c  docker volume rm data
c  docker system prune -af --volumes
p  kubectl rollout restart deployment/web
h  kubectl rollout undo deployment/web
c  kubectl delete ns staging
w  dropdb test_app
w  dropdb --if-exists app_dev
w  psql -h localhost -d app_test -c 'DROP TABLE users'
w  psql -d app_test -c 'DROP TABLE users'
h  psql -h localhost -c 'DROP TABLE users'
w  psql postgres://u@localhost/app_dev -c 'DROP TABLE users'
w  psql -c 'drop database test_app'
w  mysql -h 127.0.0.1 -D test -e 'drop table users'
w  sqlite3 test.db 'drop table users'
w  sqlite3 /tmp/x.db 'drop table users'
h  redis-cli -h localhost flushdb
w  mongosh mongodb://localhost/app_test --eval 'db.dropDatabase()'
c  docker exec db dropdb test_app
w  RAILS_ENV=test rails db:drop
w  php artisan migrate:fresh --env=testing
c  dropdb app
c  dropdb contest_results
c  dropdb production_test
c  dropdb -h db.example.com test_app
c  dropdb -hdb.example.com test_app
c  PGHOST=db.example.com dropdb test_app
c  psql -c 'DROP TABLE users'
c  psql -c 'DROP TABLE test_users'
c  psql -U test -c 'DROP TABLE users'
c  psql -h prod.internal -d app_test -c 'DROP TABLE users'
c  psql postgres://u:p@db.example.com/app_test -c 'DROP TABLE users'
c  psql -h "$HOST" -d app_test -c 'DROP TABLE users'
c  sqlite3 /home/dev/app.db 'drop table users'
c  mysql -u test -e 'drop database app'
c  redis-cli flushall
c  rails db:drop
c  DATABASE_URL=postgres://db.example.com/app RAILS_ENV=test rails db:drop
`

// The story: dropping the database of the tests wanted the same typed code as dropping that of the
// customers, so that people typed codes all day. To take a merge back was "throws work away".
func TestLevelsAreByWhatIsLost(t *testing.T) { checkCalls(t, lossCalls) }
