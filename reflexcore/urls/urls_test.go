package urls_test

import (
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/urls"
)

func TestClassify(t *testing.T) {
	const x = effect.Unknown
	for _, c := range []struct {
		text string
		want urls.Flags // all of these
		not  urls.Flags // none of these
	}{
		// One address, many spellings.
		{"http://169.254.169.254/latest/meta-data/", urls.Metadata | urls.SecretPath, urls.Malformed | urls.Disguised},
		{"169.254.169.254", urls.Metadata, urls.Malformed},
		{"169.254.169.254/latest", urls.Metadata, urls.Malformed},
		{"http://2852039166/", urls.Metadata | urls.Disguised, 0},
		{"http://0xA9FEA9FE/", urls.Metadata | urls.Disguised, 0},
		{"http://169.254.43518/", urls.Metadata | urls.Disguised, 0},
		{"http://169.16689662/", urls.Metadata | urls.Disguised, 0},
		{"http://0251.0376.0251.0376/", urls.Metadata | urls.Disguised, 0},
		{"http://0xa9.0xfe.0xa9.0xfe/", urls.Metadata | urls.Disguised, 0},
		{"http://425.510.425.510/", urls.Metadata | urls.Malformed, 0},
		{"http://169.254.169.254./", urls.Metadata, 0},
		{"http://[::ffff:169.254.169.254]/", urls.Metadata | urls.Disguised, 0},
		{"http://[::ffff:a9fe:a9fe]:80/", urls.Metadata, 0},
		{"http://[64:ff9b::a9fe:a9fe]/", urls.Metadata, 0},
		{"http://[2002:a9fe:a9fe::]/", urls.Metadata, 0},
		{"http://[::169.254.169.254]/", urls.Metadata, 0},
		{"http://[fd00:ec2::254]/", urls.Metadata, 0},
		{"http://[fd00:0ec2:0:0:0:0:0:254]/", urls.Metadata, 0},
		{"http://[fe80::a9fe:a9fe%25eth0]/", urls.Metadata, 0},
		{"http://169.254.169.254.nip.io/", urls.Metadata | urls.Disguised, 0},
		{"http://app-169-254-169-254.sslip.io/", urls.Metadata, 0},
		{"http://a9fea9fe.nip.io/", urls.Metadata, 0},
		{"http://www.10.0.0.1.nip.io/", urls.Internal | urls.Disguised, urls.Metadata},
		{"http://--1.sslip.io/", urls.Loopback, 0},
		{"http://１６９。２５４。１６９。２５４/", urls.Metadata | urls.Disguised, 0},
		{"http://①⑥⑨.254.169.254/", urls.Metadata, 0},
		{"http://169.254.169%2e254/", urls.Metadata | urls.Disguised, 0},
		{"http://%31%36%39.254.169.254/", urls.Metadata, 0},
		{"http://169.254.169.254@evil.example/", urls.Credentials | urls.Disguised, urls.Metadata},
		{"http://evil.example@169.254.169.254/", urls.Metadata | urls.Credentials | urls.Disguised, 0},
		{"http://a@b@169.254.169.254/", urls.Metadata, 0},
		{`http://169.254.169.254\@evil.example/`, urls.Metadata | urls.Malformed, 0},
		{`http:\\169.254.169.254\latest`, urls.Metadata | urls.Malformed, 0},
		{"http:/169.254.169.254/", urls.Metadata | urls.Malformed, 0},
		{"http:169.254.169.254/", urls.Metadata | urls.Malformed, 0},
		{"ht\ntp://169.254.169.254/", urls.Metadata | urls.Malformed, 0},
		{"\x01 http://169.254.169.254/ ", urls.Metadata | urls.Malformed, 0},
		{"HTTP://METADATA.GOOGLE.INTERNAL/computeMetadata/v1/", urls.Metadata | urls.SecretPath, 0},
		{"http://metadata.google.internal.:80/", urls.Metadata, 0},
		{"http://meta\u200bdata.google.internal/", urls.Metadata | urls.Disguised, 0},
		{"http://metadata/computeMetadata/", urls.Metadata, 0},
		{"//100.100.100.200/", urls.Metadata, 0},
		{"http://168.63.129.16/", urls.Metadata, 0},
		// This machine and the networks behind it.
		{"http://127.1/", urls.Loopback | urls.Disguised, 0},
		{"http://0/", urls.Loopback, 0},
		{"http://[::1]:8080/", urls.Loopback, urls.Plaintext},
		{"http://[::]/", urls.Loopback, 0},
		{"localhost:8080", urls.Loopback, urls.OddPort | urls.Malformed},
		{"http://foo.LOCALHOST/", urls.Loopback, 0},
		{"http://x.lvh.me/", urls.Loopback, 0},
		{"s3://backups/x", 0, urls.Internal | urls.OddScheme}, {"gs://backups/x", 0, urls.Internal},
		{"abfss://c@account/x", 0, urls.Internal},
		{"http://10.1.2.3:9200/", urls.Internal | urls.OddPort, 0},
		{"http://172.16.0.1/", urls.Internal, 0},
		{"http://172.32.0.1/", urls.Address, urls.Internal},
		{"http://100.64.1.1/", urls.Internal, 0},
		{"http://[fc00::1]/", urls.Internal, 0},
		{"http://api.default.svc.cluster.local/", urls.Internal, 0},
		{"http://k8s-api:8080/api/v1/secrets", urls.Internal | urls.SecretPath, 0},
		{"http://printer.local", urls.Internal, 0},
		// Who receives it.
		{"https://webhook.site/0b6d", urls.Drop, 0},
		{"https://abc.oast.fun/x", urls.Drop, 0},
		{"https://x.Burpcollaborator.NET", urls.Drop, 0},
		{"https://discord.com/api/webhooks/1/a", urls.Drop, 0},
		{"https://discord.com/channels/1", 0, urls.Drop},
		{"https://api.telegram.org/bot1:A/sendMessage", urls.Drop, 0},
		{"https://a-b.ngrok-free.app/", urls.Drop, 0},
		{"https://notwebhook.site/", 0, urls.Drop},
		{"https://webhook.site.example.com/", 0, urls.Drop},
		{"https://raw.githubusercontent.com/a/b/main/x.sh", urls.RawCode, urls.Drop},
		{"https://github.com/a/b/raw/main/x.sh", urls.RawCode, 0},
		{"https://api.example.com/x?token=abc", urls.SecretQuery, 0},
		{"https://api.example.com/x?page=1&API_KEY=abc", urls.SecretQuery, 0},
		{"https://api.example.com/x?q=ghp_0123456789abcdef", urls.SecretQuery, 0},
		{"https://" + strings.Repeat("a1", 30) + ".example.com/", urls.LongLabel, 0},
		{"https://user:pw@example.com/", urls.Credentials, urls.Malformed},
		{"http://example.com:4444/", urls.OddPort, 0},
		{"https://1.1.1.1/dns-query?name=x.example", 0, urls.Drop | urls.LongLabel},
		{"https://dns.google/resolve?name=www.x.example.&type=MX", 0, urls.Drop | urls.LongLabel | urls.Malformed},
		{"https://dns.google/resolve?name=" + strings.Repeat("a1", 25) + ".x.example", urls.LongLabel, 0},
		{"https://dns.google/resolve?name=x.example&type=A&note=secret", urls.Drop, 0},
		{"https://1.1.1.1/dns-query?dns=AAABAAABAAAAAAAAA3d3dw", urls.Drop, 0},
		{"https://1.1.1.1/dns-query?name=" + effect.Unknown + ".x.example", urls.Drop, 0},
		{"ipfs://bafybeigagd5nmnn2iys2f3doro7ydrevyr2mzarwidgadawmamiteydbzi/x", 0, urls.LongLabel | urls.OddScheme},
		{"ipns://docs.ipfs.tech/readme.md", 0, urls.LongLabel | urls.OddScheme},
		{"ipfs://" + strings.Repeat("x1", 29) + "x", urls.LongLabel, 0},
		{"http://bafybeigagd5nmnn2iys2f3doro7ydrevyr2mzarwidgadawmamiteydbzi/x", urls.LongLabel, 0},
		{"https://gitlab.com/api/v4/projects/1/variables", urls.SecretPath, 0},
		{"https://registry.npmjs.org/x", urls.Packages, urls.Drop},
		{"https://iam.amazonaws.com/?Action=CreateAccessKey&UserName=x", urls.SecretPath | urls.Access, 0},
		{"https://iam.amazonaws.com/?Action=ListUsers", 0, urls.SecretPath | urls.Access},
		// Schemes.
		{"file:///etc/passwd", urls.LocalFile, urls.Malformed},
		{"FILE:/etc/passwd", urls.LocalFile, 0},
		{"data:text/html,<script>1</script>", urls.Code, 0},
		{"javascript:alert(1)", urls.Code, 0},
		{" JavaScript:alert(1)", urls.Code, 0},
		{"java\tscript:alert(1)", urls.Code, 0},
		{"gopher://127.0.0.1:6379/_FLUSHALL", urls.OddScheme | urls.Loopback, 0},
		{"dict://10.0.0.1:11211/", urls.OddScheme | urls.Internal, 0},
		{"jar:http://10.0.0.1!/", urls.OddScheme, 0},
		{`\\10.0.0.1\share`, urls.LocalFile | urls.Internal, 0},
		{"view-source:http://169.254.169.254/", urls.Metadata, 0},
		{"git@github.com:a/b.git", 0, urls.Malformed | urls.Credentials | urls.Internal},
		{"ssh://git@github.com/a/b.git", 0, urls.Malformed | urls.Credentials},
		{"mailto:a@b.example", 0, urls.Malformed},
		// Look-alikes.
		{"https://gіthub.com/", urls.Lookalike, 0},
		{"https://xn--gthub-n4e.com/", urls.Lookalike, 0},
		{"https://xn--80ak6aa92e.com/", urls.Lookalike, 0}, // all Cyrillic
		{"https://münchen.example/", 0, urls.Lookalike | urls.Malformed},
		{"https://xn--mnchen-3ya.example/", 0, urls.Lookalike | urls.Malformed},
		{"https://пример.рф/", 0, urls.Lookalike},
		{"https://例え.jp/", 0, urls.Lookalike},
		{"https://xn--999999999.com/", urls.Malformed, 0},
		// What is not known.
		{x, urls.UnknownHost, urls.UnknownLabel},
		{"https://" + x, urls.UnknownHost, urls.UnknownLabel},
		{x + ".example.com", urls.UnknownLabel, 0},
		{"https://a" + x + "b.example.com:443/", urls.UnknownLabel, 0},
		{x + "/a.b", urls.UnknownHost, urls.UnknownLabel},
		{"http://localhost:" + x + "/a.b", urls.UnknownHost, urls.UnknownLabel},
		{"https://api." + x, urls.UnknownHost, urls.UnknownLabel},
		{"https://api.example.com" + x + "/x", urls.UnknownHost, 0},
		{"https://api.example.com:" + x + "/", urls.UnknownHost, 0},
		{"https://" + x + ".example.com/", urls.UnknownHost, 0},
		{"https://api.example.com/" + x, urls.UnknownPart, urls.UnknownHost},
		{"https://api.example.com/?token=" + x, urls.UnknownPart | urls.SecretQuery, urls.UnknownHost},
		{x + "://api.example.com/", urls.UnknownHost, 0},
		{"example.com:" + x, urls.UnknownHost, 0}, // may be 80@evil.example
		{"git@example.com:a/" + x, urls.UnknownPart, urls.UnknownHost},
		// Broken.
		{"", urls.Malformed, 0},
		{"http://", urls.Malformed, 0},
		{"http://[::1", urls.Malformed, 0},
		{"http://a:b:c/", urls.Malformed, 0},
		{"http://exa mple.com/", urls.Malformed, 0},
		{"http://example.com:99999/", urls.Malformed, 0},
		{"http://1.2.3.4.5/", urls.Malformed, 0},
		{"https://example.com/%zz", urls.Malformed, 0},
		// Honest.
		{"https://example.com/", 0, ^urls.Flags(0)},
		{"https://docs.python.org/3/library/re.html?highlight=x#top", 0, ^urls.Flags(0)},
		{"https://registry.npmjs.org/left-pad", urls.Packages, ^urls.Packages},
		{"example.com", 0, ^urls.Flags(0)},
		{"example.com:443/path", 0, ^urls.Flags(0)},
		{"https://internal-docs.example.com/", 0, ^urls.Flags(0)},
		{"https://metadata.example.com/", 0, ^urls.Flags(0)},
		{"http://example.com/a", urls.Plaintext, ^urls.Plaintext},
		{"https://8.8.8.8/", urls.Address, ^urls.Address},
	} {
		got := urls.Classify(c.text).Flags
		if got&c.want != c.want {
			t.Errorf("%q: got %v, want %v", c.text, got, c.want)
		}
		if got&c.not != 0 {
			t.Errorf("%q: got %v, none of which should be %v", c.text, got, got&c.not)
		}
	}
}

func TestParts(t *testing.T) {
	i := urls.Classify("HTTPS://user@API.Example.com.:8443/a/b?x=1#f")
	if i.Scheme != "https" || i.Host != "api.example.com" || i.Port != 8443 || i.Path != "/a/b" || i.Query != "x=1" {
		t.Errorf("got %+v", i)
	}
	if i := urls.Classify("file:///etc/passwd"); i.Path != "/etc/passwd" || i.Host != "" {
		t.Errorf("got %+v", i)
	}
	if i := urls.Classify("git@github.com:a/b.git"); i.Host != "github.com" || i.Path != "a/b.git" || i.Scheme != "ssh" {
		t.Errorf("got %+v", i)
	}
	if i := urls.Classify("https://hooks.slack.com/x"); i.Service != "hooks.slack.com" {
		t.Errorf("got %+v", i)
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"http://a@b:1/x?token=1", `http:\\[::1]%00`, "xn--a-b.c", "a9fea9fe.nip.io", "file:///",
		"jar:http:x", "\x00://", "１.①", "view-source:view-source:view-source:http://x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		i := urls.Classify(s)
		if i.Addr.IsValid() && i.Host == "" {
			t.Errorf("%q has an address and no host", s)
		}
		if s == "" && !i.Has(urls.Malformed) {
			t.Error("nothing is something")
		}
		if !effect.IsKnown(s) && !i.Has(urls.UnknownHost|urls.UnknownPart|urls.Malformed) && !strings.Contains(s, "#") {
			t.Errorf("%q: the unknown part is lost: %v", s, i.Flags)
		}
		// Case and a trailing dot change nothing of whose machine it is.
		const whose = urls.Metadata | urls.Internal | urls.Loopback
		if up := urls.Classify(strings.ToUpper(s)); isASCII(s) && up.Flags&whose != i.Flags&whose {
			t.Errorf("%q: %v, in capitals %v", s, i.Flags, up.Flags)
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) < 0
}

func BenchmarkClassify(b *testing.B) {
	for _, text := range []string{"https://api.github.com/repos/owner/repo/issues?page=2",
		"http://169.254.169.254/latest/", "example.com:443", "https://webhook.site/abc"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				urls.Classify(text)
			}
		})
	}
}
