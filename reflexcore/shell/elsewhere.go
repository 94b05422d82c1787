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

var (
	daemons = wordset.Of("docker podman nerdctl docker-compose podman-compose finch")
	// Options that name where a command acts. In a daemon's program -e is a variable of a container.
	placeOptions = wordset.Of(`context kube-context kubeconfig cluster env environment stage configuration profile
		project settings config-env app stack inventory defaults-file account target-env remote-env`)
	placeLetters  = wordset.Of("-e -E -s -S -a -i -x")
	daemonOptions = wordset.Of("-H --host -c --context --connection --url")
	clusterPlaces = wordset.Of("--context --kube-context --kubeconfig --cluster --server -s --environment -e")
	// trying are options by which a command only says what it would do.
	trying = wordset.Of("--dry-run --check --syntax-check --list-hosts --list-tasks --plan --help -h")
	// deployers deploy to the place that an operand names.
	deployers = wordset.Of("cap eb dep mina fab inv copilot kamal")
)

// placeVariables are the variables that name where a command acts.
var placeVariables = strings.Fields("RAILS_ENV RACK_ENV MIX_ENV APP_ENV FLASK_ENV DJANGO_SETTINGS_MODULE ENV " +
	"ENVIRONMENT DEPLOY_ENV STAGE NODE_ENV KUBECONFIG DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST AWS_PROFILE")

// A bearing is what the words of a command say of where it acts.
type bearing struct {
	base     string // the program
	daemon   bool   // it talks to a daemon
	operands [3]string
	n        int    // how many operands there are
	place    string // production, or the daemon of another machine
	tries    bool   // nothing is changed
}

// read takes in the words of a command.
func (b *bearing) read(argv []string) {
	for i := 1; i < len(argv) && !b.tries; i++ {
		w := argv[i]
		if w == "--" && (b.daemon || clusters[b.base]) { // what follows is a command of its own
			return
		}
		name, value, attached := strings.Cut(w, "=")
		switch {
		case w == "":
		case w[0] == '-' && b.namesPlace(name):
			if !attached {
				if i++; i == len(argv) {
					return
				}
				value = argv[i]
			}
			if isElsewhere(value, b.daemon) {
				b.place = value
			}
		case w[0] == '-':
			b.tries = trying[name]
		case attached:
			if !b.daemon && !clusters[b.base] && namesEnvironment(name) && effect.IsProduction(value) {
				b.place = value
			}
		case b.n < len(b.operands):
			b.operands[b.n] = w
			b.n++
		}
	}
}

// actsElsewhere adds what a command changes in production or at another machine's daemon.
func (pr *programRunner) actsElsewhere(argv []string, by string) {
	if !slices.ContainsFunc(argv, mayBePlace) && !pr.in.vars.givePlace() {
		return
	}
	b := bearing{base: strings.ToLower(path.Base(argv[0]))}
	b.daemon = daemons[b.base]
	if b.read(argv); b.tries {
		return
	}
	words := b.operands[:b.n]
	verb := changes(b.base, words, argv[len(argv)-1])
	if verb == 0 {
		return
	}
	if b.place == "" {
		b.place = pr.placeGiven(b.base, words, b.daemon, verb)
	}
	if i := slices.IndexFunc(words, effect.IsProduction); i >= 0 && b.place == "" && verb == 2 && deployers[b.base] {
		b.place = words[i]
	}
	if b.place != "" {
		pr.in.add(effect.Effect{Kind: effect.Publish, Target: b.place, What: effect.Elsewhere, By: by})
	}
}

// mayBePlace reports whether a word may name production or have the address of a daemon. Few do, and it is quick.
func mayBePlace(word string) bool {
	for i := range len(word) - 2 {
		switch rest := word[i:]; rest[0] | 0x20 {
		case 'p':
			if rest[1]|0x20 == 'r' && (rest[2]|0x20 == 'o' || rest[2]|0x20 == 'd') {
				return true
			}
		case 'l':
			if rest[1]|0x20 == 'i' && rest[2]|0x20 == 'v' {
				return true
			}
		case ':' | 0x20:
			if rest[1] == '/' && rest[2] == '/' {
				return true
			}
		}
	}
	return false
}

// givePlace reports whether a variable that programs get says where they act.
func (vs *variables) givePlace() bool {
	for i := range vs.list {
		if v := &vs.list[i]; v.passed && slices.Contains(placeVariables, v.name) {
			return true
		}
	}
	return false
}

// namesPlace reports whether an option of the program names where it acts.
func (b *bearing) namesPlace(option string) bool {
	switch {
	case b.daemon:
		return b.n == 0 && daemonOptions[option]
	case clusters[b.base]:
		return clusterPlaces[option]
	case len(option) == 2:
		return placeLetters[option]
	case len(option) > 4 && (option[1] == 'P' || option[1] == 'D'): // a property of a build
		return namesEnvironment(option[2:])
	}
	return placeOptions[strings.TrimLeft(option, "-")]
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
	return !isLoopback(host) && !wordset.Has("docker dind host.docker.internal", host) &&
		(err != nil || !address.IsLoopback())
}

// changes says whether the first words of a command change what it acts on: 2 whatever the program is, 1
// because it is one for services, 0 if they do not.
func changes(base string, words []string, last string) int {
	if base == "ansible-playbook" {
		return 1
	}
	found := 0
	ofData := false
	for i := range len(words) + 1 {
		word := base
		if i > 0 {
			word = words[i-1]
		}
		if len(word) > 40 {
			continue
		}
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("-_:./", r) }) {
			switch {
			case looking[part]:
				return 0
			case changing[part] && (i < 2 || !clusters[base]):
				found = 2
			case i > 0 && changingThere[part] && (services[base] || ofData) && (i < 3 || !daemons[base]):
				found = max(found, 1)
			case i > 0 && wordset.Has("cp mv sync", part) && services[base] && strings.Contains(last, "://"):
				found = max(found, 1)
			}
			if found > 0 && daemons[base] {
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
