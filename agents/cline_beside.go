package agents

import (
	"path/filepath"
	"strings"

	"approver.example/agents/settings"
	"approver.example/internal/lazyregexp"
)

// Cline's program is one of Bun, and Bun itself reads files in the folder in which it is started, asking
// nobody: variables from clineVariables, and from bunfig.toml the modules that run in it before anything else.

// clineVariables are the files in which Bun finds variables.
const clineVariables = ".env .env.local .env.development .env.development.local .env.production " +
	".env.production.local .env.test .env.test.local"

// clineSet matches a variable in them by which Cline finds its hooks, programs or another process elsewhere,
// or by which the shell of a hook runs other code. To Bun, a carriage return ends a line, and some bytes that are
// no white space to others are, such as a vertical tab.
var clineSet = lazyregexp.New(`(?:^|[\r\n])[^\w#=.-]*(?:export[^\w#=.-]+)?` +
	`(CLINE_(?:\w*_)?(?:DIR|DIRECTORY|PATH|COMMAND|HOST|ADDRESS|PORT)|(?:LD|DYLD)_\w+)[^\w#=.:-]*[=:]`)

// Beside implements [Searcher].
func (c clineAgent) Beside(
	p settings.Places, _ []settings.Source, _ settings.Want,
) (found []settings.Finding, err error) {
	for _, project := range p.Projects {
		for name := range strings.FieldsSeq(clineVariables) {
			s := settings.ReadSource(settings.Project, filepath.Join(project, name))
			if settings.Unseen(s.Err) {
				return found, s.Err
			}
			for _, m := range clineSet().FindAllStringSubmatch(string(s.Text), -1) {
				found = append(found, settings.Finding{Path: s.Path, Fix: "take " + m[1] + " out of " + s.Path,
					Text: s.Path + " sets " + m[1] + ", with which a cline that is started there can run without the hook"})
			}
		}
		s := settings.ReadSource(settings.Project, filepath.Join(project, "bunfig.toml"))
		if settings.Unseen(s.Err) {
			return found, s.Err
		}
		all, err := settings.ReadTOML(s.Text)
		switch {
		case err != nil || s.Err != nil:
			found = append(found, settings.Finding{Path: s.Path, Fix: "correct " + s.Path,
				Text: s.Path + " cannot be read, so nobody can say what a cline that is started there runs first"})
		case settings.At(all, "preload") != nil:
			found = append(found, settings.Finding{Path: s.Path, Fix: `take "preload" out of ` + s.Path,
				Text: s.Path + ` has "preload", which a cline that is started there runs in its own process`})
		}
	}
	return found, nil
}
