package shell

// longList is from how many words on a list is kept to be added to.
const longList = 16

// begins reports whether words begin with a list.
func begins(words []field, list []data) bool {
	for i := range list {
		if words[i].data != list[i] {
			return false
		}
	}
	return true
}
