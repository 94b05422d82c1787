package dataflow

import (
	_ "embed"
	"iter"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// ownDomains maps parts of the names of environment variables to the domains of the services whose
// tokens they hold. A token that is sent to its own service is used, not leaked.
//
//go:embed services.txt
var servicesText string

var ownDomains = wordset.Index(servicesText, strings.Fields)

// secretWords are parts of the names of variables that hold secrets.
var secretWords = wordset.Of("token key secret password pass pat passwd credentials apikey")

// OwnService removes the taint of a secret from what is sent over TLS to the secret's own service,
// as in curl -H "Authorization: Bearer $GITHUB_TOKEN" to api.github.com, and from what a variable
// gives to a server on this machine. All secrets that the call may hold must belong to that service.
func (f *Flow) OwnService() {
	if len(f.call.Effects) > 256 {
		return // no honest use of a token is that long
	}
	checked, stays := false, false
	nothingLeaves := func() bool {
		if !checked {
			checked, stays = true, f.nothingLeaves()
		}
		return stays
	}
	for i := range f.call.Effects {
		e := &f.call.Effects[i]
		if e.Taint&effect.Secret == 0 || e.Kind != effect.NetOut && (e.Kind != effect.Publish || !isLogin(e)) {
			continue
		}
		// $X may be "a https://evil.example", but nobody puts a token in quotes in the address of a repository.
		plain := e.Bits&effect.Splits == 0 || isLogin(e)
		if plain && (f.givesToOwnHost(e) || f.goesHere(e) && nothingLeaves()) || f.isOfOneName(e) {
			e.Taint &^= effect.Secret | effect.Labels
			e.Taint |= f.otherLabels()
		}
	}
}

// givesToOwnHost reports whether an effect gives secrets to the service that they are of. The path
// of its address need not be known.
func (f *Flow) givesToOwnHost(e *effect.Effect) bool {
	target, login := strings.ToLower(e.Target), strings.HasSuffix(e.By, " login")
	if login && !strings.Contains(target, "://") { // the address of a registry has no scheme
		target = "https://" + target
	}
	if login && wordset.Says(f.call.Text, loginElsewhere) || strings.Contains(target, "/../") {
		return false
	}
	if elsewhere := routedElsewhere[e.By]; elsewhere != nil && wordset.Says(f.call.Text, elsewhere) {
		return false
	}
	inAddress := false
	if bare, ok := withoutLogin(target); ok && strings.HasPrefix(e.By, "git ") {
		target, inAddress = bare, true
	}
	to, fine := urls.Classify(target), urls.UnknownPart
	if login {
		fine |= urls.Packages // nothing is published there
	}
	anywhere := login || e.Bits&effect.Later != 0 && keepsPrivate(to.Host) && !wholeEnvironment().MatchString(f.call.Text)
	return to.Scheme == "https" && to.Flags&^fine == 0 && f.holdsOnlySecretsOf(to.Host, anywhere) &&
		(!inAddress || !wordset.Says(f.call.Text, setElsewhere) && !gitElsewhere().MatchString(f.call.Text))
}

// withoutLogin returns an address without the user and the token before its host, https://$T@host/a or
// https://user:$T@host/a, in which nothing of the host is unknown. It is false for other addresses.
func withoutLogin(target string) (string, bool) {
	rest, ok := strings.CutPrefix(target, "https://")
	end := strings.IndexAny(rest, "/?#\\")
	if !ok || end < 0 {
		return "", false
	}
	login, host, ok := strings.Cut(rest[:end], "@")
	user, _, _ := strings.Cut(login, ":")
	named := strings.TrimSuffix(strings.TrimPrefix(login, user), effect.Unknown)
	if !ok || strings.Contains(host, "@") || !effect.IsKnown(host) || named != "" && named != ":" ||
		strings.Trim(user, effect.Unknown+"abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return "", false
	}
	return "https://" + host + rest[end:], true
}

// gitElsewhere finds what leads git to another host, or another host to git.
var gitElsewhere = lazyregexp.New(`(?i)proxy|insteadof|ssl|resolve|include|git_config|--config|/etc/hosts|\bhome=`)

// isLogin reports whether git logs in with what an effect sends.
func isLogin(e *effect.Effect) bool {
	_, ok := withoutLogin(strings.ToLower(e.Target))
	return ok && strings.HasPrefix(e.By, "git ")
}

// isHere reports whether an address is plainly one of this machine.
func isHere(target string) bool { return urls.Classify(target).IsPlainlyHere() }

// goesHere reports whether an effect gives something to a server on this machine.
func (f *Flow) goesHere(e *effect.Effect) bool {
	return isHere(e.Target) && (e.Bits&effect.Remote == 0 || !wordset.Says(f.call.Text, clusters))
}

// nothingLeaves reports whether nothing of the call leaves this machine or is open to others: a server of the call
// could pass on what it is given. What is read from a file of secrets does not count, because a server has no use
// for it, unless it is the .env of the project that sets the variables.
func (f *Flow) nothingLeaves() bool {
	text, sets := WithoutDotenv(f.call.Text)
	leaves := func(e effect.Effect) bool {
		if (e.By == "source" || e.By == ".") && (!disk.Below(e.Target, f.call.ToolCall.Dir) ||
			strings.Contains(e.Target, "node_modules")) {
			return true
		}
		return e.Kind == effect.Publish || e.Kind == effect.Attack || e.Kind == effect.NetOut && !isHere(e.Target) ||
			e.Kind == effect.Read && e.Taint&effect.Secret != 0 && e.Target != "environment" &&
				(!sets || e.By != "source" && e.By != "." || !disk.Below(e.Target, f.call.ToolCall.Dir))
	}
	return !wordset.Says(text, sentElsewhere) && !setsHost().MatchString(text) && !f.startsServer() &&
		!slices.ContainsFunc(f.call.Effects, leaves)
}

// dotenv finds the commands that set variables from a .env below the working directory.
var dotenv = lazyregexp.New(`(^|[\s;&(])(?:source|\.)[ \t]+(?:\./)?(?:[\w-]+/)*` +
	`\.env(?:\.(?:local|dev|development|test|staging|example|docker))?(?:[ \t]*[2&]?>[ \t]*/dev/null|[ \t]*2>&1)*` +
	`([ \t]*(?:$|[\n;&)|]))`)

// setsHost finds what puts another host, or another way to it, into what code has said of a request.
var setsHost = lazyregexp.New("[.\\[\"'`](?:host|hostname|href|baseURL|origin|agent|trust_env|create_connection)" +
	"[\"'`]?[\\])}\\s]*[-+*/|&?]{0,2}=(?:[^=>]|$)|\\blookup *[:=]|\\bwith ?\\(|[\"'](?i:https?|all)_(?i:proxy)[\"']" +
	"|\\b(?:proxies|socketPath|getaddrinfo|defineProperty)\\b|\\bglobals\\(\\)")

// WithoutDotenv returns a text without the commands that set variables from a .env of the project, and
// whether it had any.
func WithoutDotenv(text string) (rest string, found bool) {
	if !strings.Contains(text, ".env") {
		return text, false
	}
	rest = dotenv().ReplaceAllString(text, "${1}true${2}")
	return rest, rest != text
}

// clusters are programs that run a command on another machine, which is not this one to it.
var clusters = wordset.Of("kubectl oc ssh")

// Words with which a login, or what is sent to this machine, may go elsewhere, and with which
// variables are set from what nobody sees.
var (
	loginElsewhere = wordset.Of("-H --host -c --context context --tls-verify=false --config")
	sentElsewhere  = wordset.Of("wget --config --loc --loca --locat --locati --locatio --location " +
		"--location-trusted --network=host --net=host --net --network port-forward source . eval read")
	setElsewhere = wordset.Of("source . eval read mapfile readarray")
)

// routedElsewhere are the flags of programs with which what they send takes another way, or with which a file or
// an answer says what else they do.
var routedElsewhere = map[string]map[string]bool{
	"curl": wordset.Of("-x --proxy --preproxy -K --config --resolve --connect-to --socks4 --socks4a --socks5 " +
		"--socks5-hostname --proxy1.0 --doh-url --dns-servers --interface --unix-socket --abstract-unix-socket"),
	"wget": wordset.Of("-e --execute --config -i --input-file"),
}

// startsServer reports whether a call may put something of its own behind an address of this machine,
// or lets curl follow what a file or an answer says: something in the background, a published port,
// curl -K and -L.
func (f *Flow) startsServer() bool {
	fields := strings.Fields(f.call.Text)
	return strings.Contains(f.call.Text, "HOME=") || slices.ContainsFunc(fields, func(w string) bool {
		return strings.HasSuffix(w, "&") && !strings.HasSuffix(w, "&&") || w == "-p" || strings.HasPrefix(w, "--publish") ||
			len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "KL")
	})
}

// addressWords are parts of the names of variables that hold the address of a service.
var addressWords = wordset.Of("url uri server host addr address endpoint")

// isOfOneName reports whether the address and the secrets are in variables of the environment that
// have the same name, such as $ARGO_SERVER and $ARGO_TOKEN, and nothing else is sent.
func (f *Flow) isOfOneName(e *effect.Effect) bool {
	host := strings.TrimPrefix(strings.TrimPrefix(e.Target, "https://"), "http://")
	if !strings.HasPrefix(host, effect.Unknown) && !strings.HasPrefix(host, "/") || e.Taint&effect.File != 0 ||
		wordset.Says(f.call.Text, setElsewhere) {
		return false
	}
	service, secrets, addresses := "", 0, 0
	for word, at := range words(f.call.Text) {
		name, rest, ok := strings.Cut(strings.ToLower(word), "_")
		parts := strings.Split(rest, "_")
		isAddress := ok && slices.ContainsFunc(parts, func(part string) bool { return addressWords[part] })
		isSecret := ok && slices.ContainsFunc(parts, func(part string) bool { return secretWords[part] })
		switch {
		case !isAddress && !isSecret:
			continue
		case service != "" && name != service, strings.HasPrefix(f.call.Text[at+len(word):], "="),
			isSecret && !precedesCredential(f.call.Text[:at]):
			return false
		case isSecret:
			secrets++
		default:
			addresses++
		}
		service = name
	}
	return secrets > 0 && addresses > 0
}

// otherLabels returns the labels of what the call reads apart from secrets.
func (f *Flow) otherLabels() (out effect.Taint) {
	for i := range f.call.Effects {
		if e := &f.call.Effects[i]; e.Kind == effect.Read && e.Taint&effect.Secret == 0 {
			out |= e.Taint & effect.Labels
		}
	}
	return out
}

// holdsOnlySecretsOf reports whether the call holds secrets of a host, and no other secrets. They must stand
// where a credential is expected, unless they may stand anywhere: all that a login sends is the credential, and
// code that is written reads a variable in one place and sends it in another.
func (f *Flow) holdsOnlySecretsOf(host string, anywhere bool) bool {
	found := false
	for word, at := range words(f.call.Text) {
		secret, own := false, false
		for part := range strings.SplitSeq(strings.ToLower(word), "_") {
			secret = secret || secretWords[part]
			own = own || belongs(part, host)
		}
		if secret && strings.Contains(word, "_") {
			if found = own && (anywhere || precedesCredential(f.call.Text[:at])); !found {
				return false
			}
		}
	}
	for i := range f.call.Effects {
		e := &f.call.Effects[i]
		if e.Kind != effect.Read || e.Taint&effect.Secret == 0 {
			continue
		}
		service, is := strings.CutPrefix(e.Target, "secret:")
		switch {
		case is && belongs(service, host):
			found = true
		case e.Target != "environment":
			return false
		}
	}
	return found
}

// wholeEnvironment matches code that has all variables at once.
var wholeEnvironment = lazyregexp.New(`[^}\s]\s*[=(,:]\s*(?:\.\.\.)?process\.env\s*[;,)}\n]|` +
	`os\.environ(?:\.(?:copy|items)|\s*[,)}\n])|\bENV\.to_h|\$_ENV\s*[,);]`)

// keepsPrivate reports whether what a token's owner sends to a service is seen by nobody else: it is no
// place where people write to each other, or publish something, and sends no messages to others.
func keepsPrivate(host string) bool {
	return slices.ContainsFunc(privateServices, func(service string) bool { return belongs(service, host) })
}

var privateServices = strings.Fields(`openai anthropic mistral groq cohere deepseek openrouter xai replicate perplexity
	stripe mollie paypal klarna adyen braintree deepl elevenlabs`)

// words yields the words of a text that may be names of environment variables, and where they begin.
func words(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for at := 0; at < len(text); {
			start := strings.IndexFunc(text[at:], isVariableRune)
			if start < 0 {
				return
			}
			at += start
			word := text[at:]
			if end := strings.IndexFunc(word, func(r rune) bool { return !isVariableRune(r) }); end >= 0 {
				word = word[:end]
			}
			if !yield(word, at) {
				return
			}
			at += len(word)
		}
	}
}

// isVariableRune reports whether a rune can be in the name of an environment variable.
func isVariableRune(r rune) bool { return r == '_' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

// precedesCredential reports whether a text ends in what goes before a credential: an authorization
// header, or the flag for a user.
func precedesCredential(before string) bool {
	before = strings.ToLower(before[max(0, len(before)-48):])
	if at := strings.LastIndex(before, "https://"); at >= 0 && inLogin().MatchString(before[at:]) {
		return true
	}
	return wordset.ContainsAny(before, "authorization", "bearer", "-token:", "-key:", "-u ", "--user ",
		"--oauth2-bearer ")
}

// inLogin matches what stands before a token in the address of a repository.
var inLogin = lazyregexp.New(`^https://(?:[\w-]+:|\$\{?\w+\}?:)?\$\{?$`)

func belongs(service, host string) bool {
	return slices.ContainsFunc(ownDomains[service],
		func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) })
}
