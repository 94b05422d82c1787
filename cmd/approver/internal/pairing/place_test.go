package pairing

import (
	"os"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
)

// newcomers are somebody who was just paired on each platform.
var newcomers = map[string]struct {
	who   approver.Paired
	fresh []string
}{
	"telegram": {approver.Paired{ID: "10042", Name: "Ada", Chat: "10042"}, []string{`token_file: "/t"`}},
	"discord": {approver.Paired{ID: "100000000000000042", Name: "Ada", Chat: "200000000000000001"},
		[]string{`token_file: "/t"`}},
	"slack": {approver.Paired{ID: "U0123456789", Name: "Ada", Chat: "C0123456789"},
		[]string{`bot_token_file: "/t"`, `app_token_file: "/u"`}},
}

// pairedOn is what pairing adds on a platform.
func pairedOn(t *testing.T, name string) pairing {
	t.Helper()
	for _, ch := range (configs.Channels{}).AllPlatforms() {
		if ch.Name == name {
			at := ch.ChannelSection.(configs.PlatformSection).Platform()
			p := flags{}.added(at, newcomers[name].who)
			p.channel, p.heading, p.fresh = name, at.Heading, newcomers[name].fresh
			return p
		}
	}
	t.Fatalf("there is no platform %s", name)
	return pairing{}
}

// above returns the comment lines right over a channel's section.
func above(text, channel string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	at := slices.Index(lines, "  "+channel+":")
	if at < 0 {
		at = slices.Index(lines, "    "+channel+":")
	}
	from := at
	for from > 0 && isComment(lines[from-1]) {
		from--
	}
	return strings.Join(lines[max(from, 0):max(at, 0)], "\n")
}

// The story: a newcomer took docs/config.md's YAML as the configuration, or wrote one by hand, and
// paired. The new section stands under the comments that explain it, every line of theirs is still
// there in its order, and a second time nothing changes.
func TestTheSectionStandsUnderItsComment(t *testing.T) {
	manual, err := os.ReadFile("../../../../configs/approver.default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const terminal = "  # approver watch on this machine\n  terminal:\n    approvers: [{id: \"0\"}]\n"
	example := map[string]string{
		"telegram": "#telegram:", "discord": "#discord:", "slack": "#slack:",
	}
	for name := range newcomers {
		own := "  " + example[name] + "\n    # The bot's token.\n    #token_file: t\n"
		for what, c := range map[string]struct{ text, over, under string }{
			"the manual":      {string(manual), "  " + example[name], ""},
			"the manual live": {strings.Replace(string(manual), "#channels:\n", "channels:\n", 1), "  " + example[name], ""},
			"the manual and a terminal": {strings.Replace(strings.Replace(string(manual), "#channels:\n", "channels:\n", 1),
				"  #terminal:\n", "  terminal:\n    approvers: [{id: \"0\"}]\n", 1), "  " + example[name], ""},
			"no channels":       {"channels:\n", "written by approver pair", ""},
			"nothing":           {"", "written by approver pair", ""},
			"as init writes it": {"channels:\n" + terminal, "written by approver pair", "approver watch on this machine"},
			"others, with the example": {"channels:\n" + terminal + own, example[name],
				"approver watch on this machine"},
			"the example first":             {"channels:\n" + own + terminal, example[name], "approver watch on this machine"},
			"the example first, no content": {"channels:\n" + own, example[name], ""},
			"the example at the left edge": {"channels:\n# " + name + ":\n#   token_file: t\n" + terminal, "# " + name + ":",
				"approver watch on this machine"},
			"deeper": {"channels:\n    " + example[name] + "\n        #token_file: t\n    terminal:\n        " +
				"approvers: [{id: \"0\"}]\n", example[name], ""},
			"the example inside another section": {"channels:\n  terminal:\n" + own + "    approvers: [{id: \"0\"}]\n",
				"written by approver pair", ""},
			"a commented channels without an example": {"#channels:\nttl: 90s\n", "written by approver pair", ""},
			"settings behind":                         {"channels:\n" + own + "\n\n# mine\nttl: 90s\n", example[name], ""},
		} {
			forms := map[string]string{"": c.text, " CRLF": strings.ReplaceAll(c.text, "\n", "\r\n"),
				" unended": strings.TrimRight(c.text, "\n"), " spaced": c.text + "\n\n"}
			for form, text := range forms {
				t.Run(name+" "+what+form, func(t *testing.T) { added(t, name, text, c.over, c.under) })
			}
		}
	}
}

// added asserts what pairing on a platform makes of a text.
func added(t *testing.T, name, text, over, under string) {
	p := pairedOn(t, name)
	next, diff, err := p.into([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := string(next)
	cfg, err := configs.Parse("/etc/x/approver.yaml",
		append([]byte("dir: /d\nsockets: {submit: /s, resolve: /r}\n"), next...))
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	for _, ch := range cfg.Channels.InUse() {
		if ch.Name == name && (len(ch.People()) != 1 || len(ch.Destinations()) != 1) {
			t.Errorf("it is read as %+v", ch)
		}
	}
	if head := above(got, name); !strings.Contains(head, over) || under != "" && strings.Contains(head, under) {
		t.Errorf("over the section stands %q, want %q\n%s", head, over, got)
	}
	if explained := !strings.HasPrefix(over, "written"); explained == strings.Contains(got, "written by approver pair") {
		t.Errorf("the section has two headings, or none:\n%s", got)
	}
	rest := got
	for line := range strings.Lines(text) { // each in its order
		line = strings.TrimRight(line, "\r\n")
		at := strings.Index(rest, line)
		if at < 0 {
			t.Fatalf("%q is gone:\n%s", line, got)
		}
		rest = rest[at+len(line):]
	}
	if n := strings.Count(text, "\r\n"); n > 0 && strings.Count(got, "\n") != strings.Count(got, "\r\n") {
		t.Errorf("line breaks are mixed: %q", got)
	}
	for _, line := range diff {
		if strings.HasPrefix(line, "-") && !slices.Contains(diff, "+"+line[1:]) {
			t.Errorf("the diff takes away %q", line)
		}
	}
	again, diff, err := p.into(next)
	if err != nil || string(again) != got || len(diff) != 0 {
		t.Errorf("a second time: %v, %q\n%s", err, diff, again)
	}
}
