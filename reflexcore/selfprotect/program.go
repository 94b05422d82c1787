package selfprotect

import (
	"os"
	"path"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// Approver's own program is recognized by its name. With another name it is recognized on the disk:
// a link leads to it, a hard link is the same file, and a copy has its size. Giving it another name
// is stopped as well.

// smallest is a size in bytes that every binary of approver or an agent exceeds. Smaller files are
// not examined.
const smallest = 1 << 20

// isOwnProgram reports whether a file is approver's program.
func (c *Check) isOwnProgram(file string) bool {
	to, ok := c.Links.Real(c.Analyzer.Files, file)
	if !ok {
		return false
	}
	if protected.IsOwnProgram(path.Base(to)) {
		return true
	}
	info, err := c.Analyzer.Files.Lstat(to)
	if err != nil || info.Size() < smallest || info.Mode()&0o111 == 0 || !info.Mode().IsRegular() {
		return c.isCopiedOwn(to)
	}
	return slices.ContainsFunc(c.ownPrograms(), func(own string) bool {
		own, ok := c.Links.Real(c.Analyzer.Files, own)
		if !ok {
			return false
		}
		other, err := c.Analyzer.Files.Lstat(own)
		return err == nil && (os.SameFile(info, other) || other.Mode().IsRegular() && other.Size() == info.Size())
	}) || c.isCopiedOwn(to)
}

// ownPrograms returns the paths where approver's programs may be.
func (c *Check) ownPrograms() []string {
	out := make([]string, 0, 2*len(programFolders)+4)
	add := func(dir string) {
		out = append(out, dir+"/approver", dir+"/approver-hook")
	}
	if c.Program != "" {
		out = append(out, c.Program)
		add(path.Dir(c.Program))
	}
	for _, dir := range programFolders {
		if dir[0] != '/' {
			dir = c.Around.Home + "/" + dir
		}
		add(dir)
	}
	add("/usr/bin")
	return out
}

// isCopiedOwn reports whether the call itself makes the file from approver's program.
func (c *Check) isCopiedOwn(file string) bool {
	makes := func(ef effect.Effect) bool { return ef.Kind == effect.Write && ef.Target == file }
	if !slices.ContainsFunc(c.Effects, makes) {
		return false
	}
	const looks = 8
	n := 0
	for i := range c.Effects {
		ef := &c.Effects[i]
		if ef.Kind != effect.Read || !strings.HasPrefix(ef.Target, "/") || !effect.IsKnown(ef.Target) || ef.Target == file {
			continue
		}
		if n++; n > looks {
			break
		}
		if to, ok := c.Links.Real(c.Analyzer.Files, path.Clean(ef.Target)); ok && protected.IsOwnProgram(path.Base(to)) {
			return true
		}
	}
	return false
}

// changesApprover reports whether approver answers or changes something if it is started with these words.
func (c *Check) changesApprover(words []string) bool {
	if len(words) == 0 {
		return false
	}
	var r shell.Result
	c.Analyzer.Shell.Analyze("approver "+quotedWords(words), shell.Context{}, &r)
	return slices.ContainsFunc(r.Effects, func(ef effect.Effect) bool {
		return ef.Kind == effect.Permission && ef.Target == "approver-control" || ef.Kind == effect.Opaque
	})
}

// quotedWords quotes words for a shell. Unknown parts become a variable.
func quotedWords(words []string) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(" '" + strings.ReplaceAll(strings.ReplaceAll(word, "'", `'\''`), effect.Unknown, `'"$UNKNOWN"'`) + "'")
	}
	return b.String()
}

// located matches a program that says where another one is.
var located = lazyregexp.New("\\b(?:which|whence|where|whereis|command\\s+-[vp]+|type\\s+-\\w+" +
	"|hash\\s+-t|readlink|realpath|shutil\\.which)\\b[^;&\n]*")

// copiers are the programs that make the same file with another name.
var copiers = wordset.Of(`cp gcp mv gmv ln gln link install ginstall rsync dd cat tee ditto redirection scp
	shutil.copy shutil.copy2 shutil.copyfile shutil.move os.symlink os.link os.rename os.replace`)

// renamesProgram judges a call that gives another name to approver's program or an agent's, because
// it would not be recognized by that name.
func (c *Check) renamesProgram() (approver.Decision, string) {
	for i := range c.Effects {
		ef := &c.Effects[i]
		if ef.Kind != effect.Read || ef.Bits&(effect.Remote|effect.Later) != 0 {
			continue
		}
		if c.copiesProcess(ef) {
			return approver.Ask, "it gives the program of a process, which may be an agent, a name under which nobody knows it"
		}
		if !copiers[ef.By] && !effect.Links(ef) {
			continue
		}
		base := path.Base(ef.Target)
		claude := c.isInstalledClaude(ef.Target)
		if !protected.IsOwnProgram(base) && !agentcli.IsAgent(base) && !claude {
			continue
		}
		installed := claude || protected.InBin(ef.Target) && c.Places[i]&(places.Project|places.Temp) == 0
		if !givesName(c.Effects, ef, base) || (ef.By == "cat" || ef.By == "redirection") && onlySummed(c.Text) ||
			!installed && !locates(c.Text, base) {
			continue
		}
		if protected.IsOwnProgram(base) {
			return approver.Deny, "it gives approver's program another name"
		}
		if !claude && !effect.Links(ef) && !locates(c.Text, base) {
			continue // people keep copies of their agents
		}
		return approver.Ask, "it gives an agent's program another name, under which nobody knows it"
	}
	return approver.Pass, ""
}

// isInstalledClaude reports whether a file is the installed program of Claude Code, or a link to
// it. A copy of it is a question: Claude Code has flags with which it runs without any hook, and
// they are only recognized with its name.
func (c *Check) isInstalledClaude(file string) bool {
	if agentcli.ClaudeInstalled(file) {
		return true
	}
	if !effect.IsKnown(file) || !strings.HasPrefix(file, "/") {
		return false
	}
	if agentcli.ClaudeProgram(file) && protected.InBin(file) {
		return true
	}
	to, ok := c.Links.Real(c.Analyzer.Files, path.Clean(file))
	return ok && to != file && (agentcli.ClaudeInstalled(to) || agentcli.ClaudeProgram(to) && protected.InBin(to))
}

// givesName reports whether the program that reads the file base also writes a file with another
// name.
func givesName(effects []effect.Effect, read *effect.Effect, base string) bool {
	return slices.ContainsFunc(effects, func(ef effect.Effect) bool {
		return ef.Kind == effect.Write &&
			(ef.By == read.By || read.By == "cat" || read.By == "redirection" && copiers[ef.By]) && ef.Target != read.Target &&
			path.Base(ef.Target) != base &&
			!strings.HasPrefix(ef.Target, "/dev/") && ef.Bits&effect.Remote == 0
	})
}

// summed matches a program that prints a checksum or a description of approver's program, but not
// its content.
var summed = lazyregexp.New(`(?:"?\$?\(\s*)?(?:\bcat(?:\s+--)?\s+` + ownFile + `\s*\|\s*` + summer + `|` + summer +
	`\s*<\s*` + ownFile + `(?:\s|$))` +
	`(?:\s*\|\s*(?:awk|cut|head|tail|grep|wc)\b[^|;&\n()<>\x60\\]*)*(?:\s*\)"?)?`)

const (
	ownFile = `(?:["']?[^\s|;&<>()'"\x60]*approver(?:-hook)?["']?|"?\$\((?:which|command\s+-v)\s+approver(?:-hook)?\)"?)`
	sums    = `(?:sha(?:1|224|256|384|512)|md5|b2|b3|ck)sum|shasum|md5|wc|file|openssl|xxd|od|strings`
	summer  = `(?:(?:/usr)?/bin/)?\b(?:` + sums + `)(?:\s+dgst)?(?:\s+-[\w=-]*|\s+[1-9]\d*)*`
)

// unsaid matches what may name a program or a file indirectly, or give a name another meaning.
var unsaid = lazyregexp.New("approver|PATH|[$\x60*?\\\\[{(<!]|(?:^|[;&\\s])\\.\\s|" + `\b(?:cat|` + sums +
	`|source|alias|hash|enable)\b`)

// onlySummed reports whether a call only prints a checksum or a description of approver's program.
func onlySummed(text string) bool {
	rest := summed().ReplaceAllString(text, " ")
	return rest != text && !unsaid().MatchString(strings.NewReplacer(`'`, "", `"`, "").Replace(rest))
}

// locates reports whether the call asks where a program is.
func locates(text, base string) bool {
	for _, m := range located().FindAllString(text, 8) {
		if strings.Contains(m, base) {
			return true
		}
	}
	return false
}
