package shell

// environ notes what an assignment makes later programs do, as the grammar's
// block of the environment says. Most names are not in it, and cost nothing.
func (in *interp) environ(name string, value data) {
	if !in.Table.Variable(name) {
		return
	}
	in.level++
	if in.level > in.lim.Nesting {
		in.over("depth")
	} else {
		in.variable(name, value)
	}
	in.level--
}

func (in *interp) variable(name string, value data) {
	mark, words := len(in.fields), len(in.words)
	in.push(field{data: data{text: "="}})
	in.push(field{data: data{name + "=" + value.text, value.taint}})
	in.words = append(in.words, "=", in.fields[mark+1].text)
	argv := in.words[words:]
	a := in.borrow()
	p := &a.parsed
	in.Table.Parse(argv, p)
	*a = applied{in: in, parsed: *p, p: p, argv: argv, mark: mark, std: &input{}, by: name + "="}
	in.apply(a, nil)
	in.giveBack(a)
	in.fields, in.words = in.fields[:mark], in.words[:words]
}
