package tools

import (
	"slices"
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
		if a.role == roleContent || a.role == roleText && j.is(verbSend) {
			body, hasBody = body+a.text, true
		}
	}
	out := hasBody || method != "" && method != "GET" && method != "HEAD" && method != "OPTIONS" ||
		j.is(verbSend|verbUpload|verbPublish)
	for _, a := range j.in.args {
		if a.role != roleURL {
			continue
		}
		if method == "" && j.is(verbDelete) && j.is(verbFetch) {
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
	if !out && !j.is(verbDelete) {
		j.addTainted(effect.NetIn, text, bits, in)
		// A host, a path or a query alone can carry a secret out.
		if u.Has(urls.SecretQuery|urls.Drop|urls.LongLabel) || j.in.secretHeader() {
			j.addTainted(effect.NetOut, text, bits, taint|j.in.secretTaint())
		}
		return
	}
	kind := effect.NetOut
	if u.Has(urls.Packages) {
		kind = effect.Publish
	}
	j.addTainted(kind, text, bits, taint|j.in.secretTaint())
	if kind == effect.NetOut && u.Has(urls.Access) {
		j.add(effect.Permission, text, bits)
	}
}

// messages adds what is sent, and what becomes public. What people get is a message.
func (j *judge) messages() {
	if !j.is(verbSend|verbPublish|nounMessage) || j.paysOrOrders() {
		return
	}
	if !j.is(verbPublish) && !j.tells() && (j.in.has(roleURL) || j.in.has(rolePath) && !j.is(verbSend)) {
		return
	}
	looks := j.looks() || j.is(verbRead|verbSearch|verbTry) && !j.is(verbWrite)
	if j.looks() && !j.is(verbPublish) {
		return
	}
	e := effect.Effect{Kind: effect.NetOut, Target: j.recipients(), Bits: j.bulk(), Taint: j.in.secretTaint(), By: j.tool}
	switch {
	case j.is(verbPublish) && j.is(nounMessage) && j.says("push") && !looks:
		e.What = "message"
	case j.is(verbPublish):
		e.Kind = effect.Publish
		if !looks {
			e.What = j.publication()
		}
	case j.tells() && !looks:
		e.What = "message"
	case !j.is(verbSend):
		return
	}
	j.addEffect(e)
}

// tells reports whether people get what is sent: somebody is named, or the tool's name says that it
// is a message. An agent's own SendMessage goes to its helpers, and a comment stays where it is.
func (j *judge) tells() bool {
	if j.is(verbDelete|nounComment) || j.call.Tool == "SendMessage" || j.begins(marks) {
		return false
	}
	to := j.in.has(roleRecipient)
	return j.is(nounMessage) && (to || j.is(verbTell) || !j.is(verbWrite|verbExec|verbFetch)) || j.is(verbTell) && to
}

// recipients returns who gets something, for people: a name, or how many there are and where.
func (j *judge) recipients() string {
	var to, domains []string
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
				domains = append(domains, strings.ToLower(domain))
			}
		}
	}
	slices.Sort(domains)
	domains = slices.Compact(domains)
	j.result.Count = max(j.result.Count, len(to))
	switch {
	case len(to) == 0:
		return j.subject()
	case len(to) == 1:
		return to[0]
	case len(domains) == 1:
		return strconv.Itoa(len(to)) + " recipients at " + domains[0]
	}
	return strconv.Itoa(len(to)) + " recipients at " + strconv.Itoa(len(domains)) + " domains"
}

// fields are words for input fields that take a secret, or that only a person should fill.
var fields = []string{"password", "passwd", "otp", "2fa", "mfa", "totp", "captcha", "cvv", "cvc", "card number",
	"cardnumber", "credit card", "ssn", "one-time", "verification code", "pin code", "secret", "seed phrase"}

// browser adds what is typed into pages and screens.
func (j *judge) browser() {
	if j.is(verbType) {
		for _, a := range j.in.args {
			if a.role != roleField && a.key != "name" && a.key != "id" {
				continue
			}
			if wordset.ContainsAny(strings.ToLower(a.text), fields...) {
				j.addTainted(effect.NetOut, "the field "+a.text, 0, effect.Secret)
			}
		}
	}
	if j.is(verbScreen) {
		j.add(effect.Read, "the screen", 0)
	}
}

// secretNames are parts of the names of variables and entries that are credentials.
var secretNames = []string{"password", "passwd", "secret", "token", "apikey", "api_key", "access_key", "private",
	"credential", "_key", "_pat", "dsn", "database_url"}

// otherEffects adds what verbs do to things that are neither files nor addresses.
func (j *judge) otherEffects() {
	looks := j.is(verbRead | verbSearch | verbTry)
	switch {
	case j.is(verbDelete) && j.is(nounSecret) && j.toolHas("reset"):
		j.addWhat(effect.Permission, "access", j.subject())
	case j.is(verbDelete) && j.isOwn():
	case j.is(verbDelete) && !j.is(nounDatabase) && !j.ofFiles() && !j.ofPage(),
		j.toolHas("terminate") && j.is(nounHost) && !looks:
		j.addWhat(effect.RemoteDelete, j.thing(), j.subject())
	case j.begins("lock unlock") && j.says("issue conversation discussion thread"): // who may comment there
	case (!j.in.has(rolePath) || j.ofPeople()) && !looks && (j.is(verbGrant) || j.is(verbWrite) && j.is(nounAccess) ||
		j.is(verbSwitch) && j.is(nounAccess|nounAccount|nounHost) || j.admits()):
		j.addWhat(effect.Permission, "access", j.subject())
	case j.is(verbKill) && (j.is(verbEnd|nounHost|nounPart) && !looks || j.is(nounHost)):
		j.stops()
	case j.is(verbInstall) && j.is(nounPackage) && !j.toolHas("extension", "plugin") &&
		!strings.ContainsAny(j.subject(), ":/@"):
		j.add(effect.NetIn, j.subject(), 0) // by its name from the registry, as npm install does
	case j.is(verbInstall):
		j.addTainted(effect.Exec, j.subject(), 0, effect.Network)
	case j.is(verbSchedule) && !j.is(verbRead):
		j.add(effect.Persist, j.subject(), 0)
	}
	if j.paysOrOrders() {
		j.add(effect.Publish, "money: "+j.payment(), j.bulk())
	}
	j.secrets()
}

// stops adds what is stopped. A process, a container or a shell of the agent can be started again:
// that is for the rules about processes. A machine, or what is not known, is a resource.
func (j *judge) stops() {
	what := "resource"
	if j.is(nounPart|nounShell|nounBrowser|verbScreen) && !j.is(nounHost) || j.call.Tool == "TaskStop" {
		what = ""
	}
	j.addWhat(effect.Kill, what, j.subject())
}

// paysOrOrders reports whether money moves: by what the tool does, or by an amount that it names.
func (j *judge) paysOrOrders() bool {
	switch {
	case j.is(verbRead | verbSearch | verbTry):
		return false
	case j.is(verbBuy):
		return true
	case j.isDeal():
		return true
	case j.is(verbPay):
		return j.in.has(roleMoney) || j.is(nounMoney) || j.namesPayee() ||
			j.in.has(roleRecipient) && !j.in.has(rolePath, roleURL)
	case j.is(nounTransaction):
		return j.is(verbSend|verbPlace) && !j.is(nounDatabase)
	}
	return j.is(nounMoney) && (j.in.has(roleMoney) || j.is(verbPlace))
}

// accounts makes the ends of a payment what they are: accounts, and no files, unless they are written as paths.
func (j *judge) accounts() {
	if !j.paysOrOrders() {
		return
	}
	for i := range j.in.args {
		a := &j.in.args[i]
		switch {
		case strings.ContainsAny(a.text, `/\`):
		case a.role == roleDestination:
			a.role = roleRecipient
		case a.role == roleSource:
			a.role = roleOther
		}
	}
}

// namesPayee reports whether an argument says who gets money.
func (j *judge) namesPayee() bool {
	return slices.ContainsFunc(j.in.args, func(a arg) bool { return payees[a.key] })
}

// payment returns how much goes to whom, for people, and then whatever else the call names.
func (j *judge) payment() string {
	var amount, to, rest []string
	for _, a := range j.in.args {
		switch {
		case a.text == "" || len(a.text) > 200 || a.role == roleSecret || a.role == roleHeader:
		case a.role == roleMoney, a.key == "value":
			amount = append(amount, a.text)
		case a.role == roleRecipient, a.role == roleDestination, payees[a.key]:
			to = append(to, "to "+a.text)
		case a.role != roleContent && a.role != roleText && len(rest) < maxNamed:
			rest = append(rest, a.text)
		}
	}
	if all := slices.Concat(amount, to, rest); len(all) > 0 {
		return strings.Join(all, " ")
	}
	return j.tool
}

// maxNamed limits the values that a text for people names.
const maxNamed = 8

// payees are arguments that say who gets money.
var payees = wordset.Of("toaccount payee beneficiary iban toaddress customer vendor merchant wallet")

// secrets adds the credentials that a call reads.
func (j *judge) secrets() {
	if kept := j.kept(); kept != "" {
		j.addTainted(effect.Read, kept, 0, effect.Secret)
		return
	}
	if j.is(nounEnv|nounSecret) && j.is(verbRead|verbSearch) {
		names := j.in.values("name", "key", "variable", "var", "names", "keys", "secretid", "secretname", "secret",
			"id")
		for _, n := range names {
			if j.is(nounSecret) || wordset.ContainsAny(strings.ToLower(n), secretNames...) {
				j.addTainted(effect.Read, n, 0, effect.Secret)
			}
		}
		if len(names) == 0 && !j.in.has(rolePath, roleURL) && (!j.is(nounSecret) || !j.begins(lists)) {
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
		if a.role != roleMethod {
			continue
		}
		if m := strings.ToUpper(strings.TrimSpace(a.text)); wordset.Has("GET HEAD OPTIONS POST PUT PATCH DELETE", m) {
			return m
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
		if a.role == roleHeader && (wordset.Has("authorization cookie cookies xauthkey", a.key) ||
			wordset.ContainsAny(a.key, "token", "apikey", "secret") ||
			wordset.HasAnyPrefix(strings.ToLower(a.text), "authorization:", "cookie:")) {
			return true
		}
	}
	return false
}
