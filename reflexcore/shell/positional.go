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
	if len(all) > in.lim.Alternatives {
		if !in.lean {
			in.over(overAlternatives)
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
	in.steps += len(list) / 8 // each was copied
	in.params, in.others = list, nil
}

// positional are the positional parameters.
func (in *interp) positional() []data {
	if in.others != nil {
		n := in.pick("@", len(in.others))
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
