package configs

import (
	"iter"
	"reflect"
)

// sections returns the sections of a group that are set, with their YAML keys, in the order of
// the fields. group is a pointer to a struct, and its pointer fields are the sections.
func sections[S any](group any) iter.Seq2[string, S] {
	return func(yield func(string, S) bool) {
		for key, field := range pointers(group) {
			if !field.IsNil() && !yield(key, field.Interface().(S)) {
				return
			}
		}
	}
}

// own replaces each section of a group with a copy, so that the group can be changed.
func own(group any) {
	for _, field := range pointers(group) {
		if !field.IsNil() {
			own := reflect.New(field.Type().Elem())
			own.Elem().Set(field.Elem())
			field.Set(own)
		}
	}
}

// fill is own, and also sets each missing section to an empty one.
func fill(group any) {
	own(group)
	for _, field := range pointers(group) {
		if field.IsNil() {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
}

// pointers returns the pointer fields of a group, with their YAML keys.
func pointers(group any) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		all := reflect.ValueOf(group).Elem()
		for i := range all.NumField() {
			if field := all.Field(i); field.Kind() == reflect.Pointer && !yield(all.Type().Field(i).Tag.Get("yaml"), field) {
				return
			}
		}
	}
}
