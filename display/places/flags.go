package places

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// credentialFlags are the flags that take a credential, by program, or by program and
// subcommand. What stands behind the colon says which part of the value it is: secret
// (all, which is the default), login (behind user:), pass (behind pass:), cookie (behind
// the first =), header and field (what its name says), setting (a field of which
// somebody chose the name, so that it may decide as well), cursor (all, if it looks like
// a secret: it says which), glued (only in the flag's own word), likely (all, if it looks
// like a secret), store (behind NAME=, likewise), plain (all, if it has no =), percent,
// comma and slash (behind that sign), acl (behind >), sql (what statements give as a
// password), rest (every word from there on), alone (all, if no word is behind it),
// userid (behind userid=), maybe (all, of a flag that may have no value), skip (a value
// that is no credential). One letter may have its value in the same word or in the next.
// The flag "operand" stands for every other word, "#1" for the first of them, a word
// without a dash for the place behind that word, and "pair" says that names of settings
// stand before their values. "<" is what the program reads from its standard input: with
// the flag behind the colon, or always. "options:first" is a program whose flags end at its
// first operand.
var credentialFlags = map[string]string{
	"curl": "-u:login --user:login -U:login --proxy-user:login -H:header --header:header --proxy-header:header" +
		" -d:field --data:field --data-raw:field --data-binary:field --data-ascii:field --data-urlencode:field" +
		" --json:field -F:field --form:field --form-string:field -b:cookie --cookie:cookie" +
		" --oauth2-bearer -E:login --cert:login --proxy-cert:login --pass --proxy-pass --tlspassword --proxy-tlspassword",
	"wget|wget2": "--header:header --post-data:field --body-data:field --password --http-password --ftp-password " +
		"--proxy-password",
	"http|https|xh": "-a:login --auth:login operand:header",
	"mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlshow|mysqlsh|mariadb|mariadb-dump|mariadb-admin":   "-p:glued --password:glued",
	"psql|pg_dump|pg_dumpall|pg_restore|pg_basebackup|pg_isready|createdb|dropdb|vacuumdb|reindexdb|clusterdb": "-d:field --dbname:field operand:field --password:glued",
	"createuser|dropuser|pg_receivewal|pg_recvlogical|pg_amcheck|pgbench":                                      "--password:glued",
	"docker login|podman login|nerdctl login|buildah login|oras login|helm registry|skopeo login|crane auth":   "-p --password <:--password-stdin",
	"skopeo copy|skopeo inspect|skopeo sync|skopeo delete|buildah push|buildah pull|podman push|podman pull": "--creds:login" +
		" --src-creds:login --dest-creds:login",
	"docker run|podman run|docker exec|podman exec|docker create|docker compose": "-e:setting --env:setting",
	"docker build|podman build|docker buildx":                                    "--build-arg:setting",
	"redis-cli|valkey-cli|keydb-cli": "options:first -a --pass -h:skip " +
		"-p:skip -s:skip -u:skip -i:skip -r:skip -t:skip -d:skip -D:skip -n:skip --user:skip -X:skip",
	"redis-cli auth|valkey-cli auth|keydb-cli auth":                          "#1:alone #2",
	"redis-cli hello|valkey-cli hello|keydb-cli hello":                       "auth:rest",
	"redis-cli config set|valkey-cli config set|keydb-cli config set":        "requirepass masterauth",
	"redis-cli acl setuser|valkey-cli acl setuser|keydb-cli acl setuser":     "operand:acl",
	"mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|mongostat": "-p:maybe", "cypher-shell": "-p",
	"mysqladmin|mariadb-admin": "-h:skip -u:skip -P:skip -S:skip", "mysqladmin password|mariadb-admin password": "#1",
	"sudo": "-S:glued", "sshpass": "-p -f:skip -d:skip -P:skip", "htpasswd": "#3 <:-i -C:skip -r:skip",
	"mkpasswd":       "#1 -m:skip -S:skip -R:skip -P:skip",
	"openssl passwd": "#1 <:-stdin -salt:skip -in:skip", "wpa_passphrase": "#2 <",
	"ssh-keygen": "-N -P", "useradd|usermod": "-p", "chpasswd": "<:login", "passwd": "<:--stdin", "smbpasswd": "<:-s",
	"cryptsetup":          "<",
	"smbclient|rpcclient": "-U:percent --user:percent", "lftp": "-u:comma",
	"sqlplus|sqlldr|expdp|impdp": "#1:slash operand:userid -R:skip -M:skip -C:skip",
	"keytool|jarsigner":          "-storepass -keypass -srcstorepass -deststorepass",
	"apksigner":                  "--ks-pass:pass --key-pass:pass",
	"security add-generic-password|security add-internet-password": "-w -X",
	"security unlock-keychain|security create-keychain":            "-p",
	"security import": "-P", "secret-tool store|keyring set|pass insert|kinit": "<", "su": "<:likely",
	"bw unlock": "#1 --passwordenv:skip --passwordfile:skip", "bw login": "#2 --method:skip --code:skip",
	"nmcli dev wifi|nmcli device wifi|nmcli d wifi|nmcli d w": "password", "net user": "#2:likely", "ipmitool": "-P",
	"snmpwalk|snmpget|snmpset": "-A -X -c",
	"xfreerdp|rdesktop":        "-p:maybe", "mc alias set": "#4 --api:skip --path:skip", "twine upload": "-p",
	"ldapsearch|ldapmodify|ldapadd|ldapdelete|ldapwhoami|ldappasswd|ldapcompare": "-w",
	"sqlcmd|bcp": "-P -Q:sql -q:sql", "zip|unzip": "-P", "7z|7za|7zz": "-p:glued", "unrar|rar": "-p:glued",
	"openssl|openssl req|openssl rsa|openssl pkcs12|openssl genrsa|openssl pkcs8|openssl pkey|openssl ec" +
		"|openssl x509|openssl genpkey|openssl cms|openssl smime|openssl ca": "-passin:pass -passout:pass -pass:pass",
	"openssl enc": "-passin:pass -passout:pass -pass:pass -k -K -kfile:skip -kdf:skip -kdfopt:skip",
	"az":          "", "az storage|az iot|az appconfig|az servicebus|az eventhubs": "--sas-token --connection-string",
	"az login": "-p --password", "az acr|az sql": "-p:maybe",
	"az vm|az vmss|az mysql|az postgres|az synapse": "--admin-password", "az ad": "--password",
	"aws": "", "aws secretsmanager": "--secret-string", "aws iam": "--password --old-password --new-password",
	"aws cognito-idp": "--password --temporary-password --access-token",
	"aws rds|aws redshift|aws docdb|aws neptune": "--master-user-password", "gcloud": "", "gcloud sql users": "--password",
	"aws configure set|rclone config|git config|gh config set|gcloud config set|composer config|poetry " +
		"config|stripe config": "operand:pair",
	"npm config set|npm set|pnpm config set|pnpm set|yarn config set|bundle config|pip config set|pip3 config " +
		"set|dotnet user-secrets set": "operand:pair",
	"aws ssm|az keyvault":                               "--value:likely",
	"gcloud secrets create|gcloud secrets versions add": "<:--data-file",
	"docker secret create|podman secret create":         "<",
	"gh": "", "gh secret set|gh secret create": "-b --body <", "gh secret": "", "gh auth login": "<:--with-token",
	"glab auth login": "-t <:--stdin", "gh api|gh workflow": "-f:setting -F:setting --field:setting --raw-field:setting",
	"kubectl|oc":                             "--from-literal:field --token",
	"kubectl create secret|oc create secret": "--from-literal:store --docker-password <:maybe",
	"helm":                                   "--set:setting --set-string:setting --kube-token",
	"helm repo|helm pull|helm push|helm show|helm template|helm install|helm upgrade": "--password",
	"argocd|argocd login": "--auth-token --password", "sentry-cli": "--auth-token", "stripe": "--api-key",
	"cargo publish|cargo yank|cargo owner": "--token",
	"terraform|tofu":                       "-var:setting --var:setting",
	"ansible-playbook":                     "-e:setting --extra-vars:setting",
	"ansible":                              "-e:setting --extra-vars:setting",
	"vault kv|vault write":                 "operand:store",
	"vault login":                          "operand:field #1:plain < -method:skip -path:skip",
	"vault operator unseal|vault operator rekey": "#1:plain",
	"vault unwrap": "#1:likely", "vault token": "#2:likely",
	"heroku config:set|heroku config:add|fly secrets set|flyctl secrets set|fly secrets import|flyctl secrets " +
		"import|doppler secrets set": "operand:store <:store",
	"supabase secrets set|infisical secrets set|railway variables set|netlify env:set|firebase " +
		"functions:config:set|op item create": "operand:store operand:store",
	"wrangler secret put|wrangler pages secret put|vercel env add|vercel secrets add|eas secret:create": "<",
	"doctl": "-t --access-token", "influx": "-t --token", "vercel": "-t --token", "netlify": "--auth",
	"flyctl|fly": "-t --access-token", "gpg|gpg2": "--passphrase <:--passphrase-fd", "expect": "-c:skip",
	"cargo login|snyk auth": "#1 <", "pulumi config set": "#2:likely",
}

// globalFlags take a value and stand before a subcommand as well as behind it.
var globalFlags = map[string]bool{
	"--profile": true, "--region": true, "--context": true, "--namespace": true, "-n": true, "-C": true, "-H": true,
	"--project": true, "--kubeconfig": true,
	"--config": true, "--cluster": true, "--host": true, "-a": true, "--app": true, "--env": true, "--location": true,
	"--prefix": true, "-R": true, "--repo": true,
}

var (
	secretFlag   = shape.Pattern(`(?i)^--?(?:[a-z0-9]+-)*` + shape.SecretWord + `$`)
	secretHeader = shape.Pattern(`(?i)^([a-z0-9-]*(?:authorization|token|key|secret|auth` +
		`|cookie))[ \t]*:[ \t]*(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?`)
	secretField = shape.Pattern(`(?i)(?:^|[&,;\s"'{])((?:[a-z0-9_.-]*[._-])??)(` + shape.SecretWord +
		`|secret|pass|pwd|passcode)\\*["']?[=:][ \t]*\\*["']?([^\s&,;"'}\\]+)`)
	knownSetting = shape.Pattern(`(?i)^(?:aws_secret_access_key|aws_session_token|secret_access_key|.*:_(?:authtoken` +
		`|password|auth)|(?:github-oauth|gitlab-token|pypi-token)\..*)$`)
	cursorFlag = shape.Pattern(`(?i)^--(?:[a-z0-9]+-)*(?:task|activity|starting|start|next|client|request|page|paging` +
		`|pagination|continuation|continue|idempotency|sync|change|resume|cursor|lock|ordering|nonce)-?token$`)
	switchFlag = shape.Pattern(`(?i)^--?(?:[a-z]+-)*(?:with|no|show|print|use|allow|reset|rotate|ask|prompt|prompt-for` +
		`|env|stdin|read|generate|require|enable|disable|skip|save|remember|store|keep|get|force|want|check|has)-`)
)

// credentialHeaders only prove who asks. Any other header, and every cookie, has a name
// that somebody chose: X-Object-Key may say what is deleted.
var credentialHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "apikey": true,
	"x-apikey": true, "x-goog-api-key": true,
	"private-token": true, "job-token": true, "deploy-token": true, "x-auth-token": true, "x-access-token": true,
	"x-auth-key": true, "x-subject-token": true,
	"x-vault-token": true, "x-consul-token": true, "x-nomad-token": true, "x-amz-security-token": true,
	"x-aws-ec2-metadata-token": true,
	"x-figma-token":            true, "x-shopify-access-token": true, "x-tableau-auth": true, "x-algolia-api-key": true,
	"x-rapidapi-key": true,
	"dd-api-key":     true, "dd-application-key": true, "ocp-apim-subscription-key": true, "x-csrf-token": true,
	"x-xsrf-token": true, "x-csrftoken": true,
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
			return len(value) < 16 || !shape.IsRandom(value) || !shape.IsOpaque(value)
		}
	}
	return false
}

// programFlags is credentialFlags, taken apart.
var programFlags = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for programs, text := range credentialFlags {
		flags := map[string]string{}
		for _, f := range strings.Fields(text) {
			name, kind, _ := strings.Cut(f, ":")
			flags[name] = cmp.Or(kind, "secret")
		}
		for _, p := range strings.Split(programs, "|") {
			if out[p] == nil {
				out[p] = map[string]string{}
			}
			maps.Copy(out[p], flags)
		}
	}
	// A subcommand's program takes what its own flags say, and each of its words is found.
	for _, p := range slices.Sorted(maps.Keys(out)) {
		for n := strings.LastIndexByte(p, ' '); n > 0; n = strings.LastIndexByte(p[:n], ' ') {
			above := out[p[:n]]
			if above == nil {
				out[p[:n]] = nil
			}
			for flag, kind := range above {
				if strings.HasPrefix(flag, "-") && out[p][flag] == "" {
					out[p][flag] = kind
				}
			}
		}
		if name, _, sub := strings.Cut(p, " "); sub && out[name] == nil {
			out[name] = map[string]string{}
		}
	}
	return out
})

// flagsOf returns what the flags and operands of a program take, and how many of its
// words belong to its subcommand.
func flagsOf(src, name string, words []word) (flags map[string]string, operands int) {
	all := programFlags()
	flags, found := all[name]
	for i := 0; found && i < len(words); i++ {
		text, _ := words[i].bare(src)
		if strings.HasPrefix(text, "-") {
			if kind := flags[text]; globalFlags[text] || kind != "" && kind != "glued" && kind != "maybe" {
				i++
			}
			continue
		}
		name += " " + strings.ToLower(text)
		var sub map[string]string
		if sub, found = all[name]; found {
			operands = i + 1
		}
		if sub != nil {
			flags = sub
		}
	}
	return flags, operands
}

// programName is a program without the folder of the system's programs.
func programName(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") {
			return rest
		}
	}
	return name
}
