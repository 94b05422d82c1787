package configs_test

import (
	"encoding/json"
	"testing"

	"approver.example"
)

// What tools do to services, money, rights and people. The first letter of a line is the verdict.
const verbCalls = `
c  mcp__shop__checkout {"cart_id":"c1"}
p  mcp__git__git_checkout {"branch_name":"x"}
p  mcp__repo__checkout {"branch":"x"}
c  mcp__travel__book_flight {"flight_id":"f1","passenger":"Ada"}
p  mcp__library__get_book {"id":"1"}
p  mcp__library__add_book {"title":"x"}
c  mcp__bank__wire {"iban":"DE1","amount":100}
c  mcp__broker__close_position {"symbol":"ABC"}
c  mcp__broker__replace_order_by_id {"order_id":"x","qty":"10"}
p  mcp__broker__start_trade_simulation {"symbol":"ABC"}
c  mcp__chain__transfer_nft {"toAddress":"0x2","tokenId":"1"}
c  mcp__chain__call_contract {"contractAddress":"0x1","functionName":"transfer"}
p  mcp__chain__read_contract {"contractAddress":"0x1","functionName":"balanceOf"}
c  mcp__pay__create_subscription {"plan_id":"p1"}
p  mcp__pay__create_subscription_plan {"name":"p1"}
p  mcp__list__set_sort_order {"order":"asc"}
h  mcp__phone__make_call {"to":"+491","text":"hi"}
p  mcp__rpc__call_api {"name":"x"}
h  mcp__chat__create_poll {"chat_id":"1","question":"a?","options":["x","y"]}
p  mcp__chat__unpin_message {"chat_id":"1","message_id":2}
p  mcp__mails__get_broadcast {"id":"1"}
h  mcp__mails__create_filter {"criteria":{"from":"bank"},"action":{"forward":"eve@example.com"}}
p  mcp__mails__create_filter {"criteria":{"from":"bank"},"action":{"addLabelIds":["x"]}}
h  mcp__drive__make_public {"file_id":"f"}
h  mcp__forge__create_repository {"name":"x","private":false}
p  mcp__forge__create_repository {"name":"x","private":true}
h  mcp__forge__merge_pull_request {"owner":"a","repo":"b","pullNumber":1}
h  mcp__forge__push_files {"owner":"a","repo":"b","branch":"main","files":[{"path":"a.txt","content":"x"}]}
p  mcp__forge__push_files {"owner":"a","repo":"b","branch":"fix/x","files":[{"path":"a.txt","content":"x"}]}
p  mcp__forge__delete_file {"owner":"a","repo":"b","path":"a.txt","branch":"fix","message":"x"}
h  mcp__forge__unprotect_branch {"project_id":"1","branch":"main"}
p  mcp__forge__promote_milestone {"id":"1"}
p  mcp__office__merge_cells {"range":"A1:B2"}
h  mcp__iam__attach_policy {"policy":"admin","user":"eve"}
h  mcp__track__add_team_to_project {"team":"a","project":"b"}
h  mcp__chat__promote_admin {"group_id":"1","user_id":"2"}
h  mcp__home__unlock {"entity_id":"lock.front_door"}
h  mcp__ci__promote_to_production {"build":"1"}
h  mcp__host__deploy_site {"site":"x"}
p  mcp__host__deploy_site {"site":"x","environment":"preview"}
h  mcp__host__deploy_site {"site":"x","environment":"preview","alias":"production"}
h  mcp__k8s__scale_deployment {"name":"web","replicas":0}
p  mcp__k8s__scale_deployment {"name":"web","replicas":3}
h  mcp__k8s__drain_node {"name":"n1"}
h  mcp__host__maintenance_on {"app":"x"}
h  mcp__base__pause_project {"id":"x"}
h  mcp__db__restore_db {"backup":"b1","target":"app"}
p  mcp__disk__restore_file {"path":"a.txt"}
h  mcp__crm__bulk_update {"ids":["1","2"],"status":"closed"}
h  mcp__crm__batch_archive {"ids":["1","2"]}
p  mcp__sheet__batch_update_cells {"range":"A1","values":["1"]}
h  mcp__papers__sign_document {"document_id":"d1"}
p  mcp__auth__sign_in {"user":"x"}
h  mcp__vault__read_secret {"mount":"secret","path":"db/app"}
p  mcp__vault__list_secrets {"mount":"secret"}
h  mcp__1password__get_item {"item":"bank","vault":"Private"}
p  mcp__forge__get_secret_scanning_alert {"number":1}
p  mcp__dbg__remove_breakpoint {"id":1}
p  mcp__cad__reset_view {}
p  mcp__ide__clear_console {}
p  mcp__mem__delete_memory {"id":"m1"}
h  mcp__db__delete_view {"name":"v"}
p  manage_todo_list {"operation":"delete","id":1}
h  mcp__base__delete_todo {"id":1}
p  mcp__jupyter__delete_cell {"index":1}
p  mcp__music__record {"track":1}
p  mcp__air__create_record {"table":"x","fields":{"a":"b"}}
h  mcp__x__wp_delete {"id":"1"}
h  mcp__x__team_delete {"id":"1"}
h  mcp__x__ocr_delete {"id":"1"}
`

// The story: a filter that forwards the mail of a bank, a merge, a promotion to production and a
// payment by the name of checkout passed. Removing a breakpoint, and a simulated trade, were questions.
func TestVerbsOfTools(t *testing.T) { checkCalls(t, verbCalls) }

// What stands in an argument is read as what it is, by its name and its form.
const argumentCalls = `
c  mcp__graph__write_cypher {"query":"MATCH (n) DETACH DELETE n"}
c  mcp__x__run_query {"query":"MATCH (n)\nDETACH DELETE n"}
h  mcp__graph__write_cypher {"query":"MATCH (n {id: 1}) DELETE n"}
p  mcp__graph__write_cypher {"query":"MATCH (n {id: 1}) SET n.a = 'delete me'"}
c  mcp__redis__call {"command":"FLUSHALL"}
c  mcp__cache__execute {"redis_command":"FLUSHALL"}
p  mcp__redis__call {"command":"GET a"}
c  mcp__aws__call_aws {"cli_command":"aws s3 rb s3://b --force"}
p  mcp__aws__call_aws {"cli_command":"aws s3 ls"}
c  mcp__terraform__apply {"dir":"infra"}
c  mcp__x__ExecuteTerraformCommand {"command":"destroy","working_directory":"infra"}
p  mcp__x__ExecuteTerraformCommand {"command":"plan","working_directory":"infra"}
c  mcp__k8s__kubectl_delete {"resourceType":"namespace","name":"shop"}
c  mcp__k8s__kubectl_generic {"command":"delete","resourceType":"namespace","name":"shop"}
p  mcp__k8s__kubectl_get {"resourceType":"pods"}
h  mcp__jupyter__execute_cell {"source":"!rm -rf /home/ada/x"}
h  mcp__jupyter__insert_execute_code_cell {"cell_index":1,"cell_source":"a = 1\n!rm -rf /home/ada/x"}
h  mcp__jupyter__execute_code {"code":"%%bash\nrm -rf /home/ada/x"}
p  mcp__jupyter__execute_code {"code":"%matplotlib inline\nprint(1)"}
c  mcp__db__drop_database {"command":"x","name":"app"}
h  str_replace_editor {"command":"create","path":"/etc/cron.d/x","file_text":"* * * * * root id"}
p  str_replace_editor {"command":"view","path":"a.txt"}
`

// The story: an argument with the name command was all that was read of a tool, and only as a line of a
// shell. So an editor's create wrote a cron line, and drop_database dropped, with nobody asked.
func TestArgumentsAreReadAsWhatTheyAre(t *testing.T) { checkCalls(t, argumentCalls) }

// What no list of tools had when the words were chosen.
const laterVerbCalls = `
p  mcp__terraform__get_apply_logs {"apply_id":"a1"}
c  mcp__terraform__apply_run {"run_id":"r1"}
h  mcp__line__push_text_message {"user_id":"u1","message":"hello there"}
p  mcp__line__get_push_message {"id":"1"}
h  mcp__cloud__droplet_power_cycle {"id":41}
h  mcp__cloud__droplet_rebuild {"id":1,"image":"x"}
h  mcp__cloud__domain_record_delete {"domain":"example.com","record_id":1}
h  mcp__ci__run_rollback_pipeline {"project":"x"}
p  mcp__ci__rerun_workflow {"id":"x"}
p  mcp__meet__get_call_notes {"id":"1"}
p  mcp__mail__create_label {"name":"forwarded"}
p  mcp__shop__search_orders {"status":"open"}
p  mcp__forge__list_protected_branches {"owner":"a","repo":"b"}
h  mcp__forge__update_branch_protection {"owner":"a","repo":"b","branch":"main"}
p  mcp__forge__create_branch {"owner":"a","repo":"b","branch":"fix"}
h  mcp__forge__create_or_update_file {"owner":"a","repo":"b","branch":"main","path":"a.txt","content":"x"}
c  mcp__shop__complete_checkout {"session":"s"}
c  mcp__rides__order_ride {"from":"a","to":"b"}
p  mcp__lists__reorder_items {"ids":["1","2"]}
p  mcp__design__set_public_api_version {"version":"2"}
h  mcp__bucket__create_bucket {"name":"x","acl":"public-read"}
p  mcp__bucket__create_bucket {"name":"x","acl":"private"}
h  mcp__sched__suspend_service {"service":"x"}
p  mcp__player__pause {"device":"x"}
c  mcp__graph__run {"gremlin":"g.V().drop()"}
p  mcp__notes__search {"query":"how to DETACH DELETE a node"}
h  mcp__forms__accept_agreement {"id":"x"}
p  mcp__calls__list_calls {"limit":3}
`

// The story: the first words were tried on the tools of servers that nobody had read before. A pushed message, a
// machine that is power cycled and a record of a domain passed; reading the log of an apply was an apply.
func TestLaterVerbsOfTools(t *testing.T) { checkCalls(t, laterVerbCalls) }

// A hook gives the engine an argument with the name command as the command of the call.
func TestToolsWithACommandAreReadAsAWhole(t *testing.T) {
	judge := verdictsOfEngine(t, nil)
	for _, c := range [...]struct{ tool, command, args string }{
		{"str_replace_editor", "create", `{"command":"create","path":"/etc/cron.d/x","file_text":"* * * * * root id"}`},
		{"mcp__db__drop_database", "x", `{"command":"x","name":"app"}`},
		{"mcp__redis__call", "FLUSHALL", `{"command":"FLUSHALL"}`},
		{"mcp__terraform__run", "destroy", `{"command":"destroy"}`},
		{"mcp__x__run", "rm -rf ~/x", `{"command":"rm -rf ~/x"}`},
	} {
		call := approver.ToolCall{Tool: c.tool, Command: c.command, Args: []byte(c.args), Dir: "/home/ada/shop",
			Env: map[string]string{"HOME": "/home/ada"}}
		if v := judge(call); v.Decision != approver.Ask {
			t.Errorf("%s %s: %s by %s", c.tool, c.args, v.Decision, v.Rule)
		}
	}
	for tool, args := range map[string]string{"mcp__x__run": `{"command":"ls -la"}`, "shell": `{"command":"git status"}`} {
		var command struct{ Command string }
		if err := json.Unmarshal([]byte(args), &command); err != nil {
			t.Fatal(err)
		}
		call := approver.ToolCall{Tool: tool, Command: command.Command, Args: []byte(args), Dir: "/home/ada/shop"}
		if v := judge(call); v.Decision < approver.Warn {
			t.Errorf("%s %s: %s by %s", tool, args, v.Decision, v.Rule)
		}
	}
}
