package code

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// What code is given from outside: the operands of the script and the environment.

// operands are the operands of the script, with skip names of programs before
// them.
func (m *machine) operands(skip int) value {
	if m.lim.Args == nil {
		return unknown(0)
	}
	out := make([]value, 0, len(m.lim.Args)+max(0, skip))
	for range max(0, skip) {
		out = append(out, unknown(0))
	}
	for _, a := range m.lim.Args {
		out = append(out, text(a, 0))
	}
	return list(out, 0)
}

// shift is Perl's without a list: the first argument of a function, or else the next
// operand.
func (m *machine) shift() value {
	if m.d.name != "perl" || m.within == 0 {
		return m.nextOperand()
	}
	if len(m.passed) == 0 {
		return unknown(0)
	}
	first := m.passed[0]
	m.passed = m.passed[1:]
	return first
}

// nextOperand takes the operand of the script that is the first now. In a loop it may be
// any of them.
func (m *machine) nextOperand() value {
	if m.shifted >= len(m.lim.Args) || len(m.lim.Args) > 1 && m.loops() {
		return unknown(0)
	}
	m.shifted++
	return text(m.lim.Args[m.shifted-1], 0)
}

// areOperands reports whether a list is that of the operands.
func (m *machine) areOperands(args []arg) bool {
	for i := range args {
		if i >= len(m.lim.Args) || args[i].kind != textValue || args[i].s != m.lim.Args[i] {
			return false
		}
	}
	return len(args) == len(m.lim.Args)
}

// env reads one variable of the environment. Only one whose name tells of a
// secret is worth a word.
func (m *machine) env(name, by string) value {
	switch name {
	case "HOME", "USERPROFILE":
		return text(m.lim.Home, 0)
	}
	secret := effect.IsKnown(name) && isSecretName(name) || !effect.IsKnown(name)
	if secret {
		m.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: by})
	}
	if m.lim.Env != nil && effect.IsKnown(name) {
		if s, from, ok := m.lim.Env(name); ok {
			return text(s, from|secretTaint(secret))
		}
	}
	return unknown(secretTaint(secret))
}

func secretTaint(secret bool) effect.Taint {
	if secret {
		return effect.Secret
	}
	return 0
}

func isSecretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, part := range [...]string{"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "PRIVATE", "DSN", "DATABASE_URL"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return false
}
