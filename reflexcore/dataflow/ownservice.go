package dataflow

import (
	_ "embed"
	"slices"
	"strings"

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
// as in curl -H "Authorization: Bearer $GITHUB_TOKEN" to api.github.com. All secrets that the call
// may hold must belong to that service.
func (f *Flow) OwnService() {
	if len(f.call.Effects) > 256 {
		return // no honest use of a token is that long
	}
	for i := range f.call.Effects {
		e := &f.call.Effects[i]
		if e.Kind != effect.NetOut || e.Taint&effect.Secret == 0 || !effect.IsKnown(e.Target) {
			continue
		}
		rest, ok := strings.CutPrefix(strings.ToLower(e.Target), "https://")
		if !ok || urls.Classify(e.Target).Flags != 0 {
			continue
		}
		host, _, _ := strings.Cut(rest, "/")
		if f.holdsOnlySecretsOf(host) {
			e.Taint &^= effect.Secret | effect.Labels
			e.Taint |= f.otherLabels()
		}
	}
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

// holdsOnlySecretsOf reports whether the call holds secrets of a host, and no other secrets.
func (f *Flow) holdsOnlySecretsOf(host string) bool {
	found := false
	for rest, at := f.call.Text, 0; ; {
		start := strings.IndexFunc(rest, isVariableRune)
		if start < 0 {
			break
		}
		length := strings.IndexFunc(rest[start:], func(r rune) bool { return !isVariableRune(r) })
		if length < 0 {
			length = len(rest) - start
		}
		word := rest[start : start+length]
		secret, own := false, false
		for part := range strings.SplitSeq(strings.ToLower(word), "_") {
			secret = secret || secretWords[part]
			own = own || belongs(part, host)
		}
		if secret && strings.Contains(word, "_") {
			if found = own && precedesCredential(f.call.Text[:at+start]); !found {
				return false
			}
		}
		rest, at = rest[start+length:], at+start+length
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

// isVariableRune reports whether a rune can be in the name of an environment variable.
func isVariableRune(r rune) bool { return r == '_' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

// precedesCredential reports whether a text ends in what goes before a credential: an authorization
// header, or the flag for a user.
func precedesCredential(before string) bool {
	before = strings.ToLower(before[max(0, len(before)-48):])
	return wordset.ContainsAny(before, "authorization", "bearer", "-token:", "-key:", "-u ", "--user ",
		"--oauth2-bearer ")
}

func belongs(service, host string) bool {
	return slices.ContainsFunc(ownDomains[service],
		func(domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) })
}
