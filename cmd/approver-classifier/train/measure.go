package main

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"approver.example/shieldcore/classifier"
)

// attackFolds are groups of attacks that are held out together, and benignFolds groups
// of benign texts. Each attack fold is measured with each benign fold, by a model that was
// trained on neither.
var (
	attackFolds = [][]string{{"bipia"}, {"garak", "tbpl"}}
	benignFolds = [][]string{{"go", "tau", "tbpl"}, {"debian", "codealpaca"}, {"awesome", "fastchat", "bipia"},
		{"t0", "gsm8k", "shell"}}
)

// A scored text counts as weight texts: attacks are scored once for each fold of
// benign texts.
type scored struct {
	*text
	value, weight float64
}

func score(w *classifier.Weights, texts []*text, weight float64) ([]scored, error) {
	if w.Default == 0 {
		w.Default, w.Strict = 0.5, 0.5 // for a model whose thresholds are yet to be found
	}
	m, err := classifier.New(w)
	if err != nil {
		return nil, err
	}
	var out []scored
	for _, t := range texts {
		s, err := m.Score(t.raw)
		if err != nil {
			return nil, err
		}
		out = append(out, scored{t, s.Value, weight})
	}
	return out, nil
}

// inGroups reports a text of one of the groups.
func inGroups(t *text, groups []string) bool { return slices.Contains(groups, group(t.source)) }

// heldOut trains without some groups, and scores the attacks of the first ones
// and the benign texts of the second ones.
func heldOut(corpus, own []*text, attacks, benign []string) ([]scored, error) {
	var train, a, b []*text
	for _, t := range corpus {
		inA, inB := inGroups(t, attacks), inGroups(t, benign)
		switch {
		case t.attack && inA:
			a = append(a, t)
		case !t.attack && inB:
			b = append(b, t)
		case !inA && !inB:
			train = append(train, t)
		}
	}
	if len(train) == 0 {
		return nil, nil
	}
	w := fit(append(train, own...)).quantized()
	sa, err := score(w, a, 1/float64(len(benignFolds)))
	if err != nil {
		return nil, err
	}
	sb, err := score(w, b, 1)
	return append(sa, sb...), err
}

// crossSource scores each attack fold with each benign fold, two models at a
// time. Each model is fitted by one goroutine, so the result does not depend on it.
func crossSource(corpus, own []*text, attacks [][]string) ([][]scored, error) {
	results := make([][]scored, len(attacks)*len(benignFolds))
	errs := make([]error, len(results))
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range jobs {
				results[i], errs[i] = heldOut(corpus, own, attacks[i/len(benignFolds)], benignFolds[i%len(benignFolds)])
			}
		})
	}
	for i := range results {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	var out [][]scored
	for folds := range slices.Chunk(results, len(benignFolds)) {
		out = append(out, slices.Concat(folds...))
	}
	return out, errors.Join(errs...)
}

// content reports a benign text of the kind that agents read.
func content(t *text) bool { return !t.attack && !instructing[t.source] }

// threshold returns the value that at most a share of the texts selected by of
// reaches.
func threshold(texts []scored, share float64, of func(*text) bool) float64 {
	var values []float64
	for _, t := range texts {
		if of(t.text) {
			values = append(values, t.value)
		}
	}
	if len(values) < 2 {
		return 0.5
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	above := int(share * float64(len(values)))
	return (values[max(above, 1)-1] + values[max(above, 1)]) / 2
}

// thresholds chooses the operating points on benign texts, each scored by a model that
// was not trained on its group.
func thresholds(corpus, own []*text) (normal, strict float64, err error) {
	folds, err := crossSource(corpus, own, [][]string{nil})
	if err != nil {
		return 0, 0, err
	}
	return threshold(folds[0], 0.001, content), threshold(folds[0], 0.01, content), nil
}

// recall returns the share of the texts selected by of that reaches a value.
func recall(texts []scored, least float64, of func(*text) bool) float64 {
	var hit, all float64
	for _, t := range texts {
		if of(t.text) {
			all += t.weight
			if t.value >= least {
				hit += t.weight
			}
		}
	}
	return hit / max(all, 1e-9)
}

// auc returns how often an attack scores above a benign text selected by of.
func auc(texts []scored, of func(*text) bool) float64 {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b scored) int { return cmp.Compare(a.value, b.value) })
	var below, sum, attacks float64
	for i := 0; i < len(texts); {
		var equal, here float64
		j := i
		for ; j < len(texts) && texts[j].value == texts[i].value; j++ {
			if texts[j].attack {
				here += texts[j].weight
			} else if of(texts[j].text) {
				equal++
			}
		}
		sum += here * (below + equal/2)
		attacks += here
		below += equal
		i = j
	}
	return sum / max(attacks*below, 1e-9)
}
