package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A placing describes which code or settings a program reads in folders that variables name.
type placing struct {
	Vars     string // names; a star stands for any ending
	Programs string // "" is every program
	// Files are what is read there: patterns of paths, or of names anywhere below with
	// ** before them. "**" alone is everything.
	Files string
	Home  string // the default: a folder below the home
}

const (
	sitePackages = "pyvenv.cfg lib/python*/site-packages/*.pth lib/python*/site-packages/sitecustomize.py " +
		"lib/python*/site-packages/usercustomize.py"
	terraforms = "terraform tofu terragrunt"
)

var placings = tableOf[placing]("folders.txt")

// placingsOf are the rows of a program; those of "" are every program's.
var placingsOf = rowsOf(placings, func(t placing) string { return t.Programs })

// bindPlacings binds the folders that the variables of a step's program name.
func (r *reader) bindPlacings(name, dir string) {
	byProgram := placingsOf()
	for _, n := range slices.Concat(byProgram[""], byProgram[name]) {
		t := &placings()[n]
		any := false
		for _, v := range r.VarNames(t.Vars) {
			for _, value := range r.Values(v) {
				any = true
				r.bindPlacing(t, v, value, dir)
			}
		}
		if home := r.call.Env["HOME"]; !any && t.Home != "" && filepath.IsAbs(home) {
			r.BindPlaces(filepath.Join(home, t.Home), strings.Fields(t.Files))
		}
	}
}

// bindPlacing binds the files that are read in the folders of one value.
func (r *reader) bindPlacing(t *placing, v, value, dir string) {
	value = r.Expand(value)
	if !effect.IsKnown(value) {
		r.reportUnbound("what lies in %s=%s", v, effect.Show(value))
		return
	}
	for _, part := range splitAny(value, ":;,\n") {
		part = fromHome(part, r.ToolCall.Env["HOME"])
		if strings.HasSuffix(t.Vars, "*") && !strings.Contains(part, "/") && !r.IsDir(abs(dir, part)) {
			continue // it is a setting of another kind
		}
		if at := abs(dir, part); filepath.IsAbs(at) && effect.IsKnown(at) {
			r.BindPlaces(filepath.Clean(at), strings.Fields(t.Files))
		} else {
			r.reportUnbound("what lies in %s=%s", v, part)
		}
	}
}
