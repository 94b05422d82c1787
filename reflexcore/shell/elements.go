package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// each applies a function to an array, and to each other array that the variable may be.
func (v *variable) each(do func(*variable)) {
	do(v)
	for i := range v.forms {
		form := &v.forms[i]
		form.list, form.keys = slices.Clone(form.list), slices.Clone(form.keys)
		do(form)
	}
}

// number gives the elements of an array without keys their numbers as keys.
func (v *variable) number() {
	if v.keys == nil {
		v.keys = make([]string, 0, len(v.list)+1)
		for i := range v.list {
			v.keys = append(v.keys, strconv.Itoa(i))
		}
	}
}

// nextIndex is the number after the last one; negative if it is not known.
func (v *variable) nextIndex() int {
	if v.keys == nil {
		return len(v.list)
	}
	if v.unordered() {
		return -1
	}
	if len(v.keys) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(v.keys[len(v.keys)-1])
	return n + 1
}

// resolve is the number of an element; a negative n counts from the end. It is negative if the
// number is not known or out of range.
func (v *variable) resolve(n int64, ok bool) int {
	const most = 1 << 31 // so that each number has one key
	if n < 0 && ok {
		end := v.nextIndex()
		if end < 0 {
			return -1
		}
		n += int64(end)
	}
	if !ok || n < 0 || n > most {
		return -1
	}
	return int(n)
}

// keyOf is the key of the element that an index selects, or unknown.
func (v *variable) keyOf(index string) string {
	if v.assoc {
		return index
	}
	n, err := strconv.ParseInt(index, 10, 64)
	if at := v.resolve(n, err == nil); at >= 0 {
		return strconv.Itoa(at)
	}
	return effect.Unknown
}

// putText assigns to the element of a key that [variable.keyOf] gave.
func (v *variable) putText(key string, d data) {
	if v.assoc {
		v.putKey(key, d)
		return
	}
	n, err := strconv.Atoi(key)
	if err != nil {
		n = -1
	}
	v.put(n, d)
}

// put assigns to an element by its number, which is negative if not known, and returns the next
// number, or -1. Elements are kept in the order of their numbers; those with an unknown number
// come last.
func (v *variable) put(n int, d data) int {
	if v.keys == nil && n >= 0 && n <= len(v.list) {
		if n == len(v.list) {
			v.list = append(v.list, d)
		} else {
			v.list[n] = d
		}
		return n + 1
	}
	v.number()
	if n < 0 {
		v.keys, v.list = append(v.keys, effect.Unknown), append(v.list, d)
		return -1
	}
	i := v.countBelow(n)
	if key := strconv.Itoa(n); i < len(v.keys) && v.keys[i] == key {
		v.list[i] = d
	} else {
		v.keys, v.list = slices.Insert(v.keys, i, key), slices.Insert(v.list, i, d)
	}
	return n + 1
}

// countBelow is how many elements have a lower number.
func (v *variable) countBelow(n int) int {
	if last := len(v.keys) - 1; last >= 0 { // most are assigned in their order
		if k, err := strconv.Atoi(v.keys[last]); err == nil && k < n {
			return last + 1
		}
	}
	i := 0
	for i < len(v.keys) {
		if k, err := strconv.Atoi(v.keys[i]); err != nil || k >= n {
			break
		}
		i++
	}
	return i
}

// position is the index in the list of the first element whose number is n or higher.
func (v *variable) position(n int) int {
	if n = v.resolve(int64(n), true); n < 0 {
		return 0
	}
	return v.countBelow(n)
}

// putKey assigns to an element by its key.
func (v *variable) putKey(key string, d data) {
	if i := slices.Index(v.keys, key); i >= 0 && effect.IsKnown(key) {
		v.list[i] = d
		return
	}
	v.keys, v.list = append(v.keys, key), append(v.list, d)
}

// appendAt appends to an element, as name[key]+=value does.
func (v *variable) appendAt(key string, d data) {
	if v.keys == nil && key == "0" && len(v.list) > 0 {
		v.list[0].add(d)
		return
	}
	v.number()
	if i := slices.Index(v.keys, key); i >= 0 && effect.IsKnown(key) {
		v.list[i].add(d)
		return
	}
	if !effect.IsKnown(key) || v.unordered() && !v.assoc { // the old value may be any
		d = data{effect.Unknown, d.taint | taintOf(v.list)}
	}
	v.putText(key, d)
}

// unordered reports whether the order of the elements is not known.
func (v *variable) unordered() bool {
	if v.assoc {
		return len(v.list) > 1
	}
	return len(v.keys) > 0 && !effect.IsKnown(v.keys[len(v.keys)-1])
}

// sameKeys reports whether the keys of a are the first keys of b, which must not have fewer.
func sameKeys(a, b *variable) bool {
	if a.keys == nil || b.keys == nil {
		return a.keys == nil && b.keys == nil
	}
	return a.assoc == b.assoc && slices.Equal(a.keys, b.keys[:len(a.keys)])
}

// drop removes an element. If it is not known which one, the whole array becomes unknown.
func (v *variable) drop(index string) {
	key := v.keyOf(index)
	if !effect.IsKnown(key) || v.unordered() && !v.assoc {
		*v = variable{name: v.name, data: anyOf(v.list)}
		return
	}
	v.number()
	if i := slices.Index(v.keys, key); i >= 0 {
		v.keys, v.list = slices.Delete(v.keys, i, i+1), slices.Delete(v.list, i, i+1)
	}
}

// elementAt is the element with the number n; ok says whether n is known.
func (v *variable) elementAt(n int64, ok bool) data {
	if !v.array {
		if ok && n == 0 {
			return v.data
		}
		return data{effect.Unknown, v.taint}
	}
	if at := v.resolve(n, ok); at >= 0 {
		if v.keys != nil {
			return v.element(data{text: strconv.Itoa(at)})
		}
		if at < len(v.list) {
			return v.list[at]
		}
		return data{}
	}
	if ok && !v.unordered() { // before the first
		return data{}
	}
	return anyOf(v.list)
}

// element is what an array holds at an index. It is unknown if an assignment at an unknown index
// may have set it.
func (v *variable) element(key data) data {
	if v.keys == nil && key.text == "0" && len(v.list) > 0 && !v.assoc {
		return v.list[0]
	}
	for i := len(v.keys) - 1; i >= 0; i-- {
		if v.keys[i] == key.text && key.known() {
			return v.list[i]
		}
		if !effect.IsKnown(v.keys[i]) {
			return anyOf(v.list)
		}
	}
	if key.known() {
		return data{}
	}
	return anyOf(v.list)
}

// cutIndex splits the name of an element into the array and the index.
func cutIndex(name string) (base, index string, ok bool) {
	i := strings.IndexByte(name, '[')
	if i < 1 || name[len(name)-1] != ']' {
		return "", "", false
	}
	return name[:i], name[i+1 : len(name)-1], true
}

// isTable reports whether a variable is one of the shell's own tables of names.
func isTable(name string) bool { return name == "BASH_CMDS" || name == "BASH_ALIASES" }
