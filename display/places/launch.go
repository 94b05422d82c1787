package places

import (
	_ "embed" // the table
	"slices"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// This file finds the program behind a launcher: timeout 5 mysql, docker exec db mysql.

// launcherWords lists the words between a launcher and the program that it runs. A word that
// begins with a dash is a flag, with a colon at its end if it takes a value. "-" alone says that
// unlisted flags are possible, so the program is a guess. "#1" is one operand. "--" says that the
// program comes after that word, if it is there. "sh" says that a shell reads the words after the
// launcher again. Flags of one letter may be joined. The words after "of" are a subcommand, which
// may have flags before it.
//
//go:embed launch.txt
var launcherWords string

// likeLaunchers are launchers that take the same words as another one.
var likeLaunchers = map[string]string{
	"podman": "docker", "nerdctl": "docker", "docker-compose": "docker compose", "podman-compose": "docker compose",
	"oc": "kubectl", "k": "kubectl", "microk8s.kubectl": "kubectl", "incus": "lxc", "flyctl": "fly", "gnice": "nice",
	"gstdbuf": "stdbuf",
}

// launcherGlobals are flags with a value that come before the subcommand of a launcher.
var launcherGlobals = shape.SetOf("-H --host --context -c --config -l --log-level -f --file -p --project-name " +
	"--profile --env-file --project-directory --ansi -n --namespace --kubeconfig --cluster -s --server --user " +
	"--as -C --directory --project --zone -a --app --url --connection --token --parallel --progress")

// A launching is one row of launcherWords, parsed.
type launching struct {
	sub      []string        // the subcommand; empty: none
	flags    map[string]bool // whether a flag takes a value
	operands int
	any      bool // unlisted flags are possible
	dashes   bool // the program comes after --
	shell    bool // a shell reads the words again
}

// launchings is launcherWords, parsed.
var launchings = sync.OnceValue(func() map[string][]launching {
	out := map[string][]launching{}
	for name, text := range shape.Rows(launcherWords) {
		name, sub, _ := strings.Cut(name, " of ")
		one := launching{sub: strings.Fields(sub), flags: map[string]bool{}}
		for _, w := range strings.Fields(text) {
			switch w {
			case "-":
				one.any = true
			case "--":
				one.dashes = true
			case "#1":
				one.operands = 1
			case "sh":
				one.shell = true
			default:
				flag, valued := strings.CutSuffix(w, ":")
				one.flags[flag] = valued
			}
		}
		out[name] = append(out[name], one)
	}
	for name, other := range likeLaunchers {
		other, under, _ := strings.Cut(other, " ")
		for _, one := range out[other] {
			if under != "" {
				if len(one.sub) < 2 || one.sub[0] != under {
					continue
				}
				one.sub = one.sub[1:]
			}
			out[name] = append(out[name], one)
		}
	}
	for _, all := range out { // the longest subcommands first
		slices.SortFunc(all, func(a, b launching) int { return len(b.sub) - len(a.sub) })
	}
	return out
})

// A program is what a launcher runs: the range of its name and words among the words given to the
// launcher.
type program struct {
	from, to int
	sure     bool // every word before it is understood
	shell    bool // a shell reads its words again
}

// programsOf returns the programs that a launcher runs: several only for find.
func programsOf(src, name string, given []word) []program {
	if name == "find" {
		return foundRuns(src, given)
	}
	for _, one := range launchings()[name] {
		if from, ok := subcommand(src, one.sub, given); ok {
			at, sure := passed(src, one, given, from)
			if at >= len(given) {
				return nil
			}
			return []program{{at, len(given), sure, one.shell && !givesFlag(src, given[:at], "-x") &&
				!givesFlag(src, given[:at], "--exec")}}
		}
	}
	return nil
}

// subcommand reports whether the words of a subcommand are given, and returns the index after them.
func subcommand(src string, sub []string, given []word) (from int, found bool) {
	if len(sub) == 0 {
		return 0, true
	}
	for i := 0; i < len(given); i++ {
		switch text, _ := given[i].bare(src); {
		case text == sub[0]:
			if sub = sub[1:]; len(sub) == 0 {
				return i + 1, true
			}
		case strings.HasPrefix(text, "-"):
			i += shape.Count(launcherGlobals[text])
		default:
			return 0, false
		}
	}
	return 0, false
}

// passed skips the flags and operands of a launcher, and returns the index of the program. sure
// says that every word before it was understood.
func passed(src string, one launching, given []word, at int) (program int, sure bool) {
	sure = !one.any
	if one.dashes {
		for i := at; i < len(given); i++ {
			if text, _ := given[i].bare(src); text == "--" {
				return i + 1, sure
			}
		}
		sure = false // an older syntax, or flags of the program
	}
	operands := one.operands
	for ; at < len(given); at++ {
		text, _ := given[at].bare(src)
		switch {
		case text == "--":
		case strings.HasPrefix(text, "-") && len(text) > 1:
			skip, known := one.flag(text)
			if at += shape.Count(skip); !known {
				sure = false
			}
		case operands > 0:
			operands--
		default:
			return at, sure
		}
	}
	return at, sure
}

// flag reads one flag of a launcher. skip says that the next word is its value, and known that
// the flag is listed.
func (one launching) flag(text string) (skip, known bool) {
	name, _, glued := strings.Cut(text, "=")
	if valued, known := one.flags[name]; known {
		return valued && !glued, true
	}
	if strings.HasPrefix(text, "--") {
		return false, false
	}
	for i, letter := range text[1:] {
		valued, known := one.flags["-"+string(letter)]
		switch {
		case !known:
			return false, false
		case valued:
			return i == len(text)-2, true
		}
	}
	return false, true
}

// foundRuns returns the programs that find runs, each with its words.
func foundRuns(src string, given []word) (out []program) {
	for i := 0; i < len(given); i++ {
		if !findFlags[given[i].unquoted(src)] {
			continue
		}
		one := program{from: i + 1, to: i + 1, sure: true}
		for one.to < len(given) {
			text := given[one.to].unquoted(src)
			if text == ";" || text == "+" && given[one.to-1].unquoted(src) == "{}" {
				break
			}
			// this word may also be the end, after expansion or for some versions of find
			one.sure = one.sure && text != "+" && !given[one.to].expands(src)
			one.to++
		}
		if i = one.to; one.from < one.to {
			out = append(out, one)
		}
	}
	return out
}

// findFlags are the flags of find that are followed by a program.
var findFlags = shape.SetOf("-exec -execdir -ok -okdir")
