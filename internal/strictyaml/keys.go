package strictyaml

import (
	"reflect"
	"strings"
)

type field struct {
	name  string
	index []int
}

// fieldsOf lists the fields of a struct that a file can set, also embedded and inline ones.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if name == "-" || !sf.IsExported() {
			continue
		}
		if sf.Type.Kind() == reflect.Struct && (sf.Anonymous && name == "" || strings.Contains(options, "inline")) {
			for _, in := range fieldsOf(sf.Type) {
				out = append(out, field{in.name, append([]int{i}, in.index...)})
			}
			continue
		}
		if name == "" {
			name = strings.ToLower(sf.Name)
		}
		out = append(out, field{name, []int{i}})
	}
	return out
}

// Keys lists the path of every key that a file for the struct type t may have, in the order of the
// fields. Elements of lists are written as "chats[]", and free keys of maps as "env.*".
func Keys(t reflect.Type) []string { return keys("", t) }

func keys(path string, t reflect.Type) (out []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == durationType, reflect.PointerTo(t).Implements(textType):
	case t.Kind() == reflect.Slice:
		return keys(path+"[]", t.Elem())
	case t.Kind() == reflect.Map:
		names := []string{"*"}
		if named, ok := reflect.Zero(t).Interface().(Named); ok {
			names = named.Names()
		}
		for _, name := range names {
			out = append(out, keys(Join(path, name), t.Elem())...)
		}
		return out
	case t.Kind() == reflect.Struct:
		for _, fd := range fieldsOf(t) {
			out = append(out, keys(Join(path, fd.name), t.FieldByIndex(fd.index).Type)...)
		}
		return out
	}
	return []string{strings.TrimSuffix(path, "[]")}
}

// Nearest returns the name that a mistyped word most likely means, or "".
func Nearest(word string, names []string) string {
	best, least := "", max(len(word)/3, 1)+1
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// maxCompared bounds the words that are compared, in bytes.
const maxCompared = 64

// distance returns the number of letters that must be inserted, removed, replaced or swapped with their
// neighbor to make b of a.
func distance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		return max(len(a), len(b))
	}
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
