package approver

import "strings"

// credentialFlags are the flags that take a credential, by program, or by program and
// subcommand. What stands behind the colon says which part of the value it is: secret
// (all, which is the default), login (behind user:), pass (behind pass:), cookie (behind
// the first =), header and field (what its name says), setting (a field of which
// somebody chose the name, so that it may decide as well), cursor (all, if it looks like
// a secret: it says which), glued (only in the flag's own word). One letter may have its value in the same word or in the next. The flag
// "operand" stands for every other word.
var credentialFlags = map[string]string{
	"curl": "-u:login --user:login -U:login --proxy-user:login -H:header --header:header --proxy-header:header" +
		" -d:field --data:field --data-raw:field --data-binary:field --data-ascii:field --data-urlencode:field" +
		" --json:field -F:field --form:field --form-string:field -b:cookie --cookie:cookie" +
		" --oauth2-bearer --pass --proxy-pass --tlspassword --proxy-tlspassword",
	"wget|wget2":    "--header:header --post-data:field --body-data:field",
	"http|https|xh": "-a:login --auth:login operand:header",
	"mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlshow|mysqlsh|mariadb|mariadb-dump|mariadb-admin": "-p:glued",
	"psql|pg_dump|pg_restore|pg_basebackup|pg_isready|createdb|dropdb|vacuumdb":                              "-d:field --dbname:field operand:field",
	"docker login|podman login|nerdctl login|buildah login|oras login|helm registry|skopeo login|crane auth": "-p",
	"skopeo copy|skopeo inspect|skopeo sync|skopeo delete|buildah push|buildah pull|podman push|podman pull": "--creds:login" +
		" --src-creds:login --dest-creds:login",
	"docker run|podman run|docker exec|podman exec|docker create|docker compose": "-e:setting --env:setting",
	"docker build|podman build|docker buildx":                                    "--build-arg:setting",
	"redis-cli|valkey-cli": "-a --pass",
	"mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|mongostat|cypher-shell|twine|twine upload": "-p",
	"sshpass": "-p",
	"ldapsearch|ldapmodify|ldapadd|ldapdelete|ldapwhoami|ldappasswd|ldapcompare": "-w",
	"sqlcmd|bcp": "-P", "zip|unzip": "-P", "7z|7za|7zz": "-p:glued", "unrar|rar": "-p:glued",
	"openssl|openssl enc|openssl req|openssl rsa|openssl pkcs12|openssl genrsa": "-passin:pass -passout:pass -pass:pass",
	"az": "--sas-token --connection-string", "az login|az acr|az sql": "-p",
	"aws": "--secret-string --session-token", "aws ecr": "", "gcloud": "",
	"gh": "", "gh secret": "-b --body", "gh api|gh workflow": "-f:setting -F:setting --field:setting --raw-field:setting",
	"kubectl|oc":       "--from-literal:field",
	"helm":             "--set:setting --set-string:setting",
	"terraform|tofu":   "-var:setting --var:setting",
	"ansible-playbook": "-e:setting --extra-vars:setting", "ansible": "-e:setting --extra-vars:setting",
	"vault kv|vault write|vault login": "operand:field",
}

// plainPrograms act on every word that they are given and take no credential.
var plainPrograms = map[string]bool{
	"rm": true, "rmdir": true, "mkdir": true, "cp": true, "mv": true, "ln": true, "touch": true, "chmod": true, "chown": true, "cat": true, "ssh": true,
	"scp": true, "rsync": true, "find": true, "tar": true, "go": true, "pytest": true, "tail": true, "less": true, "diff": true, "shred": true,
	"truncate": true, "dd": true, "kill": true, "systemctl": true, "kubectx": true, "kubens": true, "ping": true, "dig": true, "host": true, "nslookup": true,
}

var (
	secretFlag   = once(`(?i)^--?(?:[a-z0-9]+-)*` + secretWord + `$`)
	secretHeader = once(`(?i)^([a-z0-9-]*(?:authorization|token|key|secret|auth|cookie))[ \t]*:[ \t]*(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?`)
	secretField  = once(`(?i)(?:^|[&,;\s"'{])((?:[a-z0-9_.-]*[._-])??)(` + secretWord + `|secret)["']?[=:][ \t]*["']?([^\s&,;"'}]+)`)
	cursorFlag   = once(`(?i)^--(?:[a-z0-9]+-)*(?:task|activity|starting|start|next|client|request|page|paging|pagination|continuation|continue|idempotency|sync|change|resume|cursor|lock|ordering|nonce)-?token$`)
	switchFlag   = once(`(?i)^--?(?:with|no|show|print|use|allow|reset|rotate)-`)
)

// credentialHeaders only prove who asks. Any other header, and every cookie, has a name
// that somebody chose: X-Object-Key may say what is deleted.
var credentialHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "apikey": true, "x-apikey": true, "x-goog-api-key": true,
	"private-token": true, "job-token": true, "deploy-token": true, "x-auth-token": true, "x-access-token": true, "x-auth-key": true, "x-subject-token": true,
	"x-vault-token": true, "x-consul-token": true, "x-nomad-token": true, "x-amz-security-token": true, "x-aws-ec2-metadata-token": true,
	"x-figma-token": true, "x-shopify-access-token": true, "x-tableau-auth": true, "x-algolia-api-key": true, "x-rapidapi-key": true,
	"dd-api-key": true, "dd-application-key": true, "ocp-apim-subscription-key": true, "x-csrf-token": true, "x-xsrf-token": true, "x-csrftoken": true,
}

// isReference reports a value that says where the credential is: what is read, or sent
// there, decides. A path is one unless it looks like a key that begins so.
func isReference(value string) bool {
	lower := strings.ToLower(value)
	for _, scheme := range []string{"file:", "fileb:", "env:", "http://", "https://", "s3://", "gs://", "op://"} {
		if strings.HasPrefix(lower, scheme) {
			return true
		}
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(value, begin) {
			return len(value) < 16 || !looksRandom(value) || !opaque(value)
		}
	}
	return false
}
