package configs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
)

// A merge request is a noun: only the verb merges.
const mergeRequestCalls = `
p  mcp__gitlab__create_merge_request {"project_id":"a/b","source_branch":"feature/x","target_branch":"main","title":"x"}
p  mcp__gitlab__update_merge_request {"project_id":"a/b","merge_request_iid":3,"title":"Add y"}
p  mcp__gitlab__create_merge_request_note {"project_id":"a/b","merge_request_iid":3,"body":"fine"}
p  mcp__gitlab__create_merge_request_thread {"project_id":"a/b","merge_request_iid":3,"body":"why"}
p  mcp__gitlab__resolve_merge_request_thread {"project_id":"a/b","merge_request_iid":3,"discussion_id":"d"}
p  mcp__gitlab__review_merge_request {"project_id":"a/b","merge_request_iid":3}
p  mcp__gitlab__comment_on_merge_request {"project_id":"a/b","merge_request_iid":3,"body":"why"}
p  mcp__gitlab__close_merge_request {"project_id":"a/b","merge_request_iid":3}
p  mcp__gitlab__assign_merge_request {"project_id":"a/b","merge_request_iid":3,"assignee_id":4}
p  mcp__gitlab__rebase_merge_request {"project_id":"a/b","merge_request_iid":3}
p  mcp__gitlab__unapprove_merge_request {"project_id":"a/b","merge_request_iid":3}
p  mcp__gitlab__reopenMergeRequest {"project_id":"a/b","merge_request_iid":3}
p  mcp__gitlab__cancel_merge_when_pipeline_succeeds {"project_id":"a/b","merge_request_iid":3}
p  mcp__github__disable_pr_auto_merge {"owner":"a","repo":"b","pullNumber":1}
h  mcp__gitlab__merge_merge_request {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__accept_merge_request {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__mergeMergeRequest {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__approve_and_merge_merge_request {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__merge_request {"project_id":"a/b","merge_request_iid":3}
p  mcp__gitlab__list_merge_requests {"project_id":"a/b"}
p  mcp__gitlab__manage_merge_request {"project_id":"a/b","action":"create"}
h  mcp__gitlab__manage_merge_request {"project_id":"a/b","merge_request_iid":3,"action":"merge"}
h  mcp__gitlab__merge_mr {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__auto_merge_request {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__set_merge_request_auto_merge {"project_id":"a/b","merge_request_iid":3}
h  mcp__gitlab__update_merge_request {"project_id":"a/b","merge_request_iid":3,"merge_when_pipeline_succeeds":true}
h  mcp__gitlab__merge_when_pipeline_succeeds {"project_id":"a/b","merge_request_iid":3}
h  mcp__github__merge_pull_request {"owner":"a","repo":"b","pullNumber":1}
h  mcp__github__enable_pr_auto_merge {"owner":"a","repo":"b","pullNumber":1}
h  mcp__github__enable_auto_merge {"owner":"a","repo":"b","pullNumber":1}
h  mcp__azure__complete_pull_request {"repositoryId":"b","pullRequestId":1}
`

// The story: every note on a merge request was "changes the branch on which everybody builds".
func TestMergeRequestsAreNamedAndMerged(t *testing.T) { checkCalls(t, mergeRequestCalls) }

// What a tool deploys passes where the command line of the same passes.
const deployCalls = `
p  mcp__kubernetes__kubectl_rollout {"subCommand":"restart","resourceType":"deployment","name":"web"}
p  mcp__docker__deploy_compose {"compose_yaml":"services: {}","project_name":"shop"}
p  mcp__vercel__deploy_status {"id":"d1"}
p  mcp__vercel__deploy_logs {"id":"d1"}
p  mcp__vercel__get_deployments {"projectId":"p"}
p  mcp__vercel__list_deployments {"projectId":"p"}
p  mcp__vercel__deploy_to_vercel {}
p  mcp__netlify__deploy-site {"siteId":"s"}
p  mcp__supabase__deploy_edge_function {"project_id":"p","name":"hello","files":[]}
h  mcp__kubernetes__kubectl_rollout {"subCommand":"undo","resourceType":"deployment","name":"web"}
h  mcp__vercel__deploy_to_vercel {"target":"production"}
h  mcp__netlify__deploy-site {"siteId":"s","prod":true}
h  mcp__netlify__deploy_site_to_production {"siteId":"s"}
h  mcp__netlify__deploy-site {"siteId":"s","args":["--prod"]}
h  mcp__kubernetes__kubectl_rollout {"resourceType":"deployment","name":"web"}
h  mcp__kubernetes__rollout_undo {"name":"web"}
p  mcp__kubernetes__rollout_restart {"resourceType":"deployment","name":"web"}
h  mcp__host__deploy_site {"site":"x"}
h  mcp__cloudflare__deploy_pages {"project":"x","branch":"main"}
h  mcp__vercel__promote_deployment {"deploymentId":"d"}
h  mcp__host__deploy {"environment":"prod"}
h  mcp__ci__deploy_and_get_logs {"environment":"production"}
h  mcp__vercel__rollback_deployment {"deploymentId":"d"}
h  mcp__docker__deploy_compose {"context":"production","project_name":"shop"}
`

// The story: what the program of a host may do without a question, its tool asked for.
func TestToolsDeployAsProgramsDo(t *testing.T) { checkCalls(t, deployCalls) }

// What a tool deletes is told apart by what is lost.
const deletedCalls = `
p  mcp__github__delete_file {"owner":"a","repo":"b","path":"old.txt","branch":"feature/x","message":"drop it"}
h  mcp__github__delete_file {"owner":"a","repo":"b","path":"old.txt","branch":"main","message":"drop it"}
h  mcp__github__delete_file {"owner":"a","repo":"b","path":"old.txt","message":"drop it"}
h  mcp__github__delete_branch {"owner":"a","repo":"b","branch":"feature/x"}
p  mcp__github__unlock_issue {"owner":"a","repo":"b","issue_number":1}
h  mcp__idp__unlock_account {"user":"bob"}
h  mcp__idp__unlock_user {"user":"bob"}
h  mcp__home__unlock_door {"door":"front"}
p  mcp__memory__delete_entities {"entityNames":["shop"]}
p  mcp__memory__delete_observations {"deletions":[{"entityName":"shop","observations":["x"]}]}
p  mcp__memory__delete_relations {"relations":[{"from":"a","to":"b","relationType":"uses"}]}
p  mcp__basic-memory__delete_note {"identifier":"notes/x"}
p  mcp__taskmaster__remove_task {"id":"3"}
p  mcp__taskmaster-ai__remove_subtask {"id":"3.1"}
p  mcp__task-master-ai__clear_subtasks {"id":"3"}
p  mcp__debugger__remove_all_breakpoints {}
h  mcp__memory__delete_user {"name":"bob"}
c  mcp__memory__delete_database {"name":"app"}
h  mcp__hubspot__hubspot_delete_contact {"id":"3"}
h  jira issue delete ABC-1
c  gh repo delete a/b --yes
c  gh api -X DELETE /repos/a/b
h  mcp__asana__delete_task {"task_id":"3"}
h  mcp__linear__delete_issue {"id":"ABC-1"}
h  mcp__todoist__delete_task {"task_id":"3"}
h  mcp__notion__delete_note {"id":"n"}
h  mcp__jira__jira_remove_issue_link {"link_id":"3"}
h  mcp__atlassian__jira_delete_issue {"issue_key":"ABC-1"}
c  mcp__github__delete_repository {"owner":"a","repo":"b"}
c  mcp__memorydb__delete_cluster {"name":"x"}
h  mcp__jira__delete_project {"key":"ABC"}
c  mcp__debugger__remove_all_users {}
`

// The story: a note of the agent's own was "a resource elsewhere", and a link between two issues "a
// repository".
func TestToolsDeleteByWhatIsLost(t *testing.T) { checkCalls(t, deletedCalls) }

// The story: to rename a file that was changed was "throws changes in files away".
func TestToolsThatMoveLoseNothing(t *testing.T) {
	home := realDir(t)
	dir := filepath.Join(home, "shop")
	put(t, dir, "src/app.ts", "a")
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-qm", "x")
	put(t, dir, "src/app.ts", "more")
	put(t, dir, "new.ts", "b")
	engine := verdictsOfEngine(t, nil)
	for _, c := range []struct {
		tool, args string
		want       approver.Decision
	}{
		{"mcp__filesystem__move_file", `{"source":"src/app.ts","destination":"src/b.ts"}`, approver.Pass},
		{"mcp__filesystem__move_file", `{"source":"new.ts","destination":"src/new.ts"}`, approver.Pass},
		{"mcp__files__rename_file", `{"old_path":"src/app.ts","new_path":"src/b.ts"}`, approver.Pass},
		{"mcp__desktop-commander__move_file", `{"source":"src/app.ts","destination":"src/b.ts"}`, approver.Pass},
		{"mcp__serena__delete_lines", `{"relative_path":"src/app.ts","start_line":1,"end_line":2}`, approver.Pass},
		{"mcp__filesystem__delete_file", `{"path":"src/app.ts"}`, approver.Ask},
		{"mcp__filesystem__move_file", `{"source":"src/app.ts","destination":"/dev/null"}`, approver.Ask},
		{"mcp__filesystem__move_file", `{"source":"src/app.ts","destination":"/dev/shm/x"}`, approver.Ask},
		{"mcp__filesystem__move_file", `{"source":"~/.ssh","destination":"/tmp/x"}`, approver.Ask},
		{"mcp__filesystem__move_file", `{"source":"/etc/passwd","destination":"/etc/p"}`, approver.Ask},
		{"mcp__filesystem__move_file", `{"source":"src/x","destination":".git/hooks/pre-commit"}`, approver.Ask},
	} {
		v := engine(approver.ToolCall{Tool: c.tool, Args: []byte(c.args), Dir: dir,
			Env: map[string]string{"HOME": home}, Peer: approver.Peer{Known: true, UID: 1000}})
		if v.Decision != c.want {
			t.Errorf("%s %s: %s by %s, want %s: %s", c.tool, c.args, v.Decision, v.Rule, c.want, v.Reason)
		}
	}
}

// The story: the containers of one service were "a resource elsewhere" by compose and a warning by docker rm.
func TestComposeRemovesAsDockerDoes(t *testing.T) {
	checkCalls(t, `
w  docker compose rm -sf api
w  docker compose rm -f
w  docker-compose rm -sf api
w  docker compose -f compose.test.yml rm -sf api
p  docker compose rm api
w  docker rm -f pg redis mongo
w  docker rmi shop:dev
h  docker compose rm -fsv api
h  docker-compose rm -v
h  docker rm -fv api
h  docker compose down -v
c  docker volume rm data
`)
}

// The story: three containers were deleted, and the reason named one.
func TestReasonNamesWhatIsDeleted(t *testing.T) {
	judge := verdicts(t)
	for line, want := range map[string]string{
		"docker rm -f pg redis mongo":           "(pg, redis, mongo)",
		"docker rm -f a b c d e f g":            "(a, b, c, d, e and 2 more)",
		"docker rm -f pg && docker volume rm v": "(v)",
	} {
		if v := judge(line); !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %q, want %s", line, v.Reason, want)
		}
	}
}
