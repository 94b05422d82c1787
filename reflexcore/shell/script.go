package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// execute runs a file: by what the text wrote to it, or as a file of the disk.
func (in *interp) execute(p data, lang string, args []field, std *input, sink *data, by string) {
	target := in.abs(p.text)
	f := in.file(target)
	for hops := 0; f != nil && f.alias != "" && hops < 4; hops++ {
		target = f.alias
		f = in.file(target)
	}
	if f == nil {
		if in.Table.Find(target) == nil || lang != "" {
			in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: p.taint, By: by})
		}
		return
	}
	in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: f.taint, By: by})
	if lang == "" {
		lang = shebang(f.text)
	}
	in.script(lang, f.data, args, std, sink, "file "+target)
}

// shebang says in which language a script is.
func shebang(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") {
		return "sh"
	}
	for _, l := range []string{"python", "node", "perl", "ruby", "php", "awk", "lua", "powershell", "pwsh"} {
		if strings.Contains(first, l) {
			return l
		}
	}
	return "sh"
}

// sub walks a text in a shell of its own.
func (in *interp) sub(d data, via string, std *input, sink *data) {
	scope := in.enter()
	choices, choose, shared := in.choices, in.choose, in.shared
	in.choices, in.choose, in.shared = nil, false, false
	in.payload(d, via, std, sink)
	in.choices, in.choose, in.shared = choices, choose, shared
	in.leave(scope)
}

// payload walks a text as shell in the present shell. What is not known of it is
// an opaque command.
func (in *interp) payload(d data, via string, std *input, sink *data) {
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() {
		target := "shell code"
		in.add(effect.Effect{Kind: effect.Exec, Target: target, Taint: d.taint, Bits: partialIf(!d.known()), By: via})
	}
	if d.text == "" || d.text == effect.Unknown {
		if d.text != "" {
			in.res.Opaque++
		}
		sink.append(unknown)
		return
	}
	if !d.known() {
		in.murky |= d.taint
	}
	in.source(strings.ReplaceAll(d.text, effect.Unknown, unknownWord), via, std, sink)
}

// unknownWord is a variable that nobody can set: it stands for what is not known
// in a text that is parsed once more.
const unknownName, unknownWord = "__unknown__", "${__unknown__}"

func partialIf(b bool) effect.Bits {
	if b {
		return effect.Partial
	}
	return 0
}

// script runs a text in a language.
func (in *interp) script(lang string, d data, args []field, std *input, sink *data, via string) {
	switch lang {
	case "", "shell", "sh", "bash", "zsh", "fish", "ksh", "csh":
		scope := in.enter()
		zero := in.zero
		in.setPositional(make([]data, 0, len(args)))
		for i, a := range args {
			if i == 0 && in.named {
				in.zero = a.data
				continue
			}
			in.params = append(in.params, a.data)
		}
		in.named = false
		choices, choose, shared := in.choices, in.choose, in.shared
		in.choices, in.choose, in.shared = nil, false, false
		in.payload(d, via, std, sink)
		in.choices, in.choose, in.shared = choices, choose, shared
		in.zero = zero
		in.leave(scope)
	default:
		in.code(lang, d, args, std, sink, via)
	}
}

// code runs code that is not shell.
func (in *interp) code(lang string, d data, args []field, std *input, sink *data, via string) {
	if lang == "powershell-base64" {
		lang, d = "powershell", in.encoded(d)
	}
	if d.taint&(effect.Network|effect.Decoded) != 0 || !d.known() || in.Code == nil {
		in.add(effect.Effect{Kind: effect.Exec, Target: lang + " code", Taint: d.taint, Bits: partialIf(!d.known()), By: lang})
	}
	if in.Code == nil || d.text == effect.Unknown {
		in.res.Opaque++
		sink.append(data{effect.Unknown, std.taint})
		return
	}
	if in.depth >= in.lim.Depth {
		in.over("depth")
		return
	}
	in.depth++
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	taint := std.taint | d.taint
	in.Code(lang, d.text, texts, in.ctx, func(f Found) bool {
		if !in.spend() {
			return false
		}
		taint |= in.found(f, lang, std, taint)
		return !in.stopped()
	})
	in.depth--
	sink.append(data{effect.Unknown, taint})
}

// encoded is the text that PowerShell's -EncodedCommand runs.
func (in *interp) encoded(d data) data {
	if in.Decode != nil && d.known() {
		if raw, ok := in.Decode("base64", d.text); ok {
			if plain, ok := in.Decode("utf16le", raw); ok && in.made(len(plain)) {
				return data{plain, d.taint | effect.Decoded}
			}
		}
	}
	return data{effect.Unknown, d.taint | effect.Decoded}
}

// found takes over one finding in code, and returns the taint that it adds.
func (in *interp) found(f Found, lang string, std *input, taint effect.Taint) effect.Taint {
	switch {
	case f.Shell != "":
		var out data
		in.sub(data{f.Shell, f.Taint}, lang, &input{}, &out)
		return out.taint
	case len(f.Argv) > 0:
		mark := len(in.fields)
		for _, w := range f.Argv {
			in.push(field{data: data{w, f.Taint}})
		}
		var out data
		in.run(mark, &input{}, &out, false)
		in.fields = in.fields[:mark]
		return out.taint
	case f.Lang != "":
		var out data
		in.script(f.Lang, data{f.Code, f.Taint}, nil, std, &out, lang)
		return out.taint
	}
	e := f.Effect
	if e.By == "" {
		e.By = lang
	}
	switch e.Kind {
	case effect.Read, effect.Write, effect.Delete:
		if e.Target != "environment" {
			e.Target = in.home(e.Target)
		}
		if e.Kind == effect.Read {
			e.Taint |= in.secret(e.Target)
			break
		}
		e.Taint |= taint
		if e.Kind == effect.Write && !in.stopped() {
			text := f.Content
			if text == "" && !strings.HasSuffix(e.By, "open") { // which empties the file for the writes that follow
				text = effect.Unknown
			}
			in.write(e.Target, data{text, e.Taint}, e.Bits&effect.Append != 0)
		}
	case effect.NetOut:
		e.Taint |= taint
	case effect.NetIn:
		in.add(e)
		if taint&effect.Secret != 0 {
			in.add(effect.Effect{Kind: effect.NetOut, Target: e.Target, Taint: taint, By: lang, Bits: effect.Partial})
		}
		return effect.Network
	default: // nothing for the others
	}
	in.add(e)
	return e.Taint
}
