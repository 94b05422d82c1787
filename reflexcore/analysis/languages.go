package analysis

import (
	"strings"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/otherlang"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/wordset"
)

// Init makes an analyzer of the machine's file system.
func (z *Analyzer) Init(table *grammar.Table, l Limits) {
	z.Limits, z.Paths = l, places.NewCache()
	z.On(disk.OS{})
	z.Shell = shell.Analyzer{Table: table, Limits: l.Shell, Secret: z.Paths.Secret, Decode: z.decoded, Code: z.code,
		SQL: z.sql, Top: func(dir string) string { return z.Git.Top(dir) },
		Real: func(p string) (string, bool) { return disk.Real(z.Files, p) }}
}

// decoded runs a decoder on a constant.
func (z *Analyzer) decoded(name, text string) (string, bool) {
	limit := z.Limits.Decode.Bytes
	if limit <= 0 {
		limit = decode.MaxOutput
	}
	return decode.Apply(name, text, limit)
}

// code reads code in another language and yields the findings to the walk of the shell.
func (z *Analyzer) code(lang, src string, args []string, ctx shell.Context, yield func(shell.Found) bool) {
	switch {
	case code.Language(lang) != "":
	case isSQL(lang):
		z.sql(lang, src, yield)
		return
	case lang == "make":
		content.Payloads("Makefile", src, z.Limits.Tools.Content,
			func(p effect.Payload) { yield(shell.Found{Shell: p.Text}) })
		return
	case lang == "data-url":
		yield(shell.Found{Lang: "node", Code: dataURL(src)})
		return
	case lang == "curl-config":
		curlConfig(src, yield)
		return
	case lang == "sftp":
		sftpBatch(src, args, yield)
		return
	case otherlang.ConfigCommands(lang, src, yield):
		return
	default:
		if ctx.InputTaint&effect.Network != 0 && mayRunText(src) {
			yield(shell.Found{Effect: effect.Effect{Kind: effect.Opaque, Target: lang + " code", Taint: ctx.InputTaint}})
		}
		otherlang.Calls(lang, src, yield)
		return
	}
	lim := z.Limits.Code
	lim.Args, lim.Secret, lim.Home = args, z.Paths.Secret, ctx.Env["HOME"]
	lim.Dir, lim.Input, lim.InputTaint, lim.HasInput = ctx.Dir, ctx.Input, ctx.InputTaint, ctx.HasInput
	lim.Vars, lim.Env = ctx.Vars, ctx.Value
	lim.Insert = func(text string) { yield(shell.Found{Insert: text}) }
	code.Scan(lang, src, lim, func(f code.Found) bool {
		out := shell.Found{Effect: effect.Effect{Kind: f.Op.Kind(), Target: f.Text, Bits: f.Bits, Taint: f.Taint, By: f.By},
			Dir: f.Dir}
		switch f.Op {
		case code.SQL:
			if !ctx.Written {
				z.sql("sql", f.Text, yield)
			}
			return true
		case code.RemoteDelete:
			if ctx.Written { // a program that may delete is no deletion
				return true
			}
		case code.Shell:
			out.Shell = f.Text
		case code.Argv:
			out.Argv = f.Args
		case code.Write:
			out.Content = strings.Join(f.Args, "")
		case code.Code:
			out.Lang, out.Code = f.Lang, f.Text
			if !ctx.Written && f.Lang == "" && f.Taint&effect.File == 0 && f.Text != "" &&
				strings.Trim(f.Text, effect.Unknown) == "" {
				out.What = "any" // a file's text is as that file, which would run
			}
		default: // nothing for the others
		}
		return yield(out)
	})
}

// mayRunText reports whether code in a language that is not read may run a text that it is given.
func mayRunText(src string) bool {
	return wordset.ContainsAny(strings.ToLower(src), "eval", "include", "compile", "exec", "load", "source", "parse(",
		"run", "repl", "read-string")
}

// dataURL returns the content of a data URL, or an unknown text if it cannot be decoded.
func dataURL(url string) string {
	head, body, ok := strings.Cut(url, ",")
	decoder := "url"
	if strings.HasSuffix(head, ";base64") {
		decoder = "base64"
	}
	if text, decoded := decode.Apply(decoder, body, decode.MaxOutput); ok && decoded {
		return text
	}
	return effect.Unknown
}

// isSQL reports whether a language is that of a database.
func isSQL(lang string) bool {
	switch lang {
	case "sql", "psql", "mysql", "sqlite", "mssql", "clickhouse":
		return true
	}
	return false
}

// sql reads statements of a database and yields the findings.
func (z *Analyzer) sql(dialect, src string, yield func(shell.Found) bool) {
	stopped := false
	effects := sqltext.Effects(nil, dialect, src, z.Limits.SQL, func(p effect.Payload) {
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

// curlConfig reads a configuration of curl as if its options were on the command line.
func curlConfig(src string, yield func(shell.Found) bool) {
	words := []string{"curl"}
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.IndexAny(line, " \t=:")
		if end < 0 {
			end = len(line)
		}
		name, value := line[:end], strings.Trim(line[end:], " \t=:")
		if name[0] != '-' {
			name = "--" + name
		}
		words = append(words, name)
		if value != "" {
			words = append(words, strings.Trim(value, `"`))
		}
	}
	yield(shell.Found{Argv: words})
}

// sftpBatch reads a batch of commands of sftp or lftp for a host.
func sftpBatch(src string, hosts []string, yield func(shell.Found) bool) {
	host := "server"
	if len(hosts) > 0 {
		host = hosts[0]
	}
	for line := range strings.FieldsFuncSeq(src, func(r rune) bool { return r == '\n' || r == ';' }) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var f shell.Found
		switch first := words[0]; {
		case first[0] == '!':
			f.Shell = strings.TrimPrefix(strings.TrimSpace(line), "!")
		case len(words) > 1 && first == "open":
			host = words[len(words)-1]
			continue
		default:
			files := sent(words)
			if len(files) == 0 {
				continue
			}
			f.Argv = append(append([]string{"scp"}, files...), host+":")
		}
		if !yield(f) {
			return
		}
	}
}

// sent returns the words of scp for a command of sftp or lftp that sends files: its flag for folders, and
// the files. Without a name, mirror -R sends the working directory.
func sent(words []string) (out []string) {
	first, flags := words[0], 0
	for flags+1 < len(words) && strings.HasPrefix(words[flags+1], "-") {
		flags++
	}
	options, files := strings.Join(words[1:flags+1], " "), words[flags+1:]
	back := strings.Contains(options, "R") || strings.Contains(options, "reverse")
	switch {
	case first == "mirror" && back && len(files) == 0:
		return []string{"-r", "."}
	case first == "mirror" && back:
		return []string{"-r", files[0]}
	case len(files) == 0:
		return nil
	case first == "mput":
		return files
	case first == "put" || first == "reput":
		if strings.Contains(options, "r") {
			return []string{"-r", files[0]}
		}
		return files[:1]
	}
	return nil
}
