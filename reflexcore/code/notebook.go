package code

import "strings"

// lineMagics begin lines that IPython passes to a shell.
var lineMagics = [...]string{"!!", "!", "%sx ", "%system ", "%sc "}

// cellMagics are programs that get a whole cell as their input.
var cellMagics = map[string]string{
	"bash": "bash", "sh": "sh", "script": "", "perl": "perl", "ruby": "ruby", "python": "python", "python2": "python2",
	"python3": "python3", "pypy": "pypy", "cmd": "cmd", "sx": "sh", "system": "sh", "!": "sh", "node": "node",
}

// quietMagics run the rest of their line, or the cell, as code of the same language.
var quietMagics = [...]string{"%time ", "%timeit ", "%prun ", "%lprun ", "%memit ", "%mprun ", "%capture "}

// cells has the lines of a notebook that are no Python.
type cells struct{ *machine }

// python judges what IPython passes to a shell (!command, %sx, %system, x = !command), and returns
// the code without those lines. Plain Python has no such lines, and a quote in one could hide the
// code after it.
func (c *cells) python(src string) string {
	var rest strings.Builder
	for line := range strings.Lines(src) {
		bare := strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(bare, "%%"); ok {
			_, cell, _ := strings.Cut(src, bare)
			c.cell(name, strings.TrimPrefix(cell, "\n"))
		}
		if c.magicLine(bare) {
			line = "\n"
		}
		rest.WriteString(line)
	}
	return rest.String()
}

// magicLine judges a line that is no Python, and reports whether it is one.
func (c *cells) magicLine(line string) bool {
	for _, quiet := range quietMagics {
		if rest, ok := strings.CutPrefix(line, quiet); ok {
			line = strings.TrimSpace(rest)
		}
	}
	_, assigned, _ := strings.Cut(line, "=")
	for _, l := range [...]string{line, strings.TrimSpace(assigned)} {
		for _, start := range lineMagics {
			if rest, ok := strings.CutPrefix(l, start); ok && !strings.HasPrefix(rest, "=") {
				c.programs.shell(text(rest, 0), start)
				return true
			}
		}
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(line, "%"), " ")
	if !strings.HasPrefix(line, "%") || strings.HasPrefix(line, "%%") {
		return false
	}
	switch rest = strings.TrimSpace(rest); name {
	case "alias": // %alias name command
		_, command, _ := strings.Cut(rest, " ")
		c.programs.shell(text(command, 0), "%alias")
	case "alias_magic", "rehashx", "macro":
		c.out.found(Found{Text: "%" + name, By: "%" + name})
	case "run":
		c.ranFile(rest)
	case "pip", "conda", "mamba", "uv", "micromamba", "rm", "mv", "cp", "ln", "mkdir", "rmdir", "cat", "ls", "less",
		"more", "man":
		c.programs.shell(text(name+" "+rest, 0), "%"+name)
	default:
		return false
	}
	return true
}

// ranFile evaluates %run -i file arguments.
func (c *cells) ranFile(words string) {
	for w := range strings.FieldsSeq(words) {
		if w[0] != '-' {
			c.out.found(Found{Op: Exec, Text: w, By: "%run"})
			return
		}
	}
}

// cell judges a cell that begins with a magic; line is the rest of its line.
func (c *cells) cell(line, cell string) {
	name, options, _ := strings.Cut(line, " ")
	program, ok := cellMagics[name]
	switch {
	case name == "writefile" || name == "file":
		fields := strings.Fields(options)
		if len(fields) > 0 {
			c.out.found(Found{Op: Write, Text: fields[len(fields)-1], Args: []string{cell}, By: "%%" + name})
		}
	case !ok:
	case name == "script": // options of the magic may stand before the program
		fields := strings.Fields(options)
		for len(fields) > 1 && strings.HasPrefix(fields[0], "--") {
			fields = fields[1:]
		}
		c.programs.inputOf(strings.Join(fields, " "), text(cell, 0), "%%script")
	default:
		c.programs.inputOf(program, text(cell, 0), "%%"+name)
	}
}

// magic evaluates a magic that is called as a method.
func (c *cells) magic(name string, line value, args []arg, by string) {
	cell, isCell := argument(args, 2)
	known := line.known()
	switch {
	case isCell:
		if program, ok := cellMagics[name]; ok && program != "" {
			c.programs.inputOf(program, cell, by)
			return
		}
		c.cell(name+" "+line.str(), cell.str())
	case strings.Contains(name, " "): // magic("sx ls")
		c.magicLine("%" + name)
	case known:
		c.magicLine("%" + name + " " + line.str())
	default:
		c.out.found(Found{Text: by, Taint: line.taint, By: by})
	}
}
