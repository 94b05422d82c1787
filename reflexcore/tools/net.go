package tools

import (
	"strconv"
	"strings"

	"approver.example/display"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// requests adds the effects of URLs.
func (j *judge) requests() {
	method := j.in.method()
	body, hasBody := "", false
	for _, a := range j.in.args {
		if a.role == roleContent || a.role == roleText && j.meaning.verbs&verbSend != 0 {
			body, hasBody = body+a.text, true
		}
	}
	out := hasBody || method != "" && method != "GET" && method != "HEAD" && method != "OPTIONS" ||
		j.meaning.verbs&(verbSend|verbUpload|verbPublish) != 0
	for _, a := range j.in.args {
		if a.role != roleURL {
			continue
		}
		if method == "" && j.meaning.verbs&verbDelete != 0 && j.meaning.verbs&verbFetch != 0 {
			method = "DELETE"
		}
		j.url(a.text, out)
		if method != "" {
			j.effects = sqltext.HTTP(j.effects, method, a.text, body)
		}
	}
}

// url adds the effects of one address.
func (j *judge) url(text string, out bool) {
	u := urls.Classify(text)
	taint := effect.Taint(0)
	if u.Has(urls.SecretQuery | urls.Credentials) {
		taint |= effect.Secret
	}
	switch {
	case u.Scheme == "file":
		kind := effect.Read
		if out {
			kind = effect.Write
		}
		j.file(kind, u.Path, 0)
		return
	case u.Has(urls.Code):
		if u.Scheme == "javascript" || u.Scheme == "vbscript" || u.Scheme == "livescript" {
			j.payload(effect.Payload{Lang: effect.JavaScript, Text: u.Path, Why: "a javascript: address"})
			return
		}
		j.add(effect.Exec, text, effect.Partial)
		return
	}
	bits := effect.Bits(0)
	if u.Has(urls.UnknownHost | urls.Malformed) {
		bits |= effect.Partial
	}
	in := taint
	if u.Has(urls.Metadata | urls.SecretPath) {
		in |= effect.Secret
	}
	if !out && j.meaning.verbs&verbDelete == 0 {
		j.addTainted(effect.NetIn, text, bits, in)
		// A host, a path or a query alone can carry a secret out.
		if u.Has(urls.SecretQuery|urls.Drop|urls.LongLabel) || j.in.secretHeader() {
			j.addTainted(effect.NetOut, text, bits, taint|j.in.secretTaint())
		}
		return
	}
	if u.Has(urls.Packages) {
		j.addTainted(effect.Publish, text, bits, taint|j.in.secretTaint())
		return
	}
	j.addTainted(effect.NetOut, text, bits, taint|j.in.secretTaint())
	if u.Has(urls.Access) {
		j.add(effect.Permission, text, bits)
	}
}

// messages adds what is sent to people.
func (j *judge) messages() {
	if j.meaning.verbs&(verbSend|verbPublish) == 0 {
		return
	}
	if j.in.has(roleURL) && j.meaning.verbs&verbPublish == 0 || j.in.has(rolePath) && j.meaning.verbs&verbSend == 0 &&
		j.meaning.verbs&verbPublish == 0 {
		return
	}
	var to []string
	domains := map[string]bool{}
	for _, a := range j.in.args {
		if a.role != roleRecipient {
			continue
		}
		separates := func(r rune) bool { return r == ',' || r == ';' || r == '\n' }
		for part := range strings.FieldsFuncSeq(a.text, separates) {
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			to = append(to, part)
			if _, domain, ok := strings.Cut(strings.TrimRight(part, ">"), "@"); ok {
				domains[strings.ToLower(domain)] = true
			}
		}
	}
	j.result.Count = max(j.result.Count, len(to))
	kind := effect.NetOut
	if j.meaning.verbs&verbPublish != 0 {
		kind = effect.Publish
	}
	taint := j.in.secretTaint()
	switch {
	case len(to) == 0:
		j.addTainted(kind, j.subject(), j.bulk(), taint)
	case len(to) == 1:
		j.addTainted(kind, to[0], j.bulk(), taint)
	case len(domains) == 1:
		for d := range domains {
			j.addTainted(kind, strconv.Itoa(len(to))+" recipients at "+d, j.bulk(), taint)
		}
	default:
		j.addTainted(kind, strconv.Itoa(len(to))+" recipients at "+strconv.Itoa(len(domains))+" domains", j.bulk(),
			taint)
	}
}

// fields are words for input fields that take a secret, or that only a person should fill.
var fields = []string{"password", "passwd", "otp", "2fa", "mfa", "totp", "captcha", "cvv", "cvc", "card number",
	"cardnumber", "credit card", "ssn", "one-time", "verification code", "pin code", "secret", "seed phrase"}

// browser adds what is typed into pages and screens.
func (j *judge) browser() {
	if j.meaning.verbs&verbType != 0 {
		for _, a := range j.in.args {
			if a.role != roleField && a.key != "name" && a.key != "id" {
				continue
			}
			if wordset.ContainsAny(strings.ToLower(a.text), fields...) {
				j.addTainted(effect.NetOut, "the field "+a.text, 0, effect.Secret)
			}
		}
	}
	if j.meaning.verbs&verbScreen != 0 {
		j.add(effect.Read, "the screen", 0)
	}
}

// secretNames are parts of the names of variables and entries that are credentials.
var secretNames = []string{"password", "passwd", "secret", "token", "apikey", "api_key", "access_key", "private",
	"credential", "_key", "_pat", "dsn", "database_url"}

// otherEffects adds what verbs do to things that are neither files nor addresses.
func (j *judge) otherEffects() {
	switch v := j.meaning.verbs; {
	case v&verbDelete != 0 && !j.in.has(rolePath) && !j.in.has(roleSource) && j.meaning.nouns&nounDatabase == 0 &&
		!j.in.has(roleURL):
		j.add(effect.RemoteDelete, j.subject(), j.bulk())
	case v&verbGrant != 0 && !j.in.has(rolePath), v&verbWrite != 0 && j.meaning.nouns&nounAccess != 0 &&
		!j.in.has(rolePath):
		j.add(effect.Permission, j.subject(), j.bulk())
	case v&verbKill != 0 && (j.meaning.nouns&nounHost != 0 || v&verbRead == 0 &&
		j.toolHas("kill", "terminate", "shutdown", "reboot", "halt")):
		j.add(effect.Kill, j.subject(), j.bulk())
	case v&verbInstall != 0 && j.meaning.nouns&nounPackage != 0 && !j.toolHas("extension", "plugin") &&
		!strings.ContainsAny(j.subject(), ":/@"):
		j.add(effect.NetIn, j.subject(), 0) // by its name from the registry, as npm install does
	case v&verbInstall != 0:
		j.addTainted(effect.Exec, j.subject(), 0, effect.Network)
	case v&verbSchedule != 0 && v&verbRead == 0:
		j.add(effect.Persist, j.subject(), 0)
	}
	if j.meaning.verbs&verbPay != 0 && (j.in.has(roleMoney) || j.meaning.nouns&nounMoney != 0) ||
		j.meaning.nouns&nounMoney != 0 && j.in.has(roleMoney) && j.meaning.verbs&(verbRead|verbSearch) == 0 {
		j.add(effect.Publish, "money: "+j.subject(), j.bulk())
	}
	if j.meaning.nouns&(nounEnv|nounSecret) != 0 && j.meaning.verbs&(verbRead|verbSearch) != 0 {
		names := j.in.values("name", "key", "variable", "var", "names", "keys", "secretid", "secretname", "secret",
			"id")
		for _, n := range names {
			if j.meaning.nouns&nounSecret != 0 || wordset.ContainsAny(strings.ToLower(n), secretNames...) {
				j.addTainted(effect.Read, n, 0, effect.Secret)
			}
		}
		if len(names) == 0 && !j.in.has(rolePath) && !j.in.has(roleURL) {
			j.addTainted(effect.Read, j.subject(), effect.Bulk, effect.Secret)
		}
	}
}

// toolHas reports whether the tool's name has one of the words.
func (j *judge) toolHas(words ...string) bool {
	return wordset.ContainsAny(strings.ToLower(j.tool), words...)
}

// method returns the request's method, if the call names one.
func (in *arguments) method() string {
	for _, a := range in.args {
		if a.role == roleMethod {
			switch m := strings.ToUpper(strings.TrimSpace(a.text)); m {
			case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
				return m
			}
		}
	}
	return ""
}

// secretTaint returns Secret if the sent data contains a credential.
func (in *arguments) secretTaint() effect.Taint {
	if in.secretHeader() {
		return effect.Secret
	}
	for _, a := range in.args {
		if (a.role == roleContent || a.role == roleText || a.role == roleOther) && display.HoldsKey(a.text) {
			return effect.Secret
		}
	}
	return 0
}

func (in *arguments) secretHeader() bool {
	for _, a := range in.args {
		if a.role != roleHeader {
			continue
		}
		switch k := a.key; {
		case k == "authorization", k == "cookie", k == "cookies", strings.Contains(k, "token"),
			strings.Contains(k, "apikey"), strings.Contains(k, "secret"), k == "xauthkey":
			return true
		case strings.HasPrefix(strings.ToLower(a.text), "authorization:"),
			strings.HasPrefix(strings.ToLower(a.text), "cookie:"):
			return true
		}
	}
	return false
}
