package display

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

const (
	digits  = "0123456789"
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum   = digits + small + capital
	hexa    = "0123456789abcdef"
)

// A maker makes random secrets of one form: a text that carries one, in which § stands for it.
type maker struct {
	name string
	text string
	make func(chars func(alphabet string, n int) string) string
}

// fixed makes secrets of a known beginning and n characters of an alphabet.
func fixed(begin, alphabet string, n int) func(func(string, int) string) string {
	return func(chars func(string, int) string) string { return begin + chars(alphabet, n) }
}

// password is one as programs and people make them, safe in an address.
func password(chars func(string, int) string) string {
	return chars(small, 3) + chars(alnum+"-._~+!*", 9) + chars(digits, 2)
}

func jwt(chars func(string, int) string) string {
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + chars(digits, 10) + `","iat":` + chars(digits, 10) +
		`}`))
	return header + "." + claims + "." + chars(alnum+"-_", 43)
}

// makers are the forms that are known: by their beginning, or by the place where they stand.
var makers = []maker{
	{"AWS key id", "AWS_ACCESS_KEY_ID=§", fixed("AKIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)},
	{"AWS temporary key id", "x §", fixed("ASIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)},
	{"AWS secret key", "AWS_SECRET_ACCESS_KEY=§ aws s3 ls", fixed("", alnum+"/+", 40)},
	{"AWS secret key in a file", "aws_secret_access_key = §", fixed("", alnum+"/+", 40)},
	{"AWS secret key in JSON", `{"SecretAccessKey": "§"}`, fixed("", alnum+"/+", 40)},
	{"AWS secret key in YAML", "secretAccessKey: §", fixed("", alnum+"/+", 40)},
	{"AWS secret key of Terraform", `secret_key = "§"`, fixed("", alnum+"/+", 40)},
	{"AWS session token", "export AWS_SESSION_TOKEN=§", fixed("", alnum+"/+", 200)},
	{"Google key", "k=§", fixed("AIza", alnum+"-_", 35)},
	{"Google access token", "k=§", fixed("ya29.", alnum+"-_", 60)},
	{"Google client secret", "k=§", fixed("GOCSPX-", alnum+"-_", 28)},
	{"Azure account key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=§;EndpointSuffix=core.windows.net",
		func(chars func(string, int) string) string { return chars(alnum+"/+", 86) + "==" }},
	{"Azure shared access key", "Endpoint=sb://x.example/;SharedAccessKeyName=n;SharedAccessKey=§",
		func(chars func(string, int) string) string { return chars(alnum+"/+", 43) + "=" }},
	{"Azure client secret", "AZURE_CLIENT_SECRET=§",
		func(chars func(string, int) string) string { return chars(alnum, 3) + "8Q~" + chars(alnum+"-_.~", 34) }},
	{"Azure SAS signature", "https://x.blob.core.windows.net/c?sv=2024-11-04&sig=§",
		func(chars func(string, int) string) string { return chars(alnum, 43) + "%3D" }},
	{"DigitalOcean token", "k=§", fixed("dop_v1_", hexa, 64)},
	{"DigitalOcean OAuth token", "k=§", fixed("doo_v1_", hexa, 64)},
	{"Databricks token", "k=§", fixed("dapi", hexa, 32)},
	{"Vault token", "k=§", fixed("hvs.", alnum+"-_", 90)},
	{"Terraform Cloud token", "k=§", func(chars func(string, int) string) string {
		return chars(alnum, 14) + ".atlasv1." + chars(alnum+"-_", 60)
	}},
	{"Fly token", "FLY_API_TOKEN='FlyV1 §' flyctl deploy", fixed("fm2_", alnum+"/+", 100)},
	{"Alibaba key id", "k=§", fixed("LTAI", alnum, 20)},
	{"GitHub token", "k=§", fixed("ghp_", alnum, 36)},
	{"GitHub app token", "k=§", fixed("ghs_", alnum, 36)},
	{"GitHub OAuth token", "k=§", fixed("gho_", alnum, 36)},
	{"GitHub user token", "k=§", fixed("ghu_", alnum, 36)},
	{"GitHub refresh token", "k=§", fixed("ghr_", alnum, 76)},
	{"GitHub fine-grained token", "k=§", func(chars func(string, int) string) string {
		return "github_pat_" + chars(alnum, 22) + "_" + chars(alnum, 59)
	}},
	{"GitLab token", "k=§", fixed("glpat-", alnum+"-_", 20)},
	{"GitLab deploy token", "k=§", fixed("gldt-", alnum+"-_", 20)},
	{"GitLab runner token", "k=§", fixed("glrt-", alnum+"-_", 20)},
	{"Bitbucket token", "k=§", fixed("ATBB", alnum, 32)},
	{"Atlassian token", "k=§", fixed("ATATT3xFfGF0", alnum+"-_=", 180)},
	{"Slack bot token", "k=§", func(chars func(string, int) string) string {
		return "xoxb-" + chars(digits, 12) + "-" + chars(digits, 13) + "-" + chars(alnum, 24)
	}},
	{"Slack user token", "k=§", func(chars func(string, int) string) string {
		return "xoxp-" + chars(digits, 12) + "-" + chars(digits, 12) + "-" + chars(digits, 12) + "-" + chars(hexa, 32)
	}},
	{"Slack app token", "k=§", func(chars func(string, int) string) string {
		return "xapp-1-A" + chars(capital+digits, 10) + "-" + chars(digits, 13) + "-" + chars(hexa, 64)
	}},
	{"Slack webhook", "curl https://hooks.slack.com/services/T0123ABCD/B0123ABCD/§ -d x", fixed("", alnum, 24)},
	{"Slack workflow", "curl https://hooks.slack.com/triggers/T0123ABCD/1234567890/§ -d x", fixed("", hexa, 32)},
	{"Discord webhook", "curl https://discord.com/api/webhooks/123456789012345678/§ -d x", fixed("", alnum+"-_", 68)},
	{"Discord bot token", "k=§", func(chars func(string, int) string) string {
		return "MTI3NzUxNjcwNDQ4ODA2NDM0." + chars(alnum, 6) + "." + chars(alnum+"-_", 38)
	}},
	{"Telegram bot token", "k=§", func(chars func(string, int) string) string {
		return "1622697392:AA" + chars(alnum+"-_", 33)
	}},
	{"Telegram bot address", "curl https://api.telegram.org/bot§/getMe", func(chars func(string, int) string) string {
		return "1622697392:AA" + chars(alnum+"-_", 33)
	}},
	{"Teams webhook",
		"curl https://x.webhook.office.com/webhookb2" +
			"/0a1b2c3d-1111-2222-3333-444455556666@0a1b2c3d-1111-2222-3333-444455556666/IncomingWebhook/§" +
			"/0a1b2c3d-1111-2222-3333-444455556666", fixed("", hexa, 32)},
	{"Google chat webhook", "curl 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=x&token=§'",
		fixed("", alnum+"-_", 43)},
	{"OpenAI key", "k=§", fixed("sk-", alnum, 48)},
	{"OpenAI project key", "k=§", fixed("sk-proj-", alnum+"-_", 120)},
	{"OpenAI service key", "k=§", fixed("sk-svcacct-", alnum+"-_", 120)},
	{"Anthropic key", "k=§", fixed("sk-ant-api03-", alnum+"-_", 93)},
	{"OpenRouter key", "k=§", fixed("sk-or-v1-", hexa, 64)},
	{"Hugging Face token", "k=§", fixed("hf_", alnum, 34)},
	{"Groq key", "k=§", fixed("gsk_", alnum, 52)},
	{"xAI key", "k=§", fixed("xai-", alnum, 80)},
	{"Perplexity key", "k=§", fixed("pplx-", alnum, 48)},
	{"Replicate token", "k=§", fixed("r8_", alnum, 37)},
	{"PyPI token", "k=§", fixed("pypi-AgEIcHlwaS5vcmc", alnum+"-_", 150)},
	{"npm token", "k=§", fixed("npm_", alnum, 36)},
	{"npm setting", "//registry.npmjs.org/:_authToken=§", func(chars func(string, int) string) string {
		return chars(hexa, 8) + "-" + chars(hexa, 4) + "-" + chars(hexa, 4) + "-" + chars(hexa, 4) + "-" + chars(hexa, 12)
	}},
	{"RubyGems key", "k=§", fixed("rubygems_", hexa, 48)},
	{"crates.io token", "k=§", fixed("cio", alnum, 32)},
	{"Docker Hub token", "k=§", fixed("dckr_pat_", alnum+"-_", 27)},
	{"Stripe key", "k=§", fixed("sk_live_", alnum, 24)},
	{"Stripe restricted key", "k=§", fixed("rk_live_", alnum, 24)},
	{"Stripe webhook secret", "k=§", fixed("whsec_", alnum, 32)},
	{"Square token", "k=§", fixed("sq0atp-", alnum+"-_", 22)},
	{"Square production token", "k=§", fixed("EAAA", alnum+"-_", 60)},
	{"Shopify token", "k=§", fixed("shpat_", hexa, 32)},
	{"SendGrid key", "k=§", func(chars func(string, int) string) string {
		return "SG." + chars(alnum+"-_", 22) + "." + chars(alnum+"-_", 43)
	}},
	{"Mailgun key", "k=§", fixed("key-", hexa, 32)},
	{"Mailchimp key", "k=§", func(chars func(string, int) string) string {
		return chars(hexa, 32) + "-us1" +
			chars(digits, 1)
	}},
	{"Twilio key", "k=§", fixed("SK", hexa, 32)},
	{"New Relic key", "k=§", fixed("NRAK-", capital+digits, 27)},
	{"Grafana token", "k=§", func(chars func(string, int) string) string {
		return "glsa_" + chars(alnum, 32) + "_" +
			chars(hexa, 8)
	}},
	{"Grafana cloud token", "k=§", fixed("glc_", alnum, 100)},
	{"Sentry token", "k=§", fixed("sntrys_", alnum, 100)},
	{"Sentry user token", "k=§", fixed("sntryu_", hexa, 64)},
	{"Linear key", "k=§", fixed("lin_api_", alnum, 40)},
	{"Notion token", "k=§", fixed("ntn_", alnum, 46)},
	{"Notion secret", "k=§", fixed("secret_", alnum, 43)},
	{"Figma token", "k=§", fixed("figd_", alnum+"-_", 40)},
	{"Postman key", "k=§", func(chars func(string, int) string) string {
		return "PMAK-" + chars(hexa, 24) + "-" +
			chars(hexa, 34)
	}},
	{"Doppler token", "k=§", fixed("dp.st.prd.", alnum, 43)},
	{"Tailscale key", "k=§", func(chars func(string, int) string) string {
		return "tskey-auth-" + chars(alnum, 12) + "CNTRL-" + chars(alnum, 32)
	}},
	{"PlanetScale password", "k=§", fixed("pscale_pw_", alnum, 43)},
	{"Supabase token", "k=§", fixed("sbp_", hexa, 40)},
	{"Netlify token", "k=§", fixed("nfp_", alnum, 36)},
	{"1Password token", "k=§", fixed("ops_eyJ", alnum, 200)},
	{"age key", "k=§", fixed("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)},
	{"JWT", "k=§", jwt},
	{"JWT in a header", "curl -H 'Authorization: Bearer §' https://h/x", jwt},
	{"bearer", "curl -H 'Authorization: Bearer §' https://h/x", fixed("", alnum+"-_", 40)},
	{"basic", "curl -H 'Authorization: Basic §' https://h/x", func(chars func(string, int) string) string {
		return base64.StdEncoding.EncodeToString([]byte("me:" + password(chars)))
	}},
	{"PostgreSQL address", "psql postgres://u:§@db:5432/prod", password},
	{"MySQL address", "DATABASE_URL=mysql://u:§@db/prod ./run", password},
	{"MongoDB address", "mongosh 'mongodb+srv://u:§@c.example/x?retryWrites=true'", password},
	{"Redis address", "redis-cli -u redis://:§@cache:6379/1", password},
	{"AMQP address", "BROKER=amqps://u:§@mq/x", password},
	{"an address with signs", `psql 'postgresql://u:§@db/prod'`, func(chars func(string, int) string) string {
		return chars(alnum, 4) + chars("#$&=,;()[]{}%^<>?|", 2) + chars(alnum, 8)
	}},
	{"an address with a slash", `psql 'postgresql://u:§@db/prod'`, func(chars func(string, int) string) string {
		return chars(small, 4) + "/" + chars(alnum, 8) + ":" + chars(alnum, 3)
	}},
	{"a long address", "psql postgres://u:§@db/prod", fixed("", alnum, 64)},
	{"a short password", "psql postgres://u:§@db/prod", fixed("", small, 6)},
	{"SQL Server string", `Server=db;Database=x;User Id=sa;Password=§;Encrypt=true`, password},
	{"ODBC string", `Driver={x};Server=db;UID=sa;PWD=§;`, password},
	{"JDBC address", `jdbc:postgresql://db/prod?user=u&password=§`, password},
	{"DSN of libpq", `psql "host=db user=u password=§ dbname=prod"`, password},
	{"DSN of Go", `DSN='u:§@tcp(db:3306)/prod?parseTime=true' ./run`, password},
	{"Sentry DSN", "SENTRY_DSN=https://§@o123.ingest.sentry.io/456", fixed("", hexa, 32)},
	{".netrc", "cat > ~/.netrc <<'E'\nmachine h.example login me password §\nE", password},
	{".netrc in lines", "cat > ~/.netrc <<'E'\nmachine h.example\n  login me\n  password §\nE", password},
	{".netrc without a login", "machine h.example password §", password},
	{".pgpass", "echo 'db:5432:prod:u:§' >> ~/.pgpass", password},
	{"Docker credentials", `{"auths":{"ghcr.io":{"auth":"§"}}}`, func(chars func(string, int) string) string {
		return base64.StdEncoding.EncodeToString([]byte("me:" + password(chars)))
	}},
	{"Docker identity token", `{"auths":{"x.azurecr.io":{"identitytoken":"§"}}}`, jwt},
}

// generated is how many secrets of each form are made.
const generated = 1000

// shownOf returns a stretch of a secret's random part that a text shows, or "". What is
// the same in all secrets of a form may stay.
func shownOf(secret, common, text string) string {
	const stretch = 6
	for i := 0; i+stretch <= len(secret); i++ {
		if part := secret[i : i+stretch]; !strings.Contains(common, part) && strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// commonOf is how two texts begin.
func commonOf(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

var keyedDigest = regexp.MustCompile(`, [0-9a-f]{6}›`)

// Of each form of secret a thousand are made at random, and no card, log or output shows
// any of them, nor a stretch of one.
func TestEveryKnownFormIsHidden(t *testing.T) {
	longComputation(t)
	for n, m := range makers {
		random := rand.New(rand.NewPCG(15, uint64(n)))
		chars := func(alphabet string, n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = alphabet[random.IntN(len(alphabet))]
			}
			return string(b)
		}
		failed := map[string]int{}
		example := map[string]string{}
		for i := range generated {
			secret := m.make(chars)
			text := strings.ReplaceAll(m.text, "§", secret)
			before, _, _ := strings.Cut(m.text, "§")
			common := m.text + commonOf(secret, m.make(chars)) + before
			look := func(where, shown string) {
				// The digest in the place of a secret is keyed, and may equal six of its characters by chance.
				shown = keyedDigest.ReplaceAllString(shown, "›")
				if part := shownOf(secret, common, shown); part != "" {
					failed[where]++
					example[where] = fmt.Sprintf("%s of %s\n\t%s", part, text, shown)
				}
			}
			look("Mask", Mask(text))
			call := shellCall(text)
			shown, _ := call.Shown()
			look("Shown", shown)
			out := text
			found := Secrets(text)
			for i := len(found) - 1; i >= 0; i-- {
				out = out[:found[i].Start] + found[i].By + out[found[i].End:]
			}
			look("Secrets", out)
			if i%10 != 0 {
				continue
			}
			file := Call{Tool: "Write",
				Args: jsonOf(map[string]string{"file_path": "/repo/x", "content": "# x\n" + text + "\ny\n"})}
			shown, _ = file.Shown()
			look("file", shown)
		}
		for where, count := range failed {
			t.Errorf("%s: %s shows %d of %d, such as %s", m.name, where, count, generated, example[where])
		}
	}
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// lookAlikes are no secrets, and some look like one: § stands for what is made anew.
var lookAlikes = []string{
	// hashes and ids
	"git checkout 3f786850e387550fdab836ed7e6dc881de23001b", "git revert --no-edit 9a0b1c2d",
	"git cherry-pick a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
	"git diff 3f786850e3..a94a8fe5cc -- src", "git rebase --onto main 3f786850e387550fdab836ed7e6dc881de23001b",
	"git bisect bad da39a3ee5e6b4b0d3255bfef95601890afd80709",
	"docker pull alpine@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "docker rm 4f5e6d7c8b9a",
	"docker logs 4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796",
	"docker run --rm " +
		"registry.example:5000/team/app@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"sha256sum -c <<< 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.tgz'",
	"md5sum a.tgz # d41d8cd98f00b204e9800998ecf8427e",
	"echo d41d8cd98f00b204e9800998ecf8427e a.tgz | md5sum -c",
	"aws ec2 terminate-instances --instance-ids i-0abcd1234ef567890",
	"aws ec2 delete-volume --volume-id vol-049df61146c4d7901",
	"aws ec2 delete-security-group --group-id sg-903004f8a1b2c3d4e",
	"aws ec2 delete-subnet --subnet-id subnet-9d4a7b6c1e2f3a4b5",
	"aws rds delete-db-snapshot --db-snapshot-identifier rds:prod-2026-11-22-03-10",
	"aws s3api delete-object --bucket b --key logs/2026/11/22/part-00000-tid-4417.parquet",
	"aws kms describe-key --key-id 1234abcd-12ab-34cd-56ef-1234567890ab",
	"aws lambda delete-function --function-name arn:aws:lambda:eu-west-1:123456789012:function:cleanup",
	"aws iam delete-role --role-name AWSServiceRoleForAutoScaling_Prod2026",
	"aws cloudformation delete-stack --stack-name prod-api-gateway-2026-11",
	"aws ecr batch-delete-image --repository-name x --image-ids " +
		"imageDigest=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"az group delete --name rg-prod-westeurope-4417 --subscription 0a1b2c3d-1111-2222-3333-444455556666",
	"az vm delete --ids " +
		"/subscriptions/0a1b2c3d-1111-2222-3333-444455556666/resourceGroups/rg/providers/Microsoft.Compute" +
		"/virtualMachines/vm1",
	"gcloud projects delete my-project-44172026", "gcloud compute instances delete instance-20261122-101112",
	"gcloud builds cancel 0a1b2c3d-1111-2222-3333-444455556666",
	"kubectl delete pod web-7d9f8b6c5-x2x4z", "kubectl delete job backup-28934417", "kubectl delete rs api-6b8f9d7c44",
	"kubectl get pod -o json web-0a1b2c3d4e", "kubectl rollout undo deploy/web --to-revision=44172026",
	"kubectl delete pvc pvc-0a1b2c3d-1111-2222-3333-444455556666", "heroku releases:rollback v44172026",
	"terraform import aws_instance.web i-0abcd1234ef567890", "terraform state rm 'module.x[\"prod-2026\"]'",
	"curl https://api.example/v1/orders/0a1b2c3d-1111-2222-3333-444455556666",
	"curl https://api.example/v1/users/1234567890123456789",
	"curl 'https://api.example/x?id=3f786850e387550fdab836ed7e6dc881de23001b'",
	"curl 'https://api.example/x?cursor=1234567890&sort=created_at'",
	"curl 'https://api.example/x?etag=33a64df551425fcc55e4d42a148795d9f25f89d4'",
	"curl -H 'If-None-Match: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"' https://h/x",
	"curl -H 'X-Request-Id: 0a1b2c3d-1111-2222-3333-444455556666' https://h/x",
	"curl -H 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' https://h/x",
	"psql -c \"delete from orders where id = '0a1b2c3d-1111-2222-3333-444455556666'\"",
	"redis-cli del session:3f786850e387550fdab836ed7e6dc881", "redis-cli get user:1234567890:cart",
	"mongosh --eval 'db.x.deleteOne({_id: ObjectId(\"507f1f77bcf86cd799439011\")})'",
	"stripe refunds create --charge ch_3MmlLrLkdIwHu7ix0snN0B15", "stripe customers delete cus_NffrFeUfNV2Hib",
	"gh run view 1234567890 --log", "gh pr merge 4417 --squash", "gh release delete v2026.11.22", "glab mr merge 4417",
	"slackcat -c C0123ABCD4E", "gpg --recv-keys 0xA1B2C3D4E5F60718",
	"gpg --delete-key A1B2C3D4E5F60718293A4B5C6D7E8F9001122334",
	"ssh-keygen -R host-0a1b2c3d.example", "ipfs get QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
	"bitcoin-cli getblock 000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
	// placeholders
	"export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	"export OPENAI_API_KEY=sk-your-openai-api-key-goes-here", "export ANTHROPIC_API_KEY=sk-ant-your-api-key-here-please",
	"export SLACK_TOKEN=xoxb-your-token-here", "export GITLAB_TOKEN=glpat-your-access-token-here",
	"export HF_TOKEN=hf_your_hugging_face_token_here", "export PYPI_TOKEN=pypi-your-upload-token-goes-here",
	"export DIGITALOCEAN_TOKEN=dop_v1_your_token_goes_here_please",
	"export NPM_TOKEN=npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "export STRIPE_KEY=sk_test_your_stripe_key_here",
	"export SENDGRID_API_KEY=SG.your-key-id.your-secret",
	"DATABASE_URL=postgres://$DB_USER:$DB_PASS@db/prod ./run", "DATABASE_URL=postgres://u:${DB_PASSWORD}@db/prod ./run",
	"psql 'postgres://user:{password}@db/prod'", "psql 'postgres://user:<password>@db/prod'",
	"psql 'postgres://u:***@db/prod'", "password=$DB_PASSWORD ./run", "TOKEN=$(vault read -field=token x) ./run",
	"AWS_SECRET_ACCESS_KEY=$SECRET aws s3 ls", "curl -H \"Authorization: Bearer $TOKEN\" https://h",
	"curl -u \"$USER:$PASS\" https://h",
	"echo 'password: <your password>'", "echo 'token: changeme'", "echo 'secret: ${SECRET}'",
	"sed -i 's/TOKEN=.*/TOKEN=REDACTED/' .env.example", "cp .env.example .env", "echo 'api_key: YOUR_API_KEY'",
	"export API_KEY=", "unset GITHUB_TOKEN AWS_SECRET_ACCESS_KEY",
	// identifiers
	"go test -run TestTokenRefreshAfterExpiry ./auth", "go doc golang.org/x/oauth2.TokenSource",
	"grep -rn newPasswordHasher src", "rg 'AWS_SECRET_ACCESS_KEY' --files-with-matches", "rg ghp_ src",
	"git grep -n 'sk-ant-'", "grep -r 'xox[bp]-' .",
	"npx eslint --rule 'no-secrets/no-secrets: error' src", "npm run sk-generate-static-pages",
	"npm_config_registry=https://registry.npmjs.org npm ci", "pip install sk-learn-contrib-pipelines",
	"kubectl delete ns sk-production-payments",
	"helm uninstall glpat-runner-controller-manager", "kubectl scale deploy/xapp-frontend-service-main --replicas=0",
	"docker stop hf_text_generation_inference_server", "systemctl stop key-management-service",
	"cargo run --bin dapi-gateway-server-main",
	"make SG.platform.release", "gradle :dp.st.module:build", "bundle exec rake secret_key_base:rotate",
	"rails g model ApiToken", "python manage.py drop_expired_tokens", "dotnet user-secrets list",
	"php artisan key:generate --show",
	"mvn -Dtest=JwtTokenProviderTest test", "javac src/EncryptionKeyProviderFactory.java", "rm src/AKIAImporter.go",
	"rm -r src/tokenizers/AutoTokenizerForCausalLM", "git branch -D sk-learn-upgrade-to-version-two",
	"git push origin hf_model_card_update_for_release",
	"git tag release-key-2026-11-22", "git stash drop stash@{2}", "git show HEAD@{2026-11-22}",
	"git fetch origin pull/4417/head:pr-4417", "scp user@host:/var/log/app.log .",
	"rsync -a me@backup.example:/srv/data/ .", "ssh deploy@10.0.0.1 uptime",
	"docker push registry.example:5000/team/app:2026.11.22", "curl http://localhost:3000/@vite/client",
	"curl https://cdn.example:8443/npm/@angular/core@17.0.0/index.mjs", "npm i @types/node@20.10.0",
	"go get example.com/m@v1.2.3", "pip install 'x @ git+https://github.com/a/b@3f786850e3'",
	"open 'https://www.google.com/maps/@52.52,13.40,15z'", "curl 'https://h/x?email=a@b.example'",
	"curl https://medium.com/@someone/a-post-0a1b2c3d4e5f", "git clone git@github.com:a/b.git",
	"git remote add o ssh://git@git.example:2222/a/b.git",
	"mail -s 'password reset' ada@example.com", "echo basic authentication is required here",
	"echo the bearer certificate-authority-file", "curl --basic https://h/x",
	"curl -H 'Accept: application/vnd.github.v3+json' https://h", "curl -H 'WWW-Authenticate: Basic realm=x' https://h",
	// lines of lock files and manifests
	"echo '\"integrity\": " +
		"\"sha512-Jt9tIBkRc9POUof7QA/VwWd+58fKkEEfI+/t1/eOlxKM7ZhrczNzMFefge7Ai+39y1pR/pP6cI19guHy3FSLmw==\"' >> " +
		"package-lock.json",
	"echo 'golang.org/x/text v0.14.0 h1:ScX5w1eTa3QqT8oi6+ziP7dTV1S2+ALU0bI+0zXKWiQ=' >> go.sum",
	"echo 'golang.org/x/text v0.14.0/go.mod h1:18ZOQIKpY8NJVqYksKHtTdi31H5itFRjB5/qKTNYzSU=' >> go.sum",
	"echo 'checksum = \"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9\"' >> Cargo.lock",
	"echo 'content-hash = \"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d\"' >> poetry.lock",
	"echo 'resolved \"https://registry.yarnpkg.com/x/-/x-1.0.0.tgz#0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d\"' >> " +
		"yarn.lock", "echo '--hash=sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9' >> " +
		"requirements.txt",
	"echo 'sha256 \"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9\"' >> formula.rb",
	"echo 'uses: actions/checkout@b4ffde65f46336ab88eb53be808477a3936bae11' >> ci.yml",
	"echo 'rev: 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d' >> .pre-commit-config.yaml",
	"echo 'image: nginx@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9' >> x.yaml",
	"echo 'sha = 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d' >> x.toml",
	"echo 'narHash = \"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"' >> flake.lock",
	"echo 'ETag: W/\"0a1b2c3d-4417\"' > x", "echo 'uuid: 0a1b2c3d-1111-2222-3333-444455556666' > x",
	"echo 'build_id: 20261122.101112.4417' > x", "echo 'request id 01HF8Z6N5QJ3YB4W7K9M2P0RTS' > x",
	"echo 'trace=4bf92f3577b34da6a3ce929d0e0e4736' > x",
	"echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f me@host' >> " +
		"~/.ssh/authorized_keys", "echo '-----BEGIN PUBLIC KEY-----' > x", "echo '-----BEGIN CERTIFICATE-----' > x",
	"openssl x509 -fingerprint -in a.pem",
	"echo 'color: #0a1b2c; version: 1.2.3-rc.4+20261122' > x", "echo 'font-src data:application/font-woff;base64' > x",
	"echo 'phone: +49 30 1234567890' > x", "echo 'iban: DE89370400440532013000' > x", "date -d @1763805072",
	"sleep 1234567890",
	"echo 'etag = 0a1b2c3d4e5f60718293a4b5c6d7e8f9-12' > x", "git log 0a1b2c3d..HEAD --oneline",
	"git push origin 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d:refs/heads/main", "crontab -r # 0a1b2c3d", "kill -9 4417",
	"nix build /nix/store/0c9gsr6xzxk9s1y2x3v4w5z6a7b8c9d0-hello-2.12",
	"echo 'eslint-config-xapp-frontend-rules-base: ^2.0.0' >> package.json",
	"echo 'gem \"rubygems_mirror_configuration_tool\"' >> Gemfile", "docker run --env-file .env ghcr.io/x/y:sha-0a1b2c3",
	"vault kv get -field=password secret/prod/db", "op read op://vault/item/password",
	// names that say more than secret
	"echo 'token_url: https://auth.example/oauth2/token' > x", "echo 'secretName: web-tls-2026-prod' > x",
	"echo 'passwordPolicy: strict-2026-v12' > x", "echo 'key: created_at_2026' > x",
	"echo 'primary_key: user_id_2026' > x", "echo 'public_key_id: prod-2026-4417' > x",
	"echo 'token_type: bearer' > x", "echo 'max_tokens: 4096' > x", "echo 'keyboard: us-intl-2026-layout' > x",
	"echo 'monkey: see-monkey-do-2026' > x", "echo 'author: ada' > x", "echo 'auth: none' > x",
	"echo 'signature: v2-2026' > x", "echo 'partition_key: tenant-2026-eu' > x",
	"echo 'cache_key: v4-linux-node20-4417' > x", "echo 'sort_key: 2026-11-22T10:11:12Z' > x",
	"echo 'foreign_key: orders_user_id_fkey' > x", "echo 'ssh_key_name: prod-bastion-2026' > x",
	"echo 'kms_key_id: alias/prod-2026-main' > x", "echo 'token_ttl: 3600s' > x",
}

// What is no secret stays in sight on cards, in logs and in outputs: people must see what
// is deleted, and agents must read what they work on.
func TestLookAlikesAreShown(t *testing.T) {
	if len(lookAlikes) < 200 {
		t.Errorf("%d look-alikes", len(lookAlikes))
	}
	for _, text := range lookAlikes {
		if got := Mask(text); got != text {
			t.Errorf("Mask hides %s", got)
		}
		if got, obscured := shellCall(text).Shown(); got != text || obscured {
			t.Errorf("a card hides (%v) %s", obscured, got)
		}
		for _, found := range Secrets(text) {
			t.Errorf("an output hides %s of %s", text[found.Start:found.End], text)
		}
	}
}
