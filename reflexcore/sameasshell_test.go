package reflexcore_test

import (
	"strings"
	"testing"
)

// The story: gh repo delete needed the typed code, and mcp__github__delete_repository a tap, "can be undone with some
// work". A tool is judged and described as the command that does the same.
func TestAToolIsJudgedAsItsCommand(t *testing.T) {
	e := engine(t)
	for block := range strings.SplitSeq(strings.TrimSpace(`
$ gh repo delete acme/billing --yes
> mcp__github__delete_repository {"owner":"acme","repo":"billing"}
> mcp__github__delete_repo {"owner":"acme","repo":"billing"}
> mcp__github__repo_delete {"owner":"acme","repo":"billing"}

$ glab repo delete acme/billing
> mcp__gitlab__delete_project {"project_id":"acme/billing"}

$ git push origin :topic
> mcp__github__delete_branch {"owner":"acme","repo":"billing","branch":"topic"}

$ psql -c 'drop database app'
$ dropdb app
> mcp__postgres__drop_database {"name":"app"}

$ psql -c 'drop table users'
> mcp__db__drop_table {"table":"users"}

$ supabase projects delete p
$ neonctl projects delete p
$ gcloud projects delete p
> mcp__supabase__delete_project {"project_id":"p"}
> mcp__neon__delete_project {"projectId":"p"}

$ aws rds delete-db-instance --db-instance-identifier x
> mcp__aws__delete_db_instance {"db_instance_identifier":"x"}

$ aws cloudformation delete-stack --stack-name v
> mcp__aws__delete_stack {"stack_name":"v"}

$ docker volume rm data
$ aws ec2 delete-volume --volume-id v
> mcp__docker__remove_volume {"volume_name":"data"}

$ kubectl delete namespace web
> mcp__kubernetes__delete_namespace {"name":"web"}

$ gcloud container clusters delete c
> mcp__cloud__delete_cluster {"name":"c"}

$ aws ec2 delete-snapshot --snapshot-id s
> mcp__cloud__delete_snapshot {"id":"s"}

$ auth0 users delete u
> mcp__auth0__delete_user {"id":"u"}
`), "\n\n") {
		first := ""
		for line := range strings.SplitSeq(block, "\n") {
			v, err := inWords(t, e, callOf(t, line))
			if err != nil {
				t.Fatal(err)
			}
			got := v.Decision.String() + " " + v.Severity.String() + ", " + v.Says.Undo.Plain()
			if first == "" {
				first = got
			} else if got != first {
				t.Errorf("%s is\n  %s\nand its command\n  %s", line, got, first)
			}
		}
	}
}
