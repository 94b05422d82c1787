package urls

import (
	"net/netip"
	"strings"

	"approver.example/display"
)

// names are hosts, with all that is below them, that are more than a public
// server.
var names = map[string]Flags{
	"localhost": Loopback, "localdomain": Loopback, "ip6-localhost": Loopback, "ip6-loopback": Loopback, "broadcasthost": Internal,
	"localtest.me": Loopback | Disguised, "lvh.me": Loopback | Disguised, "vcap.me": Loopback | Disguised, "lacolhost.com": Loopback | Disguised, "yoogle.com": Loopback | Disguised,
	"local": Internal, "internal": Internal, "intranet": Internal, "corp": Internal, "lan": Internal, "home": Internal, "private": Internal, "consul": Internal,
	"home.arpa": Internal, "svc": Internal, "cluster.local": Internal, "host.docker.internal": Loopback, "gateway.docker.internal": Loopback, "kubernetes.docker.internal": Loopback,
	"host.containers.internal": Loopback, "kubernetes": Internal, "kubernetes.default": Internal, "compute.internal": Internal, "ec2.internal": Internal,
	"metadata.google.internal": Metadata | Internal, "metadata.goog": Metadata | Internal, "metadata": Metadata | Internal, "instance-data": Metadata | Internal,
	"instance-data.ec2.internal": Metadata | Internal, "metadata.tencentyun.com": Metadata | Internal, "metadata.azure.internal": Metadata | Internal,
	"metadata.azure.com": Metadata | Internal, "metadata.packet.net": Metadata | Internal, "metadata.platformequinix.com": Metadata | Internal, "metadata.nicq.local": Metadata | Internal,
	"rancher-metadata": Metadata | Internal, "169-254-169-254.nip.io": Metadata | Internal | Disguised, "rbndr.us": Disguised | Internal, "1u.ms": Disguised | Internal, "rebind.network": Disguised | Internal,
}

// spelled are services under which a name spells the address it resolves to.
var spelled = map[string]bool{
	"nip.io": true, "sslip.io": true, "xip.io": true, "traefik.me": true, "ip6.name": true, "ipq.co": true, "backname.io": true, "getxip.com": true, "local-ip.co": true, "local-ip.sh": true, "plex.direct": true,
}

// A drop is a service that hands what it receives to whoever made the address.
// path, if any, is how the paths begin that do so.
type drop struct {
	flags Flags
	path  string
}

// services are known by host, with all that is below it.
var services = map[string]drop{
	// Requests are shown to whoever made the address.
	"webhook.site": {flags: Drop}, "requestbin.com": {flags: Drop}, "requestbin.net": {flags: Drop}, "requestbin.io": {flags: Drop}, "pipedream.net": {flags: Drop}, "pipedream.com": {flags: Drop}, "hookbin.com": {flags: Drop},
	"postb.in": {flags: Drop}, "beeceptor.com": {flags: Drop}, "mockbin.org": {flags: Drop}, "mockbin.io": {flags: Drop}, "requestcatcher.com": {flags: Drop}, "webhook.cool": {flags: Drop}, "hookdeck.com": {flags: Drop}, "smee.io": {flags: Drop}, "requestrepo.com": {flags: Drop},
	"ptsv2.com": {flags: Drop}, "ptsv3.com": {flags: Drop}, "putsreq.com": {flags: Drop}, "typedwebhook.tools": {flags: Drop}, "webhook-test.com": {flags: Drop}, "webhookrelay.com": {flags: Drop}, "requestinspector.com": {flags: Drop}, "httpdump.app": {flags: Drop},
	"oast.fun": {flags: Drop}, "oast.me": {flags: Drop}, "oast.pro": {flags: Drop}, "oast.live": {flags: Drop}, "oast.site": {flags: Drop}, "oast.online": {flags: Drop}, "oastify.com": {flags: Drop}, "interact.sh": {flags: Drop}, "interactsh.com": {flags: Drop}, "burpcollaborator.net": {flags: Drop},
	"dnslog.cn": {flags: Drop}, "dnslog.link": {flags: Drop}, "ceye.io": {flags: Drop}, "bxss.me": {flags: Drop}, "xss.ht": {flags: Drop}, "canarytokens.com": {flags: Drop}, "canarytokens.org": {flags: Drop}, "dnsbin.zhack.ca": {flags: Drop}, "make.com": {flags: Drop, path: "/hook"}, "hook.eu1.make.com": {flags: Drop}, "hook.us1.make.com": {flags: Drop},
	"hooks.zapier.com": {flags: Drop}, "maker.ifttt.com": {flags: Drop}, "svix.com": {flags: Drop, path: "/in"}, "ntfy.sh": {flags: Drop}, "formspree.io": {flags: Drop}, "formsubmit.co": {flags: Drop},
	// Chats' webhooks.
	"discord.com": {flags: Drop, path: "/api/webhooks/"}, "discordapp.com": {flags: Drop, path: "/api/webhooks/"}, "hooks.slack.com": {flags: Drop}, "api.telegram.org": {flags: Drop, path: "/bot"}, "webhook.office.com": {flags: Drop}, "outlook.office.com": {flags: Drop, path: "/webhook"},
	"outlook.office365.com": {flags: Drop, path: "/webhook"}, "chat.googleapis.com": {flags: Drop}, "open.feishu.cn": {flags: Drop}, "oapi.dingtalk.com": {flags: Drop}, "qyapi.weixin.qq.com": {flags: Drop}, "api.pushover.net": {flags: Drop}, "pushbullet.com": {flags: Drop}, "script.google.com": {flags: Drop, path: "/macros/"},
	// Pastes and uploads.
	"pastebin.com": {flags: Drop | RawCode}, "paste.ee": {flags: Drop | RawCode}, "hastebin.com": {flags: Drop | RawCode}, "ghostbin.com": {flags: Drop | RawCode}, "ghostbin.co": {flags: Drop | RawCode}, "dpaste.com": {flags: Drop | RawCode}, "dpaste.org": {flags: Drop | RawCode}, "paste.rs": {flags: Drop | RawCode}, "ix.io": {flags: Drop | RawCode}, "sprunge.us": {flags: Drop | RawCode},
	"termbin.com": {flags: Drop | RawCode}, "0x0.st": {flags: Drop | RawCode}, "x0.at": {flags: Drop | RawCode}, "rentry.co": {flags: Drop | RawCode}, "rentry.org": {flags: Drop | RawCode}, "privatebin.net": {flags: Drop | RawCode}, "controlc.com": {flags: Drop | RawCode}, "paste.c-net.org": {flags: Drop | RawCode}, "clbin.com": {flags: Drop | RawCode}, "p.ip.fi": {flags: Drop | RawCode}, "bpa.st": {flags: Drop | RawCode}, "pastes.io": {flags: Drop | RawCode},
	"paste.debian.net": {flags: Drop | RawCode}, "paste.mozilla.org": {flags: Drop | RawCode}, "pastebin.pl": {flags: Drop | RawCode}, "justpaste.it": {flags: Drop | RawCode}, "dumptext.com": {flags: Drop | RawCode}, "textbin.net": {flags: Drop | RawCode}, "toptal.com": {flags: Drop | RawCode, path: "/developers/hastebin"},
	"transfer.sh": {flags: Drop | RawCode}, "file.io": {flags: Drop | RawCode}, "gofile.io": {flags: Drop | RawCode}, "anonfiles.com": {flags: Drop | RawCode}, "bashupload.com": {flags: Drop | RawCode}, "oshi.at": {flags: Drop | RawCode}, "tmpfiles.org": {flags: Drop | RawCode}, "temp.sh": {flags: Drop | RawCode}, "catbox.moe": {flags: Drop | RawCode}, "pixeldrain.com": {flags: Drop | RawCode}, "uguu.se": {flags: Drop | RawCode},
	"filebin.net": {flags: Drop | RawCode}, "keep.sh": {flags: Drop | RawCode}, "wetransfer.com": {flags: Drop}, "sendspace.com": {flags: Drop}, "ufile.io": {flags: Drop}, "mega.nz": {flags: Drop}, "send.vis.ee": {flags: Drop}, "dropmefiles.com": {flags: Drop}, "litterbox.catbox.moe": {flags: Drop | RawCode}, "free.keep.sh": {flags: Drop | RawCode}, "upload.ee": {flags: Drop}, "pomf.lain.la": {flags: Drop | RawCode},
	// Tunnels to somebody's machine.
	"ngrok.io": {flags: Drop}, "ngrok.app": {flags: Drop}, "ngrok.dev": {flags: Drop}, "ngrok-free.app": {flags: Drop}, "ngrok-free.dev": {flags: Drop}, "trycloudflare.com": {flags: Drop}, "loca.lt": {flags: Drop}, "localtunnel.me": {flags: Drop}, "localhost.run": {flags: Drop}, "lhr.life": {flags: Drop}, "lhrtunnel.link": {flags: Drop},
	"serveo.net": {flags: Drop}, "serveousercontent.com": {flags: Drop}, "pinggy.io": {flags: Drop}, "pinggy.link": {flags: Drop}, "pagekite.me": {flags: Drop}, "telebit.io": {flags: Drop}, "bore.pub": {flags: Drop}, "tunnelto.dev": {flags: Drop}, "playit.gg": {flags: Drop}, "devtunnels.ms": {flags: Drop}, "zrok.io": {flags: Drop}, "localxpose.io": {flags: Drop}, "ts.net": {flags: Drop},
	"duckdns.org": {flags: Drop}, "no-ip.org": {flags: Drop}, "ddns.net": {flags: Drop}, "hopto.org": {flags: Drop}, "zapto.org": {flags: Drop}, "dynu.net": {flags: Drop},
	// Names carry data out inside the question.
	"dns.google": {flags: Drop, path: "/resolve"},
	// Whatever is sent there is public.
	"registry.npmjs.org": {flags: Packages}, "rubygems.org": {flags: Packages}, "crates.io": {flags: Packages}, "pypi.org": {flags: Packages}, "upload.pypi.org": {flags: Packages}, "hub.docker.com": {flags: Packages}, "registry-1.docker.io": {flags: Packages}, "ghcr.io": {flags: Packages}, "packagist.org": {flags: Packages}, "nuget.org": {flags: Packages}, "uploads.github.com": {flags: Packages},
	// A repository's or a paste's file as it is.
	"raw.githubusercontent.com": {flags: RawCode}, "gist.githubusercontent.com": {flags: RawCode}, "gist.github.com": {flags: Drop | RawCode}, "raw.github.com": {flags: RawCode}, "objects.githubusercontent.com": {flags: RawCode}, "rawgit.com": {flags: RawCode}, "raw.githack.com": {flags: RawCode}, "rawcdn.githack.com": {flags: RawCode},
	"cdn.jsdelivr.net": {flags: RawCode, path: "/gh/"}, "statically.io": {flags: RawCode, path: "/gh/"}, "cdn.discordapp.com": {flags: RawCode}, "codeload.github.com": {flags: RawCode},
	// Short addresses hide where they lead.
	"bit.ly": {flags: Disguised}, "tinyurl.com": {flags: Disguised}, "t.co": {flags: Disguised}, "is.gd": {flags: Disguised}, "v.gd": {flags: Disguised}, "goo.gl": {flags: Disguised}, "ow.ly": {flags: Disguised}, "cutt.ly": {flags: Disguised}, "rb.gy": {flags: Disguised}, "rebrand.ly": {flags: Disguised}, "shorturl.at": {flags: Disguised}, "git.io": {flags: Disguised}, "tiny.cc": {flags: Disguised},
}

// buckets are the schemes behind which no host stands, but a name at a provider of
// storage.
var buckets = map[string]bool{
	"s3": true, "s3a": true, "s3n": true, "gs": true, "gcs": true, "az": true, "abfs": true, "abfss": true, "wasb": true, "wasbs": true, "oss": true, "cos": true, "b2": true, "r2": true, "swift": true,
}

// name looks a host up: every ending of it that begins at a dot.
func (i *Info) name(h string) {
	for rest := h; rest != ""; {
		if f, ok := names[rest]; ok {
			// "metadata" and its like are hosts, not domains.
			if rest == h || strings.IndexByte(rest, '.') >= 0 || f&Metadata == 0 {
				i.Flags |= f
			}
		}
		if spelled[rest] && rest != h {
			i.Flags |= Disguised
			if addr, ok := spelledAddr(strings.TrimSuffix(h, "."+rest)); ok {
				i.Addr = addr
				i.Flags |= classOf(addr)
			}
		}
		if s, ok := services[rest]; ok && strings.HasPrefix(i.Path, s.path) {
			i.Flags |= s.flags
			i.Service = rest
		}
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		rest = after
	}
	if strings.Contains(h, ".svc.") {
		i.Flags |= Internal
	}
	if strings.IndexByte(h, '.') < 0 && i.Flags&(Loopback|Metadata) == 0 && i.Scheme != "" && !buckets[i.Scheme] {
		i.Flags |= Internal // a name without a dot is of the local network
	}
	switch {
	case (strings.HasSuffix(h, "github.com") || strings.HasSuffix(h, "gitlab.com")) && (strings.Contains(i.Path, "/raw/") || strings.Contains(i.Path, "/-/raw")),
		h == "bitbucket.org" && strings.Contains(i.Path, "/raw/"):
		i.Flags |= RawCode
	}
}

// spelledAddr finds four numbers, or eight hex digits, at the end of what
// stands before a service's name: 10.0.0.1, app-10-0-0-1, a9fea9fe.
func spelledAddr(s string) (netip.Addr, bool) {
	end := len(s)
	if label := s[strings.LastIndexAny(s, ".-")+1:]; len(label) == 8 {
		var v uint32
		ok := true
		for j := 0; j < 8; j++ {
			d := unhex(label[j])
			ok = ok && d >= 0
			v = v<<4 | uint32(d&15)
		}
		if ok {
			return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
		}
	}
	var b [4]byte
	for n := 3; ; n-- {
		start := end
		for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' && end-start < 4 {
			start--
		}
		v, ok := number(strings.TrimLeft(s[start:end], "0"))
		if start == end || end-start > 3 || ok && v > 255 {
			break
		}
		b[n] = byte(v)
		if n == 0 {
			return netip.AddrFrom4(b), true
		}
		if start == 0 || s[start-1] != '.' && s[start-1] != '-' {
			break
		}
		end = start - 1
	}
	// Some services take the first four: 10.0.0.1.anything, or dashes for
	// colons of an IPv6 address.
	if addr, err := netip.ParseAddr(strings.ReplaceAll(s[strings.LastIndexByte(s, '.')+1:], "-", ":")); err == nil {
		if inner, ok := embedded(addr); ok {
			return inner, true
		}
		return addr, true
	}
	return netip.Addr{}, false
}

// usualPort says which ports need no word.
func usualPort(scheme string, port uint16) bool {
	switch port {
	case 80, 443, 8080, 8443, 3000, 5000, 8000:
		return true
	case 22:
		return scheme == "ssh" || scheme == "sftp" || scheme == "scp" || strings.HasSuffix(scheme, "ssh")
	case 21, 990:
		return strings.HasPrefix(scheme, "ftp")
	case 5432:
		return strings.HasPrefix(scheme, "postgres")
	case 3306:
		return scheme == "mysql" || scheme == "mariadb"
	case 6379:
		return strings.HasPrefix(scheme, "redis")
	case 27017:
		return scheme == "mongodb"
	case 9418:
		return scheme == "git"
	}
	return false
}

// secretNames are parameters that carry a credential.
var secretNames = map[string]bool{
	"token": true, "access_token": true, "accesstoken": true, "refresh_token": true, "id_token": true, "auth_token": true, "authtoken": true, "api_key": true, "apikey": true, "api-key": true, "key": true, "secret": true,
	"client_secret": true, "password": true, "passwd": true, "pass": true, "pwd": true, "auth": true, "authorization": true, "credential": true, "credentials": true, "session": true, "sessionid": true, "session_id": true, "sid": true, "jwt": true,
	"private_key": true, "privatekey": true, "x-amz-signature": true, "x-amz-security-token": true, "x-amz-credential": true, "aws_secret_access_key": true, "sig": true, "signature": true, "bearer": true, "cookie": true, "otp": true, "ssn": true, "private_token": true, "appkey": true, "access_key": true, "secret_key": true,
}

// maxParameters bounds how many parameters are looked at; more are taken to
// hold one.
const maxParameters = 200

func secretQuery(query string) bool {
	n := 0
	var buf [32]byte
	for query != "" {
		part := query
		if j := strings.IndexAny(query, "&;"); j >= 0 {
			part, query = query[:j], query[j+1:]
		} else {
			query = ""
		}
		if n++; n > maxParameters {
			return true
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			continue
		}
		if len(name) <= len(buf) {
			for j := 0; j < len(name); j++ {
				buf[j] = lower(name[j])
			}
			if secretNames[string(buf[:len(name)])] {
				return true
			}
		}
		if len(value) >= 16 && display.BeginsKey(value) {
			return true
		}
	}
	return false
}

// secretPath knows addresses whose answer is a credential on any host.
func secretPath(path, query string) bool {
	for _, p := range [...]string{"/latest/meta-data", "/latest/user-data", "/latest/api/token", "/computemetadata/", "/computeMetadata/", "/metadata/instance", "/metadata/identity", "/opc/v1/", "/opc/v2/", "/actions/secrets", "/dependabot/secrets",
		"/v1/secret/data", "/v1/secret/", "/secretmanager", "/actuator/env", "/actuator/heapdump", "/debug/pprof/heap", "/envvar", "/ci/variables", "/.env", "/.git/config", "/.aws/credentials"} {
		if strings.Contains(path, p) {
			return true
		}
	}
	if strings.HasPrefix(path, "/api/v1/") && (strings.HasSuffix(path, "/secrets") || strings.Contains(path, "/secrets/")) {
		return true
	}
	if strings.HasPrefix(path, "/api/v4/") && strings.HasSuffix(path, "/variables") {
		return true
	}
	return strings.Contains(query, "Action=CreateAccessKey") || strings.Contains(query, "Action=GetSecretValue") || strings.Contains(query, "Action=AssumeRole")
}

// accessPath knows addresses under which rights are given, on any host.
func accessPath(path, query string) bool {
	for _, p := range [...]string{"/collaborators", "/memberships", "/roleAssignments", ":setIamPolicy", "/members/", "/keys", "/branches/main/protection", "/protection", "/invitations", "/clusterrolebindings", "/rolebindings", "/outside_collaborators", "/deploy_keys", "/hooks"} {
		if strings.Contains(path, p) {
			return true
		}
	}
	for _, p := range [...]string{"Action=Attach", "Action=Put", "Action=CreateAccessKey", "Action=CreateUser", "Action=AddUser", "Action=CreateLoginProfile"} {
		if strings.Contains(query, p) {
			return true
		}
	}
	return false
}
