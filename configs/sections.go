package configs

import (
	"iter"
	"reflect"
)

// sections returns the sections of a group that are set, in the order of its fields: those
// that are pointers, by their keys.
func sections[S any](group any) iter.Seq2[string, S] {
	return func(yield func(string, S) bool) {
		for key, field := range pointers(group) {
			if !field.IsNil() && !yield(key, field.Interface().(S)) {
				return
			}
		}
	}
}

// own makes what a group points to its own.
func own(group any) {
	for _, field := range pointers(group) {
		if !field.IsNil() {
			own := reflect.New(field.Type().Elem())
			own.Elem().Set(field.Elem())
			field.Set(own)
		}
	}
}

// fill makes what a group points to its own, and sets what it leaves out to an empty section.
func fill(group any) {
	own(group)
	for _, field := range pointers(group) {
		if field.IsNil() {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
}

// pointers returns the fields of a group that are pointers, by their keys.
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
