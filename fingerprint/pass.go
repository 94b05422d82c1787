package fingerprint

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// bind binds the files that the walk runs: those that its commands name, then those of its effects,
// then those that programs load by themselves.
func (p *pass) bind() {
	for i := range p.Steps {
		if p.Err == nil {
			p.bindStep(i)
		}
	}
	for i := range p.Effects {
		if p.Err == nil {
			p.bindEffect(&p.Effects[i])
		}
	}
	for i := range p.Steps {
		if p.Err == nil {
			p.bindCode(i)
		}
	}
	if p.Err != nil {
		return
	}
	p.noteWrites()
	for _, l := range p.executed {
		p.writtenBefore(l)
	}
}

// bindStep binds one command.
func (p *pass) bindStep(i int) {
	st := &p.Steps[i]
	p.step = i
	if len(st.Argv) == 0 {
		return
	}
	if st.Remote {
		p.nameRemote(i)
		return
	}
	p.stepPath = st.Path
	name := st.Argv[0]
	programs := []string{path.Base(name)}
	bases := p.workDirs(st)
	switch {
	case st.Shell:
	case !effect.IsKnown(name):
		if !p.foundByFind(i, name) {
			p.unboundCommand(st)
		}
	default:
		for _, file := range p.bindProgram(st, name, bases) {
			p.commands[i].program = file
			programs = append(programs, path.Base(file))
		}
	}
	if p.shows(i) {
		for _, base := range bases {
			for _, word := range st.Argv[1:] {
				if word != "" && word[0] != '-' {
					p.BindLink(abs(base, word))
				}
			}
		}
		return
	}
	if !st.Shell {
		p.helpers(st)
	}
	slices.Sort(programs)
	bases = p.bindWords(i, bases)
	p.bindTools(i, slices.Compact(programs), bases)
}

// nameRemote reports a command that runs on another host or in a container.
func (p *pass) nameRemote(i int) {
	st := &p.Steps[i]
	if !p.strict || st.Parent >= 0 && p.Steps[st.Parent].Remote {
		return
	}
	via := st.Via
	if st.Parent >= 0 {
		via = first(&p.Steps[st.Parent])
	}
	if wordset.Has("docker docker-compose podman podman-compose nerdctl", via) && p.onlyLooks(i) {
		return
	}
	p.Name("what %s runs elsewhere: %s", effect.Show(via), strings.Join(strings.Fields(st.Command), " "))
}
