package shell

import "slices"

// joinParams makes what a branch set the parameters to one more possibility.
func (in *interp) joinParams(params []data, others [][]data) {
	all := slices.Clone(in.others)
	if all == nil {
		all = append(all, in.params)
	}
	if others == nil {
		others = append(others, params)
	}
	for _, list := range others {
		if !slices.ContainsFunc(all, func(have []data) bool { return slices.Equal(have, list) && (have == nil) == (list == nil) }) {
			all = append(all, list)
		}
	}
	if len(all) > in.rep.lim.Alternatives {
		if !in.lean {
			in.rep.over(overAlternatives)
		}
		return
	}
	if len(all) > 1 {
		in.others = all
		in.partings++
	}
}

// setPositional sets the positional parameters.
func (in *interp) setPositional(list []data) {
	in.rep.steps += len(list) / 8 // each was copied
	in.params, in.others = list, nil
}

// longList is from how many words on a list is kept to be added to.
const longList = 16

// listOf is the list of what words are. A list that only adds to an earlier one shares its
// memory, as in set -- "$@" more: else that takes the square of it. What is shared does not
// change: behind the end of a kept list nobody else has anything.
func (in *interp) listOf(words []field) []data {
	for i := range in.grown {
		g := &in.grown[i]
		if n := len(*g); n > 0 && n < len(words) && begins(words, *g) {
			for j := n; j < len(words); j++ {
				*g = append(*g, words[j].data)
			}
			return slices.Clip(*g)
		}
	}
	list := make([]data, len(words))
	for i := range list {
		list[i] = words[i].data
	}
	if len(list) >= longList {
		in.grown[in.oldest] = list
		in.oldest = (in.oldest + 1) % len(in.grown)
	}
	return slices.Clip(list)
}

// begins reports whether words begin with a list.
func begins(words []field, list []data) bool {
	for i := range list {
		if words[i].data != list[i] {
			return false
		}
	}
	return true
}

// positional are the positional parameters.
func (in *interp) positional() []data {
	if in.others != nil {
		n := in.alt.pick("@", len(in.others))
		if in.first { // the first that is known changes places with the first
			known := slices.IndexFunc(in.others, func(list []data) bool {
				return !slices.ContainsFunc(list, func(d data) bool { return !d.known() })
			})
			switch {
			case known < 1:
			case n == 0:
				n = known
			case n == known:
				n = 0
			}
		}
		return in.others[n]
	}
	return in.params
}
