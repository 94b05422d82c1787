package display

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// A Language is one in which approver can speak to people.
type Language struct {
	Tag  string // such as "de"
	Name string // what it calls itself
	// Reviewed says that somebody has read every text. A language that is not reviewed may lack
	// texts; these are English.
	Reviewed bool
}

// In returns the texts of a language that is named by a BCP 47 tag. "de-AT" gives German; the empty
// tag gives English. The error for one that does not exist lists those that do.
func In(lang string) (Texts, error) {
	if lang == "" || lang == "en" {
		return Texts{}, nil
	}
	list, err := languages()
	if err != nil {
		return Texts{}, err
	}
	want, err := language.Parse(lang)
	if err == nil {
		tags := make([]language.Tag, len(list))
		for i, l := range list {
			tags[i] = l.tag
		}
		if _, i, sure := language.NewMatcher(tags).Match(want); sure >= language.High {
			if list[i].Tag == "en" {
				return Texts{}, nil
			}
			of, err := list[i].load()
			return Texts{of}, err
		}
	}
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = fmt.Sprintf("%s (%s)", l.Tag, l.Name)
	}
	return Texts{}, fmt.Errorf("there is no language %q: choose one of %s", lang, strings.Join(names, ", "))
}

// Languages lists the languages: English, and then the others by tag.
func Languages() []Language {
	all, err := languages()
	if err != nil {
		return []Language{{Tag: "en", Name: "English", Reviewed: true}}
	}
	out := make([]Language, len(all))
	for i, l := range all {
		out[i] = l.Language
	}
	return out
}

// A Lang is the tag of a language in a configuration. The zero value chooses none.
type Lang string

// UnmarshalText reads the tag of a language that there is.
func (l *Lang) UnmarshalText(b []byte) error {
	if _, err := In(string(b)); err != nil {
		return err
	}
	*l = Lang(b)
	return nil
}

// Texts returns the texts of the language. No language, and one that does not exist, give English.
func (l Lang) Texts() Texts {
	t, err := In(string(l))
	if err != nil {
		return Texts{}
	}
	return t
}

// files has one catalog for each language. That of English has only the texts in which a number decides.
//
//go:embed texts/*.json
var files embed.FS

// A listed language is one whose texts are not read yet.
type listed struct {
	Language
	tag  language.Tag
	load func() (*catalog, error)
}

var languages = sync.OnceValues(func() ([]listed, error) { return listLanguages(files) })

func listLanguages(files fs.FS) ([]listed, error) {
	names, err := fs.Glob(files, "texts/*.json")
	if err != nil {
		return nil, err
	}
	var list []listed
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		head, err := (&catalogFile{name: name, data: data}).read(false)
		if err != nil {
			return nil, err
		}
		list = append(list, listed{head.Language, head.tag, sync.OnceValues(func() (*catalog, error) {
			return (&catalogFile{name: name, data: data}).read(true)
		})})
	}
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.Tag, b.Tag) })
	english := slices.IndexFunc(list, func(l listed) bool { return l.Tag == "en" })
	if english < 0 {
		return nil, errors.New("there is no catalog of English")
	}
	first := list[english]
	list = slices.Insert(slices.Delete(list, english, english+1), 0, first)
	return list, nil
}

var englishForms = sync.OnceValue(func() *catalog {
	data, err := files.ReadFile("texts/en.json")
	if err != nil {
		return &catalog{}
	}
	of, err := (&catalogFile{name: "texts/en.json", data: data}).read(true)
	if err != nil {
		return &catalog{} // a test reads it
	}
	return of
})

// A catalog has the texts of one language by their English ones.
type catalog struct {
	Language
	tag   language.Tag
	texts map[string]translation
}

// A translation is one text of a language.
type translation struct {
	text  string // for every number, or for those that have no form of their own
	forms map[plural.Form]string
	by    int // the argument that is the number
}
