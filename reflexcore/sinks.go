package reflexcore

import (
	"strings"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
)

// decoded runs a decoder on a constant.
func (e *Engine) decoded(name, text string) (string, bool) {
	limit := e.limits.Decode.Bytes
	if limit <= 0 {
		limit = decode.MaxOutput
	}
	return decode.Apply(name, text, limit)
}

// code hands what code in another language does to the walk of the shell.
func (e *Engine) code(lang, src string, args []string, ctx shell.Context, yield func(shell.Found) bool) {
	if code.Language(lang) == "" {
		otherCode(lang, src, yield)
		return
	}
	lim := e.limits.Code
	lim.Args, lim.Secret, lim.Home = args, e.paths.secret, ctx.Env["HOME"]
	lim.Env = func(name string) (string, bool) {
		value, ok := ctx.Env[name]
		return value, ok
	}
	code.Scan(lang, src, lim, func(f code.Found) bool {
		out := shell.Found{Effect: effect.Effect{Kind: f.Op.Kind(), Target: f.Text, Bits: f.Bits, Taint: f.Taint, By: f.By}}
		switch f.Op {
		case code.Shell:
			out.Shell = f.Text
		case code.Argv:
			out.Argv = f.Args
		case code.Write:
			out.Content = strings.Join(f.Args, "")
		case code.Code:
			out.Lang, out.Code = f.Lang, f.Text
		default: // nothing for the others
		}
		return yield(out)
	})
}

// sql does the same for databases.
func (e *Engine) sql(dialect, src string, yield func(shell.Found) bool) {
	stopped := false
	effects := sqltext.Effects(nil, dialect, src, e.limits.SQL, func(p effect.Payload) {
		if !stopped {
			stopped = !yield(shell.Found{Effect: effect.Effect{Kind: effect.Exec, Target: p.Why}, Shell: p.Text})
		}
	})
	for _, f := range effects {
		if stopped || !yield(shell.Found{Effect: f}) {
			return
		}
	}
}
