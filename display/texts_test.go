package display

import (
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/language"
)

// of reads a catalog with these texts.
func of(t *testing.T, texts string) Texts {
	t.Helper()
	data := `{"language": "de", "name": "Deutsch", "reviewed": true, "texts": {` + texts + `}}`
	c, err := (&catalogFile{name: "de.json", data: []byte(data)}).read(true)
	if err != nil {
		t.Fatal(err)
	}
	return Texts{c}
}

func TestALanguageIsFoundByItsTag(t *testing.T) {
	for tag, want := range map[string]string{
		"": "Deny", "en": "Deny", "en-GB": "Deny", "de": "Ablehnen", "de-AT": "Ablehnen", "de_CH": "Ablehnen",
		"DE": "Ablehnen",
	} {
		texts, err := In(tag)
		if got := texts.Text("Deny"); err != nil || got != want {
			t.Errorf("%q says %q, %v; want %q", tag, got, err, want)
		}
	}
	for _, tag := range []string{"xx", "ja", "nl", "ca", "english", "de-", "German", "und"} {
		_, err := In(tag)
		if err == nil || !strings.Contains(err.Error(), "en (English)") || !strings.Contains(err.Error(), "de (Deutsch)") {
			t.Errorf("%q: the error does not list the languages: %v", tag, err)
		}
	}
}

func TestTheLanguagesAreListed(t *testing.T) {
	got := Languages()
	if got[0] != (Language{"en", "English", true}) {
		t.Errorf("the first language is %v", got[0])
	}
	for _, l := range got {
		if _, err := In(l.Tag); err != nil {
			t.Errorf("%s cannot be read: %v", l.Tag, err)
		}
	}
}

func TestWhatIsSaid(t *testing.T) {
	german := of(t, `"Force-push %s": "Force-Push nach %s", "Move %s to %s": "Nach %[2]s kommt %[1]s",
		"plain": "schlicht", "deletes a volume": "löscht ein Volume"`)
	hidden := "⟨U+202E⟩"
	for _, c := range []struct {
		texts Texts
		p     Phrase
		want  string
	}{
		{german, Phrase{}, ""},
		{german, Phrase{Text: "plain"}, "schlicht"},
		{german, Phrase{Text: "Force-push %s", Args: []string{"main"}}, "Force-Push nach main"},
		{german, Phrase{Text: "Move %s to %s", Args: []string{"a", "b"}}, "Nach b kommt a"},
		{german, Phrase{Text: "Drop %s", Args: []string{"main"}}, "Drop main"},
		{Texts{}, Phrase{Text: "Force-push %s", Args: []string{"main"}}, "Force-push main"},
		{german, Phrase{Text: "Force-push %s", Own: []string{"deletes a volume"}}, "Force-Push nach löscht ein Volume"},
		{german, Phrase{Text: "Move %s to %s", Args: []string{"a"}, Own: []string{"deletes a volume"}},
			"Nach löscht ein Volume kommt a"},
		{Texts{}, Phrase{Text: "Force-push %s", Own: []string{"deletes a volume"}}, "Force-push deletes a volume"},
		// the agent's words, also if they are a text of approver's
		{german, Phrase{Text: "Force-push %s", Args: []string{"deletes a volume"}}, "Force-Push nach deletes a volume"},
		{german, Phrase{Text: "Force-push %s", Args: []string{"plain"}}, "Force-Push nach plain"},
		{german, Phrase{Text: "Force-push %s", Args: []string{"Move %s to %s"}}, "Force-Push nach Move %s to %s"},
		{german, Phrase{Text: "Force-push %s", Args: []string{"a\nb\u202e"}}, "Force-Push nach a ⏎ b" + hidden},
		{german, Phrase{Text: "Force-push %s", Args: []string{"%s %[2]d"}}, "Force-Push nach %s %[2]d"},
		// a rule of somebody's own
		{german, Phrase{Text: "100% sure\u202e\n"}, "100% sure" + hidden + " ⏎ "},
		{german, Phrase{Text: "it sends %d of %v"}, "it sends %d of %v"},
		// arguments that do not fit are not lost
		{german, Phrase{Text: "plain", Args: []string{"one", "two"}}, "schlicht (one, two)"},
		{german, Phrase{Text: "Move %s to %s", Args: []string{"a"}}, "Nach %[2]s kommt %[1]s (a)"},
	} {
		if got := c.texts.Say(c.p); got != c.want {
			t.Errorf("%+v is %q, want %q", c.p, got, c.want)
		}
	}
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	if got := german.Say(Phrase{Text: "Force-push %s", Args: []string{secret}}); strings.Contains(got, secret) {
		t.Errorf("a secret is said: %s", got)
	}
	if got := german.Text("via %s", secret); strings.Contains(got, secret) {
		t.Errorf("a secret is said: %s", got)
	}
}

func TestANumberDecides(t *testing.T) {
	german := of(t, `"%d calls": {"one": "%d Aufruf", "other": "%d Aufrufe"},
		"%s has %s files": {"by": 2, "one": "%s hat %s Datei", "other": "%s hat %s Dateien"}`)
	const wrong = "No request here has that code. A code lives two minutes or as the card says, and works only in the " +
		"conversation that shows it. %d more wrong codes lock you out for %d minutes."
	one, several := Texts{}.Text(wrong, 1, 10), german.Text(wrong, 2, 10) // German here lacks it
	for got, want := range map[string]string{
		one[len(one)-47:]:          "1 more wrong code locks you out for 10 minutes.",
		several[len(several)-47:]:  "2 more wrong codes lock you out for 10 minutes.",
		german.Text("%d calls", 1): "1 Aufruf",
		german.Text("%d calls", 2): "2 Aufrufe",
		german.Text("%d calls", 0): "0 Aufrufe",
		german.Say(Phrase{Text: "%s has %s files", Args: []string{"a", "1"}}):             "a hat 1 Datei",
		german.Say(Phrase{Text: "%s has %s files", Args: []string{"1", "many"}}):          "1 hat many Dateien",
		german.Text("so: %s.", Msg("%d calls", 1)):                                        "so: 1 Aufruf.",
		german.Text("so: %s.", Phrase{Text: "%s has %s files", Args: []string{"„", "1"}}): "so: ⟨U+201E⟩ hat 1 Datei.",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestABrokenCatalogIsRefused(t *testing.T) {
	const head = "{\"language\": \"de\", \"name\": \"Deutsch\", \"reviewed\": true, \"texts\": {\n\n"
	for _, c := range []struct{ data, want string }{
		{head + `"a %s": "b"}}`, `de.json:3: the translation has other verbs than the English text: "b"`},
		{head + `"a %s": "b %d"}}`, "other verbs"},
		{head + `"a %s %s": "b %[2]s"}}`, "other verbs"},
		{head + `"a %s": "b %s %[1]s"}}`, "other verbs"},
		{head + `"a": "100%"}}`, "other verbs"},
		{head + `"a": ""}}`, "de.json:3: the translation is empty"},
		{head + `"a %": "b"}}`, "no plain verb"},
		{head + `"a": 1}}`, "a translation is a text"},
		{head + `"a": "b",` + "\n" + `"a": "c"}}`, `de.json:4: "a" stands here twice`},
		{head + `"%d a": {"one": "%d b"}}}`, `the form "other" is missing`},
		{head + `"%d a": {"one": "b", "other": "%d b"}}}`, "other verbs"},
		{head + `"%d a": {"single": "%d b"}}}`, `no plural form "single"`},
		{head + `"%d a": {"by": 2, "other": "%d b"}}}`, "by names no argument"},
		{head + `"a": "b"}} x`, "something after"},
		{head + `"a": "b"`, "EOF"},
		{`{"texts": {}}`, "must stand before"},
		{`{"language": "de", "name": "Deutsch", "author": "x"}`, `there is no key "author"`},
		{`{"language": "!", "name": "Deutsch"}`, "is no language"},
		{`{"language": "de", "reviewed": "yes"}`, "true or false"},
	} {
		_, err := (&catalogFile{name: "de.json", data: []byte(c.data)}).read(true)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nis refused with %v, want %q", c.data, err, c.want)
		}
	}
	bad := fstest.MapFS{"texts/de.json": {Data: []byte(`{"name": "Deutsch"`)}}
	if _, err := listLanguages(bad); err == nil {
		t.Error("a catalog without a language is listed")
	}
}

// What is said is ours, and stays as it is when it is made safe.
func TestCatalogsAreText(t *testing.T) {
	for _, l := range Languages() {
		texts, err := In(l.Tag)
		if err != nil {
			t.Fatal(err)
		}
		if texts.of == nil {
			continue
		}
		if tag := language.MustParse(l.Tag); texts.of.tag != tag {
			t.Errorf("%s is read as %s", l.Tag, texts.of.tag)
		}
	}
}

// The key of an argument is not to be read as a label of approver's own, whatever language the card is in.
func TestOwnLabelsOfEveryLanguage(t *testing.T) {
	german, err := In("de")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"Path", german.Text("Path"), german.Text("Command")} {
		if got := label(key); got == key {
			t.Errorf("the key %q looks like a label", got)
		}
	}
	for says, want := range map[string]string{"Path": "Pfad", "everything": "everything", "owner": "owner"} {
		if got := german.Label(says); got != want {
			t.Errorf("the label %q is %q", says, got)
		}
	}
	if got := label("owner"); got != "owner" {
		t.Errorf("%q", got)
	}
}
