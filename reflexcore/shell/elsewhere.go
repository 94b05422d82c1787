package shell

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds commands that an option, or a variable given with the command, sends to production or to the
// daemon of another machine: what is no question here is one there, if it changes something.

var (
	// changing are verbs that change whatever they act on, whichever program has them.
	changing = wordset.Of(section("changing verbs"))
	// changingThere are verbs that do so in programs whose work is a cluster, a daemon, a cloud or a database.
	changingThere = wordset.Of(section("changing verbs of services"))
	services      = wordset.Of(section("programs of services"))
	// looking are words by which a command only looks, or changes settings of this machine.
	looking = wordset.Of(section("looking words"))
)

const (
	daemons = "docker podman nerdctl docker-compose podman-compose finch"
	// Options that name where a command acts. In a daemon's program -e is a variable of a container.
	placeOptions  = "context kube-context kubeconfig cluster env environment stage configuration profile project settings config-env app stack inventory defaults-file account target-env remote-env"
	placeLetters  = "-e -E -s -S -a -i -x"
	daemonOptions = "-H --host -c --context --connection --url"
	clusterPlaces = "--context --kube-context --kubeconfig --cluster --server -s --environment -e"
	// Programs that deploy to the place that an operand names.
	deployers = "cap eb dep mina fab inv copilot kamal"
)

// placeVariables are the variables that name where a command acts.
var placeVariables = strings.Fields("RAILS_ENV RACK_ENV MIX_ENV APP_ENV FLASK_ENV DJANGO_SETTINGS_MODULE ENV ENVIRONMENT " +
	"DEPLOY_ENV STAGE NODE_ENV KUBECONFIG DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST AWS_PROFILE")

// actsElsewhere adds what a command changes in production or at another machine's daemon.
func (pr *programRunner) actsElsewhere(argv []string, by string) {
	base := strings.ToLower(path.Base(argv[0]))
	place, there := "", wordset.Has(daemons, base)
	var operands [3]string
	n := 0
	for i := 1; i < len(argv); i++ {
		w := argv[i]
		if w == "--" && (there || clusters[base]) { // what follows is a command of its own
			break
		}
		if w == "" || n == len(operands) && place != "" {
			continue
		}
		name, value, attached := strings.Cut(w, "=")
		switch {
		case w[0] == '-' && wordset.Has("--dry-run --check --syntax-check --list-hosts --list-tasks --plan --help -h", name):
			return
		case w[0] == '-' && namesPlace(base, name, n):
			if !attached {
				if i++; i == len(argv) {
					break
				}
				value = argv[i]
			}
			if isElsewhere(value, there) && (!there || !strings.Contains(value, "=")) {
				place = value
			}
		case w[0] == '-':
		case attached:
			if place == "" && !there && !clusters[base] && namesEnvironment(name) && effect.IsProduction(value) {
				place = value
			}
		case n < len(operands):
			operands[n] = w
			n++
		}
	}
	words := operands[:n]
	verb := changes(base, words, argv[len(argv)-1])
	if verb == 0 {
		return
	}
	if place == "" {
		place = pr.placeGiven(base, words, there, verb)
	}
	if place == "" && verb == 2 && wordset.Has(deployers, base) {
		for _, w := range words {
			if effect.IsProduction(w) {
				place = w
			}
		}
	}
	if place != "" {
		pr.in.add(effect.Effect{Kind: effect.Publish, Target: place, What: effect.Elsewhere, By: by})
	}
}

// namesPlace reports whether an option of a program names where it acts. n operands stand before it.
func namesPlace(base, option string, n int) bool {
	switch {
	case wordset.Has(daemons, base):
		return n == 0 && wordset.Has(daemonOptions, option)
	case clusters[base]:
		return wordset.Has(clusterPlaces, option)
	}
	if wordset.HasAnyPrefix(option, "-P", "-D") && len(option) > 4 { // a property of a build
		return namesEnvironment(option[2:])
	}
	return wordset.Has(placeLetters, option) || wordset.Has(placeOptions, strings.TrimLeft(option, "-")) && len(option) > 2
}

// namesEnvironment reports whether a word before = names where a command acts: RAILS_ENV=production.
func namesEnvironment(name string) bool {
	last := strings.ToUpper(name[strings.LastIndexByte(name, '_')+1:])
	return wordset.Has("ENV ENVIRONMENT STAGE", last)
}

// isElsewhere reports whether a value is a name for production, or the address of another machine's daemon.
func isElsewhere(value string, daemon bool) bool {
	if effect.IsProduction(value) {
		return true
	}
	scheme, host, ok := strings.Cut(value, "://")
	if !daemon || !ok || scheme != "tcp" && scheme != "ssh" {
		return false
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, "/")
	if at := strings.LastIndexByte(host, ':'); at > 0 && !strings.HasSuffix(host, "]") {
		host = host[:at]
	}
	address, err := netip.ParseAddr(host)
	// The daemon of a job in CI is a container beside it.
	return !isLoopback(host) && !wordset.Has("docker dind host.docker.internal", host) && (err != nil || !address.IsLoopback())
}

// changes says whether the first words of a command change what it acts on: 2 whatever the program is, 1
// because it is one for services, 0 if they do not.
func changes(base string, words []string, last string) int {
	if base == "ansible-playbook" {
		return 1
	}
	found := 0
	ofData := false
	for i, word := range append([]string{base}, words...) {
		if len(word) > 40 {
			continue
		}
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("-_:./", r) }) {
			switch {
			case looking[part]:
				return 0
			case changing[part] && (i < 2 || !clusters[base]):
				found = 2
			case i > 0 && changingThere[part] && (services[base] || ofData) && (i < 3 || !wordset.Has(daemons, base)):
				found = max(found, 1)
			case i > 0 && wordset.Has("cp mv sync", part) && services[base] && strings.Contains(last, "://"):
				found = max(found, 1)
			}
			if found > 0 && wordset.Has(daemons, base) {
				return found // the other words are those of a container
			}
			ofData = ofData || wordset.Has("db database migration migrations fixtures ef", part)
		}
	}
	return found
}

// placeGiven returns the value of a variable, which the command is given, that names production or another
// machine's daemon.
func (pr *programRunner) placeGiven(base string, words []string, daemon bool, verb int) string {
	for _, name := range placeVariables {
		switch name {
		case "KUBECONFIG":
			if !clusters[base] {
				continue
			}
		case "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST":
			if !daemon {
				continue
			}
		case "AWS_PROFILE":
			if !services[base] {
				continue
			}
		case "NODE_ENV", "MIX_ENV": // also how a program is built, and its database brought to its code
			if verb != 2 || name == "MIX_ENV" && slices.ContainsFunc(words, isMigration) {
				continue
			}
		default:
			if daemon || clusters[base] {
				continue
			}
		}
		if v := pr.in.vars.find(name); v != nil && v.passed && !v.unset && isElsewhere(v.text, daemon) {
			return v.text
		}
	}
	return ""
}

// isMigration reports whether a word is that of a migration, which only adds.
func isMigration(word string) bool { return strings.HasSuffix(word, "migrate") }
