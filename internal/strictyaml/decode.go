package strictyaml

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Decode reads the file into the struct that into points to. Fields that the file does not name keep
// their values. Fields are named by their yaml tags. Everything that does not fit is a problem; see
// [File.Err]. A nil pointer to a struct is allocated if the file has its key.
//
// A string field also accepts a whole number, as it is written, because ids are often written without
// quotes. Durations are written like 90s or 2m30s.
func (f *File) Decode(into any) {
	if f.root == nil {
		return
	}
	f.value("", f.root, reflect.ValueOf(into).Elem())
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (f *File) value(path string, n ast.Node, v reflect.Value) {
	if strings.Count(path, ".")+strings.Count(path, "[") > maxDepth {
		f.fail(path, fmt.Sprintf("nested more than %d levels deep: nothing here needs that", maxDepth))
		return
	}
	if _, null := n.(*ast.NullNode); null {
		f.failKey(path, label(path)+" has no value: fill it in or remove the line")
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	switch {
	case v.Type() == durationType:
		f.duration(path, n, v)
	case v.CanAddr() && v.Addr().Type().Implements(textType):
		f.text(path, n, v)
	case v.Kind() == reflect.Struct:
		f.mapping(path, n, v)
	case v.Kind() == reflect.Slice:
		f.list(path, n, v)
	case v.Kind() == reflect.Map:
		f.table(path, n, v)
	default:
		f.scalar(path, n, v)
	}
}

func (f *File) duration(path string, n ast.Node, v reflect.Value) {
	text, ok := scalarText(n)
	d, err := time.ParseDuration(text)
	if !ok || err != nil {
		f.fail(path, label(path)+" must be a duration: write it like 90s or 2m")
		return
	}
	v.SetInt(int64(d))
}

func (f *File) text(path string, n ast.Node, v reflect.Value) {
	text, ok := scalarText(n)
	if !ok {
		f.failKey(path, label(path)+" must be a text, not "+kind(n)+": put it in quotes if that is meant")
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		f.fail(path, label(path)+": "+err.Error())
	}
}

func (f *File) mapping(path string, n ast.Node, v reflect.Value) {
	fields := fieldsOf(v.Type())
	f.entries(path, n, func(key string, value ast.Node) {
		for _, fd := range fields {
			if fd.name == key {
				f.value(Join(path, key), value, v.FieldByIndex(fd.index))
				return
			}
		}
		names := make([]string, len(fields))
		for i, fd := range fields {
			names[i] = fd.name
		}
		f.reportUnknown(Join(path, key), key, names)
	})
}

// A Named is a map that takes these keys and no others.
type Named interface{ Names() []string }

// table reads a mapping with free keys, or with those of a [Named].
func (f *File) table(path string, n ast.Node, v reflect.Value) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	named, _ := v.Interface().(Named)
	f.entries(path, n, func(key string, value ast.Node) {
		if named != nil && !slices.Contains(named.Names(), key) {
			f.reportUnknown(Join(path, key), key, named.Names())
			return
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		f.value(Join(path, key), value, elem)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), elem)
	})
}

// entries calls each for every key of a mapping, but not for one that is repeated.
func (f *File) entries(path string, n ast.Node, each func(key string, value ast.Node)) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		f.fail(path, label(path)+" must be a group of \"key: value\" lines, not "+kind(n))
		return
	}
	seen := map[string]*token.Position{}
	for _, entry := range values {
		tk := entry.Key.GetToken()
		key := tk.Value
		if first, again := seen[key]; again {
			f.addKey(tk.Position, key, fmt.Sprintf("key %q is already given in line %d: keep one", key, first.Line))
			continue
		}
		seen[key] = tk.Position
		f.places[Join(path, key)] = place{key: tk.Position, value: start(entry.Value)}
		each(key, entry.Value)
	}
}

func (f *File) list(path string, n ast.Node, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		f.fail(path, label(path)+" must be a list, not "+kind(n)+": write it like [a, b]")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, value := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		pos := start(value)
		f.places[at] = place{key: pos, value: pos}
		f.value(at, value, v.Index(i))
	}
}

func (f *File) scalar(path string, n ast.Node, v reflect.Value) {
	text, ok := scalarText(n)
	var err error
	switch v.Kind() {
	case reflect.String:
		if !ok {
			f.fail(path, label(path)+" must be a text, not "+kind(n)+": put it in quotes if that is meant")
			return
		}
		v.SetString(text)
	case reflect.Bool:
		b, is := n.(*ast.BoolNode)
		if !is {
			f.fail(path, label(path)+" must be true or false, not "+kind(n))
			return
		}
		v.SetBool(b.Value)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var i int64
		if i, err = strconv.ParseInt(text, 10, v.Type().Bits()); err == nil {
			v.SetInt(i)
		}
		f.checkNumber(path, n, err)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var i uint64
		if i, err = strconv.ParseUint(text, 10, v.Type().Bits()); err == nil {
			v.SetUint(i)
		}
		f.checkNumber(path, n, err)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(n.GetToken().Value, v.Type().Bits())
		if err != nil {
			f.fail(path, label(path)+" must be a number, not "+kind(n))
			return
		}
		v.SetFloat(x)
	default:
		// Only a mistake in our own structs leads here. It must not look like a value that was read.
		f.fail(path, label(path)+" cannot be set in a file")
	}
}

func (f *File) checkNumber(path string, n ast.Node, err error) {
	if _, is := n.(*ast.IntegerNode); !is {
		f.fail(path, label(path)+" must be a whole number, not "+kind(n))
	} else if err != nil {
		f.fail(path, label(path)+" must be a plain decimal number within its range")
	}
}

func (f *File) fail(path, text string) {
	f.unread[path] = true
	f.Report(path, text)
}

func (f *File) failKey(path, text string) {
	f.unread[path] = true
	f.ReportKey(path, text)
}

func (f *File) reportUnknown(path, key string, names []string) {
	text := fmt.Sprintf("unknown key %q: the keys here are %s", key, strings.Join(names, ", "))
	if near := Nearest(key, names); near != "" {
		text = fmt.Sprintf("unknown key %q: did you mean %q?", key, near)
	}
	f.addKey(f.places[path].key, key, text)
}

// scalarText returns a scalar as it was written: a text without its quotes, or the digits of a whole
// number.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// start returns the position at which a value begins.
func start(n ast.Node) *token.Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 { // the token of a block mapping is its first colon
			return start(n.Values[0])
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken().Position
	}
	return n.GetToken().Position
}

func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	}
	return "this"
}

// label returns the name of a value in a problem.
func label(path string) string {
	if path == "" {
		return "the file"
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// Join appends a key to a path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
