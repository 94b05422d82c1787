package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// saysOutput adds the files of the system and of people that a program is told to write by an option that its
// table does not know: hardly a program means anything else by such a word. A letter says so only if the
// program is in no table. What is built for /usr or /opt of an image is no such file.
func (pr *programRunner) saysOutput(args []field, by string, letters bool) {
	for i := range args {
		f := &args[i]
		if len(f.text) < 2 || f.text[0] != '-' || !letters && f.text[1] != '-' {
			continue
		}
		flag, file, valued := strings.Cut(f.text, "=")
		if letters && len(flag) > 3 && wordset.HasAnyPrefix(flag, "-o/", "-o~") {
			flag, file, valued = flag[:2], f.text[2:], true
		}
		if !valued {
			if i+1 == len(args) {
				break
			}
			f = &args[i+1]
			file = f.text
		}
		short := flag == "-o" || flag == "-O"
		if !strings.ContainsAny(file, "/~") || short && !letters || !short && !saysOutput(flag) {
			continue
		}
		file = withoutFormat(file)
		if isOfOthers(file) && (!strings.Contains(flag, "log") || !strings.HasPrefix(file, "/var/")) {
			pr.in.add(effect.Effect{Kind: effect.Write, Target: pr.in.fs.expandHome(file), Bits: effect.Partial, Taint: f.taint,
				By: by})
		}
	}
}

// saysOutput reports whether the name of an option says that its value is written.
func saysOutput(flag string) bool {
	name := strings.ToLower(strings.TrimLeft(flag, "-"))
	if len(name) > 24 || flag[1] != '-' && len(name) < 3 {
		return false
	}
	if strings.IndexByte(name, '_') >= 0 {
		name = strings.ReplaceAll(name, "_", "-")
	}
	return outputNames[name] || strings.HasSuffix(name, "-out") || strings.HasSuffix(name, "-output") ||
		strings.HasSuffix(name, "-report")
}

// withoutFormat returns the file of a report that is said with its format: xml:FILE.
func withoutFormat(value string) string {
	if format, file, ok := strings.Cut(value, ":"); ok && format != "" && !strings.ContainsAny(format, "/.~") {
		return file
	}
	return value
}

// outputNames are the names of options behind which programs have the file or the folder that they write.
var outputNames = wordset.Of(section("output options"))

// isOfOthers reports whether a path is one of the system or of a home, as it is written.
func isOfOthers(file string) bool {
	return wordset.HasAnyPrefix(file, "/etc/", "/boot/", "/var/", "/lib", "/root/", "/home/", "/Users/", "~", "../",
		"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/lib", "/usr/local/bin/", "/usr/local/sbin/")
}

// saysMore adds what the options of a listed program say that its table does not know. What a program is told
// to run is judged by itself.
func (pr *programRunner) saysMore(args []field, uses []grammar.Use, by string) {
	if !hasRole(uses, grammar.Argv, grammar.Shell, grammar.Write, grammar.Append) {
		pr.saysOutput(args, by, false)
	}
}
