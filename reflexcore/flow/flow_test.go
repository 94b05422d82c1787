package flow_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
)

var (
	allLabels = []flow.Label{flow.Critical, flow.Restricted, flow.Confidential, flow.Internal, flow.Public}
	allSinks  = []flow.Sink{flow.External, flow.Exec, flow.Memory, flow.WorkspaceWrite, flow.Read}
	bases     = []flow.Basis{flow.Data, flow.Session}
)

func TestZeroValuesAreTheStrictest(t *testing.T) {
	var m flow.Matrix
	for _, l := range append(allLabels, 77) {
		for _, s := range append(allSinks, 77) {
			if m.Cell(l, s) != flow.Block {
				t.Errorf("the zero matrix has %s for %s at %s", m.Cell(l, s), l, s)
			}
		}
	}
	var p flow.Policy
	if f := p.Judge(0, 0, 0); f.Action != flow.Block || f.Cell() != "data.critical.external" || p.Mode != flow.Enforce {
		t.Errorf("the zero policy says %+v in mode %s", f, p.Mode)
	}
	full := flow.DefaultData()
	if full.Cell(99, flow.External) != full.Cell(flow.Critical, flow.External) ||
		full.Cell(flow.Public, 99) != flow.Block {
		t.Error("what is not known is milder than the strictest")
	}
}

func TestWords(t *testing.T) {
	l := flow.Public
	if l.UnmarshalText([]byte("secret")) == nil || l != flow.Critical {
		t.Error("an unknown label is no error, or leaves something milder")
	}
	a := flow.Allow
	if err := a.UnmarshalText([]byte("ask")); err == nil || a != flow.Block ||
		!strings.Contains(err.Error(), "block, escalate, allow") {
		t.Errorf("an unknown action: %v, %s", err, a)
	}
	m := flow.Off
	if m.UnmarshalText([]byte("on")) == nil || m != flow.Enforce {
		t.Error("an unknown mode is no error, or leaves something milder")
	}
	if flow.Label(99).String() != "critical" || flow.Sink(99).String() != "external" ||
		flow.Action(99).String() != "block" || flow.Mode(99).String() != "enforce" {
		t.Error("an unknown value has not the strictest name")
	}
}

// A label as bits comes back, and joining bits is joining labels.
func TestLabelsAsBits(t *testing.T) {
	for _, a := range allLabels {
		for _, b := range allLabels {
			got := flow.Of(effect.File | a.Taint() | b.Taint())
			if want := min(flow.Join(a, b), flow.Internal); got != want {
				t.Errorf("%s and %s give %s, want %s", a, b, got, want)
			}
		}
	}
	for taint, want := range map[effect.Taint]flow.Label{
		0: flow.Public, effect.Network: flow.Public, effect.File: flow.Internal, effect.Secret: flow.Confidential,
		effect.Secret | effect.File:                     flow.Critical,
		effect.Secret | effect.File | effect.Restricted: flow.Restricted, 1 << 6: flow.Confidential,
	} {
		if got := flow.Of(taint); got != want {
			t.Errorf("%s is %s, want %s", taint, got, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	c := flow.DefaultConfig()
	if _, err := flow.Compile(c); err != nil || c.Mode != flow.Audit || c.Version() != "" {
		t.Errorf("the default: %v, %s, version %q", err, c.Mode, c.Version())
	}
	p, _ := flow.Compile(c)
	for cell, want := range map[string]flow.Action{
		"data critical external": flow.Block, "data critical workspace_write": flow.Allow,
		"data confidential exec": flow.Allow, "data confidential workspace_write": flow.Allow,
		"session critical external": flow.Escalate, "session critical workspace_write": flow.Allow,
		"session critical exec": flow.Allow, "session confidential external": flow.Allow,
		"data internal external": flow.Allow, "data public memory": flow.Allow,
	} {
		w := strings.Fields(cell)
		var l flow.Label
		if err := l.UnmarshalText([]byte(w[1])); err != nil {
			t.Fatal(err)
		}
		s := allSinks[slices.IndexFunc(allSinks, func(s flow.Sink) bool { return s.String() == w[2] })]
		b := bases[slices.IndexFunc(bases, func(b flow.Basis) bool { return b.String() == w[0] })]
		if f := p.Judge(l, s, b); f.Action != want || f.Cell() != strings.Join(w, ".") {
			t.Errorf("%s: %s, want %s", f.Cell(), f.Action, want)
		}
	}
	if !p.Counts(flow.Restricted) || p.Counts(flow.Confidential) || !p.SessionCounts(flow.External) ||
		p.SessionCounts(flow.Exec) {
		t.Error("what of a session counts is not what the default matrix stops")
	}
}

func sources(t *testing.T, list ...flow.Source) flow.Sources {
	t.Helper()
	if errs := flow.SourceFaults("sources", list); errs != nil {
		t.Fatal(errs)
	}
	return flow.CompileSources("", list)
}

func TestPaths(t *testing.T) {
	s := sources(t,
		flow.Source{Label: flow.Confidential, Paths: []string{"~/clients/**", "/srv/*/reports", "**/payroll/**/*.csv"}},
		flow.Source{Label: flow.Restricted, Basenames: []string{"*.ovpn", "Contract-?.pdf"},
			Paths: []string{"~/clients/acme/keys"}},
	)
	for p, want := range map[string]flow.Label{
		"/home/ada/clients/a.txt":         flow.Confidential,
		"/home/ada/clients":               flow.Restricted,
		"/home/ada":                       flow.Restricted, // who reads it all reads that
		"/home":                           flow.Restricted,
		"/home/ada/clients-old/a.txt":     flow.Public,
		"/home/bob/clients/a.txt":         flow.Public,
		"~/clients/a.txt":                 flow.Confidential,
		"/HOME/Ada/Clients/A.TXT":         flow.Confidential,
		"/home/ada/clients/acme/keys/k":   flow.Restricted,
		"/srv/x/reports/2026":             flow.Confidential,
		"/srv/x/y/reports":                flow.Public,
		"/a/payroll/b.csv":                flow.Confidential,
		"/a/payroll/2026/11/b.csv":        flow.Confidential,
		"/a/xpayroll/b.csv":               flow.Public,
		"/a/payroll/b.txt":                flow.Public,
		"/x/office.ovpn":                  flow.Restricted,
		"/x/office.ovpn.txt":              flow.Public,
		"contract-1.pdf":                  flow.Restricted,
		"/home/ada/cl*/a.txt":             flow.Confidential,
		"/home/ada/{clients,x}/a.txt":     flow.Confidential,
		"/home/ada/{x,{clients,y}}/a.txt": flow.Confidential,
		"/home/ada/[abc]lients/a.txt":     flow.Confidential,
		"/home/ada/\x00/acme/keys":        flow.Restricted,
		"/home/\x00.ovpn":                 flow.Restricted,
		"/x/office.o???":                  flow.Restricted,
		"/x/*.txt":                        flow.Public,
		"\x00":                            flow.Public, // nothing is known of it
		"/*":                              flow.Public,
		"/etc/hosts":                      flow.Public,
		"":                                flow.Public,
	} {
		if got := s.Path(p, "/home/ada"); got != want {
			t.Errorf("%q is %s, want %s", p, got, want)
		}
	}
	if got := s.Path("/home/bob/clients/a.txt", ""); got != flow.Confidential {
		t.Errorf("without a home, any home's folder has to count, and it is %s", got)
	}
	if got := s.Path("/"+strings.Repeat("x/", 4000)+"office.ovpn", ""); got != flow.Restricted {
		t.Errorf("a path that is too long hides its label: %s", got)
	}
	below := flow.CompileSources("/home/ada/shop", []flow.Source{{Label: flow.Confidential, Paths: []string{"data/**"}}})
	if below.Path("/home/ada/shop/data/a", "") != flow.Confidential || below.Path("/home/ada/data/a", "") != flow.Public {
		t.Error("a pattern of a project does not lie below its root")
	}
}

func TestHosts(t *testing.T) {
	s := sources(t, flow.Source{Label: flow.Confidential, Hosts: []string{"wiki.corp.example", "*.intra.example"}})
	for host, want := range map[string]flow.Label{
		"wiki.corp.example": flow.Confidential, "WIKI.corp.example.": flow.Confidential, "x.wiki.corp.example": flow.Public,
		"a.b.intra.example": flow.Confidential,
		"intra.example":     flow.Confidential, "xintra.example": flow.Public, "": flow.Public,
		"docs.\x00": flow.Confidential,
	} {
		if got := s.Host(host); got != want {
			t.Errorf("%q is %s, want %s", host, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	for text, list := range map[string][]flow.Source{
		"names nothing":      {{Label: flow.Critical}},
		"begins nowhere":     {{Paths: []string{"clients/**"}}},
		"every file: name a": {{Paths: []string{"/**"}}},
		"not a clean path":   {{Paths: []string{"/a/../b"}}},
		"has a slash":        {{Basenames: []string{"a/b"}}},
		"every file: name s": {{Basenames: []string{"*"}}},
		"is no host":         {{Hosts: []string{"https://x.example/"}}},
		"control character":  {{Paths: []string{"/a\x01"}}},
		"are patterns":       {{Paths: []string{"/a{b,c}"}}},
		"an empty pattern":   {{Paths: []string{""}}},
		"at most 256":        {{Paths: []string{"/" + strings.Repeat("a", 300)}}},
		"more than 3 times":  {{Paths: []string{"**/a/**/b/**/c/**/d"}}},
		"compared with all":  slices.Repeat([]flow.Source{{Basenames: []string{"a"}}}, 65),
	} {
		errs := flow.SourceFaults("flow.sources", list)
		if len(errs) == 0 || !strings.Contains(errs[0].Error(), text) || !strings.HasPrefix(errs[0].Error(), "flow.sources") {
			t.Errorf("want an error with %q: %v", text, errs)
		}
	}
	c := flow.DefaultConfig()
	c.Matrix.Data.Critical.External = flow.Allow
	c.Session = time.Second
	errs := c.Faults()
	if len(errs) != 2 ||
		!strings.Contains(errs[1].Error(),
			"flow.matrix.data.critical.external is allow, and that of the lower label restricted is block") {
		t.Errorf("a higher label that is milder: %v", errs)
	}
	if _, err := flow.Compile(c); err == nil {
		t.Error("a configuration with faults became a policy")
	}
}

func TestLoosens(t *testing.T) {
	base := flow.DefaultConfig()
	base.Mode, base.Sources = flow.Enforce,
		[]flow.Source{{Label: flow.Restricted, Paths: []string{"/a/**"}, Basenames: []string{"b"},
			Hosts: []string{"c.example"}}}
	for name, c := range map[string]struct {
		change func(*flow.Config)
		why    string // empty: it does not loosen
	}{
		"nothing": {func(*flow.Config) {}, ""},
		"audit":   {func(c *flow.Config) { c.Mode = flow.Audit }, "the mode is audit instead of enforce"},
		"off":     {func(c *flow.Config) { c.Mode = flow.Off }, "the mode is off instead of enforce"},
		"shorter": {func(c *flow.Config) { c.Session = time.Hour }, "counts for 1h0m0s instead of 12h0m0s"},
		"longer":  {func(c *flow.Config) { c.Session = 24 * time.Hour }, ""},
		"milder cell": {func(c *flow.Config) { c.Matrix.Data.Confidential.External = flow.Allow },
			"matrix.data.confidential.external is allow instead of escalate"},
		"milder session": {func(c *flow.Config) { c.Matrix.Session.Critical.Memory = flow.Allow },
			"matrix.session.critical.memory"},
		"stricter cell":    {func(c *flow.Config) { c.Matrix.Data.Confidential.External = flow.Block }, ""},
		"no sources":       {func(c *flow.Config) { c.Sources = nil }, "/a/** is no longer a source of restricted data"},
		"one pattern less": {func(c *flow.Config) { c.Sources[0].Hosts = nil }, "c.example is no longer"},
		"a lower label": {func(c *flow.Config) { c.Sources[0].Label = flow.Internal },
			"b is no longer a source of restricted"},
		"a higher label": {func(c *flow.Config) { c.Sources[0].Label = flow.Critical }, ""},
		"one more": {func(c *flow.Config) { c.Sources = append(c.Sources, flow.Source{Basenames: []string{"x"}}) },
			""},
	} {
		next := base
		next.Sources = slices.Clone(base.Sources)
		c.change(&next)
		why := strings.Join(base.Loosens(next), "; ")
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
	text := base.Text()
	back, err := flow.ParseText(text)
	if err != nil || back.Version() != base.Version() || base.Version() == "" || len(base.Loosens(back)) > 0 {
		t.Errorf("the text does not come back: %v", err)
	}
	if _, err := flow.ParseText([]byte(`{"mode":"off"}`)); err == nil {
		t.Error("a text without a session is read")
	}
}

// Raising a label, or adding a source, never makes anything milder, whatever matrix
// the configuration has.
func TestNothingOpensByTightening(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	action := func() flow.Action { return flow.Action(r.IntN(3)) }
	row := func() flow.Row {
		return flow.Row{External: action(), Exec: action(), Memory: action(), WorkspaceWrite: action(), Read: action()}
	}
	patterns := []string{"/a/**", "~/b/*", "**/c", "/a/b?", "**/*.x", "/a/*/c"}
	paths := []string{"/a/b", "/a/b/c", "/h/b/c", "/x/c", "/a/q.x", "/a/*", "/a/\x00/c", "/h", "/a/{b,c}", "/z"}
	compiled := 0
	for range 20_000 {
		m := func() flow.Matrix {
			return flow.Matrix{Critical: row(), Restricted: row(), Confidential: row(), Internal: row(), Public: row()}
		}
		c := flow.Config{Session: time.Hour, Matrix: flow.Matrices{Data: m(), Session: m()}}
		if r.IntN(4) > 0 { // else next to none is allowed
			c.Matrix.Data, c.Matrix.Session = flow.DefaultData(), flow.DefaultSession()
			c.Matrix.Data.Confidential.External, c.Matrix.Session.Confidential.Memory = action(), action()
		}
		for range r.IntN(3) {
			c.Sources = append(c.Sources,
				flow.Source{Label: flow.Label(r.IntN(5)), Paths: []string{patterns[r.IntN(len(patterns))]}})
		}
		p, err := flow.Compile(c)
		if err != nil {
			continue
		}
		compiled++
		more := c
		more.Sources = append(slices.Clone(c.Sources),
			flow.Source{Label: flow.Label(r.IntN(5)), Paths: []string{patterns[r.IntN(len(patterns))]}})
		q, err := flow.Compile(more)
		if err != nil || len(c.Loosens(more)) > 0 {
			t.Fatalf("one more source: %v, loosens: %v", err, c.Loosens(more))
		}
		for _, path := range paths {
			was, now := p.Sources().Path(path, "/h"), q.Sources().Path(path, "/h")
			for _, s := range allSinks {
				for _, b := range bases {
					if q.Judge(now, s, b).Action > p.Judge(was, s, b).Action {
						t.Fatalf("one more source makes %q milder at %s: %s to %s", path, s, was, now)
					}
					for l := flow.Critical; l < flow.Public; l++ {
						if p.Judge(l, s, b).Action > p.Judge(l+1, s, b).Action {
							t.Fatalf("%s is milder at %s than %s", l, s, l+1)
						}
					}
				}
			}
		}
	}
	if compiled < 1000 {
		t.Errorf("only %d configurations were tried", compiled)
	}
}

// What a pattern of a source is compared with never stops the comparison, and a
// path always has the label of a pattern that is the path itself.
func FuzzPath(f *testing.F) {
	for _, seed := range [][2]string{{"~/clients/**", "/home/ada/clients/a"}, {"/a/*/b?", "/a/{x,y}/b[12]"},
		{"**/x/**/y", "/\x00/y"}, {"/é*", "/É"}, {"/a", "/a/../b"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, p string) {
		list := []flow.Source{{Label: flow.Restricted, Paths: []string{pattern}}}
		if flow.SourceFaults("sources", list) != nil {
			return
		}
		s := flow.CompileSources("", list)
		one := s.Path(p, "/home/ada")
		more := flow.CompileSources("", append(list, flow.Source{Label: flow.Critical, Basenames: []string{"k*"}}))
		if two := more.Path(p, "/home/ada"); two > one {
			t.Errorf("a source more: %s, before %s", two, one)
		}
		if !strings.ContainsAny(pattern, "*?(") && strings.HasPrefix(pattern, "/") && s.Path(pattern, "") != flow.Restricted {
			t.Errorf("%q is not what it names", pattern)
		}
		if strings.HasSuffix(pattern, "/**") && !strings.ContainsAny(pattern[:len(pattern)-3], "*?(") &&
			strings.HasPrefix(pattern, "/") && s.Path(pattern[:len(pattern)-2]+"x", "") != flow.Restricted {
			t.Errorf("%q does not have what is below it", pattern)
		}
	})
}

func FuzzParseText(f *testing.F) {
	f.Add(flow.DefaultConfig().Text())
	f.Add([]byte(`{"mode":"enforce","session":3600000000000,"sources":[{"label":"critical","paths":["~/x"]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := flow.ParseText(text)
		if err != nil {
			return
		}
		back, err := flow.ParseText(c.Text())
		if err != nil || back.Version() != c.Version() || len(c.Loosens(back)) > 0 {
			t.Errorf("it does not come back: %v", err)
		}
	})
}
