package shell

import "slices"

// joinParams makes what a branch set the parameters to one more possibility.
func (pm *parameters) joinParams(params []data, others [][]data) {
	all := slices.Clone(pm.others)
	if all == nil {
		all = append(all, pm.params)
	}
	if others == nil {
		others = append(others, params)
	}
	for _, list := range others {
		if !slices.ContainsFunc(all, func(have []data) bool { return slices.Equal(have, list) && (have == nil) == (list == nil) }) {
			all = append(all, list)
		}
	}
	if len(all) > pm.in.rep.lim.Alternatives {
		if !pm.in.readings.lean {
			pm.in.rep.over(overAlternatives)
		}
		return
	}
	if len(all) > 1 {
		pm.others = all
		pm.in.readings.partings++
	}
}

// setPositional sets the positional parameters.
func (pm *parameters) setPositional(list []data) {
	pm.in.rep.steps += len(list) / 8 // each was copied
	pm.params, pm.others = list, nil
}

// longList is from how many words on a list is kept to be added to.
const longList = 16

// listOf is the list of what words are. A list that only adds to an earlier one shares its
// memory, as in set -- "$@" more: else that takes the square of it. What is shared does not
// change: behind the end of a kept list nobody else has anything.
func (pm *parameters) listOf(words []field) []data {
	for i := range pm.grown {
		g := &pm.grown[i]
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
		pm.grown[pm.oldest] = list
		pm.oldest = (pm.oldest + 1) % len(pm.grown)
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
func (pm *parameters) positional() []data {
	if pm.others != nil {
		n := pm.in.alt.pick("@", len(pm.others))
		if pm.in.readings.first { // the first that is known changes places with the first
			known := slices.IndexFunc(pm.others, func(list []data) bool {
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
		return pm.others[n]
	}
	return pm.params
}
