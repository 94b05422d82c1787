package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// fewer makes the parameters that set gets without what is not known of its words one
// more possibility.
func (pm *parameters) fewer(args []field) {
	some := false
	for i := range args {
		some = some || args[i].hollow && !args[i].known()
	}
	if !some {
		return
	}
	params := make([]data, 0, len(args))
	ended := false
	for i := range args {
		f := &args[i]
		text := f.text
		if !f.known() {
			text = strings.ReplaceAll(text, effect.Unknown, "")
		}
		switch {
		case text == "" && !f.known() && f.splits, !ended && strings.HasPrefix(text, "-") && text != "--":
		case !ended && text == "--":
			ended = true
		default:
			ended = true
			params = append(params, data{text, f.taint})
		}
	}
	if len(params) == 0 {
		params = nil
	}
	pm.others = [][]data{pm.params, params}
	pm.in.readings.partings++
}

// openParams reports whether the positional parameters are not known: those of
// the script itself are those that it was called with.
func (pm *parameters) openParams() bool {
	return pm.params == nil && pm.others == nil && len(pm.in.def.active) == 0
}

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
