package fingerprint

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file knows what texts may write.

// A textWrite says what a text that is walked may write: the script of a shell or of a package, or
// what a step of the call runs.
type textWrite struct {
	read  bool     // all of it was walked
	makes bool     // one of its commands may write anything
	files []string // that its commands write
	trees []string // folders into which they copy
	texts []string // to which it leads
}

// textWrites are what is known of texts, by their names.
type textWrites map[string]*textWrite

// of is what is known of a text.
func (t textWrites) of(unit string) *textWrite {
	w := t[unit]
	if w == nil {
		w = &textWrite{}
		t[unit] = w
	}
	return w
}

// stepUnit is the text that a step of the call runs.
func stepUnit(step int) string { return "step " + strconv.Itoa(step) }

// mayWrite reports whether a text, or one to which it leads, may write a file: whether it says so, or, if
// anything is asked for, runs what may write anything.
func (t textWrites) mayWrite(unit, file string, anything bool) bool {
	units, file := []string{unit}, filepath.Clean(file)
	for n := 0; n < len(units); n++ { // grows
		w := t[units[n]]
		if w == nil {
			continue
		}
		if anything && w.makes || slices.Contains(w.files, file) ||
			slices.ContainsFunc(w.trees, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
			return true
		}
		for _, next := range w.texts {
			if !slices.Contains(units, next) {
				units = append(units, next)
			}
		}
	}
	return false
}

// isChecker reports whether a program is one that only looks, where such programs lie.
func isChecker(program string) bool {
	dir := filepath.Base(filepath.Dir(program))
	return oneOf(checkers, filepath.Base(program)) && (!strings.Contains(program, "/") || oneOf("bin .bin", dir))
}

// checkers only look: what they run beside that is the project's tests.
const checkers = "jest vitest mocha ava pytest py.test eslint prettier stylelint oxlint biome flake8 pylint mypy " +
	"pyright ruff black isort bandit rspec rubocop phpunit phpstan psalm golangci-lint staticcheck govulncheck " +
	"gofmt gofumpt gotestsum shellcheck shfmt hadolint actionlint yamllint markdownlint tflint checkov trivy bats ctest " +
	"cypress " +
	"playwright nyc c8 tsd knip depcheck audit-ci pip-audit safety"
